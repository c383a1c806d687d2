import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, GINEConv

from ghr.bench.graphs import GeometricGraphs
from ghr.bench.stack_work import StackWork, with_pyg_layers
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.models import Stack

KINDS = {"gcn": GCNConv, "gine": GINEConv}


def make(conv):
    whole = StackWork("S", "stack", conv, GeometricGraphs(2, 30), Targets(speedup=1.0), channels=6, layers=2)
    return whole, whole.load()


@pytest.mark.parametrize("conv", KINDS)
def test_plain_is_the_same_stack_of_layers_of_pyg(conv):
    work, data = make(conv)
    ours, plain = (work.prepare(name, data) for name in ("ghr", "plain"))
    kinds = [type(module) for module in plain.model.modules()]
    assert kinds.count(KINDS[conv]) == 2
    assert not any(isinstance(module, KINDS[conv]) for module in ours.model.modules())
    results = {"ghr": ours(), "plain": plain()}
    errors = work.errors({"ghr": ours, "plain": plain}, results)
    assert {*errors} == {"output", "gradient"}
    assert max(errors.values()) < 1e-4


@pytest.mark.parametrize("conv", KINDS)
def test_other_weights_would_be_noticed(conv):
    work, data = make(conv)
    ours, plain = (work.prepare(name, data) for name in ("ghr", "plain"))
    results = {"ghr": ours()}
    with torch.no_grad():
        next(plain.model.parameters()).mul_(1.1)
    results["plain"] = plain()
    assert min(work.errors({"ghr": ours, "plain": plain}, results).values()) > 1e-3


def test_the_model_itself_keeps_its_layers():
    model = Stack(1, 4, 1, conv="gcn", layers=2)
    before = [type(layer.conv) for layer in model.layers]
    with_pyg_layers(model)
    assert [type(layer.conv) for layer in model.layers] == before


def test_layers_that_are_pyg_s_already_are_no_work():
    with pytest.raises(ValueError, match="is no layer of ours that PyTorch Geometric has too"):
        with_pyg_layers(Stack(1, 4, 1, conv="gat", layers=1))


def test_without_a_gradient_there_is_nothing_to_compare():
    work, data = make("gcn")
    ours, plain = (work.prepare(name, data) for name in ("ghr", "plain"))
    with pytest.raises(ValueError, match="The first map got no gradient to compare"):
        work.errors({"ghr": ours, "plain": plain}, dict.fromkeys(("ghr", "plain"), torch.ones(1)))
    assert isinstance(ours.model, nn.Module)


def test_shrunk_it_has_no_targets():
    quick = make("gine")[0].quick()
    assert (quick.channels, quick.targets, quick.title) == (8, NO_TARGETS, "stack, shrunk")
