import os

import pytest
import torch
from torch_geometric import datasets as pyg

from ghr.datasets import BENCHMARKS, CityNetworks, city, label_agreement
from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import assert_quotient
from ghr.testing.benchmarks import make_roads, pack_city, write_city
from local_server import Site, serving


def put(root, changes=None, name="paris"):
    write_city(root, name, changes)
    return root


def test_published_tensors_come_through(tmp_path):
    content = make_roads()
    data = CityNetworks(put(tmp_path))[0]
    assert torch.equal(data.x, content["node_features_augmented.pt"])
    assert torch.equal(data.edge_index, content["edge_indices.pt"])
    assert torch.equal(data.y, content["10-chunk_16-hop_node_labels.pt"])
    assert [int(data[name].sum()) for name in ("train_mask", "val_mask", "test_mask")] == [6, 6, 48]
    assert torch.equal(CityNetworks(tmp_path, augmented=False)[0].x, content["node_features.pt"])
    assert label_agreement(data.edge_index, data.y, data.edge_attr[:, 0]) == {"equal": 1.0, "near": 1.0}


def test_archives_without_lengths_and_with_lists_of_nodes_are_read(tmp_path):
    whole = CityNetworks(put(tmp_path / "a"))[0]
    masks = ("train_mask.pt", "valid_mask.pt", "test_mask.pt")
    changes = {"edge_features.pt": None} | {name: make_roads()[name].nonzero().flatten() for name in masks}
    data = CityNetworks(put(tmp_path / "b", changes))[0]
    assert data.edge_attr is None
    assert all(torch.equal(data[name], whole[name]) for name in ("train_mask", "val_mask", "test_mask"))


def test_the_archive_is_downloaded_once(tmp_path, monkeypatch):
    with serving(Site({"/la.tar.gz": pack_city("la", make_roads())})) as site:
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
    content = make_roads()
    for number, (change, message) in enumerate(
        [
            ({"train_mask.pt": content["test_mask.pt"]}, "does not put every node into exactly one"),
            ({"10-chunk_16-hop_node_labels.pt": torch.zeros(3)}, "3 labels for 60 nodes"),
            ({"edge_indices.pt": [1, 2]}, r"edge_indices\.pt of the published archive holds a list"),
            ({"edge_indices.pt": os.system}, r"is refused: it asks for (posix|nt)\.system"),
        ]
    ):
        with pytest.raises(ValueError, match=message):
            CityNetworks(put(tmp_path / str(number), change))
    with pytest.raises(ValueError, match="Unknown name 'rome'; known are paris, shanghai, la, london"):
        CityNetworks(tmp_path, "rome")


def test_metric_is_the_accuracy_in_percent(tmp_path):
    dataset, target = CityNetworks(put(tmp_path)), torch.tensor([0, 1, 2, 3])
    assert dataset.metric(torch.tensor([0, 1, 2, 0]), target) == 75.0
    assert dataset.metric(torch.eye(10)[[0, 1, 1, 1]], target) == 50.0
    with pytest.raises(ValueError, match=r"got \(3, 10\) and \(4,\)"):
        dataset.metric(torch.ones(3, 10), target)
    task = dataset.task
    assert (task.level, task.out_channels, task.loss) == ("node", 10, "cross_entropy")
    assert (str(task.score), task.score.higher_is_better) == ("accuracy, %", True)
    with pytest.raises(ValueError, match="augmented must be True or False; got 'no'"):
        CityNetworks(tmp_path, augmented="no")


def test_splits_see_their_own_targets_only(tmp_path):
    whole = CityNetworks(put(tmp_path, name="la"), "la")[0]
    splits = BENCHMARKS["city-la"].splits(tmp_path)
    for name, (view,) in splits.named().items():
        mask = whole[f"{name}_mask"]
        assert torch.equal(view.mask, mask)
        assert torch.equal(view.y, torch.where(mask, whole.y, -1))
        assert not [key for key in view.keys() if key.endswith("_mask")]  # noqa: SIM118 (a graph is no dictionary)
    plain = BENCHMARKS["city-la"].splits(tmp_path, augmented=False)
    assert plain.train[0].x.size(1) == splits.train[0].x.size(1) // 2
    for options in ({"graphs": 10}, {"graphs": {"train": 1}}):
        with pytest.raises(ValueError, match=r"City-Networks, la is a single graph; .* leave it out"):
            BENCHMARKS["city-la"].splits(tmp_path, **options)


def test_prepared_cities_are_split_too(tmp_path):
    splits = BENCHMARKS["city-la"].splits(put(tmp_path, name="la"), pre_transform=Coarsen(Graclus(rounds=1)))
    for (view,) in splits.named().values():
        assert_quotient(view)
        assert view.num_levels == 2


@pytest.mark.skipif(not hasattr(pyg, "CityNetwork"), reason="this version of PyG has no City-Networks")
def test_address_is_that_of_pyg():
    assert pyg.CityNetwork.url == city.ADDRESS
