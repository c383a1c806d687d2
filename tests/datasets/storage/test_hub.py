import os
import pickle
import zipfile

import pytest
import torch
from torch.serialization import get_safe_globals
from torch_geometric.data import Data, HeteroData

from ghr.datasets.storage.hub import check_archive, download, hub_address, load_content, load_tensors
from local_server import Site, serving


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def graph(size=3):
    return Data(x=torch.randn(size, 2), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.arange(size).double())


def saved(path, content, **options):
    torch.save(content, path, **options)
    return path


def assert_read(path, graphs):
    found = load_tensors(path)
    assert len(found) == len(graphs)
    for tensors, wanted in zip(found, graphs, strict=True):
        assert set(tensors) == set(wanted.keys())
        assert all(type(tensors[name]) is torch.Tensor for name in tensors)
        assert all(tensors[name].dtype == wanted[name].dtype for name in tensors)
        assert all(torch.equal(tensors[name], wanted[name]) for name in tensors)


def test_graphs_are_read_as_tensors(tmp_path):
    graphs = [graph(3), graph(5)]
    before = set(map(str, get_safe_globals()))
    assert_read(saved(tmp_path / "a.pt", graphs), graphs)
    assert set(map(str, get_safe_globals())) == before
    assert load_tensors(saved(tmp_path / "b.pt", [])) == []
    assert_read(saved(tmp_path / "c.pt", [each.to_dict() for each in graphs]), graphs)
    assert_read(saved(tmp_path / "d.pt", graphs[0]), graphs[:1])


@pytest.mark.parametrize(
    "dtype", [torch.half, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.bool]
)
def test_every_kind_of_number_is_read(tmp_path, dtype):
    graphs = [Data(x=torch.ones(2, 3).to(dtype))]
    assert_read(saved(tmp_path / "a.pt", graphs), graphs)


def test_what_pyg_leaves_in_a_graph_is_no_obstacle(tmp_path):
    used = graph()
    assert used.is_node_attr("x")  # fills a cache inside the graph
    assert used.is_edge_attr("edge_index")
    plain = graph()
    plain.num_nodes, plain.name, plain.scale, plain.nothing = 3, "benzene", 2.5, None
    first, second = load_tensors(saved(tmp_path / "a.pt", [used, plain]))
    assert set(first) == {"x", "edge_index", "y"}
    assert set(second) == {"x", "edge_index", "y", "num_nodes", "scale"}
    assert (second["num_nodes"].tolist(), second["scale"].tolist()) == ([3], [2.5])


def test_graphs_of_old_pyg_are_read(tmp_path):
    old = Data.__new__(Data)
    old.__dict__.clear()
    old.__dict__.update({"x": torch.ones(2, 1), "edge_index": torch.zeros(2, 0).long(), "norm": None})
    (tensors,) = load_tensors(saved(tmp_path / "a.pt", [old]))
    assert set(tensors) == {"x", "edge_index"}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_file_that_would_run_code_is_refused_by_name(tmp_path, protocol):
    target = tmp_path / "made by the file"
    path = saved(tmp_path / "a.pt", [graph(), Payload(target)], pickle_protocol=protocol)
    with pytest.raises(ValueError, match=r"a\.pt is refused: it asks for (.*, )?(posix|nt|os)\.mkdir"):
        load_tensors(path)
    assert not target.exists()
    torch.load(path, weights_only=False)  # the file is what the test takes it for
    assert target.exists()


def test_code_hidden_behind_what_others_trust_is_refused_too(tmp_path):
    target = tmp_path / "made by the file"
    path = saved(tmp_path / "a.pt", [Payload(target)])
    with torch.serialization.safe_globals([os.mkdir]), pytest.raises(ValueError, match=r"mkdir, which could run code"):
        load_tensors(path)
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "name"), [(HeteroData(), "HeteroData"), (torch.nn.Linear(1, 1), "Linear"), (print, "print")]
)
def test_other_classes_are_refused(tmp_path, content, name):
    with pytest.raises(ValueError, match=f"is refused: it asks for .*{name}"):
        load_tensors(saved(tmp_path / "a.pt", [content]))


@pytest.mark.parametrize("content", [3, {"x": torch.ones(1)}, "text"])
def test_something_that_is_no_list_is_refused(tmp_path, content):
    with pytest.raises(ValueError, match="instead of a list of graphs"):
        load_tensors(saved(tmp_path / "a.pt", content))


def test_content_is_read_as_it_is(tmp_path):
    tensor = torch.arange(6).view(2, 3)
    assert torch.equal(load_content(saved(tmp_path / "a.pt", tensor)), tensor)
    first, second = load_content(saved(tmp_path / "b.pt", [(tensor, tensor.float()), {"name": "x"}]))
    assert torch.equal(first[1], tensor.float())
    assert second == {"name": "x"}
    with pytest.raises(ValueError, match=r"is refused: it asks for .*print"):
        load_content(saved(tmp_path / "c.pt", (tensor, print)))


@pytest.mark.parametrize("entry", [3, torch.ones(1), [graph()], None])
def test_an_entry_that_is_no_graph_is_refused(tmp_path, entry):
    with pytest.raises(ValueError, match="entry 1 is not a graph"):
        load_tensors(saved(tmp_path / "a.pt", [graph(), entry]))


def write_zip(path, entries):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)


def test_files_that_torch_did_not_write_are_refused(tmp_path):
    path = tmp_path / "a.pt"
    for content in (b"", b"<html>Sign in to the network</html>", pickle.dumps([1]), b"PK\x03\x04 and no more"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a file of tensors as torch\.save writes it"):
            load_tensors(path)
    write_zip(path, [("a/other", b"")])
    with pytest.raises(ValueError, match=r"it has 0 entries data\.pkl"):
        load_tensors(path)
    write_zip(path, [("a/data.pkl", pickle.dumps([], 2)), ("b/data.pkl", pickle.dumps([], 2))])
    with pytest.raises(ValueError, match=r"it has 2 entries data\.pkl"):
        load_tensors(path)
    write_zip(path, [("a/data.pkl", b"\xff\xfe no program")])
    with pytest.raises(ValueError, match="is not a file of tensors"):
        load_tensors(path)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    whole = saved(tmp_path / "a.pt", [graph() for _ in range(20)]).read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        (tmp_path / "b.pt").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match="is not a file of tensors"):
            load_tensors(tmp_path / "b.pt")


def test_garbage_from_a_server_is_not_kept(tmp_path):
    with (
        serving(Site({"/a.pt": b"<html>Sign in to the network</html>"})) as site,
        pytest.raises(ValueError, match="is not a file of tensors"),
    ):
        download(f"{site.url}/a.pt", tmp_path / "a.pt", check=check_archive)
    assert os.listdir(tmp_path) == []


def test_address_on_the_hub():
    assert hub_address("a/b", "c.pt") == "https://huggingface.co/datasets/a/b/resolve/main/c.pt"
