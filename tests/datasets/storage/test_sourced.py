import os
import socket

import pytest
import torch

from ghr.datasets import LRIM, ECHOSynth
from ghr.datasets.storage import sourced
from ghr.datasets.storage.sourced import both_directions, expect, refuse_choices
from local_server import Site, serving


def test_without_a_connection_the_alternative_is_named(tmp_path, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{address}/{file}")
        with pytest.raises(ConnectionError) as caught:
            ECHOSynth(tmp_path, source="hub")
    sentence = str(caught.value)
    assert sentence.startswith("Could not download http://127.0.0.1")
    assert "Without a connection, source='generate' rebuilds the benchmark on this machine" in sentence
    assert sentence.endswith("train_data.pt by hand.")


class Payload:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_malicious_file_on_the_hub_runs_nothing(tmp_path, monkeypatch):
    target = tmp_path / "made by the file"
    torch.save([Payload(target)], tmp_path / "bad.pt")
    with serving(Site({"/lrim_16_0.6_10k.pt": (tmp_path / "bad.pt").read_bytes()})) as site:
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{site.url}/{file}")
        with pytest.raises(ValueError, match=r"is refused: it asks for \w+\.mkdir"):
            LRIM(tmp_path / "root", source="hub")
    assert not target.exists()
    assert not (tmp_path / "root" / "LRIM").exists()


def test_garbage_and_cuts_leave_a_cache_that_still_works_later(tmp_path, monkeypatch):
    graphs = [{"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.rand(3, 3)}] * 200
    torch.save(graphs, tmp_path / "good.pt")
    good = (tmp_path / "good.pt").read_bytes()
    with serving(Site({"/echo-synth/train_data.pt": b"<html>Sign in</html>"})) as site:
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{site.url}/{file}")
        with pytest.raises(ValueError, match="is not a file of tensors"):
            ECHOSynth(tmp_path, source="hub")
        site.files["/echo-synth/train_data.pt"], site.cuts = good, [len(good) // 2]
        monkeypatch.setattr("ghr.datasets.storage.download.PAUSE_SECONDS", 0.0)
        dataset = ECHOSynth(tmp_path, source="hub")
    assert len(site.asked) == 3
    assert len(dataset) == 200
    assert torch.equal(dataset[7].y, graphs[0]["y"][:, 2:])


def test_sources_do_not_share_a_cache(tmp_path, monkeypatch):
    graph = {"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.rand(3, 3)}
    file = tmp_path / "hub" / "lucamiglior" / "echo-benchmark" / "echo-synth" / "val_data.pt"
    file.parent.mkdir(parents=True)
    torch.save([graph], file)  # put there by hand
    published = ECHOSynth(tmp_path, "sssp", "val", "hub")
    rebuilt = ECHOSynth(tmp_path, "sssp", "val", "generate", num_graphs=2)
    assert published.key != rebuilt.key
    assert (len(published), len(rebuilt)) == (1, 2)


def put(root, count):
    """Put graphs where the published validation graphs of ECHO-Synth belong."""
    edges = torch.tensor([[0, 1], [1, 2]])
    file = root / "hub" / "lucamiglior" / "echo-benchmark" / "echo-synth" / "val_data.pt"
    file.parent.mkdir(parents=True)
    torch.save(
        [{"x": torch.rand(3, 2), "edge_index": edges, "y": torch.full((3, 3), n / 40)} for n in range(count)], file
    )


def test_fewer_published_graphs_are_the_first(tmp_path):
    put(tmp_path, 5)
    everything = ECHOSynth(tmp_path, split="val", source="hub")
    few = ECHOSynth(tmp_path, split="val", source="hub", num_graphs=3)
    assert (len(everything), len(few), everything.num_graphs) == (5, 3, None)
    assert [float(40 * data.y[0]) for data in few] == pytest.approx([0, 1, 2])
    with pytest.raises(ValueError, match="num_graphs is 6, but the split 'val' has 5 published graphs"):
        ECHOSynth(tmp_path, split="val", source="hub", num_graphs=6)


def test_only_rebuilt_sets_have_choices():
    refuse_choices("generate", seed=3, smiles="a.smi")
    refuse_choices("hub", seed=None, smiles=None)
    with pytest.raises(ValueError, match="the published graphs, which have no choice of seed and smiles; leave it out"):
        refuse_choices("hub", seed=3, smiles="a.smi", temperature=None)


def test_vectors_count_as_one_column():
    found = expect({"y": torch.ones(4), "x": torch.ones(4, 7)}, 0, y=1, x=None)
    assert (found["y"].shape, found["x"].shape) == ((4, 1), (4, 7))
    with pytest.raises(ValueError, match=r"'y' of graph 3 .* the shape \(4,\); a matrix with 2 columns"):
        expect({"y": torch.ones(4)}, 3, y=2)


def test_edges_in_both_directions_come_once_and_sorted():
    edges = torch.tensor([[2, 0, 0], [0, 1, 2]], dtype=torch.int32)
    assert both_directions(edges).tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]
