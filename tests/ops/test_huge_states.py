"""States so large that their squares are infinite: the norm takes them for zero, by kernels as by PyTorch."""

import pytest
import torch

from ghr import GHR, Coarsen, Graclus, ops
from ghr.testing import random_graph


@pytest.mark.parametrize("conv", ["gine", "gcn", "gat", "gated_gcn", "adgn"])  # those that do not square states
def test_kernels_agree_with_pytorch(conv):
    data = Coarsen(Graclus(rounds=1))(random_graph(20, 40))
    torch.manual_seed(0)
    model = GHR(in_channels=data.x.size(1), hidden_channels=16, out_channels=1, conv=conv, steps=2, start="paper")
    state = model.initial_state(data)
    state = state._replace(levels=tuple(level.detach() + 1e20 * torch.randn_like(level) for level in state.levels))
    weights = [*model.readout.parameters()]
    if conv != "gat":  # the gradient through its attention cancels down to what rounding leaves
        weights += model.node_encoder.parameters()
    found = []
    for backend in ("numba", "torch"):
        with ops.using(backend):
            prediction = model.step(data, state)[0]
            found.append([prediction, *torch.autograd.grad(prediction.sum(), weights)])
    for ours, theirs in zip(*found, strict=True):
        assert theirs.isfinite().all()
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3 * float(theirs.detach().abs().max()))
