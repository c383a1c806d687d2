import io
import os
import tarfile

import pytest
import torch
from local_server import Site, serving
from torch_geometric import datasets as pyg

from ghr.datasets import CityNetworks, city, hop_eccentricity, label_agreement, quantile_classes
from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import assert_quotient, random_graph

NODES = 60


def roads():
    data = random_graph(NODES, 100, in_channels=5, seed=0)
    length = torch.rand(data.num_edges // 2, generator=torch.Generator().manual_seed(0)).repeat(2)
    labels = quantile_classes(hop_eccentricity(data.edge_index, NODES, length))
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))
    masks = [torch.zeros(NODES, dtype=torch.bool).index_fill(0, part, True) for part in order.split([6, 6, 48])]
    return {
        "node_features.pt": data.x,
        "node_features_augmented.pt": torch.cat([data.x, data.x], dim=1),
        "edge_indices.pt": data.edge_index,
        "10-chunk_16-hop_node_labels.pt": labels,
        "train_mask.pt": masks[0],
        "valid_mask.pt": masks[1],
        "test_mask.pt": masks[2],
        "edge_features.pt": torch.stack([length, torch.ones_like(length)], dim=1),
    }


def archive(content, name="paris"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for file, value in content.items():
            inner = io.BytesIO()
            torch.save(value, inner)
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size = len(inner.getvalue())
            tar.addfile(entry, io.BytesIO(inner.getvalue()))
    return buffer.getvalue()


def put(root, content, name="paris"):
    folder = root / "hub" / "city"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.tar.gz").write_bytes(archive(content, name))
    return root


def test_published_tensors_come_through(tmp_path):
    content = roads()
    data = CityNetworks(put(tmp_path, content))[0]
    assert torch.equal(data.x, content["node_features_augmented.pt"])
    assert torch.equal(data.edge_index, content["edge_indices.pt"])
    assert torch.equal(data.y, content["10-chunk_16-hop_node_labels.pt"])
    assert [int(data[name].sum()) for name in ("train_mask", "val_mask", "test_mask")] == [6, 6, 48]
    assert torch.equal(CityNetworks(tmp_path, augmented=False)[0].x, content["node_features.pt"])
    assert label_agreement(data.edge_index, data.y, data.edge_attr[:, 0]) == {"equal": 1.0, "near": 1.0}


def test_archives_without_lengths_and_with_lists_of_nodes_are_read(tmp_path):
    content = roads()
    whole = CityNetworks(put(tmp_path / "a", content))[0]
    del content["edge_features.pt"]
    for name in ("train_mask.pt", "valid_mask.pt", "test_mask.pt"):
        content[name] = content[name].nonzero().flatten()
    data = CityNetworks(put(tmp_path / "b", content))[0]
    assert data.edge_attr is None
    assert all(torch.equal(data[name], whole[name]) for name in ("train_mask", "val_mask", "test_mask"))


def test_the_archive_is_downloaded_once(tmp_path, monkeypatch):
    with serving(Site({"/la.tar.gz": archive(roads(), "la")})) as site:
        monkeypatch.setattr(CityNetworks, "address", f"{site.url}/")
        for _ in range(2):
            data = CityNetworks(tmp_path, "la", pre_transform=Coarsen(Graclus(rounds=1)))[0]
            assert_quotient(data)
        assert len(site.asked) == 1
        with pytest.raises(
            ConnectionError, match=r"City-Networks has no offline alternative\. A copy .*paris\.tar\.gz"
        ):
            CityNetworks(tmp_path, "paris")


def test_wrong_archives_are_refused(tmp_path):
    content = roads()
    for number, (change, message) in enumerate(
        [
            ({"train_mask.pt": content["test_mask.pt"]}, "does not put every node into exactly one"),
            ({"10-chunk_16-hop_node_labels.pt": torch.zeros(3)}, "3 labels for 60 nodes"),
            ({"edge_indices.pt": [1, 2]}, r"edge_indices\.pt of the published archive holds a list"),
            ({"edge_indices.pt": os.system}, r"is refused: it asks for (posix|nt)\.system"),
        ]
    ):
        with pytest.raises(ValueError, match=message):
            CityNetworks(put(tmp_path / str(number), content | change))
    with pytest.raises(ValueError, match="Unknown name 'rome'; known are paris, shanghai, la, london"):
        CityNetworks(tmp_path, "rome")


def test_metric_is_the_accuracy_in_percent():
    target = torch.tensor([0, 1, 2, 3])
    assert CityNetworks.metric(torch.tensor([0, 1, 2, 0]), target) == 75.0
    assert CityNetworks.metric(torch.eye(4)[[0, 1, 1, 1]], target) == 50.0
    with pytest.raises(ValueError, match=r"got \(3, 10\) and \(4,\)"):
        CityNetworks.metric(torch.ones(3, 10), target)


@pytest.mark.skipif(not hasattr(pyg, "CityNetwork"), reason="this version of PyG has no City-Networks")
def test_address_is_that_of_pyg():
    assert pyg.CityNetwork.url == city.ADDRESS
