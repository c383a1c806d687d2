import json
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data

from ghr import Coarsen, Graclus
from ghr.datasets import METRICS, Metric, Task
from ghr.datasets.task import DEFAULT_METRICS, LOSSES

NAN = math.nan


def graph(num_nodes=3, **values):
    nodes = torch.arange(num_nodes - 1)
    edges = torch.stack([nodes, nodes + 1])
    return Data(x=torch.ones(num_nodes, 1), edge_index=torch.cat([edges, edges.flip(0)], dim=1), **values)


@pytest.mark.parametrize(("level", "rows"), [("node", 3), ("edge", 4), ("graph", 1)])
def test_a_level_has_its_rows(level, rows):
    task = Task(level)
    assert task.rows(graph()) == rows
    assert task.rows(Batch.from_data_list([graph(), graph()])) == 2 * rows
    assert task.rows(Coarsen(Graclus(rounds=1))(graph())) == rows
    assert task.target(graph(y=torch.rand(rows, 1))).shape == (rows, 1)


@pytest.mark.parametrize("values", [[1, 2, 3], [[1], [2], [3]]])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64, torch.float16])
def test_numbers_are_columns_of_floats(values, dtype):
    target = Task("node").target(graph(y=torch.tensor(values, dtype=dtype)))
    assert target.tolist() == [[1], [2], [3]]
    assert target.dtype == (dtype if dtype.is_floating_point else torch.float32)


def test_integer_targets_do_not_broadcast():
    task = Task("node")
    target = task.target(graph(y=torch.tensor([1, 2, 3])))
    prediction = torch.tensor([[1.0], [2.0], [4.0]])
    assert task.score(prediction, target) == pytest.approx(1 / 3)
    assert float(task.criterion()(prediction, target)) == pytest.approx(1 / 3)


def test_targets_of_a_batch_are_those_of_its_graphs():
    graphs = [graph(y=torch.tensor([1.0, 2.0])), graph(5, y=torch.tensor([3.0, 4.0]))]
    assert Task("graph", 2).target(Batch.from_data_list(graphs)).tolist() == [[1, 2], [3, 4]]
    assert Task("graph").target(graph(y=torch.tensor(7.0))).tolist() == [[7]]
    assert Task("node", 2).target(graph(y=torch.arange(6.0).view(3, 2))).tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("values", [[0, 2, 1], [[0], [2], [1]], [0.0, 2.0, 1.0]])
def test_classes_are_whole_numbers(values):
    task = Task("node", 3, loss="cross_entropy")
    target = task.target(graph(y=torch.tensor(values)))
    assert (target.tolist(), target.dtype) == ([0, 2, 1], torch.long)
    loss = task.criterion()(torch.zeros(3, 3), target)
    assert float(loss) == pytest.approx(math.log(3))
    assert Task("node", 2, loss="cross_entropy").target(graph(y=torch.tensor([True, False, True]))).tolist() == [
        1,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("task", "y", "words"),
    [
        (Task("node"), None, "The graph has no y; targets are a tensor, one row per node"),
        (Task("node"), [1, 2, 3], r"The graph has the list \[1, 2, 3\] as y"),
        (Task("node"), torch.ones(4), r"y must have the shape \(3, 1\), one row for each of 3 nodes; got \(4,\)"),
        (Task("node"), torch.ones(1, 3), r"got \(1, 3\)"),
        (Task("node"), torch.ones(3, 1, 1), r"got \(3, 1, 1\)"),
        (Task("node", 2), torch.ones(2, 3), r"y must have the shape \(3, 2\)"),
        (Task("graph", 2), torch.ones(3, 2), r"y must have the shape \(1, 2\), one row for each of 1 graphs"),
        (Task("node"), torch.ones(3, dtype=torch.cfloat), "y must hold numbers or classes; got torch.complex64"),
        (Task("node"), torch.tensor([1.0, -math.inf, 2.0]), "y must hold finite numbers, or NaN where"),
        (Task("node", loss="bce"), torch.tensor([0.0, 2.0, 1.0]), "y must hold 0 or 1 for loss='bce'"),
        (Task("node", loss="bce"), torch.tensor([0, -1, 1]), "y must hold 0 or 1"),
        (
            Task("node", 2, loss="cross_entropy"),
            torch.tensor([0, 1, 2]),
            "y has the class 2, but the task has 2, from 0",
        ),
        (Task("node", 2, loss="cross_entropy"), torch.tensor([0, 0.5, 1]), "some of them are fractions"),
        (Task("node", 2, loss="cross_entropy"), torch.tensor([0, math.inf, 1]), "some of them are infinite"),
        (Task("node", 2, loss="cross_entropy"), torch.ones(3, 2), r"y must have the shape \(3,\)"),
    ],
)
def test_wrong_targets_are_said(task, y, words):
    data = graph()
    if y is not None:
        data.y = y
    with pytest.raises(ValueError, match=words):
        task.target(data)


def counted(task, **values):
    data = graph(**values)
    return task.counted(data, task.target(data)).tolist()


def test_missing_entries_are_left_out_one_by_one():
    assert counted(Task("node"), y=torch.tensor([1.0, NAN, 3.0])) == [[True], [False], [True]]
    y = torch.tensor([[1.0, NAN], [NAN, NAN], [5.0, 6.0]])
    assert counted(Task("node", 2), y=y) == [[True, False], [False, False], [True, True]]
    classes = Task("node", 2, loss="cross_entropy")
    assert counted(classes, y=torch.tensor([1, -1, 0])) == [True, False, True]
    assert counted(classes, y=torch.tensor([1.0, NAN, 0.0])) == [True, False, True]
    assert counted(Task("node", loss="bce"), y=torch.tensor([1.0, NAN, 0.0])) == [[True], [False], [True]]


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_a_mask_leaves_rows_out(shape):
    mask = torch.tensor([True, False, True]).view(shape)
    assert counted(Task("node"), y=torch.ones(3), mask=mask) == [[True], [False], [True]]
    assert counted(Task("node", 2), y=torch.ones(3, 2), mask=mask) == [[True] * 2, [False] * 2, [True] * 2]
    classes = Task("node", 2, loss="cross_entropy")
    assert counted(classes, y=torch.tensor([1, 1, -1]), mask=mask) == [True, False, False]


def test_a_mask_may_have_a_flag_for_every_entry():
    mask = torch.tensor([[True, False], [False, False], [True, True]])
    y = torch.tensor([[NAN, 1.0], [1.0, 1.0], [1.0, 1.0]])
    assert counted(Task("node", 2), y=y, mask=mask) == [[False, False], [False, False], [True, True]]


@pytest.mark.parametrize("mask", [torch.ones(3), torch.ones(2).bool(), torch.ones(3, 2).bool(), [True] * 3])
def test_a_mask_that_does_not_fit_is_said(mask):
    with pytest.raises(ValueError, match=r"data\.mask must be boolean, one flag per row or one per entry of targets"):
        counted(Task("node"), y=torch.ones(3), mask=mask)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_has_a_metric_of_its_own(loss):
    task = Task("node", 2, loss=loss)
    assert task.score is METRICS[DEFAULT_METRICS[loss]]
    assert isinstance(task.criterion(), LOSSES[loss])
    assert task.has_classes == (loss == "cross_entropy")


def test_losses_and_metrics_of_ones_own():
    largest = Metric("largest error", lambda prediction, target: float((prediction - target).abs().max()))
    task = Task("node", loss=nn.SmoothL1Loss(), metric=largest)
    assert isinstance(task.criterion(), nn.SmoothL1Loss)
    assert task.score is largest
    assert Task("node", 2, loss=nn.CrossEntropyLoss(), metric="accuracy").has_classes


def test_class_weights_enter_the_loss():
    task = Task("node", 2, loss="cross_entropy", class_weight=[1, 3])
    prediction, target = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1])
    single = nn.functional.cross_entropy(prediction, target, reduction="none")
    assert float(task.criterion()(prediction, target)) == pytest.approx(float((single[0] + 3 * single[1]) / 4))
    assert task.class_weight == (1.0, 3.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "nodes"}, "Unknown level 'nodes'; known are node, graph, edge"),
        ({"out_channels": 0}, "out_channels must be a whole number of at least 1; got 0"),
        ({"out_channels": 1.5}, "out_channels must be a whole number"),
        ({"loss": "rmse"}, "Unknown loss 'rmse'; known are mse, l1, huber, cross_entropy, bce"),
        ({"loss": nn.functional.mse_loss}, "loss must be one of mse, .* or a module; got <function"),
        ({"loss": nn.MSELoss()}, "does not say how to compare models; give a metric too"),
        ({"metric": "error"}, "Unknown metric 'error'; known are mae"),
        ({"metric": lambda prediction, target: 0.0}, "is a bare function, and nobody knows whether"),
        ({"class_weight": [1.0]}, "class_weight is for classes, that is for loss='cross_entropy'; the loss is 'mse'"),
        ({"classes": ["a"]}, "classes is for classes"),
        ({"loss": "cross_entropy", "out_channels": 2, "classes": "ab"}, "classes must have one entry per class, 2"),
        ({"loss": "cross_entropy", "out_channels": 2, "classes": ["a"]}, "one entry per class, 2; got \\['a'\\]"),
        ({"loss": "cross_entropy", "out_channels": 2, "class_weight": [1, -1]}, "class_weight must be a finite number"),
        (
            {"loss": "cross_entropy", "out_channels": 2, "class_weight": [1, NAN]},
            "class_weight must be a finite number",
        ),
    ],
)
def test_wrong_options_are_said(options, words):
    with pytest.raises(ValueError, match=words):
        Task(**({"level": "node"} | options))


def test_predictions_must_have_a_row_for_everything_asked():
    task = Task("node", 2)
    task.check_prediction(torch.ones(3, 2), graph())
    for shape in ((3,), (3, 1), (1, 2), (3, 2, 1)):
        with pytest.raises(
            ValueError, match=r"asks for predictions of shape \(3, 2\), one row per node; the model gave"
        ):
            task.check_prediction(torch.ones(shape), graph())


@pytest.mark.parametrize(
    "task",
    [
        Task("node"),
        Task("graph", 11, loss="l1", name="shape"),
        Task("edge", metric=METRICS["mae"].scale(40, "hops")),
        Task("node", metric=METRICS["mae"].scale(1, "length")),
        Task("node", 3, loss="cross_entropy", metric="macro_f1", class_weight=[1, 2, 3], classes=["a", "b", "c"]),
        Task("graph", 2, loss="bce", classes=["toxic", "soluble"]),
    ],
    ids=str,
)
def test_a_task_comes_back_from_its_description(task):
    again = Task.from_description(json.loads(json.dumps(task.describe())))
    assert again.describe() == task.describe()
    assert (str(again.score), again.score.higher_is_better) == (str(task.score), task.score.higher_is_better)
    prediction, target = torch.tensor([[0.2, 1.0], [0.4, -1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert again.score(prediction, target) == task.score(prediction, target)


def test_what_json_cannot_hold_is_said():
    largest = Metric("largest error", lambda prediction, target: 0.0)
    for task, what in (
        (Task("node", metric=largest), "metric"),
        (Task("node", loss=nn.MSELoss(), metric="mae"), "loss"),
    ):
        description = json.loads(json.dumps(task.describe()))
        with pytest.raises(ValueError, match=f"has a {what} of its own, .* which no file holds; pass the task again"):
            Task.from_description(description)


def test_repr_is_short():
    assert repr(Task("edge", 2, loss="l1")) == "Task('edge', out_channels=2, loss='l1', metric='MAE')"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"class_weight": 5}, "class_weight must have one entry per class, 2; got 5"),
        ({"classes": np.array("ab")}, "classes must have one entry per class, 2; got array"),
        ({"classes": {"a", "b"}}, "classes must have one entry per class"),
        ({"name": None}, "name must be a word; got None"),
        ({"out_channels": 2**31}, "out_channels must be a whole number of at most 2147483647"),
    ],
)
def test_odd_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Task("node", **{"out_channels": 2, "loss": "cross_entropy", **options})
    assert Task("node", 2, "cross_entropy", class_weight=np.array([1.0, 2.0])).class_weight == (1.0, 2.0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda y: y.to_sparse(), "layout torch.sparse_coo as y; targets are a tensor"),
        (lambda y: torch.nested.nested_tensor([y]), "a nested tensor of torch.float32 as y"),
        (lambda y: y.to("meta"), "y is on the device meta"),
        (lambda y: y.to(torch.uint16), "y must hold numbers or classes; got torch.uint16"),
    ],
)
def test_targets_are_ordinary_tensors(make, words):
    with pytest.raises(ValueError, match=words):
        Task("node").target(graph(y=make(torch.zeros(3, 1))))


def test_a_class_far_beyond_is_not_a_missing_one():
    with pytest.raises(ValueError, match=r"y has the class 1e\+30, but the task has 2"):
        Task("node", 2, "cross_entropy").target(graph(y=torch.tensor([0.0, 1.0, 1e30])))


def test_rows_masks_and_predictions_are_of_a_graph():
    task, target = Task("node"), torch.zeros(3, 1)
    for other in (None, {"y": 1}, torch.ones(3)):
        with pytest.raises(ValueError, match="The rows of a task are those of a graph of PyTorch Geometric; got"):
            task.rows(other)
    for mask in ([True] * 3, torch.ones(3).bool().to_sparse()):
        with pytest.raises(ValueError, match=r"data.mask must be boolean"):
            task.counted(graph(mask=mask), target)
    with pytest.raises(ValueError, match=r"data.mask is on the device meta"):
        task.counted(graph(mask=torch.ones(3, device="meta").bool()), target)
    with pytest.raises(ValueError, match="The prediction must be a tensor; got the list"):
        task.check_prediction([[0.0]] * 3, graph())


@pytest.mark.parametrize(("name", "value"), [("factor", [1]), ("unit", 3), ("metric", []), ("loss", {})])
def test_odd_descriptions_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} (must be|of its own)"):
        Task.from_description({**Task("node").describe(), name: value})
