import numpy as np

from ghr.hierarchy.kernels.quotient import build_quotient


def test_quotient_names_the_coarse_edge_of_every_edge():
    edges = np.array([[0, 1, 3, 0, 2], [1, 2, 0, 3, 2]])
    coarse, became, order, start = build_quotient(edges, np.array([0, 0, 1, 1]), 2)
    assert coarse.tolist() == [[0, 1], [1, 0]]
    assert became.tolist() == [-1, 0, 1, 0, -1]
    assert [sorted(order[start[k] : start[k + 1]].tolist()) for k in range(2)] == [[1, 3], [2]]
    assert start[-1] == order.size == 3
