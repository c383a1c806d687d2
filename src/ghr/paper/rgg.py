"""The rows of the paper's study on random geometric graphs: shortest paths beyond the trained range."""

from dataclasses import replace

from ghr.paper.data_specs import RGGSpec
from ghr.paper.model_specs import DeepSpec, GHRSpec, GPSSpec, ModelSpec, RecurrentSpec
from ghr.paper.protocol import PAPER, RECIPES
from ghr.paper.recipe import Recipe
from ghr.paper.row import AS_TRAINED, Counts, Reported, Row
from ghr.train import TrainConfig

SMALL_GHR = RECIPES["rgg-sssp-small"].model
LARGE_GHR = GHRSpec(t_high=3, t_low=6)  # R x T_H x T_L = 4 x 3 x 6, as in the paper

_SMALL_COUNTS = (
    Counts(t_low=3),
    Counts(t_low=4),
    Counts(t_low=6),
    Counts(t_high=3),
    Counts(steps=6),
    Counts(steps=8),
    Counts(t_high=3, t_low=3),
)
_BEYOND = Counts(t_low=8)
_LARGE_COUNTS = (_BEYOND, Counts(t_low=10), Counts(t_high=4), Counts(steps=6), Counts(steps=6, t_low=8))
_FLAT_BEYOND = Counts(t_low=30)
_FLAT_COUNTS = (_FLAT_BEYOND, Counts(t_low=40))
_FLAT_GR_COUNTS = (*_FLAT_COUNTS, Counts(steps=6))
_DEEP_GR_COUNTS = (Counts(steps=6), Counts(steps=8))


def _small(max_distance: int | None, cap: int) -> tuple[Row, ...]:
    data, group = RGGSpec("small", max_distance=max_distance), f"rgg-small-cap{cap}"
    return (
        Row(
            "GHR-GatedGINE",
            "ghr-gated_gine",
            group,
            Recipe(SMALL_GHR, data, PAPER),
            inference=_SMALL_COUNTS,
            beyond=Counts(t_low=4),
        ),
        Row("Deep-GINE, 10 layers", "deep-gine", group, Recipe(DeepSpec(), data, PAPER)),
        Row("GPS, 10 layers", "gps-gine", group, Recipe(GPSSpec(), data, PAPER)),
    )


SMALL = {5: _small(None, 5), 8: _small(8, 8)}  # by the largest distance in training

_REDUCED = RGGSpec("large", train_graphs=1000, val_graphs=100)


def _reduced(epochs: int) -> TrainConfig:
    """An annealed short training in place of one to convergence."""
    return TrainConfig(epochs=epochs, batch_size=8, lr=2e-3, schedule="cosine")


def _row(
    title: str,
    name: str,
    model: ModelSpec,
    epochs: int,
    reported: Reported,
    inference: tuple[Counts, ...] = (),
    beyond: Counts = AS_TRAINED,
) -> Row:
    train = _reduced(epochs)
    if isinstance(model, RecurrentSpec) and model.steps == 1:
        train = replace(train, jitter=False)
    recipe = Recipe(model, _REDUCED, train)
    return Row(title, name, "rgg-large-reduced", recipe, inference=inference, beyond=beyond, reported=reported)


_GATED = Reported((0.146, 0.395), (0.098, 0.088), (0.578, 0.828), 41.48)
_GINE = Reported((0.256, 0.577), (0.086, 0.126), (0.776, 1.098), 38.13)

# The numbers of epochs give every row about the same time on one thread, whatever its message passing costs.
REDUCED = (
    _row("GHR-GatedGINE", "ghr-gated_gine", LARGE_GHR, 14, _GATED, _LARGE_COUNTS, _BEYOND),
    _row("GHR-GINE", "ghr-gine", replace(LARGE_GHR, conv="gine"), 22, _GINE, _LARGE_COUNTS, _BEYOND),
    _row(
        "GHR-GCN",
        "ghr-gcn",
        replace(LARGE_GHR, conv="gcn"),
        9,
        Reported((0.418, 0.909), (0.232, 0.283), (1.337, 1.871), 37.22),
        _LARGE_COUNTS,
        _BEYOND,
    ),
    _row(
        "GHR-GAT",
        "ghr-gat",
        replace(LARGE_GHR, conv="gat"),
        5,
        Reported((0.466, 1.557), (0.049, 0.028), (2.680, 1.917), 28.12),
        (_BEYOND,),
        _BEYOND,
    ),
    _row(
        "GHR-ADGN",
        "ghr-adgn",
        replace(LARGE_GHR, conv="adgn"),
        7,
        Reported((0.625, 1.977), (0.020, 0.039), (3.831, 3.522), 40.781),
        _LARGE_COUNTS,
        _BEYOND,
    ),
    _row(
        "Recurrent-GatedGINE + GR",
        "recurrent-gr-gated_gine",
        RecurrentSpec("gated_gine", steps=4),
        15,
        Reported((0.411, 0.764), (0.073, 0.047), (1.803, 2.613), 31.88),
        _FLAT_GR_COUNTS,
        _FLAT_BEYOND,
    ),
    _row(
        "Recurrent-GINE + GR",
        "recurrent-gr-gine",
        RecurrentSpec("gine", steps=4),
        22,
        Reported((0.640, 1.954), (0.051, 0.039), (3.549, 3.538), 24.06),
        _FLAT_GR_COUNTS,
        _FLAT_BEYOND,
    ),
    _row(
        "Recurrent-GINE",
        "recurrent-gine",
        RecurrentSpec("gine"),
        80,
        Reported((0.672, 0.632), (0.547, 0.040), (1.287, 1.375), 30.22),
        _FLAT_COUNTS,
        _FLAT_BEYOND,
    ),
    _row(
        "Deep-GatedGINE + GR",
        "deep-gr-gated_gine",
        DeepSpec("gated_gine", layers=20, steps=4),
        11,
        Reported((0.812, 2.282), (0.047, 0.060), (4.594, 3.705), 20.99),
        _DEEP_GR_COUNTS,
    ),
    _row(
        "Deep-GatedGINE",
        "deep-gated_gine",
        DeepSpec("gated_gine", layers=20),
        44,
        Reported((0.919, 2.451), (0.058, 0.076), (5.175, 3.722), 20.25),
    ),
    _row(
        "Recurrent-GatedGINE",
        "recurrent-gated_gine",
        RecurrentSpec("gated_gine"),
        44,
        Reported((0.936, 1.145), (0.630, 0.285), (2.446, 1.999), 30.44),
        _FLAT_COUNTS,
        _FLAT_BEYOND,
    ),
    _row(
        "Deep-GINE",
        "deep-gine",
        DeepSpec("gine", layers=20),
        56,
        Reported((0.964, 2.526), (0.061, 0.102), (5.427, 3.724), 19.73),
    ),
    _row(
        "Deep-GINE + GR",
        "deep-gr-gine",
        DeepSpec("gine", layers=20, steps=4),
        18,
        Reported((1.070, 2.597), (0.133, 0.193), (5.718, 3.718), 19.91),
        _DEEP_GR_COUNTS,
    ),
)

_PROTOCOL = Recipe(LARGE_GHR, RGGSpec("large"), PAPER)
FULL = (
    Row(
        "GHR-GatedGINE, full protocol",
        "ghr-gated_gine",
        "rgg-large",
        _PROTOCOL,
        inference=_LARGE_COUNTS,
        beyond=_BEYOND,
        reported=_GATED,
    ),
    Row(
        "GHR-GINE, full protocol",
        "ghr-gine",
        "rgg-large",
        replace(_PROTOCOL, model=replace(LARGE_GHR, conv="gine")),
        inference=_LARGE_COUNTS,
        beyond=_BEYOND,
        reported=_GINE,
    ),
)
ABLATIONS = (*REDUCED, *FULL)  # the short ones first, so that a table is there before the long ones are done

_TEN_HOPS = RGGSpec("large", max_distance=10, mean_degree=12.0, train_graphs=1000, val_graphs=100, test_graphs=200)
PREDICTION = (
    Row(
        "GHR-GatedGINE",
        "ghr-gated_gine",
        "rgg-cap10",
        Recipe(GHRSpec(t_high=3, t_low=4), _TEN_HOPS, _reduced(12)),
        seeds=(42,),
        inference=(Counts(t_low=6), Counts(t_low=8), Counts(steps=6)),
        beyond=Counts(t_low=6),
    ),
    Row(
        "Deep-GINE, 10 layers",
        "deep-gine",
        "rgg-cap10",
        Recipe(DeepSpec(), _TEN_HOPS, _reduced(40)),
        seeds=(42,),
    ),
)
