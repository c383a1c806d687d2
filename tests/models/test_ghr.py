import copy
import shutil

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

import reference
from cases import AWKWARD, awkward, hierarchy, randomise, relative_error
from ghr import GHR, Coarsen, Graclus, GraphReadout, State
from ghr.models import Encoded
from ghr.nn import CONVS
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)

WIDTH = 6


def small(**options) -> GHR:
    """A model with all its parameters off their start, in double precision."""
    torch.manual_seed(0)
    options = {"in_channels": 2, "hidden_channels": WIDTH, "out_channels": 2, "edge_dim": 3, **options}
    return randomise(GHR(**options), scale=0.15)


def by_loops(model: GHR, data, **given) -> list[torch.Tensor]:
    """Predictions of the slow version with a model's weights and, unless given, its settings."""
    levels = reference.read_levels(data)[: 1 if model.levels == 1 else None]
    high = given.get("t_high", model.t_high)
    high = [high] * (len(levels) - 1) if isinstance(high, int) else list(high)
    batch = getattr(data, "batch", None)
    predictions = reference.ghr(
        reference.read_weights(model),
        levels,
        reference.read_rows(data.x),
        conv=model.config["conv"],
        pool_by=model.pool,
        steps=given.get("steps", model.steps),
        counts=[given.get("t_low", model.t_low), *high],
        readout=model.config["readout"].removesuffix("-mlp"),
        batch=None if batch is None else batch.tolist(),
        num_graphs=getattr(data, "num_graphs", 1),
    )
    return [torch.tensor(list(map(list, step)), dtype=torch.double) for step in predictions]


# Against the slow version

COVER = [
    # conv, pool, levels, edge features, readout, time_informed
    ("gated_gine", "max", 2, 3, "node", False),
    ("gated_gine", "max", 2, None, "node", False),
    ("gated_gine", "sum", 3, 3, "graph-mlp", False),
    ("gated_gine", "mean", 1, 3, "edge", True),
    ("gine", "max", 3, 3, "edge-mlp", False),
    ("gine", "mean", 2, None, "graph", True),
    ("gine", "sum", 1, None, "node-mlp", False),
    ("gcn", "max", 2, 3, "edge", False),
    ("gcn", "sum", 3, None, "node", True),
    ("gcn", "mean", 1, 3, "graph-mlp", False),
    ("gated_gcn", "max", 3, 3, "node", True),
    ("gated_gcn", "mean", 2, 3, "edge", True),
    ("gated_gcn", "sum", 2, None, "edge-mlp", False),
    ("gated_gcn", "max", 1, None, "graph", False),
    ("gat", "mean", 3, 3, "node-mlp", False),
    ("gat", "max", 2, 3, "edge", True),
    ("gat", "sum", 2, None, "graph", False),
    ("gat", "mean", 1, None, "node", False),
    ("adgn", "max", 3, 3, "graph", False),
    ("adgn", "sum", 2, 3, "edge-mlp", True),
    ("adgn", "mean", 2, None, "node", False),
    ("adgn", "max", 1, 3, "node", False),
]


@pytest.mark.parametrize(("conv", "pool", "levels", "edge_dim", "readout", "time_informed"), COVER)
def test_equals_the_loops(conv, pool, levels, edge_dim, readout, time_informed):
    model = small(
        conv=conv,
        pool=pool,
        levels=levels,
        edge_dim=edge_dim,
        readout=readout,
        time_informed=time_informed,
        steps=2,
        t_high=2,
        t_low=3 if levels < 3 else 2,
    )
    data = hierarchy(levels=levels, edge_dim=edge_dim)
    expected = by_loops(model, data)
    predictions = model.rollout(data)
    assert len(predictions) == len(expected) == 2
    for ours, theirs in zip(predictions, expected, strict=True):
        assert relative_error(ours, theirs) <= 1e-9
    single = copy.deepcopy(data)
    for key, value in data.to_dict().items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            single[key] = value.float()
    assert relative_error(model.float()(single), expected[-1]) <= 1e-4


@pytest.mark.parametrize("conv", ["gated_gine", "gated_gcn"])
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_shared_weights_run_on_any_number_of_levels(conv, levels):
    model = small(conv=conv, share_coarse=True, steps=2, t_high=2, t_low=2)
    data = hierarchy(16, 20, levels=levels)
    assert [level.num_nodes for level in data.levels][-1] < 16 // (levels - 1)
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9


def test_shared_weights_do_not_grow_with_levels():
    counts = {sum(p.numel() for p in small(share_coarse=True, levels=levels).parameters()) for levels in (2, 3, 5)}
    assert counts == {sum(p.numel() for p in small(levels=2).parameters())}


@pytest.mark.parametrize("t_high", [(1, 2), (3, 1), [2, 2]])
def test_t_high_per_level(t_high):
    model = small(levels=3, steps=2, t_high=t_high, t_low=2)
    data = hierarchy(levels=3)
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9
    other = small(levels=3, steps=2, t_high=1, t_low=2)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(data, t_high=t_high), model(data))


def test_t_high_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="t_high gives 3 numbers for 2 coarse levels"):
        small(levels=3, t_high=(1, 2, 3))
    with pytest.raises(ValueError, match="t_high gives 2 numbers for 1 coarse levels"):
        small()(hierarchy(), t_high=(1, 2))


@pytest.mark.parametrize(("reduce", "coarse_dim"), [(("min", "mean", "max"), 9), ("sum", None)])
def test_coarse_edges_of_another_width(reduce, coarse_dim):
    model = small(coarse_edge_dim=coarse_dim, steps=2)
    data = hierarchy(edge_reduce=reduce)
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9


def test_coarse_edges_without_features():
    model = small(coarse_edge_dim=0, steps=2)
    assert not any(name.startswith("cells.1.edge_encoder") for name in model.state_dict())
    data = hierarchy()
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9


def test_edge_features_that_shall_not_be_used():
    model = small(edge_dim=None, steps=2)
    data = hierarchy()
    without = data.clone()
    del without.edge_attr, without.level1_edge_attr
    assert torch.equal(model(data), model(without))


@pytest.mark.parametrize("readout", ["node", "graph", "edge"])
def test_batch_equals_the_loops(readout):
    model = small(readout=readout, steps=2, t_low=2)
    batch = Batch.from_data_list([hierarchy(n, n + 1, seed=n) for n in (5, 8, 3)])
    assert relative_error(model(batch), by_loops(model, batch)[-1]) <= 1e-9


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("edge_dim", [None, 3])
@pytest.mark.parametrize("levels", [1, 2])
def test_one_node_without_edges(conv, edge_dim, levels):
    data = Data(x=torch.randn(1, 2).double(), edge_index=torch.empty(2, 0, dtype=torch.long))
    if edge_dim is not None:
        data.edge_attr = torch.empty(0, edge_dim).double()
    if levels == 2:
        data = Coarsen(Graclus(rounds=1))(data)
    model = small(conv=conv, edge_dim=edge_dim, levels=levels, steps=2)
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("name", [name for name, (_, edges) in AWKWARD.items() if edges])
def test_loops_repeats_and_one_way_edges(conv, name):
    x, edge_index, edge_attr = awkward(name, 2, 3)
    data = Coarsen(Graclus(rounds=1))(Data(x=x, edge_index=edge_index, edge_attr=edge_attr))
    model = small(conv=conv, steps=2, t_low=2)
    assert relative_error(model(data), by_loops(model, data)[-1]) <= 1e-9


# Laws


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize(("readout", "levels"), [("node", 3), ("graph", 2), ("edge", 2)])
def test_permutation_equivariant(conv, readout, levels):
    model = small(conv=conv, readout=readout, levels=levels, steps=2, t_high=2, t_low=2)
    assert_permutation_equivariant(model, hierarchy(levels=levels), level=readout, rtol=1e-10)


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize(("readout", "levels"), [("node", 2), ("graph-mlp", 3), ("edge", 1)])
def test_batch_equals_loop(conv, readout, levels):
    model = small(conv=conv, readout=readout, levels=levels, steps=2, t_high=2, t_low=2)
    graphs = [hierarchy(n, n + 2, levels=levels, seed=n) for n in (4, 9, 6)]
    assert_batch_equals_loop(model, graphs, rtol=1e-10)


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("options", [{"levels": 2, "time_informed": True}, {"levels": 3, "edge_dim": None}])
def test_gradients_reach_all_parameters(conv, options):
    torch.manual_seed(0)
    options = {"edge_dim": 3, "readout": "node-mlp", **options}
    model = GHR(2, 16, 2, conv=conv, steps=2, t_high=2, t_low=2, **options).double()
    data = hierarchy(12, 18, levels=options["levels"], edge_dim=options["edge_dim"])
    assert_gradients_reach_all_parameters(model, data)


# Steps


def test_one_step_after_another_is_the_rollout():
    model = small(conv="gated_gcn", steps=3, t_high=2, t_low=2, time_informed=True)
    data = hierarchy()
    expected = model.rollout(data)
    state = model.initial_state(data)
    for prediction in expected:
        ours, state = model.step(data, state)
        assert torch.equal(ours, prediction)
    assert torch.equal(model(data), expected[-1])
    assert not torch.equal(expected[0], expected[-1])


def test_step_on_encoded_data():
    model = small()
    data = hierarchy()
    encoded = model.encode(data)
    assert isinstance(encoded, Encoded)
    assert model.encode(encoded) is encoded
    state = model.initial_state(encoded)
    from_data, from_encoded = model.step(data, state, t_high=2), model.step(encoded, state, t_high=2)
    assert torch.equal(from_data[0], from_encoded[0])
    assert torch.equal(from_data[1].high, from_encoded[1].high)


def test_a_step_leaves_the_given_state_as_it_was():
    model = small()
    data = hierarchy()
    state = model.initial_state(data)
    before = [level.clone() for level in state.levels]
    model.step(data, state)
    assert all(torch.equal(a, b) for a, b in zip(before, state.levels, strict=True))


def test_state_with_the_wrong_number_of_levels_is_refused():
    model = small()
    data = hierarchy()
    with pytest.raises(ValueError, match="The state has 1 levels, the data 2"):
        model.step(data, State(model.initial_state(data).levels[:1]))


@pytest.mark.parametrize(("nodes", "other"), [(4, 8), (8, 4), (4, 400)])
def test_state_of_another_graph_is_refused(nodes, other):
    model = small()
    data, another = hierarchy(nodes), hierarchy(other)
    with pytest.raises(ValueError, match=rf"state of level 0 has the shape \({other}, 6\).* needs \({nodes}, 6\)"):
        model.step(data, model.initial_state(another))
    single = State(tuple(level.float() for level in model.initial_state(data).levels))
    with pytest.raises(ValueError, match=r"state of level 0 holds torch\.float32, but the model computes with"):
        model.step(data, single)


@pytest.mark.parametrize("conv", CONVS)
def test_gradients_of_edge_features_are_those_of_every_edge(conv):
    """Features that happen to be the same are no reason to give one edge the gradient of all."""
    model = small(conv=conv, levels=1)
    data = hierarchy(levels=1)
    data.edge_attr = torch.ones_like(data.edge_attr).requires_grad_()
    model(data).sum().backward()
    same = data.edge_attr.grad
    data.edge_attr = (torch.ones_like(same) + 1e-9 * torch.rand_like(same)).requires_grad_()
    model(data).sum().backward()
    assert relative_error(same, data.edge_attr.grad) < 1e-5


@pytest.mark.parametrize("conv", CONVS)
def test_autocast_computes_in_pytorch(conv):
    model, data = small(conv=conv).float(), hierarchy()
    data = data.apply(lambda value: value.float() if value.is_floating_point() else value)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = model(data)
    assert relative_error(prediction.float(), model(data)) < 0.1


def test_a_plain_graph_with_a_batch_vector_is_several_graphs():
    model = small(levels=1, readout="graph")
    graphs = [hierarchy(seed=seed, levels=1) for seed in (1, 2, 3)]
    batch = Batch.from_data_list(graphs)
    plain = Data(x=batch.x, edge_index=batch.edge_index, edge_attr=batch.edge_attr, batch=batch.batch)
    assert torch.equal(model(plain), model(batch))


def test_more_at_inference_is_a_model_built_with_more():
    data = hierarchy(levels=3)
    trained = small(levels=3, steps=1, t_high=1, t_low=1)
    more = {"steps": 3, "t_high": (2, 1), "t_low": 3}
    built = GHR(2, WIDTH, 2, edge_dim=3, levels=3, **more).double()
    built.load_state_dict(trained.state_dict())
    assert torch.equal(trained(data, **more), built(data))
    for ours, theirs in zip(trained.rollout(data, 3, t_high=(2, 1), t_low=3), built.rollout(data), strict=True):
        assert torch.equal(ours, theirs)
    assert not torch.equal(trained(data), built(data))
    assert trained(data).shape == built(data).shape


@pytest.mark.parametrize("conv", ["gated_gine", "gated_gcn"])
def test_checkpointing_changes_nothing(conv):
    data = hierarchy()
    options = {"conv": conv, "steps": 3, "t_high": 2, "t_low": 2}
    plain, saving = small(**options), small(**options, checkpoint=True)
    saving.load_state_dict(plain.state_dict())
    losses = []
    for model in (plain, saving):
        losses.append(sum(prediction.square().sum() for prediction in model.rollout(data)))
        losses[-1].backward()
    assert torch.equal(*losses)
    for (name, ours), theirs in zip(plain.named_parameters(), saving.parameters(), strict=True):
        assert torch.allclose(ours.grad, theirs.grad, rtol=1e-12, atol=1e-14), name


def test_checkpointing_runs_the_steps_again():
    calls = []
    model = small(steps=3, checkpoint=True)
    iterate = model.cells[1].conv.iterate
    model.cells[1].conv.iterate = lambda *args: (calls.append(1), iterate(*args))[1]
    loss = model(hierarchy()).sum()
    assert len(calls) == 3
    loss.backward()
    assert len(calls) == 6
    with torch.no_grad():
        model(hierarchy())
    assert len(calls) == 9


# Reach


def support(model: GHR, data) -> torch.Tensor:
    """Whether the prediction of a node (row) depends on the features of a node (column)."""

    def predict(x):
        given = data.clone()
        given.x = x
        return model(given)[:, 0]

    jacobian = torch.autograd.functional.jacobian(predict, data.x)
    return jacobian.abs().sum(dim=2) != 0


def reachable(levels: list[reference.Graph], steps: int, counts: list[int]) -> torch.Tensor:
    """The same by following who hears of whom through the schedule of updates."""
    heard = [[set() for _ in range(level.num_nodes)] for level in levels]

    def update(k):
        given = [set(known) for known in heard[k]]
        for i, known in enumerate(given):
            if k == 0:
                known.add(i)
            if k + 1 < len(levels):
                known |= heard[k + 1][levels[k + 1].parent[i]]
        if k > 0:
            for member, cluster in enumerate(levels[k].parent):
                given[cluster] |= heard[k - 1][member]
        new = [set(known) for known in given]
        for edge in levels[k].edges:
            new[edge.target] |= given[edge.source]
        heard[k] = new

    def loop(k):
        for _ in range(counts[k]):
            update(k)
            if k > 0:
                loop(k - 1)

    for _ in range(steps):
        loop(len(levels) - 1)
    size = levels[0].num_nodes
    return torch.tensor([[j in heard[0][i] for j in range(size)] for i in range(size)])


def long_path(num_nodes: int, levels: int, rounds: int = 1):
    path = path_graph(num_nodes)
    path.x = torch.randn(num_nodes, 1, generator=torch.Generator().manual_seed(1)).double()
    return path if levels == 1 else Coarsen(Graclus(rounds=rounds), levels=levels - 1)(path)


@pytest.mark.parametrize("conv", ["gated_gine", "adgn"])
@pytest.mark.parametrize(("steps", "t_low"), [(1, 1), (1, 4), (3, 2)])
def test_a_flat_model_reaches_exactly_steps_times_t_low_hops(conv, steps, t_low):
    model = small(in_channels=1, edge_dim=None, conv=conv, levels=1, steps=steps, t_low=t_low)
    here = torch.arange(14)
    hops = (here[:, None] - here[None, :]).abs()
    assert torch.equal(support(model, long_path(14, 1)), hops <= steps * t_low)


@pytest.mark.parametrize("pool", ["sum", "mean"])
@pytest.mark.parametrize(
    ("steps", "t_high", "t_low", "rounds", "levels"),
    [
        (1, 1, 1, 1, 2),
        (1, 2, 1, 1, 2),
        (2, 1, 1, 2, 2),
        (1, 2, 2, 3, 2),
        (2, 2, 1, 1, 2),
        (2, 1, 1, 1, 3),
        (1, 2, 1, 1, 3),
    ],
)
def test_a_hierarchy_reaches_as_far_as_its_schedule_says(pool, steps, t_high, t_low, rounds, levels):
    data = long_path(30, levels, rounds)
    model = small(
        in_channels=1, edge_dim=None, conv="adgn", levels=levels, pool=pool, steps=steps, t_high=t_high, t_low=t_low
    )
    naive = reference.read_levels(data)
    ours, derived = support(model, data), reachable(naive, steps, [t_low, *[t_high] * (levels - 1)])
    assert torch.equal(ours, derived)
    low_updates = steps * t_low * t_high ** (levels - 1)
    flat = reachable(naive[:1], 1, [low_updates])
    assert (derived | flat).equal(derived)
    if low_updates > t_low:  # the first update of the coarse level has heard of nothing yet
        assert derived.sum() > flat.sum()
    assert not derived.all()


# Compiled


@pytest.fixture
def _fresh_compiler():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def compile_case(conv):
    torch.manual_seed(0)
    model = GHR(2, WIDTH, 1, conv=conv, edge_dim=3)
    data = Coarsen(Graclus(rounds=1))(random_graph(9, 12, in_channels=2, edge_dim=3))
    return model, data


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.parametrize("conv", [name for name in CONVS if name != "gated_gine"])
def test_step_compiles_whole(conv):
    model, data = compile_case(conv)
    encoded = model.encode(data)
    state = model.initial_state(encoded)
    expected, after = model.step(encoded, state)
    ours, ours_after = torch.compile(model.step, fullgraph=True, backend="aot_eager")(encoded, state)
    assert torch.allclose(ours, expected, rtol=1e-5, atol=1e-6)
    assert torch.allclose(ours_after.high, after.high, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("_fresh_compiler")
def test_step_compiles_whole_on_the_data_itself():
    model, data = compile_case("gated_gine")
    state = model.initial_state(data)
    ours, _ = torch.compile(model.step, fullgraph=True, backend="aot_eager")(data, state)
    assert torch.allclose(ours, model.step(data, state)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_step_compiles_to_machine_code():
    model, data = compile_case("gated_gine")
    encoded = model.encode(data)
    state = model.initial_state(encoded)
    step = torch.compile(model.step, fullgraph=True)
    with torch.no_grad():
        assert torch.allclose(step(encoded, state)[0], model.step(encoded, state)[0], rtol=1e-5, atol=1e-6)


# Life of a model


def test_state_dict_round_trip():
    model, other = small(levels=3, time_informed=True), GHR(2, WIDTH, 2, edge_dim=3, levels=3, time_informed=True)
    other.double().load_state_dict(model.state_dict())
    data = hierarchy(levels=3)
    assert torch.equal(model(data), other(data))


def test_initial_states_are_learned_one_per_level():
    model = small()
    state = model.initial_state(hierarchy())
    for k, level in enumerate(state.levels):
        assert torch.equal(level, model.cells[k].initial.value.expand_as(level))
    assert not torch.equal(state.low[0], state.high[0])


def test_random_initial_state():
    model = small(initial_state="random")
    data = hierarchy()
    assert not any("initial" in name for name in model.state_dict())
    assert not torch.equal(model(data), model(data))
    torch.manual_seed(5)
    first = model(data)
    torch.manual_seed(5)
    assert torch.equal(model(data), first)
    low = model.initial_state(hierarchy(200, 300)).low
    assert low.dtype == torch.double
    assert float(low.std()) == pytest.approx(0.02, rel=0.1)
    assert not torch.equal(low[0], low[1])


@pytest.mark.parametrize(
    ("in_channels", "conv", "readout", "count"),
    [
        (2, "gated_gine", "node", 12_739),
        (2, "gine", "node", 7_747),
        (1, "gated_gine", "node", 12_707),
        (2, "gated_gine", "graph-mlp", 15_843),
        (2, "gine", "graph-mlp", 10_851),
    ],
)
def test_parameter_counts_of_the_paper(in_channels, conv, readout, count):
    model = GHR(in_channels, 32, 1, conv=conv, edge_dim=1, readout=readout)
    assert sum(parameter.numel() for parameter in model.parameters()) == count
    assert f"{count:,} parameters" in repr(model)


def test_weights_do_not_depend_on_the_schedule():
    few, many = small(steps=1), small(steps=9, t_high=4, t_low=5)
    assert {k: v.shape for k, v in few.state_dict().items()} == {k: v.shape for k, v in many.state_dict().items()}


def test_repr_is_short():
    text = repr(GHR(2, 32, 1, edge_dim=1, levels=3))
    assert "\n" not in text
    assert len(text) < 400
    assert text.startswith("GHR(in_channels=2, hidden_channels=32, out_channels=1, edge_dim=1, levels=3, coarsen={")
    assert "steps" not in text, "what is as by default is left out"
    assert "steps=2, t_low=3" in repr(GHR(2, 32, 1, steps=2, t_low=3))


def test_readout_object():
    model = small(out_channels=5, readout=GraphReadout(WIDTH, 5, layers=2))
    assert model(hierarchy()).shape == (1, 5)
    assert model.config["readout"] == "graph-mlp"


def test_learns_from_a_loader():
    torch.manual_seed(0)
    graphs = []
    for seed in range(8):
        data = Coarsen(Graclus(rounds=1))(random_graph(10, 14, in_channels=2, seed=seed))
        data.y = data.x[:, :1] + data.x[:, 1:].square()
        graphs.append(data)
    model = GHR(2, 16, 1, steps=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(15):
        total = 0.0
        for batch in DataLoader(graphs, batch_size=4, shuffle=True):
            optimizer.zero_grad()
            loss = sum(nn.functional.mse_loss(prediction, batch.y) for prediction in model.rollout(batch))
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    assert losses[-1] < 0.5 * losses[0]


def test_given_data_is_left_as_it_was():
    data = hierarchy()
    before = data.clone()
    small()(data)
    assert data.keys() == before.keys()
    assert all(torch.equal(data[key], before[key]) for key in before.keys())  # noqa: SIM118


# What is refused


@pytest.mark.parametrize(
    "name", ["in_channels", "hidden_channels", "out_channels", "levels", "steps", "t_low", "t_high"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_sizes_below_one_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1.*; got {value}"):
        small(**{name: value})


@pytest.mark.parametrize("name", ["edge_dim", "coarse_edge_dim"])
def test_a_negative_edge_width_is_refused(name):
    with pytest.raises(ValueError, match=name):
        small(**{name: -1})


def test_what_is_no_readout_is_refused():
    for readout in (None, 3):
        with pytest.raises(ValueError, match="readout"):
            small(readout=readout)


def test_a_zero_inside_t_high_is_refused():
    with pytest.raises(ValueError, match="t_high must be a whole number of at least 1; got 0"):
        small(levels=3, t_high=(1, 0))


@pytest.mark.parametrize("name", ["steps", "t_low", "t_high"])
def test_zero_steps_at_inference_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1.*; got 0"):
        small()(hierarchy(), **{name: 0})
    if name != "steps":
        model = small()
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1.*; got 0"):
            model.step(hierarchy(), model.initial_state(hierarchy()), **{name: 0})


@pytest.mark.parametrize("edge_dim", [None, 3])
@pytest.mark.parametrize(
    ("option", "known"),
    [
        ({"conv": "gin"}, "Unknown conv 'gin'; known are gine, gated_gine, gcn, gated_gcn, gat, adgn"),
        ({"pool": "median"}, "Unknown pool 'median'; known pools are max, sum, mean"),
        ({"readout": "nodes"}, "Unknown readout 'nodes'; known are node, node-mlp, graph"),
        ({"initial_state": "zero"}, "Unknown initial_state 'zero'; known are learned, random"),
    ],
)
def test_unknown_names_are_refused_and_the_known_ones_told(option, known, edge_dim):
    with pytest.raises(ValueError, match=known):
        small(edge_dim=edge_dim, **option)


def test_sharing_without_a_coarse_level_is_refused():
    with pytest.raises(ValueError, match="share_coarse needs a coarse level; got levels=1"):
        small(levels=1, share_coarse=True)


@pytest.mark.parametrize("share_coarse", [False, True])
def test_a_graph_without_coarse_level_is_refused(share_coarse):
    with pytest.raises(ValueError, match=r"no coarse level; apply Coarsen\(...\)"):
        small(share_coarse=share_coarse)(hierarchy(levels=1))
    plain = random_graph(5, 6, in_channels=2, edge_dim=3)
    with pytest.raises(ValueError, match=r"no coarse level; apply Coarsen\(...\)"):
        small(share_coarse=share_coarse).float()(plain)
    assert small(levels=1).float()(plain).shape == (5, 2)


def test_wrong_number_of_levels_is_refused():
    with pytest.raises(ValueError, match="has 3 levels, but the model was built for 2; build it with levels=3"):
        small()(hierarchy(levels=3))
    with pytest.raises(ValueError, match="has 2 levels, but the model was built for 3"):
        small(levels=3)(hierarchy())


def test_missing_edge_features_are_refused():
    with pytest.raises(ValueError, match="Level 0 has no edge features, but the model was built for 3"):
        small()(hierarchy(edge_dim=None))
    data = hierarchy()
    del data.level1_edge_attr
    with pytest.raises(ValueError, match="Level 1 has no edge features, but the model was built for 3"):
        small()(data)


def test_wrong_edge_width_is_refused():
    with pytest.raises(ValueError, match="Level 0 has 2 edge features, but the model was built for 3"):
        small()(hierarchy(edge_dim=2))
    with pytest.raises(ValueError, match="Level 1 has 3 edge features, but the model was built for 5"):
        small(coarse_edge_dim=5)(hierarchy())
