import pytest
import torch

from ghr.transforms.pairs import all_pairs, check_pairs


@pytest.mark.parametrize("num_nodes", [0, 1, 2, 5])
def test_pairs_come_by_target_and_within_it_by_source(num_nodes):
    expected = [[source, target] for target in range(num_nodes) for source in range(num_nodes)]
    pairs = all_pairs(num_nodes)
    assert pairs.shape == (2, num_nodes**2)
    assert pairs.dtype == torch.long
    assert pairs.T.tolist() == expected


def test_a_matrix_of_pairs_is_read_off_in_their_order():
    matrix = torch.arange(9).view(3, 3)  # row: target, column: source
    source, target = all_pairs(3)
    assert torch.equal(matrix[target, source], matrix.flatten())


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("ghr.memory.physical_memory", lambda: 10**6)
    check_pairs("Distances", 100, 1)
    with pytest.raises(ValueError, match=r"^Distances of all pairs of 1,000 nodes .*take smaller graphs"):
        check_pairs("Distances", 1000, 1)


def test_what_is_needed_grows_with_columns_and_their_width(monkeypatch):
    asked = []
    monkeypatch.setattr("ghr.transforms.pairs.check_memory", lambda what, needed, advice: asked.append(needed))
    check_pairs("Walks", 10, 3)
    check_pairs("Walks", 10, 3, width=8)
    assert asked == [100 * (3 * 4 + 2 * 8), 100 * (3 * 8 + 2 * 8)], "and both ends of every pair, as whole numbers"
