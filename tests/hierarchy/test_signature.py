import copy
import io

import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader, RandomNodeLoader

from ghr import Coarsen, Graclus
from ghr.hierarchy.data import check_graph
from ghr.testing import random_graph


def coarsened(seed=0, num_nodes=12, num_edges=20, levels=1):
    return Coarsen(Graclus(rounds=1), levels=levels)(random_graph(num_nodes, num_edges, edge_dim=1, seed=seed))


def drop_an_edge(data):
    data.edge_index, data.edge_attr = data.edge_index[:, 1:], data.edge_attr[1:]
    return data


def renumber(data):
    data.edge_index = data.num_nodes - 1 - data.edge_index
    return data


def turn_an_edge(data):
    data.edge_index = torch.cat([data.edge_index[:, :1].flip(0), data.edge_index[:, 1:]], dim=1)
    return data


def add_a_node(data):
    data.x = torch.cat([data.x, data.x[:1]])
    return data


CHANGES = {
    "link split": lambda data: T.RandomLinkSplit(num_val=0.2, num_test=0.2, is_undirected=True)(data)[0],
    "subgraph": lambda data: data.subgraph(torch.arange(6)),
    "edge subgraph": lambda data: data.edge_subgraph(torch.arange(data.num_edges) > 3),
    "largest component": lambda data: T.LargestConnectedComponents()(data),
    "self loops": lambda data: T.AddSelfLoops(attr="edge_attr")(data),
    "random nodes": lambda data: next(iter(RandomNodeLoader(data, num_parts=3))),
    "an edge less": drop_an_edge,
    "renumbered": renumber,
    "an edge turned round": turn_an_edge,
    "a node more": add_a_node,
}


@pytest.mark.filterwarnings("ignore")  # of PyG about extensions that are not installed
@pytest.mark.parametrize("change", CHANGES)
def test_levels_of_a_graph_that_changed_are_refused(change):
    data = coarsened(num_edges=14)
    changed = CHANGES[change](data.clone())
    with pytest.raises(
        ValueError, match=r"changed after it was coarsened: it had 12 nodes and .* Coarsen must come last"
    ):
        _ = changed.levels
    with pytest.raises(ValueError, match="Coarsen must come last"):
        check_graph(changed)
    assert data.levels[1].num_nodes < 12, "the graph itself is as it was"


def test_the_sentence_says_what_it_was_and_what_it_is():
    data = coarsened()
    edges = data.num_edges
    with pytest.raises(
        ValueError, match=f"it had 12 nodes and {edges} edges, and now it has 12 nodes and {edges - 1} edg"
    ):
        _ = drop_an_edge(data.clone()).levels
    with pytest.raises(ValueError, match=f"it had 12 nodes and {edges} edges, and now it has others"):
        _ = renumber(data.clone()).levels
    batch = Batch.from_data_list([coarsened(0), drop_an_edge(coarsened(1)), coarsened(2)])
    with pytest.raises(ValueError, match="Graph 1 of the batch changed"):
        _ = batch.levels


def save_and_load(data):
    file = io.BytesIO()
    torch.save(data, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def shuffle_edges(data):
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))
    data.edge_index, data.edge_attr = data.edge_index[:, order], data.edge_attr[order]
    return data


def beside(data):
    return coarsened(5, num_nodes=7, levels=data.num_levels - 1)


KEPT = {
    "itself": lambda data: data,
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "clone": lambda data: data.clone(),
    "to": lambda data: data.to("cpu"),
    "file": save_and_load,
    "other features": lambda data: T.Constant()(data),
    "edges in another order": shuffle_edges,
    "first of a batch": lambda data: Batch.from_data_list([data, beside(data)])[0],
    "last of a batch": lambda data: Batch.from_data_list([beside(data), data]).to_data_list()[1],
    "batch of a batch's graphs": lambda data: Batch.from_data_list(Batch.from_data_list([data, data]).to_data_list())[
        1
    ],
    "whole subgraph": lambda data: data.subgraph(torch.arange(12)),
    "dictionary": lambda data: type(data).from_dict(data.to_dict()),
}


@pytest.mark.parametrize("way", KEPT)
@pytest.mark.parametrize("levels", [1, 2])
def test_what_keeps_the_graph_keeps_its_levels(way, levels):
    data = coarsened(levels=levels)
    kept = KEPT[way](data.clone())
    assert len(check_graph(kept)) == levels + 1
    assert torch.equal(kept.levels[1].assignment, data.levels[1].assignment)
    assert kept.level_signature.shape == (1, 4)
    with pytest.raises(ValueError, match="Coarsen must come last"):
        _ = drop_an_edge(kept).levels


@given(st.lists(edge_lists(), min_size=1, max_size=4), st.data())
def test_a_graph_has_the_same_row_alone_and_in_a_batch(graphs, draw):
    transform = Coarsen(Graclus())
    items = [transform(Data(x=torch.ones(size, 1), edge_index=edges)) for edges, size in graphs]
    batch = Batch.from_data_list(items)
    assert torch.equal(batch.level_signature, torch.cat([item.level_signature for item in items]))
    check_graph(batch)
    if batch.num_edges:  # another end of any edge is another graph
        edge = draw.draw(st.integers(0, batch.num_edges - 1))
        size = int((batch.batch == batch.batch[batch.edge_index[1, edge]]).sum())
        if size > 1:
            start = int(batch.ptr[batch.batch[batch.edge_index[1, edge]]])
            batch.edge_index = batch.edge_index.clone()
            batch.edge_index[1, edge] = start + (batch.edge_index[1, edge] - start + 1) % size
            with pytest.raises(ValueError, match="Coarsen must come last"):
                _ = batch.levels


def test_batches_of_the_loader_are_checked():
    items = [coarsened(seed) for seed in range(4)]
    assert [len(check_graph(batch)) for batch in DataLoader(items, batch_size=2)] == [2, 2]
    items[2] = drop_an_edge(items[2])
    first, second = DataLoader(items, batch_size=2)
    check_graph(first)
    with pytest.raises(ValueError, match="Graph 0 of the batch changed"):
        check_graph(second)


def test_pyg_keeps_it_in_its_own_cache(tmp_path):
    class Small(InMemoryDataset):
        def __init__(self, root):
            super().__init__(root)
            self.load(self.processed_paths[0])

        @property
        def processed_file_names(self):
            return ["graphs.pt"]

        def process(self):
            self.save([coarsened(seed) for seed in range(3)], self.processed_paths[0])

    assert all(len(check_graph(Small(str(tmp_path))[k])) == 2 for k in range(3))


def test_graphs_with_different_numbers_of_levels_do_not_batch():
    two, three = coarsened(levels=1), coarsened(levels=2)
    with pytest.raises(ValueError, match=r"coarsened to 2 and 3 levels, but 2 are there; .* same number of levels"):
        _ = Batch.from_data_list([two, three]).levels
    with pytest.raises(ValueError, match=r"A graph has no level2_.* coarsen all of them in the same way"):
        Batch.from_data_list([three, two])
    del three["level2_batch"]
    with pytest.raises(ValueError, match="coarsened to 3 levels, but 2 are there"):
        _ = three.levels


def test_graphs_of_an_older_version_have_no_signature_and_are_checked_by_size():
    data = coarsened()
    del data["level_signature"]
    check_graph(drop_an_edge(data))
    with pytest.raises(ValueError, match="Level 1 assigns 12 nodes, but the level below has 13"):
        check_graph(add_a_node(data))


def test_only_values_at_hand_are_looked_at():
    data = drop_an_edge(coarsened()).to("meta")
    assert len(data.levels) == 2


def test_signing_again_is_for_those_who_change_everything_together():
    data = drop_an_edge(coarsened())
    data.sign()
    check_graph(data)
    batch = Batch.from_data_list([drop_an_edge(coarsened()), coarsened(1)])
    batch.sign()
    check_graph(batch)


@pytest.mark.parametrize(
    "signature", [torch.zeros(4).long(), torch.zeros(1, 3).long(), torch.zeros(1, 4), torch.tensor(3), "abc", 5]
)
def test_a_broken_signature_gets_a_sentence(signature):
    data = coarsened()
    data.level_signature = signature
    with pytest.raises(ValueError, match="level_signature is written by Coarsen and cannot be set"):
        _ = data.levels


def test_other_mistakes_in_a_changed_graph_are_named_as_what_they_are():
    data = coarsened()
    data.edge_index = data.edge_index + 5
    with pytest.raises(ValueError, match=r"edge_index has node 1\d, but nodes run from 0 to 11"):
        _ = data.levels
    batch = Batch.from_data_list([coarsened(0), coarsened(1)])
    batch.batch = batch.batch * 3
    with pytest.raises(ValueError, match="batch has 3, but must be in 0 to 1"):
        _ = batch.levels
