import torch

from ghr.models.part_reading import Noting, Reading


class Pooled:
    """A level whose pooled states are given."""

    def __init__(self, value):
        self.value, self.level = value, self
        self.batch = value

    def read_below(self, below):
        return self.value


class Below:
    state = torch.zeros(1)

    def _replace(self, state):
        return self


def test_a_part_is_read_as_it_is_and_all_else_as_noted():
    pooled = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    own, inside = torch.tensor([[True], [False], [False]]), torch.tensor([[True], [True], [False]])
    noted = torch.tensor([[[10.0], [20.0], [30.0]], [[11.0], [21.0], [31.0]]])
    reading = Reading(Pooled(pooled), noted, own, inside)
    first, second = reading.read_below(Below()), reading.read_below(Below())
    assert first.flatten().tolist() == [1, 20, 30]
    assert second.flatten().tolist() == [1, 21, 31]
    first.sum().backward()
    assert pooled.grad.flatten().tolist() == [1, 1, 0]


def test_notes_are_written_in_their_places():
    notes = torch.zeros(2, 3, 1)
    noting = Noting(Pooled(torch.ones(3, 1)), iter(notes))
    assert noting.read_below(Below()).sum() == 3
    assert notes.sum(dim=(1, 2)).tolist() == [3, 0]
    assert Noting(Pooled(torch.ones(3, 1)), None).read_below(Below()).sum() == 3
