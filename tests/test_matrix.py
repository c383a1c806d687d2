"""Every model on every benchmark, in small: a new name in either map adds its row by itself."""

import pytest
import torch

import ghr
from ghr import MODELS, DiscountedLoss, memory
from ghr.datasets import BENCHMARKS
from ghr.nn import attention
from ghr.testing.benchmarks import tiny_splits
from ghr.train import evaluate, predict
from ghr.train.collate import collate_list
from ghr.train.select import Selection

SMALL = {"hidden_channels": 8, "layers": 2, "heads": 2, "steps": 1, "t_high": 1, "t_low": 1}
ALWAYS = ("hidden_channels", "layers", "heads")  # the others only where the model has them under this name

# Models that cannot take every benchmark, and a word of the sentence in which they say so.
PAIRS = "Attention over all pairs"
REFUSALS = {"min-plus": "MinPlusGHR", "gps": PAIRS, "gps-rwse": PAIRS, "gps-laplacian": PAIRS, "grit": PAIRS}
REFUSALS |= {"lattice-unet": "LatticeUNet", "torus-kernel": "TorusKernel"}


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("benchmarks")


def small_options(entry, suggested):
    known = {*entry.options, *entry.build.suggested_names(entry.options), *ALWAYS}
    named = {*entry.options, *suggested, *ALWAYS} & known & {*entry.build.option_names()}
    return {name: value for name, value in SMALL.items() if name in named}


# One benchmark of every kind for all models, and all benchmarks for a few.
FAMILIES = (
    "rgg-sssp-small",
    "echo-sssp",
    "echo-diam",
    "echo-charge",
    "peptides-struct",
    "lrim-16-hard",
    "lrim-256-hard",
    "city-paris",
)
EVERYWHERE = ("ghr", "min-plus", "deep-gine", "gcn")
PAIRS_OF_NAMES = [
    (name, benchmark) for benchmark in BENCHMARKS for name in MODELS if benchmark in FAMILIES or name in EVERYWHERE
]


@pytest.mark.parametrize(("name", "benchmark"), PAIRS_OF_NAMES)
def test_every_model_takes_every_benchmark_or_says_why_not(name, benchmark, root, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**28)  # so that no attention takes long
    monkeypatch.setattr(attention, "MOST_PAIRS", 2**24)
    splits, suggested = tiny_splits(benchmark, root), BENCHMARKS[benchmark].suggested
    refusal = None
    try:
        check_pair(MODELS[name], splits, suggested, tmp_path)
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith(REFUSALS.get(name, "no refusal")), refusal
        assert refusal.endswith(".")


def check_pair(entry, splits, suggested, folder):
    task = splits.task
    model = entry.for_data(splits.train, task, small_options(entry, suggested), suggested)
    graphs = [model.prepare(splits.train[index]) for index in range(min(2, len(splits.train)))]
    batch = collate_list(graphs)

    chosen = Selection.of(task, batch)
    predictions = [chosen.apply(prediction) for prediction in model.rollout(batch)]
    loss = DiscountedLoss(task.criterion(), gamma=0.8)(predictions, chosen.target)
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(value.grad).all() for value in model.parameters() if value.grad is not None)
    assert any(value.grad is not None and value.grad.abs().max() > 0 for value in model.parameters())

    model.eval().save_pretrained(folder / "model")
    loaded = ghr.load(folder / "model")
    assert repr(loaded.transform) == repr(model.transform)
    torch.testing.assert_close(loaded(batch), model(batch))

    test = [loaded.prepare(splits.test[0])]
    assert evaluate(loaded, test, task) == evaluate(model, test, task)
    unlabelled = test[0].clone()
    del unlabelled["y"]
    (prediction,) = predict(loaded, [unlabelled], task)
    assert prediction.shape == (task.rows(test[0]), task.out_channels)
    assert torch.isfinite(prediction).all()
