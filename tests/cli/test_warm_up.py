import pytest
import torch

from ghr.cli import main
from ghr.cli.warm_up import warm_up
from ghr.models import GHR, MODELS
from ghr.ops.kernels import gine


def test_kernels_of_both_ways_are_ready(capsys):
    main(["warm-up", "ghr"])
    assert "Ready after" in capsys.readouterr().err
    for kernel in (gine.forward, gine.backward):
        assert any("float32" in str(signature) for signature in kernel.signatures)


def test_models_without_parameters_and_other_precisions_are_warmed_too(monkeypatch):
    seen = []
    rollout = GHR.rollout
    monkeypatch.setattr(GHR, "rollout", lambda self, data, *rest: seen.append(data.x.dtype) or rollout(self, data))
    warm_up("ghr", torch.float64)
    warm_up("constant", torch.float32)
    assert seen == [torch.float64]


@pytest.mark.parametrize("name", ["lattice-unet", "torus-kernel"])
def test_models_of_lattices_get_one(name, monkeypatch):
    seen, build = [], MODELS[name].build
    rollout = build.rollout
    monkeypatch.setattr(build, "rollout", lambda self, data: seen.append(data.num_nodes) or rollout(self, data))
    warm_up(name, torch.float64)
    assert seen == [16 * 16]


def test_an_unknown_model_is_named(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["warm-up", "gnn"])
    assert stopped.value.code == 2
    assert "gnn" in capsys.readouterr().err
