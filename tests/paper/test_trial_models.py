import math

import pytest
import torch

from cases import randomise, relative_error
from ghr import MinPlusGHR
from ghr.paper.trial_models import TrialGHR, WithinBudget
from ghr.testing import assert_batch_equals_loop, assert_permutation_equivariant, random_graph


def graph(seed=0, nodes=9):
    data = random_graph(nodes, 2 * nodes, in_channels=1, edge_dim=1, seed=seed)
    data.x = torch.eye(nodes)[:, :1].double()
    data.edge_attr = data.edge_attr.abs().double() + 0.1
    return data


def trial(**options):
    torch.manual_seed(0)
    return randomise(TrialGHR(hidden_channels=3, steps=1, t_low=1, **options), scale=0.3).eval()


def arrived_by_loops(model, x, data, first):
    rate = [math.log1p(math.exp(value)) for value in model.cell.rate.tolist()]
    if model.norm is not None:
        scales = [math.sqrt(sum(v * v for v in row) / len(row) + 1e-6) for row in x]
        gains = model.norm.weight.tolist()
        x = [[g * v / scale for g, v in zip(gains, row, strict=True)] for row, scale in zip(x, scales, strict=True)]
    rows = []
    for i in range(len(x)):
        edges = [
            (j, e[0])
            for (j, target), e in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True)
            if target == i
        ]
        row = []
        for c, w in enumerate(rate):
            m = [x[j][c] + w * e for j, e in edges]
            if not m:
                value = first[i][c]
            elif model.aggregate == "min":
                value = min(m)
            elif model.aggregate == "soft min":
                beta = math.exp(5 * model.sharpness[c].item())
                share = [math.exp(-beta * (v - min(m))) for v in m]
                value = sum(s * v for s, v in zip(share, m, strict=True)) / sum(share)
            else:
                value = sum(m) / (len(m) if model.aggregate == "mean" else 1)
            row.append(min(value, first[i][c]))
        rows.append(row)
    return rows


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("aggregate", ["min", "soft min", "mean", "sum"])
def test_what_arrives_equals_the_loops(aggregate, norm):
    model, data = trial(aggregate=aggregate, norm=norm), graph()
    data.edge_index, data.edge_attr = data.edge_index[:, :14], data.edge_attr[:14]  # some nodes that nothing reaches
    x, first = 2 * torch.rand(9, 3).double(), 5 + torch.rand(9, 3).double()
    ours = model._arrive(x, model._edges(model._levels(data)[0], data.edge_attr[:, 0]), first)
    assert relative_error(ours, arrived_by_loops(model, x.tolist(), data, first.tolist())) <= 1e-12


@pytest.mark.parametrize("aggregate", ["min", "soft min", "mean", "sum"])
def test_laws(aggregate):
    model = trial(aggregate=aggregate)
    assert_permutation_equivariant(model, graph(), rtol=1e-10)
    assert_batch_equals_loop(model, [graph(n, n) for n in (5, 12, 9)], rtol=1e-10)


def test_with_its_defaults_it_is_the_extension():
    torch.manual_seed(0)
    model = TrialGHR(steps=2, t_low=3).double()
    plain = MinPlusGHR(levels=1, steps=2, t_low=3).double()
    plain.load_state_dict(model.state_dict())
    assert torch.equal(model.eval()(graph()), plain.eval()(graph()))


def test_an_unknown_aggregate_is_a_sentence():
    with pytest.raises(ValueError, match="one of min, soft min, mean, sum; got 'max'"):
        TrialGHR(aggregate="max")


def test_mixing_is_a_part_of_the_usual_size():
    sizes = []
    for mixing in (0.3, 1.0):
        torch.manual_seed(0)
        sizes.append(TrialGHR(mixing=mixing).cell.l1_norm().item())
    assert sizes[1] == pytest.approx(sizes[0] / 0.3)


def test_a_budget_is_compared_with_the_distance():
    torch.manual_seed(0)
    model, data = WithinBudget(hidden_channels=3, steps=2, t_low=3).double().eval(), graph()
    data.budget, data.scale = torch.full((9, 1), 2.0).double(), torch.full((9, 1), 0.5).double()
    distance = super(WithinBudget, model).forward(data)
    steepness = math.exp(5 * model.steepness.item())
    expected = [[1 / (1 + math.exp(-steepness * (2.0 - d) / 0.5))] for d in distance[:, 0].tolist()]
    assert relative_error(model(data), expected) <= 1e-12
    assert torch.equal(model.rollout(data)[-1], model(data))


def test_running_until_settled_gives_the_same_answer():
    torch.manual_seed(0)
    model, data = WithinBudget(hidden_channels=3).double().eval(), graph()
    data.budget, data.scale = torch.full((9, 1), 1.5).double(), torch.ones(9, 1).double()
    assert relative_error(model(data, steps="auto"), model(data, steps=12)) <= 1e-12


@pytest.mark.parametrize("kind", [TrialGHR, WithinBudget])
def test_saved_and_loaded_it_is_the_same(kind, tmp_path):
    model, data = kind(aggregate="soft min", norm=True, mixing=1.0, steps=3).eval(), graph()
    data.x, data.edge_attr = data.x.float(), data.edge_attr.float()
    data.budget, data.scale = torch.full((9, 1), 1.5), torch.ones(9, 1)
    model.save_pretrained(tmp_path)
    assert torch.equal(kind.from_pretrained(tmp_path).eval()(data), model(data))


def test_reset_parameters_starts_its_own_parts_anew():
    model = WithinBudget(aggregate="soft min", mixing=1.0, hidden_channels=32)
    before = {name: parameter.std() for name, parameter in model.named_parameters() if parameter.numel() > 1}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    model.reset_parameters()
    assert model.steepness == torch.tensor(0.2)
    for name, std in before.items():
        assert torch.isclose(model.get_parameter(name).std(), std, rtol=0.3), name
