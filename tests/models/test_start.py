"""The start of training: small updates by default, the paper's weights where asked for."""

import json

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

import ghr
from cases import hierarchy
from ghr import GHR, Coarsen, Graclus
from ghr.datasets import ECHOSynth
from ghr.models.cell import LevelCell
from ghr.models.ghr import STARTS
from ghr.nn import CONVS
from ghr.nn.encoder import make_encoder
from ghr.nn.readout import make_readout

RECIPE = {"steps": 4, "t_high": 3, "t_low": 6}  # the most updates that a recipe has


def star(leaves=500):
    hub, others = torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)
    edge_index = torch.stack([torch.cat([hub, others]), torch.cat([others, hub])])
    x = torch.zeros(leaves + 1, 1)
    x[1] = 1
    return Data(x=x, edge_index=edge_index, edge_attr=torch.ones(2 * leaves, 1))


def build(conv, **options):
    torch.manual_seed(0)
    return GHR(1, 16, 1, conv=conv, **{"edge_dim": 1, **RECIPE, **options})


@pytest.mark.parametrize("conv", CONVS)
def test_the_untrained_model_stays_small_on_a_hub_with_twice_the_steps(conv):
    data = Coarsen(Graclus(rounds=1))(star())
    model = build(conv)
    with torch.no_grad():
        assert model(data, steps=8).abs().max() < 100
    ghr.DiscountedLoss(nn.MSELoss(), 0.8)(model.rollout(data), torch.ones(501, 1)).backward()
    assert nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None]) < 5e3


@pytest.mark.parametrize("conv", CONVS)
def test_the_untrained_model_stays_small_on_trees(conv, tmp_path):
    graphs = ECHOSynth(tmp_path, "sssp", "train", source="generate", num_graphs=4)
    model = build(conv, edge_dim=None)
    coarsen = Coarsen(Graclus(rounds=1))
    for graph in graphs:
        data = coarsen(Data(x=graph.x[:, :1].float(), edge_index=graph.edge_index))
        with torch.no_grad():
            assert model(data, steps=8).abs().max() < 10


def test_the_start_of_the_paper_does_not():
    data = Coarsen(Graclus(rounds=1))(star())
    assert build("gated_gine", start="paper")(data).abs().max() > 1e3


@pytest.mark.parametrize("conv", CONVS)
def test_the_start_of_the_paper_draws_the_same_parts_in_the_same_order(conv):
    model = build(conv, start="paper", time_informed=True)
    torch.manual_seed(0)
    parts = {"node_encoder": make_encoder(1, 16)}
    parts["cells"] = nn.ModuleList(LevelCell(16, conv, 1, "learned") for _ in range(2))
    parts["down"] = nn.ModuleList([nn.Linear(16, 16, bias=False)])
    parts["time"] = nn.Linear(2, 16, bias=False)
    parts["readout"] = make_readout("node", 16, 1, parts["cells"][0].edge_encoder.out_channels)
    drawn = {f"{name}.{key}": value for name, part in parts.items() for key, value in part.state_dict().items()}
    assert drawn.keys() == model.state_dict().keys()
    for name, value in model.state_dict().items():
        assert torch.equal(value, drawn[name]), name


@pytest.mark.parametrize("conv", CONVS)
def test_starts_differ_in_the_maps_of_the_updates_alone(conv):
    scaled, paper = build(conv).state_dict(), build(conv, start="paper").state_dict()
    smaller = {name for name, value in scaled.items() if not torch.equal(value, paper[name])}
    assert bool(smaller) == (conv != "adgn")  # whose updates are bounded
    assert all(".conv." in name or (conv == "gated_gcn" and name.startswith("readout.")) for name in smaller)
    for name in smaller:
        updates = 4 * 3 * 6 if name.startswith("cells.0") else 4 * 3
        first = conv in ("gine", "gated_gine") and (".update.0." in name or ".gate_content." in name)
        factor = CONVS[conv].summed if first else 1 / updates
        if conv == "gated_gcn":
            factor = 0.1 if name.startswith("readout.") else updates**-0.25
        torch.testing.assert_close(scaled[name], factor * paper[name])


@pytest.mark.parametrize("readout", ["graph", "graph-mlp"])
def test_a_readout_of_graphs_starts_with_little_of_their_sums(readout):
    scaled, paper = (build("gine", readout=readout, start=start).readout.mlp[0] for start in STARTS)
    assert torch.equal(scaled.weight[:, :32], paper.weight[:, :32])
    torch.testing.assert_close(scaled.weight[:, 32:], 0.02 * paper.weight[:, 32:])
    assert torch.equal(scaled.bias, paper.bias)


def test_a_readout_that_is_given_starts_as_it_is():
    readout = make_readout("node", 16, 1, None)
    before = readout.mlp[0].weight.clone()
    model = build("gated_gcn", readout=readout, edge_dim=None)
    assert torch.equal(model.readout.mlp[0].weight, before)


def test_a_model_that_is_reset_starts_anew():
    model = build("gated_gcn")
    torch.manual_seed(0)
    model.reset_parameters()
    assert model.readout.mlp[0].weight.abs().max() < 0.1 / 4  # a tenth of the bound for 16 channels
    assert model.cells[0].conv.norm.weight.max() < 0.5


@pytest.mark.parametrize("values", ["select", "sum"])
def test_the_control_of_values_starts_small_and_the_values_as_ever(values):
    options = {"conv": "gine", "values": values, "levels": 2, "edge_dim": None}
    scaled, paper = (build(start=start, **options).state_dict() for start in ("scaled", "paper"))
    smaller = {name for name, value in scaled.items() if not torch.equal(value, paper[name])}
    assert smaller
    assert all(name.startswith("cells.") for name in smaller)


def test_a_conv_of_one_s_own_starts_as_it_is():
    torch.manual_seed(0)
    model = GHR(2, 6, 1, conv=Own(), steps=1)
    assert torch.equal(model.cells[0].conv.module.gain, torch.ones(6))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(6))

    def forward(self, x, edge_index, edge_attr):
        return self.gain * x


def test_a_config_without_a_start_is_the_paper_s(tmp_path):
    model = build("gine", start="paper")
    model.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    saved = json.loads(file.read_text())
    assert saved["config"].pop("start") == "paper"
    file.write_text(json.dumps(saved))
    again = GHR.from_pretrained(tmp_path)
    assert again.config == model.config
    assert ghr.load("rgg-sssp-small-cap5").start == "paper"


def test_the_start_is_kept(tmp_path):
    build("gine").save_pretrained(tmp_path)
    assert ghr.load(tmp_path).start == "scaled"


def test_an_unknown_start_is_an_error():
    with pytest.raises(ValueError, match="start"):
        build("gine", start="zero")


def test_both_starts_learn_all_parameters():
    data = hierarchy()
    for start in STARTS:
        model = GHR(2, 8, 1, edge_dim=3, steps=2, start=start).double()
        model(data).square().sum().backward()
        assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
