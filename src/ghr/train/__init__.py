"""Training that survives being killed, on one process or many."""

from ghr.train.config import TrainConfig
from ghr.train.directory import BusyError
from ghr.train.evaluate import collect, evaluate, predict
from ghr.train.loss import DiscountedLoss
from ghr.train.objective import NotFiniteError
from ghr.train.run import Run
from ghr.train.training import train

__all__ = [
    "BusyError",
    "DiscountedLoss",
    "NotFiniteError",
    "Run",
    "TrainConfig",
    "collect",
    "evaluate",
    "predict",
    "train",
]
