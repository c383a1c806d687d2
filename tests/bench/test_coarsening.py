import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from ghr import Coarsen, Graclus
from ghr.bench.coarsening import Coarsening, plain_coarsen
from ghr.bench.graphs import geometric_graph
from ghr.testing import assert_quotient


def test_plain_coarsening_is_the_same_job():
    graph = geometric_graph(300)
    graph.edge_attr = torch.rand(graph.num_edges, 2, generator=torch.Generator().manual_seed(0))
    plain, ours = plain_coarsen(graph), Coarsen(Graclus(rounds=3), ("min", "mean"))(graph)
    assert_quotient(plain)
    assert torch.equal(plain.level1_assignment, ours.level1_assignment)
    assert torch.equal(plain.level1_edge_index, ours.level1_edge_index)
    assert torch.allclose(plain.level1_edge_attr, ours.level1_edge_attr)


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))))
def test_plain_coarsening_takes_any_graph(edges):
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
    graph = Data(x=torch.ones(8, 1), edge_index=edge_index, edge_attr=torch.ones(len(edges), 1))
    plain, ours = plain_coarsen(graph), Coarsen(Graclus(rounds=3))(graph)
    assert_quotient(plain)
    assert torch.equal(plain.level1_assignment, ours.level1_assignment)


def test_a_wrong_label_is_an_error():
    workload = Coarsening("E", "", 50, graphs=2)
    graphs = workload.load()
    results = {name: workload.prepare(name, graphs)() for name in ("ghr", "plain")}
    assert workload.facts(graphs, results["ghr"])["nodes"] == 100
    assert workload.errors({}, results) == {"output": 0.0}
    results["ghr"][1].level1_assignment[:5] += 1
    assert workload.errors({}, results) == {"output": 0.1}
