import pytest
import torch

from ghr.nn.virtual import LocalThenGlobal, Summary, VirtualState

BATCH = torch.tensor([0, 1, 1, 0, 1])


@pytest.mark.parametrize(("agg", "size_norm"), [("mean", False), ("sum", False), ("mean", True), ("sum", True)])
def test_the_summary_of_every_graph(agg, size_norm):
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    expected = []
    for rows in (x[[0, 3]], x[[1, 2, 4]]):
        total = rows.sum(0) / (len(rows) if agg == "mean" else 1)
        expected.append(total / len(rows) ** 0.5 if size_norm else total)
    torch.testing.assert_close(Summary(agg, size_norm)(x, BATCH, 2), torch.stack(expected))


def test_a_graph_without_nodes_has_a_summary_of_zeros():
    assert torch.equal(Summary("mean", True)(torch.ones(5, 3), BATCH, 3)[2], torch.zeros(3))


def test_the_virtual_state_pools_what_a_layer_is_given_and_the_other_what_it_returns():
    before, local = torch.randn(5, 3), torch.randn(5, 3)
    plain = VirtualState(3, 1, "mean", False, act="elu", dropout=0.0, residual=False)
    ordered = LocalThenGlobal(3, 1, "mean", False)
    for part, reads in ((plain, True), (ordered, False)):
        _, virtual = part.start(before, BATCH, 2)
        first = part(0, before, local, virtual, BATCH)[1]
        assert torch.equal(part(0, before + 1, local, virtual, BATCH)[1], first) != reads
        assert torch.equal(part(0, before, local + 1, virtual, BATCH)[1], first) == reads


def test_repr_is_short():
    assert repr(Summary("mean", False)) == "Summary('mean', size_norm=False)"
    assert repr(LocalThenGlobal(3, 2, "sum", True)) == "LocalThenGlobal(Summary('sum', size_norm=True), layers=2)"
    plain = VirtualState(3, 2, "mean", False, act="elu", dropout=0.0, residual=True)
    assert repr(plain) == "VirtualState(Summary('mean', size_norm=False), layers=2, residual=True)"
