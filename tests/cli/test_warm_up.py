import pytest
import torch

from ghr.cli import main
from ghr.cli.warm_up import warm_up
from ghr.models import GHR
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


def test_an_unknown_model_is_named(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["warm-up", "gnn"])
    assert stopped.value.code == 2
    assert "gnn" in capsys.readouterr().err
