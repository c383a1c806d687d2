import json
import logging
import os
import shutil
import subprocess
import sys
import time

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from ghr.datasets import METRICS, RGGSSSP, Task
from ghr.datasets.storage import cached
from ghr.datasets.storage.cached import CachedDataset
from ghr.hierarchy import Coarsen, Graclus, HierarchicalData


class Paths(CachedDataset):
    """Paths of 3, 4, ... nodes with a scaled position; small enough to build thousands of times."""

    task = Task("graph", metric=METRICS["mae"].scale(2, "nodes"))
    calls = 0

    def __init__(self, root, scale=1.0, count=4, **kwargs):
        self.scale, self.count = scale, count
        super().__init__(root, **kwargs)

    def options(self):
        return {"scale": self.scale, "count": self.count}

    def generate(self):
        type(self).calls += 1
        return [self.path(3 + i) for i in range(self.count)]

    def path(self, size):
        nodes = torch.arange(size)
        edge_index = torch.stack([nodes[:-1], nodes[1:]])
        return Data(x=self.scale * nodes.float().unsqueeze(1), edge_index=edge_index, y=torch.tensor([[float(size)]]))


class OtherPaths(Paths):
    pass


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, data):
        data.x = data.x + self.by
        return data

    def __repr__(self):
        return f"Shift({self.by})"


class LongerThan:
    def __init__(self, size):
        self.size = size

    def __call__(self, data):
        return float(data.x.max()) >= self.size

    def __repr__(self):
        return f"LongerThan({self.size})"


@pytest.fixture(autouse=True)
def count_from_zero():
    for kind in (Paths, OtherPaths):
        kind.calls = 0


def assert_same(dataset, graphs):
    assert len(dataset) == len(graphs)
    for found, wanted in zip(dataset, graphs, strict=True):
        assert type(found) is type(wanted)
        assert set(found.keys()) == set(wanted.keys())
        for name in wanted.keys():  # noqa: SIM118 (a graph is no dictionary)
            assert found[name].dtype == wanted[name].dtype
            assert torch.equal(found[name], wanted[name])


def plain(count=4):
    return [Paths.path(type("Scale", (), {"scale": 1.0}), 3 + i) for i in range(count)]


def path_of(dataset):
    return dataset.processed_paths[0]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_second_use_reads_what_the_first_generated(tmp_path, count):
    assert_same(Paths(tmp_path, count=count), plain(count))
    again = Paths(tmp_path, count=count)
    assert_same(again, plain(count))
    assert Paths.calls == 1
    assert_same(again[1:], plain(count)[1:])


def test_folder_holds_one_file_of_plain_tensors(tmp_path):
    dataset = Paths(tmp_path, scale=2.0)
    files = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path) for name in names]
    assert files == [str(tmp_path / "Paths" / f"{dataset.key}.safetensors")]
    tensors = load_file(files[0])
    assert set(tensors) == {f"{kind}/{name}" for kind in ("data", "slices") for name in ("x", "edge_index", "y")}
    assert tensors["data/x"].flatten().tolist() == [2 * i for size in (3, 4, 5, 6) for i in range(size)]
    with safe_open(files[0], framework="pt") as file:
        header = file.metadata()
    assert json.loads(header["options"]) == {"scale": 2.0, "count": 4}
    assert (header["key"], header["data_class"], header["format_version"]) == (dataset.key, "Data", "2")
    assert header["sha256"] == dataset.digest
    assert len(dataset.digest) == 64
    umask = os.umask(0)
    os.umask(umask)
    assert os.stat(files[0]).st_mode & 0o777 == 0o666 & ~umask


def test_everything_that_decides_the_content_changes_the_key(tmp_path, monkeypatch):
    datasets = [
        Paths(tmp_path),
        Paths(tmp_path, scale=2.0),
        Paths(tmp_path, count=3),
        Paths(tmp_path, pre_transform=Shift(1)),
        Paths(tmp_path, pre_transform=Shift(2)),
        Paths(tmp_path, pre_filter=LongerThan(3)),
        OtherPaths(tmp_path),
    ]
    assert len({dataset.key for dataset in datasets}) == len(datasets)
    assert Paths(tmp_path, transform=Shift(1)).key == datasets[0].key
    assert [int(data.y) for data in datasets[5]] == [4, 5, 6]
    for place, name in ((Paths, "version"), (cached, "FORMAT_VERSION")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, 99)
            assert Paths(tmp_path).key != datasets[0].key


def test_filter_sees_the_graph_before_the_transform(tmp_path):
    dataset = Paths(tmp_path, pre_filter=LongerThan(4), pre_transform=Shift(100))
    assert [int(data.y) for data in dataset] == [5, 6]


@pytest.mark.parametrize("name", ["pre_transform", "pre_filter"])
def test_repr_with_a_memory_address_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"The {name} .* needs a stable repr"):
        Paths(tmp_path, **{name: lambda data: data})
    assert Paths.calls == 0


@pytest.mark.parametrize("count", [1, 4])
def test_another_pre_transform_does_not_generate_again(tmp_path, count):
    raw = Paths(tmp_path, count=count)
    for by in (1, 2, 1):
        dataset = Paths(tmp_path, count=count, pre_transform=Shift(by))
        wanted = plain(count)
        for graph in wanted:
            graph.x = graph.x + by
        assert_same(dataset, wanted)
    assert Paths.calls == 1
    assert_same(Paths(tmp_path, count=count), plain(count))  # the graphs it started from are as they were
    assert len(os.listdir(tmp_path / "Paths")) == 3
    assert (dataset.raw_key, raw.raw_key) == (raw.key, raw.key)


def test_prepared_graphs_alone_are_enough(tmp_path):
    dataset = Paths(tmp_path, pre_transform=Shift(1))
    os.unlink(tmp_path / "Paths" / f"{dataset.raw_key}.safetensors")
    assert_same(Paths(tmp_path, pre_transform=Shift(1)), list(dataset))
    assert Paths.calls == 1


def test_a_damaged_prepared_file_is_made_from_the_raw_one(tmp_path, caplog):
    path = path_of(Paths(tmp_path, pre_transform=Shift(1)))
    flip(path)
    with caplog.at_level(logging.WARNING):
        Paths(tmp_path, pre_transform=Shift(1))
    assert "cannot be used and is built again" in caplog.text
    assert Paths.calls == 1


def test_a_failing_pre_transform_keeps_what_was_generated(tmp_path):
    class Fails(Shift):
        def __call__(self, data):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Paths(tmp_path, pre_transform=Fails(1))
    assert_same(Paths(tmp_path), plain())
    assert Paths.calls == 1


class Pad(Shift):
    """Gives every graph as many columns as it has nodes, as a careless encoding would."""

    def __call__(self, data):
        data.wide = torch.ones(data.num_nodes, data.num_nodes)
        return data


def test_different_widths_are_said(tmp_path):
    with pytest.raises(
        ValueError, match=r"'wide' must have the same type and width in all graphs, but that of graph 1"
    ):
        Paths(tmp_path, pre_transform=Pad(0))


def test_different_types_are_said(tmp_path, monkeypatch):
    graphs = plain(2)
    graphs[1].y = graphs[1].y.long()
    replaced(monkeypatch, graphs)
    with pytest.raises(ValueError, match=r"'y' .* graph 1 is torch.int64 of shape \(1, 1\) and that of the first"):
        Paths(tmp_path)


def test_the_digest_tells_contents_apart(tmp_path):
    same = [Paths(tmp_path / name).digest for name in "ab"]
    others = [Paths(tmp_path, scale=2.0).digest, Paths(tmp_path, pre_transform=Shift(1)).digest]
    assert len({*same, *others}) == 3
    assert Paths(tmp_path, pre_transform=Shift(0)).digest == same[0]  # another way to the same content


def test_the_metric_is_that_of_the_task(tmp_path):
    assert Paths(tmp_path).metric(torch.zeros(2, 1), torch.ones(2, 1)) == 2.0


def test_coarsened_graphs_come_back_as_hierarchical_data(tmp_path):
    coarsen = Coarsen(Graclus(rounds=1, seed=0))
    wanted = [coarsen(data) for data in plain()]
    for _ in range(2):
        dataset = Paths(tmp_path, pre_transform=coarsen)
        assert_same(dataset, wanted)
    assert Paths.calls == 1
    batch = next(iter(DataLoader(dataset, batch_size=4)))
    assert isinstance(batch, HierarchicalData)
    assert batch.levels[1].num_nodes == sum(data.levels[1].num_nodes for data in wanted)
    assert int(batch.levels[1].assignment.max()) == batch.levels[1].num_nodes - 1


def test_loader_batches_cached_graphs(tmp_path):
    Paths(tmp_path)
    batch = next(iter(DataLoader(Paths(tmp_path), batch_size=4)))
    assert batch.num_nodes == 18
    assert batch.y.flatten().tolist() == [3, 4, 5, 6]
    assert int(batch.edge_index.max()) == 17


def truncate(path):
    os.truncate(path, os.path.getsize(path) - 8)


def empty(path):
    os.truncate(path, 0)


def flip(path, position=-5):
    with open(path, "rb+") as file:
        content = bytearray(file.read())
        content[position] ^= 0x10
        file.seek(0)
        file.write(content)


def not_safetensors(path):
    with open(path, "wb") as file:
        file.write(b"PK\x03\x04 something else entirely" * 100)


def other_options(path):
    shutil.copy(path_of(Paths(os.path.join(os.path.dirname(path), "elsewhere"), scale=3.0)), path)


def other_format(path):
    with safe_open(path, framework="pt") as file:
        header = file.metadata() | {"format_version": "0"}
    save_file(load_file(path), path, header)


def no_header(path):
    save_file(load_file(path), path)


@pytest.mark.parametrize(
    "damage", [truncate, empty, flip, not_safetensors, other_options, other_format, no_header], ids=lambda f: f.__name__
)
def test_unusable_file_is_reported_and_built_again(tmp_path, caplog, damage):
    path = path_of(Paths(tmp_path))
    damage(path)
    Paths.calls = 0
    with caplog.at_level(logging.WARNING):
        assert_same(Paths(tmp_path), plain())
    assert Paths.calls == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "cannot be used and is built again" in caplog.text
    assert_same(Paths(tmp_path), plain())
    assert Paths.calls == 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(tmp_path, position, bit):
    path = path_of(Paths(tmp_path))
    with open(path, "rb") as file:
        content = bytearray(file.read())
    content[position % len(content)] ^= 1 << bit
    with open(path, "wb") as file:
        file.write(content)
    assert_same(Paths(tmp_path), plain())


def replaced(monkeypatch, graphs):
    monkeypatch.setattr(Paths, "generate", lambda self: graphs)


@pytest.mark.parametrize("value", [3, "name", [1, 2]])
def test_attribute_that_is_no_tensor_is_refused(tmp_path, monkeypatch, value):
    replaced(monkeypatch, [*plain(1), Data(x=torch.ones(1, 1), edge_index=torch.ones(2, 0).long(), y=value)])
    with pytest.raises(TypeError, match=f"'y' of graph 1 is a {type(value).__name__}"):
        Paths(tmp_path)
    assert not (tmp_path / "Paths").exists()


def test_graphs_that_differ_in_kind_are_refused(tmp_path, monkeypatch):
    replaced(monkeypatch, [*plain(2), Data(x=torch.ones(1, 1))])
    with pytest.raises(TypeError, match="graph 2 is a Data with \\['x'\\]"):
        Paths(tmp_path)
    replaced(monkeypatch, [plain(1)[0], HierarchicalData.from_dict(plain(1)[0].to_dict())])
    with pytest.raises(TypeError, match="graph 1 is a HierarchicalData"):
        Paths(tmp_path)
    replaced(monkeypatch, [type("MyData", (Data,), {})(x=torch.ones(1, 1))])
    with pytest.raises(TypeError, match="class MyData cannot be stored; known are Data, HierarchicalData"):
        Paths(tmp_path)


def test_dataset_without_graphs_is_refused(tmp_path):
    with pytest.raises(ValueError, match="pre_filter removed all"):
        Paths(tmp_path, pre_filter=LongerThan(100))


def test_single_graph_may_share_memory_between_attributes(tmp_path, monkeypatch):
    x = torch.arange(3.0).unsqueeze(1)
    graph = Data(x=x, y=x, edge_index=torch.tensor([[0], [1]]), pos=torch.arange(6.0).view(2, 3).t())
    replaced(monkeypatch, [graph])
    for _ in range(2):
        assert_same(Paths(tmp_path), [graph])


def test_failing_rename_leaves_nothing(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cached.os, "replace", refuse)
    with pytest.raises(OSError, match=r"Could not write .*No space left on device") as caught:
        Paths(tmp_path)
    assert caught.value.errno == 28
    assert not (tmp_path / "Paths").exists()


def test_root_below_a_file_is_refused_before_generating(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="Could not make the folder"):
        Paths(tmp_path / "file" / "root")
    assert Paths.calls == 0


LIMITED = """
import os, resource, signal, sys
from ghr.datasets import RGGSSSP
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    RGGSSSP(sys.argv[1], num_graphs=20)
except OSError as error:
    print(error.errno, error.strerror)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_full_disk_leaves_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, check=True)
    assert "27 Could not write" in done.stdout
    assert "File too large" in done.stdout
    assert not (tmp_path / "RGGSSSP").exists()


def content(path):
    with safe_open(path, framework="pt") as file:
        return file.metadata(), {name: file.get_tensor(name).tolist() for name in file.keys()}  # noqa: SIM118


BOTH = """
import os, sys, time
from ghr.datasets import RGGSSSP
open(sys.argv[2], "w").close()
while not os.path.exists(sys.argv[3]):
    time.sleep(0.001)
dataset = RGGSSSP(sys.argv[1], num_graphs=60, seed=5)
print(dataset.key, float(sum(data.pos.double().sum() for data in dataset)))
"""


def test_two_processes_at_once_make_one_correct_file_in_silence(tmp_path):
    go, ready = tmp_path / "go", [tmp_path / f"ready{i}" for i in range(2)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    command = [sys.executable, "-c", BOTH, tmp_path / "shared"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    children = [subprocess.Popen([*command, flag, go], **pipes) for flag in ready]
    while not all(flag.exists() for flag in ready) and all(child.poll() is None for child in children):
        time.sleep(0.01)
    go.touch()
    outputs = [child.communicate(timeout=60) for child in children]
    alone = RGGSSSP(tmp_path / "alone", num_graphs=60, seed=5)
    line = f"{alone.key} {float(sum(data.pos.double().sum() for data in alone))}\n"
    assert outputs == [(line, "")] * 2
    assert os.listdir(tmp_path / "shared" / "RGGSSSP") == [f"{alone.key}.safetensors"]
    assert content(path_of(alone)) == content(tmp_path / "shared" / "RGGSSSP" / f"{alone.key}.safetensors")
