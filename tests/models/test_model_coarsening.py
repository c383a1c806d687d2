import pytest
import torch

from ghr import GHR, Coarsen, Graclus, MinPlusGHR, Task
from ghr.models.coarsening import coarse_width, read_coarsen
from ghr.testing import path_graph, random_graph

EXAMPLE = random_graph(8, 14, edge_dim=1)
EXAMPLE.edge_attr = EXAMPLE.edge_attr.abs()  # lengths
NODE = Task("node")


def test_options_are_read_as_a_coarsening():
    given = Coarsen(Graclus(rounds=1))
    assert read_coarsen(given) is given
    assert repr(read_coarsen({"rounds": 2, "seed": 4})) == repr(Coarsen(Graclus(rounds=2, seed=4)))


@pytest.mark.parametrize("build", [lambda **options: GHR(1, 4, 1, **options), MinPlusGHR])
def test_what_is_no_coarsening_is_refused(build):
    with pytest.raises(ValueError, match="coarsen has no option 'colour'; known are block, codes"):
        build(coarsen={"colour": "red"})
    with pytest.raises(ValueError, match=r"coarsen must be a Coarsen\(...\) or a mapping of its options; got Graclus"):
        build(coarsen=Graclus(rounds=1))
    with pytest.raises(ValueError, match="coarsen is for models with coarse levels, but levels is 1; leave it out"):
        build(coarsen={}, levels=1)


def test_the_levels_of_a_coarsening_are_those_of_the_model():
    with pytest.raises(ValueError, match="coarsen makes 2 coarse levels, but with levels=2 the model has 1"):
        GHR(1, 4, 1, coarsen={"levels": 2})
    with pytest.raises(ValueError, match="coarsen makes 2 coarse levels"):
        GHR.for_data(EXAMPLE, NODE, coarsen=Coarsen(Graclus(rounds=1), levels=2))
    assert GHR(1, 4, 1, coarsen={"levels": 2}, share_coarse=True).transform.levels == 2
    assert MinPlusGHR(coarsen={"levels": 2, "edge_reduce": "centre_paths"}).transform.levels == 2


@pytest.mark.parametrize("levels", ["3", 0, 1.5, None])
def test_levels_that_are_none_are_a_sentence(levels):
    with pytest.raises(ValueError, match="levels must be a whole number of at least 1; got"):
        GHR.for_data(EXAMPLE, NODE, levels=levels)


def test_a_coarsening_is_said_once():
    with pytest.raises(ValueError, match="rounds say how to coarsen, but coarsen is given; leave them out"):
        GHR.for_data(EXAMPLE, NODE, rounds=1, coarsen={"rounds": 2})
    with pytest.raises(ValueError, match="rounds, mode say how to coarsen, but levels is 1; leave them out"):
        GHR.for_data(EXAMPLE, NODE, rounds=1, mode="random", levels=1)


def test_options_that_a_partition_does_not_read_are_refused():
    with pytest.raises(ValueError, match="The partition 'graclus' does not read block; leave it out"):
        GHR.for_data(EXAMPLE, NODE, block=3)
    with pytest.raises(ValueError, match="Unknown partition 'halves'; known are graclus, grid"):
        GHR.for_data(EXAMPLE, NODE, partition="halves")


def test_coarse_edges_are_as_wide_as_the_coarsening_makes_them():
    for reduce, width in ((None, 1), ("min", 1), (("min", "mean", "max"), 3), ("centre_paths", 1)):
        coarsen = Coarsen(Graclus(rounds=1), reduce)
        assert coarse_width(coarsen, EXAMPLE) == width
        assert coarse_width(coarsen, [EXAMPLE]) == width
        assert coarse_width(Coarsen(Graclus(rounds=1)), coarsen(EXAMPLE)) == width, "what is there already counts"
    assert coarse_width(Coarsen(Graclus(rounds=1)), path_graph(4)) == 0


def test_both_minimum_and_mean_are_guessed_from_the_width_that_bundled_models_have():
    assert GHR(1, 4, 1, edge_dim=1, coarse_edge_dim=2).transform.edge_reduce == ("min", "mean")
    assert GHR(1, 4, 1, edge_dim=1).transform.edge_reduce is None
    assert GHR(1, 4, 1, edge_dim=[3, 2]).transform.codes == (3, 2)


def test_min_plus_coarsens_along_paths_unless_told_otherwise():
    marked = path_graph(8)
    for model in (MinPlusGHR(), MinPlusGHR.for_data(marked, NODE), MinPlusGHR.for_data(marked, NODE, rounds=1)):
        assert model.transform.config["edge_reduce"] == "centre_paths"
        assert torch.isfinite(model(model.prepare(marked))).all()
    own = MinPlusGHR.for_data(marked, NODE, coarsen={"rounds": 1, "edge_reduce": "centre_paths"})
    assert own.transform.config["rounds"] == 1
    assert MinPlusGHR.for_data(marked, NODE, levels=1).transform is None
