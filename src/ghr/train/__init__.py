"""Training that survives being killed, on one process or many."""

from ghr.train.config import TrainConfig
from ghr.train.evaluate import evaluate, predict
from ghr.train.loss import DiscountedLoss
from ghr.train.objective import NotFiniteError
from ghr.train.run import load_best
from ghr.train.trainer import train

__all__ = ["DiscountedLoss", "NotFiniteError", "TrainConfig", "evaluate", "load_best", "predict", "train"]
