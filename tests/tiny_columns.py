"""Columns of tables at equal cost that train in seconds."""

from ghr.paper.cell_tests import ByDiameter, Lattices
from ghr.paper.equal import Column, System
from ghr.paper.ranges import RangeTest

SYSTEMS = (
    System("ghr", "GHR", "ghr", {"steps": 1, "t_high": 1, "t_low": 1, "hidden_channels": 4}, family="GHR"),
    System("gcn", "GCN", "gcn", {"layers": 1, "hidden_channels": 4}, note="one layer", far=False),
    System("constant", "best constant", "constant", family="floor", own_recipe=True),
)
TRAINING = {"batch_size": 8, "lr": 1e-2, "schedule": "cosine", "patience": None}
GRAPHS = {"train": 8, "val": 4, "test": 6}
EPOCHS = {"ghr": 1, "gcn": 2, "constant": 1}
ECHO = Column(
    "echo-sssp", "sssp, MAE in hops", "echo-sssp", GRAPHS, 12, "mae", TRAINING, EPOCHS, {"gcn": "2.102"},
    (ByDiameter("sssp", 6), RangeTest("echo-sssp")), long={"gcn": 3}, elsewhere="ABC 0.5",
)  # fmt: skip
LRIM = Column(
    "lrim-16-hard", "16-hard, log10 MSE", "lrim-16-hard", GRAPHS, 12, "log10_mse", TRAINING,
    {"gcn": 1, "constant": 1}, {"gcn": "-1.000"}, (Lattices(32, 1),), (Lattices(64, 1),),
)  # fmt: skip
