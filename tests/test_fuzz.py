"""Thousands of odd calls: each works, or is refused with a sentence that the library wrote; never anything else.

`pytest tests/test_fuzz.py --fuzz 50000 --fuzz-seed 7` makes as many others.
"""

import inspect
import linecache
import re
import signal
import traceback
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

import ghr
from fuzz_cases import FAMILIES, LITTLE, SOURCE, Draw
from ghr import memory
from ghr.threads import use_threads

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about odd tensors

HANG = 60  # seconds of computing, for calls that take milliseconds

# Words of which one has to be in a sentence about what was spoiled; where none are listed, its name.
MENTIONS = {
    "x": (r"\bx\b", "node", "marks", "state of level"),
    "edge_index": ("edge", "path"),
    "edge_attr": ("edge", "weight", "levels is 1"),
    "edge_weight": ("weight", "edge features", "levels is 1"),
    "num_nodes": ("node",),
    "batch": ("batch", "graph"),
    "ptr": ("ptr", "graph"),
    "partition": ("partition", "label", "lattice", "centre", "codes"),
    "edge_reduce": ("edge_reduce", "centre", "length", "edge_attr"),
    "coarsen": ("coarse", "rounds", "mode", "lattice", "centre", "length", "edge_attr"),
    "block": ("block", "lattice"),
    "levels": ("level", "lattice"),
    "column": ("column",),
    "num_clusters": ("num_clusters", "cluster", "block", "node", "label", "assign"),
    "coarse_edges": ("coarse_edges", "became"),
    "assignment": ("assign", "cluster", "lattice"),
    "became": ("became", "edge"),
    "label": ("label", "cluster"),
    "conv": ("conv", "layer"),
    "in_channels": ("in_channels", "x of shape", "x must hold codes", "column"),
    "coarse_edge_dim": ("edge_dim",),
    "edge_dim": ("edge_dim", "edge_attr", "codes", "layer", "edge features"),
    "hidden_channels": ("hidden", "channels", "layer"),
    "out_channels": ("out_channels", "columns", "y must", "y has", "one entry per class"),
    "readout": ("readout",),
    "example": ("graph",),
    "graph": ("graph", "node features"),
    "predictions": ("prediction",),
    "prediction": ("prediction", "scores"),
    "target": ("target", "class", "rows", "answers"),
    "criterion": ("criterion", "prediction", "scores", "class"),
    "data": ("graph",),
    "level": ("level", "y must", "one row"),
    "loss": ("loss", "metric", "classes"),
    "build": ("built",),
    "options": ("option", "rounds", "mode"),
}


def pytest_generate_tests(metafunc):
    if "numbers" in metafunc.fixturenames:
        count = metafunc.config.getoption("--fuzz")
        parts = [(family, range(place, count, len(FAMILIES))) for place, family in enumerate(FAMILIES)]
        metafunc.parametrize(("family", "numbers"), parts, ids=FAMILIES)


@pytest.fixture(autouse=True)
def small_machine(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: LITTLE)
    with use_threads(1):  # on a busy machine, threads would wait for each other longer than they compute
        yield


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_work_before_anything_is_spoiled(family):
    for number in range(25):
        torch.manual_seed(number)
        FAMILIES[family](Draw(family, 0, number, harm=False))


def test_odd_calls_work_or_are_refused_with_a_sentence(family, numbers, request):
    seed = request.config.getoption("--fuzz-seed")
    complaints = [complaint for number in numbers if (complaint := judge(family, seed, number))]
    shown = "\n".join(complaints[:20])
    assert not complaints, f"{len(complaints)} of {len(numbers)} calls:\n{shown}"


def judge(family, seed, number):
    """Return what is wrong with how a call ended, and the call; nothing if it worked or was refused well."""
    draw = Draw(family, seed, number)
    torch.manual_seed(number)
    try:
        with stopping_hangs():
            FAMILIES[family](draw)
    except Exception as error:
        complaint = judge_error(error, draw.spoiled)
        call = f"python tests/fuzz_cases.py {family} {seed} {number}"
        notes = "; ".join(draw.notes)
        return complaint and f"{complaint} -- {type(error).__name__}: {error}\n    {notes}\n    {call}"
    return None


def judge_error(error, spoiled):
    return judge_origin(error) or judge_sentence(str(error), spoiled)


def judge_origin(error):
    """Return what is wrong with an error's type, or with where it comes from."""
    if not isinstance(error, (ValueError, TypeError, FileNotFoundError)):
        return f"raises {type(error).__name__}"
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(SOURCE) or not linecache.getline(str(file), line).lstrip().startswith("raise "):
        return f"was not raised by the library, but at {file.name}:{line}"
    return None


def judge_sentence(text, spoiled):
    """Return what is wrong with the words of a refusal."""
    if not text.endswith((".", "?")) or text.endswith(".."):
        return "does not end like a sentence"
    first = re.split(r"[ ,=]", text)[0]
    if not (first[0].isupper() or first in ARGUMENTS or Path(first).is_absolute()):
        return "starts neither with a capital letter nor with the name of an argument or a file"
    if "\n" in text or len(text) > 600:
        return "is longer than a sentence"
    words = [word for name in spoiled for word in mentions_of(name)]
    if not any(re.search(word, text, re.IGNORECASE) for word in words):
        return f"does not mention {' or '.join(spoiled)}"
    return None


def mentions_of(name):
    return MENTIONS.get(name, ("level",) if name.startswith("level") else (name,))


def find_arguments():
    """Return the names of all arguments of the public surface, and of the attributes of graphs."""
    public = [getattr(ghr, name) for name in ghr.__all__ if callable(getattr(ghr, name))]
    public += [entry.build for entry in ghr.MODELS.values()]
    methods = [method for kind in public for _, method in inspect.getmembers(kind, inspect.isfunction)]
    names = {name for function in (*public, *methods) for name in inspect.signature(function).parameters}
    graph = {"x", "edge_attr", "edge_weight", "batch", "y", "data.mask", "level_signature", "ptr", "centre_distance"}
    return names | graph | {f"level{k}_batch" for k in range(1, 5)}


ARGUMENTS = find_arguments()


@contextmanager
def stopping_hangs():
    """Raise a TimeoutError in a block of code that does not end; where the system has no timers, wait."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def stop(*_):
    raise TimeoutError("a call that takes milliseconds did not end")
