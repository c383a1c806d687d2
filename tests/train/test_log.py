import sys

import pytest

from ghr.train.log import CURVES, TensorBoardLog


def line(epoch, val=0.5):
    return {"epoch": epoch, "train_loss": 1.0 / epoch, "val": val, "lr": 1e-3, "seconds": 0.1}


def read(folder):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    points = {curve: events.Scalars(curve) for curve in CURVES.values()}
    return {curve: [(event.step, round(event.value, 6)) for event in found] for curve, found in points.items()}


def test_every_epoch_is_a_point_of_every_curve(tmp_path):
    pytest.importorskip("tensorboard")
    with TensorBoardLog(tmp_path / "log") as log:
        assert not (tmp_path / "log").exists(), "nothing is made before the first epoch"
        log(line(1))
        log(line(2))
    curves = read(tmp_path / "log")
    assert curves["loss/train"] == [(1, 1.0), (2, 0.5)]
    assert curves["metric/validation"] == [(1, 0.5), (2, 0.5)]
    assert curves["lr"] == [(1, 0.001), (2, 0.001)]


def test_a_repeated_epoch_takes_the_place_of_the_first(tmp_path):
    pytest.importorskip("tensorboard")
    with TensorBoardLog(tmp_path) as log:
        log(line(1))
        log(line(2, val=9.0))
    with TensorBoardLog(tmp_path) as log:  # killed before the checkpoint of epoch 2, and started again
        log(line(2, val=0.25))
    assert read(tmp_path)["metric/validation"] == [(1, 0.5), (2, 0.25)]


def test_without_the_package_it_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match=r'pip install "ghr\[log\]"'):
        TensorBoardLog(tmp_path)
