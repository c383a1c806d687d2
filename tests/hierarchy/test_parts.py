import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import k_hop_subgraph, subgraph

from ghr import Coarsen, Graclus
from ghr.hierarchy.parts import Parts
from ghr.testing import random_graph


def graph(size=60, edges=90, levels=1, **options):
    data = random_graph(size, edges, in_channels=2, edge_dim=3, **options)
    data.edge_weight = torch.rand(data.num_edges)
    return Coarsen(Graclus(rounds=1), levels=levels)(data)


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_every_node_and_every_cluster_belongs_to_one_part(count):
    data = graph()
    parts = Parts(data, count, halo=2)
    owned = torch.cat([part.nodes[: part.num_own] for part in parts])
    assert owned.sort().values.tolist() == list(range(data.num_nodes))
    assert (sum(part.own.long() for part in parts) == 1).all()
    for index, part in enumerate(parts):
        assert part.nodes.unique().numel() == len(part.nodes)
        assert torch.equal(part.nodes[: part.num_own], parts.own_nodes(index))
        assert part.own[data.level1_assignment[part.nodes[: part.num_own]]].all()
        here = torch.isin(torch.arange(data.num_nodes), part.nodes)
        for cluster in range(len(part.own)):
            assert bool(part.inside[cluster]) == bool(here[data.level1_assignment == cluster].all())


@pytest.mark.parametrize("halo", [0, 1, 3])
def test_the_halo_are_the_nodes_from_which_messages_arrive(halo):
    data = graph(seed=1)
    keep = torch.rand(data.num_edges, generator=torch.Generator().manual_seed(0)) < 0.7
    plain = Data(x=data.x, edge_index=data.edge_index[:, keep], edge_attr=data.edge_attr[keep])
    data = Coarsen(Graclus(rounds=1))(plain)
    for part in Parts(data, 3, halo=halo):
        own = part.nodes[: part.num_own]
        expected = k_hop_subgraph(own, halo, data.edge_index, num_nodes=data.num_nodes, flow="source_to_target")[0]
        assert part.nodes.sort().values.tolist() == expected.tolist()
        edges, attr = subgraph(expected, data.edge_index, data.edge_attr, num_nodes=data.num_nodes)
        assert torch.equal(part.nodes[part.data.edge_index], edges)
        assert torch.equal(part.data.edge_attr, attr)
        assert torch.equal(part.data.x, data.x[part.nodes])


def test_coarse_levels_are_those_of_the_whole_graph():
    data = graph(levels=2)
    part = Parts(data, 4, halo=1)[2]
    for k in (1, 2):
        for name in ("edge_index", "edge_attr", "num_nodes", "batch"):
            ours, theirs = getattr(part.data.levels[k], name), getattr(data.levels[k], name)
            assert torch.equal(torch.as_tensor(ours), torch.as_tensor(theirs))
    assert torch.equal(part.data.levels[1].assignment, data.level1_assignment[part.nodes])
    assert torch.equal(part.data.levels[2].assignment, data.level2_assignment)
    assert torch.equal(part.data.levels[0].edge_attr[:, :3], part.data.edge_attr)
    assert part.data.levels[0].edge_attr.size(1) == 4, "edge_weight is one more feature"


def test_the_finest_level_alone_knows_its_clusters():
    data = graph(levels=2)
    parts = Parts(data, 4)
    cut, nodes, num_own, touched = parts.cut_finest(1, 2)
    assert torch.equal(nodes[:num_own], parts.own_nodes(1))
    assert torch.equal(touched[cut.levels[1].assignment], data.level1_assignment[nodes])
    assert [level.edge_index.size(1) for level in cut.levels[1:]] == [0, 0]
    assert parts.cut_coarse().levels[1].num_nodes == data.levels[1].num_nodes


def test_what_has_no_parts_is_refused():
    data = graph()
    with pytest.raises(ValueError, match="apply Coarsen"):
        Parts(random_graph(5, 5), 2)
    with pytest.raises(ValueError, match="batch of several"):
        Parts(Batch.from_data_list([data, data]), 2)
    with pytest.raises(ValueError, match=r"parts=100 are more than the \d+ clusters of level 1; ask for fewer"):
        Parts(data, 100)
    with pytest.raises(ValueError, match="parts must be a whole number of at least 1; got 0"):
        Parts(data, 0)
    with pytest.raises(ValueError, match="halo must be a whole number of at least 0; got -1"):
        Parts(data, 2, halo=-1)
    with pytest.raises(IndexError, match="There are 2 parts, from 0; got 2"):
        Parts(data, 2)[2]
