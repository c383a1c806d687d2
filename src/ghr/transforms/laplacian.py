"""Where a node stands in its graph, as eigenvectors of the Laplacian."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_choice, check_flag, check_whole

DENSE = 1000  # up to this size all eigenvectors are computed, which is faster than finding a few
BELOW = 1e-3
SIGNS = ("fixed", "random")


class LaplacianEncoding(BaseTransform):
    r"""Add the eigenvectors of :math:`I - D^{-1/2} A D^{-1/2}` with the smallest eigenvalues, without the first.

    Edges count in both directions and once each. A graph with fewer eigenvectors than asked gets columns of zeros, so
    all graphs have the same width, down to a single node. A disconnected graph has one eigenvalue zero per piece; all
    of their eigenvectors but the first remain. Where an eigenvalue is repeated, its eigenvectors are one basis of many.

    Args:
        count: Number of columns.
        sign: The sign of an eigenvector is arbitrary. ``"fixed"`` makes the sum of its third powers positive, or, where
            that vanishes, its first entry of largest magnitude: the same graph always gets the same encoding, in most
            graphs whatever the numbering. ``"random"`` draws signs at every call from PyTorch's generator, for use as
            ``transform``.
        name: Attribute that receives the encoding; ``None`` appends it to ``x``.
        normalised: Take the eigenvectors of :math:`I - D^{-1/2} A D^{-1/2}`; otherwise those of :math:`D - A`.
        trivial: Keep the first eigenvector too.
        values: Attribute that receives the eigenvalues, not a number where a graph has none; ``None`` for no such.

    Shapes:
        - **output:** :math:`(N, \mathrm{count})`
        - **values:** :math:`(1, \mathrm{count})`, a row for every graph of a batch
    """

    def __init__(
        self,
        count: int,
        *,
        sign: str = "fixed",
        name: str | None = "laplacian",
        normalised: bool = True,
        trivial: bool = False,
        values: str | None = None,
    ) -> None:
        self.count = check_whole("count", count)
        self.sign = check_choice("sign", sign, SIGNS)
        self.name = name
        self.normalised, self.trivial = check_flag("normalised", normalised), check_flag("trivial", trivial)
        self.values = values

    def forward(self, data: Data) -> Data:
        """Return the graph with its encoding."""
        if data.edge_index is None or data.num_nodes is None:
            raise ValueError("The graph has no edge_index; give an empty tensor of shape (2, 0) if it has no edges.")
        laplacian = _laplacian(data.edge_index.cpu().numpy(), data.num_nodes, self.normalised)
        values, vectors = _eigenpairs(laplacian, self.count, 0 if self.trivial else 1)
        encoding = torch.zeros(data.num_nodes, self.count)
        encoding[:, : vectors.shape[1]] = torch.from_numpy(vectors * _signs(vectors)).float()
        if self.sign == "random":
            encoding *= 2.0 * torch.randint(2, (self.count,)) - 1.0
        encoding = encoding.to(data.edge_index.device)
        if self.name is not None:
            data[self.name] = encoding
        else:
            x = encoding[:, :0] if data.x is None else data.x.reshape(data.num_nodes, -1).to(encoding.dtype)
            data.x = torch.cat([x, encoding], dim=1)
        if self.values is not None:
            row = torch.full((1, self.count), torch.nan)
            row[0, : len(values)] = torch.from_numpy(values.clip(min=0)).float()
            data[self.values] = row.to(encoding.device)
        return data

    def __repr__(self) -> str:
        # An option that is as usual is not named: caches of older versions are found by the same words.
        unusual = {
            "normalised": (self.normalised, True),
            "trivial": (self.trivial, False),
            "values": (self.values, None),
        }
        more = "".join(f", {name}={value!r}" for name, (value, usual) in unusual.items() if value != usual)
        return f"LaplacianEncoding({self.count}, sign={self.sign!r}, name={self.name!r}{more})"


def _laplacian(edge_index: NDArray[np.int64], num_nodes: int, normalised: bool) -> csr_array:
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    ones = np.ones(2 * len(source))
    shape = (num_nodes, num_nodes)
    adjacency = csr_array((ones, (np.concatenate([source, target]), np.concatenate([target, source]))), shape=shape)
    adjacency.data[:] = 1.0  # an edge that is listed twice is one edge
    degree = np.asarray(adjacency.sum(axis=1)).reshape(-1)
    if not normalised:
        return csr_array(diags_array(degree) - adjacency)
    scale = diags_array(1.0 / np.sqrt(np.maximum(degree, 1.0)))
    return csr_array(diags_array((degree > 0).astype(np.float64)) - scale @ adjacency @ scale)


def _eigenpairs(laplacian: csr_array, count: int, skip: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest eigenvalues, without the first so many, and their eigenvectors."""
    values, vectors = _smallest(laplacian, count + skip)
    return values[skip : count + skip], vectors[:, skip : count + skip]


def _smallest(laplacian: csr_array, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return so many of the smallest eigenvalues or more, and their eigenvectors; all, where there are fewer."""
    size = laplacian.shape[0]
    if size <= max(DENSE, count + 1):
        values, vectors = np.linalg.eigh(laplacian.toarray())
        return values, vectors
    pieces, piece = connected_components(laplacian, directed=False)
    if pieces > 1:  # every piece has an eigenvalue zero, and the search below may miss some of equal ones
        return _join_pieces(laplacian, [np.flatnonzero(piece == number) for number in range(pieces)], count)
    # Around a point just below zero the wanted eigenvalues are the largest of the inverse, and found fast.
    below = laplacian + BELOW * eye_array(size)
    start = np.random.default_rng(0).standard_normal(size)
    values, vectors = eigsh(below.tocsc(), k=count, sigma=0.0, which="LM", v0=start)
    order = np.argsort(values)
    return values[order] - BELOW, vectors[:, order]


def _join_pieces(
    laplacian: csr_array, pieces: list[NDArray[np.int64]], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest eigenvalues of all connected pieces of a graph, and their eigenvectors, zero elsewhere."""
    found = [(nodes, *_smallest(laplacian[nodes][:, nodes], count)) for nodes in pieces]
    every = [
        (value, number, column) for number, (_, values, _) in enumerate(found) for column, value in enumerate(values)
    ]
    chosen = sorted(every, key=lambda one: (round(one[0], 12), one[1], one[2]))[:count]
    vectors = np.zeros((laplacian.shape[0], len(chosen)))
    for place, (_, number, column) in enumerate(chosen):
        nodes, _, own = found[number]
        vectors[nodes, place] = own[:, column]
    return np.array([value for value, _, _ in chosen]), vectors


def _signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    skew = (vectors**3).sum(axis=0)
    size = np.abs(vectors).round(6)  # entries that differ by rounding only count as equal
    peaks = np.take_along_axis(vectors, size.argmax(axis=0)[None], axis=0)[0] if len(vectors) else skew
    deciding = np.where(np.abs(skew) > 1e-6 * (np.abs(vectors) ** 3).sum(axis=0), skew, peaks)
    return np.where(deciding < 0, -1.0, 1.0)
