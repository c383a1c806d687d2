import math
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from ghr.bench.attention_work import Attending, AttentionWork
from ghr.bench.targets import NO_TARGETS, Targets

WORK = AttentionWork("H", "attention", 3, (4, 8), Targets(speedup=2.0), channels=4, heads=2, calls=2)


def attend_by_loops(weights, x, batch, heads):
    """Scaled dot products within every graph, head by head."""
    width = x.size(1) // heads
    bring, bias = weights["in_proj_weight"], weights["in_proj_bias"]
    query, key, value = (x @ part.t() + shift for part, shift in zip(bring.chunk(3), bias.chunk(3), strict=True))
    rows = []
    for node in range(len(x)):
        others = [other for other in range(len(x)) if batch[other] == batch[node]]
        row = []
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            scores = [query[node, own] @ key[other, own] / math.sqrt(width) for other in others]
            share = [score.exp() for score in scores]
            row.append(sum(w * value[other, own] for w, other in zip(share, others, strict=True)) / sum(share))
        rows.append(torch.cat(row))
    return torch.stack(rows) @ weights["out_proj.weight"].t() + weights["out_proj.bias"]


@pytest.mark.parametrize("implementation", ["ghr", "plain"])
def test_both_attend_within_every_graph(implementation):
    data = WORK.load()
    work = WORK.prepare(implementation, data)
    out, grad = work()
    weights = {name: value.detach() for name, value in work.module.state_dict().items()}
    x = data.x.clone().requires_grad_()
    expected = attend_by_loops(weights, x, data.batch.tolist(), 2)
    torch.testing.assert_close(out, expected.detach(), rtol=1e-4, atol=1e-5)
    expected.square().sum().backward()
    torch.testing.assert_close(grad, x.grad, rtol=1e-3, atol=1e-5)


def test_sizes_lie_evenly_between_the_fewest_and_the_most():
    data = WORK.load()
    assert data.batch.bincount().tolist() == [4, 6, 8]
    assert data.x.shape == (18, 4)
    assert WORK.facts(data, None) == {"nodes": 18, "edges": data.num_edges}
    assert torch.equal(WORK.load().x, data.x)


def test_errors_tell_how_far_ours_is_off():
    plain = (torch.tensor([3.0, 4.0]), torch.tensor([1.0, 0.0]))
    ours = (torch.tensor([3.0, 4.5]), torch.tensor([1.0, 0.0]))
    assert WORK.errors({}, {"ghr": ours, "plain": plain}) == {"output": pytest.approx(0.1), "gradient": 0.0}


def test_shrunk_it_has_no_targets():
    quick = WORK.quick()
    assert (quick.graphs, quick.nodes, quick.calls, quick.targets) == (3, (10, 20), 1, NO_TARGETS)
    assert quick.title == "attention, shrunk"
    assert replace(quick, title="attention", nodes=(4, 8), calls=2, targets=WORK.targets) == WORK


def test_what_is_no_batch_is_a_sentence():
    with pytest.raises(ValueError, match="measured on a batch of graphs with node features x"):
        Attending(WORK.prepare("ghr", WORK.load()).module, Data(x=torch.zeros(2, 4)), 1)
