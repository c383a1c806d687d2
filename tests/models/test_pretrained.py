import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

import ghr
from cases import hierarchy, randomise
from ghr import GHR, Coarsen, DeepGNN, EdgeReadout, Graclus, NodeReadout
from ghr.models.pretrained import CONFIG, WEIGHTS, describe_value, load_pretrained
from ghr.nn.readout import Readout


class Half(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.linear = nn.Linear(channels, channels)

    def forward(self, x, edge_index, edge_attr):
        return 0.5 * self.linear(x)


class Negative(Readout):
    def rows(self, given):
        return -given.state


@pytest.fixture
def model():
    torch.manual_seed(0)
    return randomise(GHR(2, 6, 1, edge_dim=3, steps=2)).float()


@pytest.fixture
def saved(model, tmp_path):
    model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"conv": "gated_gcn", "pool": "mean", "steps": 3, "t_low": 2, "readout": "graph-mlp"},
        {"levels": 3, "t_high": (2, 1), "time_informed": True, "coarse_edge_dim": 3, "checkpoint": True},
        {"share_coarse": True, "edge_dim": None, "conv": "gat"},
    ],
)
def test_round_trip_is_exact(tmp_path, dtype, options):
    model = randomise(GHR(**{"in_channels": 2, "hidden_channels": 6, "out_channels": 1, "edge_dim": 3, **options}))
    model.to(dtype)
    model.save_pretrained(tmp_path / "deep" / "folder")
    again = GHR.from_pretrained(tmp_path / "deep" / "folder")
    assert again.config == model.config
    assert repr(again) == repr(model)
    for (name, ours), (other, theirs) in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        assert name == other
        assert theirs.dtype == dtype
        assert torch.equal(ours, theirs)
    data = hierarchy(levels=options.get("levels", 2))
    if dtype == torch.float32:
        for key, value in data.to_dict().items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                data[key] = value.float()
    assert torch.equal(again(data), model(data))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_round_trip(tmp_path, dtype):
    model = GHR(2, 6, 1).to(dtype)
    model.save_pretrained(tmp_path)
    again = GHR.from_pretrained(tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert again.node_encoder.weight.dtype == dtype


def test_folder_holds_two_plain_files(saved):
    assert {path.name for path in saved.iterdir()} == {CONFIG, WEIGHTS}
    config = json.loads((saved / CONFIG).read_text())
    assert config["model"] == "GHR"
    assert config["config"]["hidden_channels"] == 6


def test_saving_again_replaces(saved, model):
    with torch.no_grad():
        model.node_encoder.bias.fill_(3)
    model.save_pretrained(str(saved))
    assert torch.equal(GHR.from_pretrained(str(saved)).node_encoder.bias, torch.full((6,), 3.0))
    assert {path.name for path in saved.iterdir()} == {CONFIG, WEIGHTS}


def test_random_initial_state_round_trip(tmp_path):
    model = GHR(2, 6, 1, initial_state="random")
    model.save_pretrained(tmp_path)
    assert GHR.from_pretrained(tmp_path).config["initial_state"] == "random"


def test_custom_conv_must_be_passed_again(tmp_path):
    model = GHR(2, 6, 1, conv=Half(), steps=2)
    model.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"saved with a conv of its own, Half; pass it: from_pretrained\(..., conv="):
        GHR.from_pretrained(tmp_path)
    data = hierarchy(edge_dim=None)
    data.x = data.x.float()
    for conv in (Half(), Half):
        assert torch.equal(GHR.from_pretrained(tmp_path, conv=conv)(data), model(data))


def test_custom_readout_must_be_passed_again(tmp_path):
    model = GHR(2, 6, 1, readout=Negative(6, 6, 1, 1), steps=2)
    model.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="saved with a readout of its own, Negative; pass it: from_pretrained"):
        GHR.from_pretrained(tmp_path)
    data = hierarchy(edge_dim=None)
    data.x = data.x.float()
    again = GHR.from_pretrained(tmp_path, readout=Negative(6, 6, 1, 1))
    assert torch.equal(again(data), model(data))


def test_readout_object_of_the_library_needs_no_passing(tmp_path):
    GHR(2, 6, 4, readout=NodeReadout(6, 4, layers=2)).save_pretrained(tmp_path)
    assert GHR.from_pretrained(tmp_path).config["readout"] == "node-mlp"


def test_a_readout_that_its_shorthand_would_not_make_again_is_passed(tmp_path):
    GHR(2, 6, 1, edge_dim=3, readout=EdgeReadout(6, 1)).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="saved with a readout of its own, EdgeReadout; pass it"):
        GHR.from_pretrained(tmp_path)
    assert GHR.from_pretrained(tmp_path, readout=EdgeReadout(6, 1)).readout.edge_dim is None


def test_a_partition_of_one_s_own_must_be_passed_again(tmp_path):
    def halves(edge_index, num_nodes):
        return torch.arange(num_nodes) // 2

    coarsen = Coarsen(halves)
    GHR(2, 6, 1, coarsen=coarsen).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="saved with a coarsen of its own, Coarsen; pass it"):
        GHR.from_pretrained(tmp_path)
    assert GHR.from_pretrained(tmp_path, coarsen=coarsen).transform is coarsen


def test_the_coarsening_is_kept(tmp_path):
    own = Coarsen(Graclus(rounds=2, mode="heavy_edge", seed=3), ("min", "mean"), levels=2)
    for name, options in {"own": {"coarsen": own, "levels": 3}, "usual": {"levels": 3}, "grid": {}}.items():
        if name == "grid":
            options = {"coarsen": {"partition": "grid", "block": 3}}
        model = GHR(2, 6, 1, edge_dim=3, **options)
        model.save_pretrained(tmp_path / name)
        again = GHR.from_pretrained(tmp_path / name)
        assert repr(again.transform) == repr(model.transform)
        assert again.config == model.config
    assert repr(GHR.from_pretrained(tmp_path / "own").transform) == repr(own)
    assert "GridBlocks" in repr(GHR.from_pretrained(tmp_path / "grid").transform)


def test_numbers_of_numpy_are_kept(tmp_path):
    model = GHR(np.int64(2), np.int64(6), np.int64(1), steps=np.int32(2), t_low=np.int64(3), levels=np.int64(3))
    model.save_pretrained(tmp_path)
    again = GHR.from_pretrained(tmp_path)
    assert again.config == model.config
    assert (again.steps, again.t_low, again.levels) == (2, 3, 3)


def test_values_in_the_types_of_json(tmp_path):
    given = {"a": (1, [2.5, None]), "b": {"c": True}, "d": tmp_path, "e": np.float32(0.5), "f": np.int8(3)}
    plain = {"a": [1, [2.5, None]], "b": {"c": True}, "d": str(tmp_path), "e": 0.5, "f": 3}
    assert describe_value(given) == plain
    assert json.loads(json.dumps(describe_value(given))) == plain
    assert describe_value(Half()) == {"own": "Half"}
    assert describe_value(Half) == {"own": "Half"}
    assert describe_value(lambda channels: Half(channels)) == {"own": "<lambda>"}


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no saved model at .*nowhere"):
        GHR.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="There is no saved model at no-such-model"):
        GHR.from_pretrained("no-such-model")


def test_missing_weights(saved):
    (saved / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=r"There is no weights file .*model\.safetensors"):
        GHR.from_pretrained(saved)


@pytest.mark.parametrize("kept", [0, 4, 50, -1])
def test_truncated_weights(saved, kept):
    whole = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(whole[:kept])
    with pytest.raises(ValueError, match=r"weights in .*model\.safetensors are damaged or cut short"):
        GHR.from_pretrained(saved)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "steps: 4",
        "[]",
        "3",
        "null",
        "{}",
        '{"model": "GHR", "dtype": "float32"}',
        '{"model": "GHR", "dtype": "float32", "config": 3}',
        '{"model": "GHR", "dtype": "float32", "config": [1, 2]}',
        '{"model": "GHR", "dtype": "red", "config": {}}',
        '{"model": "GHR", "dtype": [], "config": {}}',
    ],
)
def test_config_that_is_none(saved, text):
    (saved / CONFIG).write_text(text)
    with pytest.raises(ValueError, match=r"config\.json is not the config of a saved model"):
        GHR.from_pretrained(saved)


def test_config_that_is_not_text(saved):
    (saved / CONFIG).write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ValueError, match=r"config\.json is not the config of a saved model"):
        GHR.from_pretrained(saved)


def rewrite(saved, **changes):
    content = json.loads((saved / CONFIG).read_text())
    content["config"].update(changes)
    (saved / CONFIG).write_text(json.dumps(content))


def test_config_of_another_version(saved):
    rewrite(saved, colour="red")
    with pytest.raises(ValueError, match=r"config\.json does not fit this version of GHR: .*colour"):
        GHR.from_pretrained(saved)


def test_weights_of_another_size(saved):
    rewrite(saved, hidden_channels=8)
    with pytest.raises(ValueError, match=r"do not fit GHR: .*cells\.0\..* in the file but .* in the model"):
        GHR.from_pretrained(saved)


def test_weights_of_another_structure(saved):
    rewrite(saved, time_informed=True)
    with pytest.raises(ValueError, match=r"do not fit GHR: time\.weight is missing"):
        GHR.from_pretrained(saved)


def test_wrong_class(saved):
    with pytest.raises(ValueError, match=r"holds a GHR, not a DeepGNN; ghr\.load\(.*\) loads any"):
        load_pretrained(DeepGNN, saved, {})
    content = json.loads((saved / CONFIG).read_text())
    (saved / CONFIG).write_text(json.dumps({**content, "model": "DeepGNN"}))
    with pytest.raises(ValueError, match="holds a DeepGNN, not a GHR"):
        GHR.from_pretrained(saved)


def test_a_failed_save_leaves_the_old_files_whole(saved, model, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    with torch.no_grad():
        model.node_encoder.bias.fill_(3)
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        model.save_pretrained(saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_a_file_in_place_of_the_folder(tmp_path, model):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(OSError, match=r"Could not make the folder .*taken"):
        model.save_pretrained(tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def save_older_sweeps(model: GHR, folder: Path) -> None:
    """Write a model as the version did in which the readout leaned towards every channel apart."""
    model.save_pretrained(folder)
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    for name in [name for name in weights if name.endswith((".farthest", "readout.sharpness"))]:
        del weights[name]
    weights["readout.lean"] = torch.ones_like(weights["readout.weight"])
    safetensors.torch.save_file(weights, folder / "model.safetensors")


def test_sweeps_of_an_older_version_are_a_sentence(tmp_path):
    model = GHR(1, 8, 1, conv=None, levels=1, values="select", value_gate="graph", value_channels=3)
    save_older_sweeps(model, tmp_path)
    with pytest.raises(ValueError, match="do not fit GHR: they are of an older version, in which") as error:
        ghr.load(tmp_path)
    assert "train the model again" in str(error.value)
    assert "(1, 3)" not in str(error.value), "no shapes"


def test_other_weights_that_do_not_fit_sweeps_are_named_one_by_one(tmp_path):
    GHR(1, 8, 1, conv=None, levels=1, values="select", value_gate="graph", value_channels=3).save_pretrained(tmp_path)
    weights = safetensors.torch.load_file(tmp_path / "model.safetensors")
    del weights["readout.factor"]
    safetensors.torch.save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"do not fit GHR: readout\.factor is missing"):
        ghr.load(tmp_path)
