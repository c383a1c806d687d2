"""Calls of the public surface with one or two things wrong, for `test_fuzz`; a case follows from its seed and number.

Each family at the end is a function that makes a call which works, spoils one or two of the things that go into it, and
looks at what comes out. `python tests/fuzz_cases.py FAMILY SEED NUMBER` runs a single case and shows what it was.
"""

import inspect
import json
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data

import ghr
from ghr import MODELS, CentrePaths, Coarsen, Graclus, GraphModel, GridBlocks, Level, Metric, State, Task, memory
from ghr.datasets import METRICS
from ghr.datasets.metrics import make_metric
from ghr.datasets.task import LOSSES
from ghr.hierarchy.data import check_graph
from ghr.hierarchy.lattice import lattice_edges
from ghr.hierarchy.reduce import Merged
from ghr.models import TorusKernel
from ghr.models.virtual_node import CONVS as VIRTUAL_CONVS
from ghr.nn.conv import CONVS
from ghr.nn.conv.bare import BARE_CONVS
from ghr.testing import random_graph

# What may stand in place of anything; `value` is what is right there.
THINGS = """
None | True | False | 'no' | '' | 'max' | 'node' | b'max' | 'a' * 500 | str(value) | type(value) | object()
0 | 1 | 2 | 3 | -1 | -(10**20) | 2**31 - 1 | 2**31 | 99999999999 | 2**63 | 10**400 | -(10**400) | 10**5000
0.5 | 1.0 | 2.5 | -0.5 | 1e300 | float('nan') | float('inf') | Fraction(1, 2) | 1j
np.int64(2) | np.int32(1) | np.uint8(3) | np.int64(-1) | np.float32(0.5) | np.float64(1.0) | np.float64('nan')
np.bool_(True) | np.str_('max') | np.array(2) | np.array([1, 2]) | np.array(['max']) | np.zeros((30, 30))
np.array([value], dtype=object) | torch.tensor(2) | torch.tensor([1]) | torch.tensor([1, 2]) | torch.zeros(30, 30)
[] | () | {} | [1] | (2, 3) | [None] | ['min', 'max'] | [[1]] | [value] | (value, value) | {1, 2} | range(2) | range(0)
{'rounds': 2} | {'rounds': None} | {'mode': ['random']} | {'stepz': 1} | {1: 2} | slice(2) | iter([1])
(lambda *given: None) | (lambda *given: torch.zeros(3)) | Graclus | Task('node')
"""

# What may stand in place of a number, and means the same or little else.
NUMBERS = """
np.int64(value) | np.int16(value) | np.uint8(value) | np.float32(value) | np.float64(value) | value + 1 | value / 2
np.int64(value) + 1 | -value | float(value) | Fraction(value) | np.array(value) | str(value)
"""

# What may stand in place of a tensor.
TENSORS = """
value.tolist() | value.numpy() | value.tolist()[0] | tuple(value) | EdgeIndex(value) | nn.Parameter(value)
value.double() | value.half() | value.bfloat16() | value.float() | value.long() | value.int() | value.bool()
value.to(torch.uint8) | value.to(torch.uint16) | value.to(torch.uint64) | value.to(torch.complex64)
value.to(torch.float8_e5m2) | value.to('meta') | value.to_sparse() | value.clone().requires_grad_() | value[:0]
value[:1] | value[:-1] | value[1:] | value[0] | value[:, :0] | value[:, :1] | value[..., :-1] | value.flip(0)
value.flatten()[0] | value.flatten() | value.unsqueeze(0) | value.unsqueeze(-1) | value.T | value.T.contiguous().T
torch.cat([value, value]) | torch.cat([value, value], -1) | torch.cat([value, value[:1]]) | torch.empty(0)
torch.ones(()) | value - 1 | value + 1 | value + 1000 | -value | value * 0 | value.abs() | value + 2**40
value * 1e30 | value / 3 | value * float('nan') | value / 0 | value.masked_fill(value == value.max(), -(2**62))
value.expand(3, *value.shape) | torch.nested.nested_tensor([value, value])
torch.quantize_per_tensor(value, 0.1, 0, torch.qint8) | torch.randn(3, 2)
"""

# What may stand in place of options by these names, beside all that.
OPTIONS = {
    "readout": "ghr.NodeReadout(4, 1) | ghr.NodeReadout(5, 1) | ghr.EdgeReadout(4, 1, edge_dim=4) | ghr.NodeReadout",
    "conv": "ghr.nn.conv.GINE(4, 4) | ghr.nn.conv.GINE(5, 4) | ghr.nn.conv.GCN | (lambda width: width) | 'GINE'",
    "coarsen": "ghr.Coarsen(Graclus()) | ghr.Coarsen(Graclus(), 'centre_paths', levels=2) | {'partition': 'grid'}",
    "partition": "GridBlocks() | Graclus(3) | 'grid' | GridBlocks(3)",
    "edge_reduce": "CentrePaths(1) | CentrePaths() | 'max' | ['min', 'sum']",
    "t_high": "[1, 2] | (1,) | [np.int64(1)]",
    "steps": "'auto' | ghr.Settled() | ghr.Settled(limit=2)",
    "in_channels": "[2, 2] | (3, 3) | [2]",
    "edge_dim": "[3] | (2, 2) | 2",
    "pool": "'sum' | 'median'",
    "values": "'select' | 'sum'",
    "level": "'edge' | 'nodes'",
    "schedule": "'cosine'",
    "mode": "'heavy_edge'",
    "criterion": "nn.MSELoss(reduction='none') | nn.MSELoss | nn.CrossEntropyLoss()",
}

NAMES = {
    "np": np, "torch": torch, "nn": nn, "Fraction": Fraction, "EdgeIndex": EdgeIndex, "State": State, "Task": Task,
    "Graclus": Graclus, "GridBlocks": GridBlocks, "CentrePaths": CentrePaths, "ghr": ghr,
}  # fmt: skip
SOURCE = Path(ghr.__file__).parent
LITTLE = 2**28  # bytes of memory that the library shall believe in: what needs more is refused, and never tried
MEANINGLESS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

# Attributes that a graph need not have, as they would be right for so many nodes and edges.
FOREIGN: dict[str, Callable[[int, int], Any]] = {
    "batch": lambda nodes, edges: torch.zeros(nodes, dtype=torch.long),
    "edge_weight": lambda nodes, edges: torch.ones(edges),
    "num_nodes": lambda nodes, edges: nodes,
    "y": lambda nodes, edges: torch.ones(nodes, 1),
    "ptr": lambda nodes, edges: torch.tensor([0, nodes]),
    "level2_batch": lambda nodes, edges: torch.zeros(1, dtype=torch.long),
}


def split(table: str) -> list[str]:
    return [expression.strip() for line in table.strip().splitlines() for expression in line.split(" | ")]


class Draw:
    """The random choices of one case.

    Args:
        family: Name of the family.
        seed: Seed of all cases.
        number: Number of the case.
        harm: Whether anything is spoiled; otherwise the case has to work.

    Attributes:
        notes: What was chosen, and what stands in place of what.
        spoiled: Names of what was spoiled.
    """

    def __init__(self, family: str, seed: int, number: int, *, harm: bool = True) -> None:
        self.random = random.Random(f"{family} {seed} {number}")
        self.harm = harm
        self.notes: list[str] = []
        self.spoiled: list[str] = []

    def pick(self, name: str, *choices: Any) -> Any:
        chosen = self.random.choice(choices)
        plain = chosen is None or isinstance(chosen, (str, int, float, type))
        self.notes.append(f"{name}: {chosen if plain else type(chosen).__name__}")
        return chosen

    def target(self, *choices: str) -> str:
        """Return what of a call is to be spoiled."""
        return self.pick("spoil", *choices) if self.harm else "nothing"

    def change(self, name: str, value: Any, words: str = "") -> Any:
        """Return something else in place of a value; `words` are more of what that may be."""
        if not self.harm:
            return value
        tables = [THINGS]
        tables += [TENSORS] * 3 if isinstance(value, Tensor) else []
        tables += [NUMBERS] if isinstance(value, (int, float)) and not isinstance(value, bool) else []
        tables += [words] * 2 if words else []
        while True:
            expression = self.random.choice(split(self.random.choice(tables)))
            try:
                other = eval(expression, dict(NAMES), {"value": value})
            except MEANINGLESS:
                continue  # it says nothing for this value
            self.notes.append(f"{name} = {expression}")
            self.spoiled.append(name)
            return other

    def spoil(self, given: Mapping[str, Any], words: Mapping[str, str] = OPTIONS) -> dict[str, Any]:
        """Return arguments of which one or two are something else."""
        names = self.random.sample(list(given), min(len(given), self.random.choice((1, 1, 1, 2))))
        return {**given, **{name: self.change(name, given[name], words.get(name, "")) for name in names}}

    def spoil_graph(self, data: Data, *others: str, only: str = "") -> Data:
        """Return a graph of which one or two attributes, these and `others`, are missing or something else."""
        data, nodes, edges = data.clone(), data.num_nodes, data.num_edges
        names = [name for name in data.keys() if name.startswith(only)]  # noqa: SIM118
        for name in self.random.sample([*names, *others], self.random.choice((1, 1, 1, 2)) if self.harm else 0):
            if name not in data and name in FOREIGN:
                data[name] = FOREIGN[name](nodes, edges)
            if name in data and self.random.random() < 0.15:
                self.notes.append(f"del {name}")
                self.spoiled.append(name)
                del data[name]
            else:
                data[name] = self.change(name, data[name] if name in data else torch.arange(nodes))
        return data


def make_graph(
    draw: Draw,
    *,
    codes: bool = False,
    marks: bool = False,
    nodes: int | None = None,
    kind: type[GraphModel] | None = None,
) -> Data:
    """Return a small graph: two node features and one edge feature; or codes; or marks and lengths."""
    if kind is not None and kind.lattices_only:
        edge_index = lattice_edges(draw.pick("side", 4, 8))
        data = random_graph(int(edge_index.max()) + 1, 0, in_channels=1 if kind is TorusKernel else 2)
        data.edge_index, data.edge_attr = edge_index, torch.randn(edge_index.size(1), 1)
    else:
        nodes = draw.pick("nodes", 1, 2, 4, 9, 12) if nodes is None else nodes
        edges = 0 if nodes == 1 else draw.random.randint(0, 2 * nodes)
        data = random_graph(nodes, edges, in_channels=2, edge_dim=1, seed=draw.random.randint(0, 99))
    if marks:
        data.x, data.edge_attr = (data.x > 0.5).float(), data.edge_attr.abs()
    if codes:
        data.x, data.edge_attr = (data.x > 0).long(), (data.edge_attr > 0).long() + (data.edge_attr > 1).long()
    return data


def shape_of(value: Any) -> tuple[int, ...]:
    assert isinstance(value, Tensor), f"expected a tensor, not {type(value).__name__}"
    return tuple(value.shape)


# Families: graphs and their levels


def coarsen(draw: Draw) -> None:
    """Coarsen with odd options, odd graphs, and partitions and rules that return odd things."""
    grid, codes = draw.pick("grid", False, False, True), draw.pick("codes", False, False, True)
    data = make_graph(draw, codes=codes, marks=not codes, nodes=16 if grid else None)
    rules = [None] if codes else [None, "mean", ("min", "max")]
    partitions = [GridBlocks()] if grid else [Graclus(), Graclus(2, "heavy_edge"), Graclus(seed=None)]
    options = {
        "partition": draw.pick("partition", *partitions),
        "edge_reduce": draw.pick("edge_reduce", *rules, *([] if grid else ["centre_paths", CentrePaths()])),
        "levels": draw.pick("levels", 1, 1, 2, *([] if grid else [3])),
        "codes": [3] if codes else None,
    }
    what = draw.target("options", "graph", "graph", "labels", "rule")
    if what == "options":
        options = draw.spoil(options)
    elif what == "graph":
        data = draw.spoil_graph(data, "batch", "edge_weight", "num_nodes", "pos", "level1_batch", "level_signature")
    elif what == "labels":
        labels = draw.change("partition", torch.arange(len(data.x)) // 2)
        options["partition"] = lambda *given: labels
    elif what == "rule":
        features = draw.change("edge_reduce", torch.ones(2, 1))
        options["edge_reduce"] = lambda *given: features
    coarse = Coarsen(**options)(data)
    assert len(coarse.levels) == coarse.num_levels == options["levels"] + 1
    repr(Coarsen(**options)), Coarsen(**options).config


def graclus(draw: Draw) -> None:
    """Graclus, built and called with odd things."""
    data = make_graph(draw)
    options = {"rounds": 2, "mode": draw.pick("mode", "min_degree", "heavy_edge", "random"), "seed": 0}
    weight = draw.pick("weight", None, torch.ones(data.num_edges))
    call = {"edge_index": data.edge_index, "num_nodes": data.num_nodes, "edge_weight": weight}
    what = draw.target("options", "call", "call")
    labels = Graclus(**(draw.spoil(options) if what == "options" else options))(
        **(call := draw.spoil(call) if what == "call" else call)
    )
    assert shape_of(labels) == (call["num_nodes"],)
    assert labels.min() == 0
    assert labels.unique().numel() == labels.max() + 1


def grid(draw: Draw) -> None:
    """GridBlocks, built and called with odd things; so its edge features."""
    empty, ring = torch.empty(2, 0, dtype=torch.long), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    what = draw.target("options", "call", "call", "features")
    blocks = GridBlocks(**(draw.spoil({"block": 2}) if what == "options" else {"block": 2}))
    call = {"edge_index": draw.pick("edges", empty, ring), "num_nodes": 16}
    assert len(shape_of(blocks(**(draw.spoil(call) if what == "call" else call)))) == 1
    given = {"coarse_edge_index": ring, "assignment": GridBlocks()(empty, 16), "num_clusters": 4}
    lengths = blocks.coarse_edge_attr(**(draw.spoil(given) if what == "features" else given))
    assert len(shape_of(lengths)) == 2
    assert lengths.isfinite().all()


def centre_paths(draw: Draw) -> None:
    """CentrePaths, called as Coarsen calls it."""
    data = make_graph(draw, marks=True)
    step = Merged.by(Graclus()(data.edge_index, data.num_nodes), data.edge_index)
    batch = torch.zeros(data.num_nodes, dtype=torch.long)
    level: dict[str, Any] = {"edge_index": data.edge_index, "edge_attr": data.edge_attr}
    level |= {"num_nodes": data.num_nodes, "batch": batch}
    call: dict[str, Any] = {"label": step.assignment, "num_clusters": step.num_nodes}
    call |= {"coarse_edges": step.edge_index, "became": torch.from_numpy(step.became)}
    what = draw.target("level", "call", "call", "options")
    level = draw.spoil(level) if what == "level" else level
    call["level"] = Level(**level)
    call = draw.spoil(call) if what == "call" else call
    lengths, distances = CentrePaths(**(draw.spoil({"column": 0}) if what == "options" else {}))(**call)
    assert shape_of(lengths) == (call["coarse_edges"].size(1), 1)
    assert shape_of(distances) == (level["num_nodes"],)


def hierarchical_data(draw: Draw) -> None:
    """HierarchicalData whose attributes are missing or odd, read in every way there is."""
    coarse = Coarsen(Graclus(), draw.pick("rule", "mean", CentrePaths()), levels=draw.pick("levels", 1, 2))
    good = coarse(make_graph(draw, marks=True))
    way = draw.pick("read", "levels", "levels", "check", "append", "sign", "batch")
    others = ("batch", "edge_weight", "num_nodes", "level2_batch", "ptr")
    data = draw.spoil_graph(good, only="level1_") if way == "batch" else draw.spoil_graph(good, *others)
    if way == "levels":
        assert all(len(shape_of(level.edge_index)) == 2 and level.num_nodes >= 0 for level in data.levels)
    elif way == "check":
        assert len(check_graph(data)) == data.num_levels
    elif way == "append":
        below = good.levels[-1].num_nodes
        given = {"assignment": torch.zeros(below, dtype=torch.long), "num_nodes": 1}
        given |= {"edge_index": torch.empty(2, 0, dtype=torch.long), "edge_attr": torch.empty(0, 1)}
        given["centre_distance"] = torch.zeros(below)
        (good if draw.pick("whole", True, False) else data).append_level(**draw.spoil(given))
    elif way == "sign":
        data.sign()
    else:
        collate([data, good] if draw.pick("first", True, False) else [good, data])


def collate(graphs: list[Data]) -> None:
    """Make a batch; what PyG refuses by itself is its own business."""
    try:
        Batch.from_data_list(graphs)
    except MEANINGLESS as error:
        files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
        if str(SOURCE) in [file for file in files if "torch_geometric" in file or str(SOURCE) in file][-1]:
            raise


# Families: models

WITHOUT_CODES = (ghr.MinPlusGHR, TorusKernel)
STACK_CONVS = {"Stack": tuple(BARE_CONVS), "VirtualNode": VIRTUAL_CONVS}


def pick_kind(draw: Draw) -> type[GraphModel]:
    return draw.pick("model", *dict.fromkeys(entry.build for entry in MODELS.values()))


def pick_options(draw: Draw, kind: type[GraphModel], *, codes: bool = False) -> dict[str, Any]:
    """Return all options of a model, with values for which it takes the graphs of `make_graph`."""
    known = inspect.signature(kind).parameters.values()
    return {option.name: option.default for option in known} | pick_usual(draw, kind, codes=codes)


def pick_usual(draw: Draw, kind: type[GraphModel], *, codes: bool) -> dict[str, Any]:
    """Return options that differ from case to case, small ones among them; all others stay as they are."""
    widths = {"in_channels": [2, 2] if codes else 2, "hidden_channels": 4, "out_channels": draw.pick("out", 1, 3)}
    readout = draw.pick("readout", "node", "node", "graph", "edge", "node-mlp", "edge-mlp")
    if kind is ghr.MinPlusGHR:
        levels, readout = draw.pick("levels", 1, 2), draw.pick("readout", "proportional", readout)
        return {**widths, "levels": levels, "steps": 1, "t_low": 2, "readout": readout}
    if kind is TorusKernel:
        return {"in_channels": 1, "out_channels": widths["out_channels"], "side": 4, "readout": "node"}
    edge_dim = draw.pick("edge_dim", True, True, False)
    shared = {**widths, "conv": draw.pick("conv", *CONVS), "readout": readout}
    shared["edge_dim"] = ([3] if codes else 1) if edge_dim else None
    if kind is ghr.DeepGNN:
        return {**shared, "layers": 2, "steps": draw.pick("steps", None, 2)}
    if kind is ghr.GPS:
        return {**shared, "layers": 1, "heads": 2}
    if kind is not ghr.GHR:
        known, convs = inspect.signature(kind).parameters, STACK_CONVS.get(kind.__name__, ("gcn",))
        usual = {**shared, "conv": draw.pick("conv", *convs), "layers": 1, "heads": 2, "degrees": [1, 2], "levels": 2}
        return {name: value for name, value in usual.items() if name in known}
    start, pool = draw.pick("initial_state", "learned", "random"), draw.pick("pool", "max", "sum", "mean")
    values = draw.pick("values", None, None, None, "select", "sum")
    timed = values is None and draw.pick("time_informed", False, True)
    choices = {"initial_state": start, "pool": pool, "time_informed": timed, "values": values}
    return {**shared, **choices, "levels": draw.pick("levels", 1, 2, 2, 3), "steps": 2}


def pick_model(draw: Draw) -> tuple[GraphModel, Data]:
    """Return a model, and a graph that it takes."""
    kind = pick_kind(draw)
    codes = kind not in WITHOUT_CODES and draw.pick("codes", False, False, True)
    data = make_graph(draw, codes=codes, marks=kind is ghr.MinPlusGHR, kind=kind)
    return kind(**pick_options(draw, kind, codes=codes)).train(data.num_nodes > 1), data


def check_prediction(model: GraphModel, data: Data, prediction: Any) -> None:
    """See that a prediction has the shape that the graph and the options call for."""
    rows, width = shape_of(prediction)
    readout = str(model.config["readout"])
    wanted = data.edge_index.size(1) if "edge" in readout.lower() else data.x.size(0)
    assert width == model.config["out_channels"], f"predictions are {width} wide"
    assert "graph" in readout.lower() or rows == wanted, f"{rows} predictions for {wanted} rows"
    features = [value for value in (data.x, data.edge_attr) if value is not None and value.numel()]
    if all(value.float().abs().max() < 1e3 for value in features):
        assert prediction.isfinite().all(), "a prediction is not finite"


def run_model(draw: Draw, model: GraphModel, data: Data, **loops: Any) -> None:
    if draw.pick("call", "rollout", "forward") == "forward":
        check_prediction(model, data, model(data, **loops))
    else:
        for prediction in model.rollout(data, **loops):
            check_prediction(model, data, prediction)


def build(draw: Draw) -> None:
    """Every model, built with odd options, and run if it can be built."""
    kind = pick_kind(draw)
    codes = kind not in WITHOUT_CODES and draw.pick("codes", False, False, True)
    model = kind(**draw.spoil(pick_options(draw, kind, codes=codes)))
    repr(model), model.transform, model.loops
    data = model.prepare(make_graph(draw, codes=codes, marks=kind is ghr.MinPlusGHR, kind=kind))
    run_model(draw, model.train(data.num_nodes > 1), data)


def graph(draw: Draw) -> None:
    """Every model on odd graphs and batches of them."""
    model, data = pick_model(draw)
    others, when = ("batch", "edge_weight", "num_nodes", "pos", "y"), draw.target("before", "after", "batch", "other")
    data = model.prepare(draw.spoil_graph(data, *others) if when == "before" else data)
    if when == "batch":
        data = Batch.from_data_list([data, data.clone(), data.clone()])
    if when in ("after", "batch"):
        data = draw.spoil_graph(data, *others, "level2_batch", "ptr")
    if when == "other":
        data = draw.change("graph", data, "[value] | value.to_dict() | Task | value.x | tuple(value) | type(value)()")
    run_model(draw, model, data)


def loops(draw: Draw) -> None:
    """Every model with odd numbers of steps and updates at inference."""
    model, data = pick_model(draw)
    given = draw.spoil(dict.fromkeys(model.loops, 1)) if model.loops else {}
    if draw.harm and not model.loops:
        given["steps"] = draw.pick("steps", 1, 2.5, "auto", [1])
        draw.spoiled.append("steps")
    run_model(draw, model, model.prepare(data), **given)


def states(draw: Draw) -> None:
    """Single steps from states and encoded graphs, odd ones and those of other models and graphs."""
    kind = draw.pick("model", ghr.GHR, ghr.MinPlusGHR)
    options = pick_options(draw, kind)
    other = kind(**{**options, "hidden_channels": 6})
    model = kind(**options)
    data, another = (model.prepare(make_graph(draw, marks=True)) for _ in range(2))
    given: Any = draw.pick("encoded", data, model.encode(data))
    state, updates = model.initial_state(given), {"t_low": 1, "t_high": None}
    what = draw.target("state", "levels", "tensor", "graph", "foreign", "encoded", "updates")
    if what == "state":
        state = draw.change("state", state, "tuple(value) | list(value) | value.levels | value.low | [*value.levels]")
    elif what == "levels":
        words = "value[:1] | value + value | list(value) | value[::-1] | (None, *value[1:]) | value[0] | State(value)"
        part = draw.pick("part", "levels", "values" if state.values else "levels")
        state = state._replace(**{part: draw.change("state", getattr(state, part), words)})
    elif what == "tensor":
        part = draw.pick("part", "levels", "values" if state.values else "levels")
        first, *rest = getattr(state, part)
        state = state._replace(**{part: (draw.change("state", first.detach()), *rest)})
    elif what == "foreign":
        state = draw.pick("of", other.initial_state(data), model.initial_state(another))
        draw.spoiled.append("state")
    elif what == "graph":
        given = draw.spoil_graph(data)
    elif what == "encoded":
        given = draw.pick("by", model.encode(another), other.encode(data), other)
        draw.spoiled += ["encoded", "state", "graph"]
    elif what == "updates":
        updates = draw.spoil(updates)
    if what in ("graph", "encoded") and draw.pick("start", True, False):
        state = model.initial_state(given)
    prediction, after = model.step(given, state, **updates)
    assert [shape_of(value) for value in after.levels] == [shape_of(value) for value in state.levels]
    assert shape_of(prediction)[1] == options["out_channels"]


def for_data(draw: Draw) -> None:
    """Models built for odd data, odd tasks and odd options, by class and by name."""
    name = draw.pick("name", *MODELS)
    entry = MODELS[name]
    codes = entry.build not in WITHOUT_CODES and draw.pick("codes", False, False, True)
    graphs = [make_graph(draw, codes=codes, marks=not codes, kind=entry.build) for _ in range(2)]
    example = draw.pick("example", graphs, graphs[0], tuple(graphs))
    level = "node" if entry.build is TorusKernel else draw.pick("level", "node", "graph")
    given: dict[str, Any] = {"example": example, "task": Task(level)}
    usual = {"layers": 1, "steps": 1, "t_low": 1, "edge_dim": None, "conv": "gcn", "readout": "node"}
    if entry.options.get("levels") != 1 and "partition" in entry.build.option_names():
        usual |= {"t_high": 1, "levels": 2, "partition": "graclus", "rounds": 1, "mode": "random"}
    options: dict[str, Any] = {"hidden_channels": 4} if "hidden_channels" in entry.build.option_names() else {}
    for option in draw.random.sample(list(usual), draw.random.randint(0, 3)):
        if option in entry.build.option_names():
            options[option] = usual[option]
    what = draw.target("given", "graph", "options", "options", "names")
    if what == "given":
        words = "[None] | value[:1] | iter(value) | {0: value[0]} | [*value, None] | [value, value] | [value[0], 3]"
        given = draw.spoil(given, {"example": words, "task": "value.describe() | 'graph' | Task | value.level"})
    elif what == "graph":
        spoiled = draw.spoil_graph(graphs[0], "batch", "edge_weight", "num_nodes")
        given["example"] = draw.pick("place", spoiled, [spoiled, graphs[1]], [graphs[1], spoiled])
    elif what == "options":
        options = draw.spoil(options)
    elif what == "names":
        options[draw.pick("name", "stepz", "Steps", "codes", "seed", "x" * 50, "")] = 1
        draw.spoiled.append("option")
    if draw.pick("by", "class", "name") == "class":
        model = entry.build.for_data(**given, **{**entry.options, **options})
    else:
        model = entry.for_data(**given, options=options)
    if what != "graph":
        data = model.prepare(graphs[0])
        run_model(draw, model.train(data.num_nodes > 1), data)


def readouts(draw: Draw) -> None:
    """Readouts with odd widths, by themselves and in models of another width."""
    kind = draw.pick("readout", ghr.NodeReadout, ghr.GraphReadout, ghr.EdgeReadout, ghr.ProportionalReadout)
    edge_dim = draw.pick("edge_dim", None, 4) if kind is ghr.EdgeReadout else None
    options: dict[str, Any] = {"channels": 4, "out_channels": 1}
    options |= {} if kind is ghr.ProportionalReadout else {"layers": draw.pick("layers", 1, 2)}
    options |= {"edge_dim": edge_dim} if kind is ghr.EdgeReadout else {}
    words = {"channels": "5", "out_channels": "2", "edge_dim": "None | 4 | 3", "layers": "1 | 2"}
    readout = kind(**draw.spoil(options, words))
    repr(readout)
    model = ghr.GHR(2, 4, 1, edge_dim=None if edge_dim is None else 1, levels=1, steps=1, readout=readout)
    assert shape_of(model(make_graph(draw)))[1] == 1


@cache
def saved() -> Path:
    """Return a folder with a saved model, there for as long as the process lives."""
    folder = Path(tempfile.mkdtemp(prefix="ghr-fuzz-"))
    ghr.GHR(2, 4, 1, steps=1).save_pretrained(folder / "model")
    return folder


def load(draw: Draw) -> None:
    """Models loaded from odd places, with odd parts, and from damaged folders."""
    what, place = draw.target("place", "own", "file", "config", "weights"), saved() / "model"
    own: dict[str, Any] = {"conv": "gated_gine", "readout": "node", "steps": 2}
    if what == "place":
        words = "str(value) | value.parent | value / 'config.json' | 'rgg-sssp-large' | '../x' | '/' | 'a\\0b'"
        place, own = draw.change("model", place, words), {}
    elif what == "own":
        own = draw.spoil(own)
    elif what != "nothing":
        place = shutil.copytree(place, saved() / "damaged", dirs_exist_ok=True)
        damage(draw, what, place)
        draw.spoiled += ["config", "weights", "model"]
    model = ghr.load(place, **own)
    assert not model.training


def damage(draw: Draw, what: str, folder: Path) -> None:
    """Spoil a file of a saved model."""
    weights, config = folder / "model.safetensors", folder / "config.json"
    if what == "weights":
        whole = weights.read_bytes()
        weights.write_bytes(draw.pick("weights", b"", b"{}", whole[:-7], b"\0" * 64, whole + b"1", whole[:99]))
    elif what == "file":
        text = config.read_text()
        config.write_text(draw.pick("text", text[:-9], "[]", "3", "", '"a"', "\xff", "{}", text.replace("4", "8")))
    else:
        content = json.loads(config.read_text())
        part = draw.pick("part", content, content["config"], content["config"], content["config"])
        values = (None, True, 0, -3, 2.5, "no", [], [1], {}, {"a": 1}, 10**12)
        key = draw.pick("key", *part, "stepz")
        draw.spoiled.append(key)
        part[key] = draw.pick("value", *values)
        config.write_text(json.dumps(content))


# Families: what is asked, and how it is learned


def loss(draw: Draw) -> None:
    """The loss of odd predictions and targets, by odd criteria."""
    kinds = {**LOSSES, "nll": nn.NLLLoss, "own": lambda: lambda prediction, target: prediction.sum() - target.sum()}
    name = draw.pick("criterion", *kinds)
    classes = name in ("cross_entropy", "nll")
    rows, width = draw.pick("rows", 1, 5), 3 if classes else draw.pick("width", 1, 3)
    target = torch.zeros(rows, dtype=torch.long) if classes else torch.zeros(rows, width)
    steps: Any = [torch.rand(rows, width, requires_grad=True) for _ in range(2)]
    options = {"criterion": kinds[name](), "gamma": 0.8, "log10": draw.pick("log10", False, True)}
    what = draw.target("options", "predictions", "prediction", "target", "target")
    if what == "options":
        options = draw.spoil(options)
    elif what == "predictions":
        steps = draw.change("predictions", steps, "tuple(value) | torch.stack(value) | value[0] | {0: value[0]} | [[]]")
    elif what == "prediction":
        steps[1] = draw.change("prediction", steps[1].detach())
    elif what == "target":
        words = "value[:, 0].long() | value.flatten().long() | value.flatten() | value + 2 | value + 3"
        target = draw.change("target", target, words)
    discounted = ghr.DiscountedLoss(**options)
    repr(discounted)
    assert shape_of(discounted(steps, target)) == ()


def task(draw: Draw) -> None:
    """Tasks with odd options, and their odd targets, masks and predictions."""
    name, width = draw.pick("loss", *LOSSES, nn.MSELoss()), draw.pick("width", 1, 3)
    options: dict[str, Any] = {"level": draw.pick("level", "node", "graph", "edge"), "out_channels": width}
    options |= {"loss": name, "metric": "mae", "class_weight": None, "classes": None, "name": "y"}
    if name == "cross_entropy":
        options |= {"class_weight": [1.0] * width, "classes": ["a"] * width}
    data: Any = make_graph(draw)
    rows = {"node": data.num_nodes, "graph": 1, "edge": data.num_edges}[options["level"]]
    data.y = torch.zeros(rows, dtype=torch.long) if name == "cross_entropy" else torch.zeros(rows, width)
    data.mask, prediction = torch.ones(rows, dtype=torch.bool), torch.zeros(rows, width)
    what = draw.target("options", "options", "data", "y", "mask", "prediction", "description")
    asked = Task(**(draw.spoil(options) if what == "options" else options))
    repr(asked), asked.criterion()
    if what == "data":
        data = draw.change("data", data, "value.to_dict() | [value] | value.y | Task")
    elif what in ("y", "mask"):
        data[what] = draw.change(what, data[what])
    elif what == "prediction":
        prediction = draw.change("prediction", prediction)
    elif isinstance(name, str):
        described = asked.describe()
        Task.from_description(draw.spoil(described) if what == "description" else described)
    target = asked.target(data)
    assert shape_of(target)[0] == asked.rows(data)
    assert shape_of(asked.counted(data, target)) == shape_of(target)
    if what != "options":
        asked.check_prediction(prediction, data)


def metric(draw: Draw) -> None:
    """Metrics with odd options, and of odd predictions and targets."""
    name, width = draw.pick("metric", *METRICS), draw.pick("width", 1, 3)
    classes = name in ("accuracy", "macro_f1", "roc_auc") and width > 1 and draw.pick("classes", True, False)
    target = torch.arange(6) % 3 if classes else (torch.arange(6) % 2).float().unsqueeze(1).repeat(1, width)
    known = METRICS[name]
    what = draw.target("call", "call", "options", "scale", "name")
    if what == "options":
        options = {"name": known.name, "score": known.score, "unit": "", "higher_is_better": False, "columns": False}
        repr(Metric(**draw.spoil(options)))
    elif what == "scale":
        repr(known.scale(**draw.spoil({"factor": 2.0, "unit": "m"})))
    elif what == "name":
        repr(make_metric(draw.change("metric", name)))
    else:
        score = known(**draw.spoil({"prediction": torch.rand(6, width), "target": target}))
        assert isinstance(score, float)


def values(draw: Draw) -> None:
    """Classes that only hold options, and must hold them as JSON does."""
    kind = draw.pick("kind", ghr.TrainConfig, ghr.TrainConfig, ghr.Settled, ghr.Entry)
    if kind is ghr.Entry:
        given = {"build": ghr.GHR, "options": {"levels": 1, "hidden_channels": 4}, "summary": "", "reference": ""}
        entry = ghr.Entry(**draw.spoil(given, {"build": "nn.Linear | ghr.GraphModel | ghr.GPS"}))
        if "build" not in draw.spoiled:
            entry.for_data(make_graph(draw), Task("node"), {})
        return
    defaults = {"tolerance": 1e-5, "limit": 3} if kind is ghr.Settled else vars(ghr.TrainConfig(schedule="plateau"))
    made = kind(**draw.spoil(defaults))
    assert kind(**json.loads(json.dumps(vars(made)))) == made


FAMILIES: dict[str, Callable[[Draw], None]] = {
    family.__name__: family
    for family in (
        coarsen, graclus, grid, centre_paths, hierarchical_data, build, graph, loops, states, for_data, readouts, load,
        loss, task, metric, values,
    )
}  # fmt: skip

if __name__ == "__main__":
    memory.physical_memory = lambda: LITTLE
    drawn = Draw(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    torch.manual_seed(int(sys.argv[3]))
    try:
        FAMILIES[sys.argv[1]](drawn)
    finally:
        print(*drawn.notes, sep="\n")
