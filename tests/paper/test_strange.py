import numpy as np
import pytest
import torch

from ghr.analysis import count_hops
from ghr.datasets import ECHOSynth
from ghr.paper.strange import KINDS, decode_tree, relabel_paths


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_look_like_those_of_echo_to_a_model(kind, tmp_path):
    (echo,) = ECHOSynth(tmp_path, "sssp", "test", num_graphs=1)
    for seed in range(5):
        data = KINDS[kind](np.random.default_rng(seed))
        source = int(data.x[:, 0].argmax())
        assert data.x.shape[1] == echo.x.shape[1]
        assert (data.x.dtype, data.y.dtype, data.edge_index.dtype) == (echo.x.dtype, echo.y.dtype, torch.int64)
        assert data.x[:, 0].sum() == 1
        assert 0 <= data.x[:, 1].min() < data.x[:, 1].max() < 1
        hops = count_hops(data.edge_index, data.num_nodes, [source])[0]
        assert np.array_equal(data.mask.numpy(), hops >= 0)
        assert torch.allclose(40 * data.y[data.mask, 0], torch.from_numpy(hops[hops >= 0]).float())
        assert 40 * float(data.y.max()) <= 40
        assert torch.equal(KINDS[kind](np.random.default_rng(seed)).edge_index, data.edge_index)


def test_trees_are_trees_and_all_are_as_likely():
    counts = {}
    for code in np.ndindex(4, 4):
        edges = decode_tree(np.array(code))
        assert (count_hops(torch.from_numpy(edges), 4, [0]) >= 0).all()
        key = frozenset(map(frozenset, edges.T.tolist()))
        assert len(key) == 3
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 16, "as many as Cayley says"


def test_targets_of_echo_are_found_again(tmp_path):
    for graph in ECHOSynth(tmp_path, "sssp", "test", num_graphs=6):
        again = relabel_paths(graph)
        assert torch.allclose(again.y, graph.y)
        assert bool(again.mask.all())
    cut = graph.clone()
    cut.edge_index = cut.edge_index[:, :0]
    assert int(relabel_paths(cut).mask.sum()) == 1
