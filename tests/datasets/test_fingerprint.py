import pytest
import torch
from torch_geometric.data import Data, InMemoryDataset

from ghr.datasets import RGGSSSP
from ghr.datasets.fingerprint import fingerprint


def graphs(count=3):
    return [Data(x=torch.full((2, 1), float(number)), edge_index=torch.tensor([[0], [1]])) for number in range(count)]


def changed(name):
    one = graphs()
    match name:
        case "a value":
            one[1].x[0] = 7
        case "the order":
            one.reverse()
        case "a type":
            one[0].x = one[0].x.double()
        case "a shape":
            one[0].x = one[0].x.view(1, 2)
        case "a name":
            one[2].z = one[2].x
            del one[2].x
        case "a number":
            one[2].label = 3
        case "fewer":
            one.pop()
    return one


@pytest.mark.parametrize("name", ["a value", "the order", "a type", "a shape", "a name", "a number", "fewer"])
def test_everything_that_differs_is_noticed(name):
    assert fingerprint(graphs()) == fingerprint(graphs())
    assert fingerprint(changed(name)) != fingerprint(graphs())


def test_tensors_without_entries_and_of_one_number_are_read():
    empty = [Data(x=torch.ones(1, 0), y=torch.tensor(3.0), mask=torch.tensor([True]))]
    assert fingerprint(empty) == fingerprint(empty)


class Few(InMemoryDataset):
    def __init__(self, transform=None, count=3):
        super().__init__(transform=transform)
        self.data, self.slices = self.collate(graphs(count))


class Noise:
    calls = 0

    def __call__(self, data):
        Noise.calls += 1
        data.x = torch.rand(2, 1)
        return data


class Scale(Noise):
    def __init__(self, by):
        self.by = by

    def __repr__(self):
        return f"Scale({self.by})"


def test_a_random_transform_makes_no_other_data():
    assert fingerprint(Few(Noise())) == fingerprint(Few(Noise()))
    assert fingerprint(Few(Noise())) != fingerprint(Few())
    assert fingerprint(Few(Scale(1))) != fingerprint(Few(Scale(2)))
    assert fingerprint(Few(count=2)) != fingerprint(Few())
    assert Noise.calls == 0


def test_a_part_of_a_dataset_is_another(tmp_path):
    for dataset in (Few(), RGGSSSP(tmp_path, num_graphs=3)):
        parts = [fingerprint(dataset), fingerprint(dataset[:2]), fingerprint(dataset[1:]), fingerprint(dataset[[1, 0]])]
        assert len(set(parts)) == 4
        assert fingerprint(dataset[:3]) == parts[0]


def test_a_cached_dataset_is_not_read_again(tmp_path, monkeypatch):
    dataset = RGGSSSP(tmp_path, num_graphs=3)
    wanted = fingerprint(dataset)
    monkeypatch.setattr(RGGSSSP, "get", lambda *_: pytest.fail("was read"))
    assert fingerprint(RGGSSSP(tmp_path, num_graphs=3)) == wanted
    assert fingerprint(RGGSSSP(tmp_path, num_graphs=3, seed=1)) != wanted
