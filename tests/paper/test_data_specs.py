from ghr.paper import RGGSpec


def test_the_cap_holds_in_training_and_not_in_the_test(tmp_path):
    data = RGGSpec(max_distance=4, train_graphs=20, val_graphs=5, test_graphs=60)
    assert data.in_range == 4
    assert int(data.load(tmp_path, "train").hops.max()) <= 4
    assert int(data.load(tmp_path, "test").hops.max()) > 5
