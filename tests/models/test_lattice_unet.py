import pytest
import torch
from torch_geometric.data import Batch, Data

import ghr
from cases import make_lattice, relative_error
from ghr import MODELS, Task
from ghr.hierarchy.lattice import lattice_edges
from ghr.models.lattice_unet import LatticeUNet, count_levels
from ghr.testing import assert_batch_equals_loop, assert_gradients_reach_all_parameters, random_graph
from ghr.view.collect import collect
from stack_cases import LEVELS, check_reset, settle

SIDE = 8


def small(**options) -> LatticeUNet:
    torch.manual_seed(0)
    return LatticeUNet(2, 5, 2, **{"levels": 3, "act": "tanh", **options})


def convolve(conv, image):
    """One convolution around the torus; images are lists of rows of lists of channels."""
    side, weight, bias = len(image), conv.weight.tolist(), conv.bias.tolist()
    return [
        [
            [
                bias[out]
                + sum(
                    weight[out][channel][down + 1][right + 1] * image[(i + down) % side][(j + right) % side][channel]
                    for channel in range(len(image[0][0]))
                    for down in (-1, 0, 1)
                    for right in (-1, 0, 1)
                )
                for out in range(len(bias))
            ]
            for j in range(side)
        ]
        for i in range(side)
    ]


def run_block(block, image):
    for conv, norm in zip(block.convs, block.norms, strict=True):
        rows = torch.tensor(convolve(conv, image), dtype=torch.double)
        if isinstance(norm, torch.nn.BatchNorm1d):
            rows = (rows - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias
        image = rows.tanh().tolist()
    return image


def run_plain(model, image):
    """The equations of the model, node by node."""
    seen = []
    for block in model.down[:-1]:
        image = run_block(block, image)
        seen.append(image)
        half = range(len(image) // 2)
        members = [(0, 0), (0, 1), (1, 0), (1, 1)]
        image = [
            [
                [sum(image[2 * i + a][2 * j + b][c] for a, b in members) / 4 for c in range(len(image[0][0]))]
                for j in half
            ]
            for i in half
        ]
    image = run_block(model.down[-1], image)
    for block, before in zip(reversed(model.up), reversed(seen), strict=True):
        side = range(len(before))
        image = run_block(block, [[before[i][j] + image[i // 2][j // 2] for j in side] for i in side])
    return torch.tensor(image, dtype=torch.double).flatten(0, 1)


@pytest.mark.parametrize("norm", [None, "batch"])
def test_equals_the_equations(norm):
    model, data = settle(small(norm=norm)), make_lattice(SIDE, 2)
    with torch.no_grad():
        plain = run_plain(model, model.node_encoder(data.x).view(SIDE, SIDE, -1).tolist())
        assert relative_error(model(data), model.readout.mlp(plain)) <= 1e-12


def shift(value, rows, columns, side=SIDE):
    return value.view(side, side, -1).roll((rows, columns), (0, 1)).view(side * side, -1)


def test_shifts_by_whole_blocks_shift_the_predictions():
    model, data = settle(small()), make_lattice(SIDE, 2)
    moved = Data(x=shift(data.x, 4, -4), edge_index=data.edge_index)
    by_one = Data(x=shift(data.x, 1, 0), edge_index=data.edge_index)
    with torch.no_grad():
        assert relative_error(model(moved), shift(model(data), 4, -4)) <= 1e-12
        assert relative_error(model(by_one), shift(model(data), 1, 0)) > 1e-6


def test_every_node_is_seen():
    model, data = settle(small()), make_lattice(SIDE, 2)
    influence = torch.autograd.functional.jacobian(lambda x: model(Data(x=x, edge_index=data.edge_index))[0], data.x)
    assert bool((influence.abs().sum(dim=(0, 2)) > 0).all())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("norm", [None, "batch", "layer"])
def test_laws(norm, level):
    model = settle(small(norm=norm, readout=level))
    assert_batch_equals_loop(model, [make_lattice(side, 2, seed=side) for side in (8, 4, 16, 8)], rtol=1e-9)
    assert_gradients_reach_all_parameters(model, make_lattice(SIDE, 2))


def test_an_empty_graph_in_a_batch_has_no_predictions():
    model, data = small().eval(), make_lattice(8, 2, dtype=torch.float32)
    empty = Data(x=torch.zeros(0, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))
    assert torch.equal(model(Batch.from_data_list([empty, data])), model(data))


def test_larger_lattices_are_taken_unchanged():
    model = small().eval()
    for side in (4, 12, 32):
        prediction = model(make_lattice(side, 2, dtype=torch.float32))
        assert prediction.shape == (side * side, 2)
        assert prediction.dtype == torch.float32


def test_it_is_as_deep_as_the_side_allows():
    assert [count_levels(side) for side in (1, 2, 3, 4, 6, 16, 32, 256)] == [1, 1, 1, 2, 2, 4, 5, 8]
    for side, levels in ((8, 3), (16, 4), (32, 5)):
        lattice = make_lattice(side, dtype=torch.float32)
        model = MODELS["lattice-unet"].for_data([lattice], Task("node"), {"budget": 50_000})
        assert model.config["levels"] == levels == len(model.down)
        assert abs(model.num_parameters - 50_000) <= 5000
    assert MODELS["lattice-unet"].for_data([lattice], Task("node"), {"levels": 2}).config["levels"] == 2
    assert MODELS["lattice-unet"].budget == 15_000


def test_training_shifts_lattices_and_their_targets():
    data = Batch.from_data_list([make_lattice(4, 2, seed=seed) for seed in range(6)])
    data.y = 2 * data.x
    torch.manual_seed(0)
    moved = small().augment(data)
    assert torch.equal(moved.y, 2 * moved.x)
    assert not torch.equal(moved.x, data.x)


def test_it_is_trained_saved_and_loaded(tmp_path):
    graphs = [make_lattice(8, seed=seed, dtype=torch.float32) for seed in range(10)]
    for data in graphs:
        data.y = -data.x * data.x.view(8, 8).roll(3, 0).reshape(-1, 1)
    run = ghr.fit(graphs, Task("node"), model="lattice-unet", out=tmp_path, epochs=2, hidden_channels=4, quiet=True)
    loaded = ghr.load(tmp_path)
    assert type(loaded) is LatticeUNet
    assert loaded.config == run.model.config
    batch = Batch.from_data_list(graphs[:3])
    assert torch.equal(loaded(batch), run.model.eval()(batch))
    assert torch.equal(collect(loaded, graphs[0]).frames[-1].prediction, loaded(graphs[0]).detach())


def test_codes_and_numbers_on_edges(tmp_path):
    data = make_lattice(4)
    data.x, data.edge_attr = (data.x > 0).long(), torch.randn(64, 3)
    model = MODELS["lattice-unet"].for_data([data], Task("edge"), {"hidden_channels": 4}).eval()
    assert (model.config["in_channels"], model.config["edge_dim"]) == ([2], 3)
    model.save_pretrained(tmp_path)
    assert torch.equal(ghr.load(tmp_path)(data), model(data))
    assert model(data).shape == (64, 1)


def test_reset():
    check_reset(lambda: LatticeUNet(2, 16, 2, levels=2))


def open_grid(side):
    """A lattice that is not closed to a torus."""
    edges = lattice_edges(side)
    row, column = edges // side, edges % side
    inside = ((row[0] - row[1]).abs() + (column[0] - column[1]).abs()) == 1
    return Data(x=torch.randn(side * side, 2), edge_index=edges[:, inside])


def test_other_graphs_are_refused():
    model = small()
    with pytest.raises(ValueError, match=r"LatticeUNet takes periodic square lattices alone.* one of its graphs has 7"):
        model(random_graph(7, 9, in_channels=2))
    with pytest.raises(ValueError, match=r"lattices alone.* an edge joins the nodes .* not next to each other"):
        model(random_graph(16, 30, in_channels=2))
    with pytest.raises(ValueError, match=r"row by row, but no edge joins the nodes 12 and 0\. Take another model"):
        model(open_grid(4))
    with pytest.raises(
        ValueError, match=r"levels=3 takes lattices with sides that are multiples of 4; got one of side 6"
    ):
        model(make_lattice(6, 2, dtype=torch.float32))
    shuffled = make_lattice(8, 2, dtype=torch.float32)
    shuffled.edge_index = torch.randperm(64)[shuffled.edge_index]
    with pytest.raises(ValueError, match="not next to each other"):
        model(shuffled)


def test_edges_in_one_direction_are_enough():
    model, data = small().eval(), make_lattice(SIDE, 2, dtype=torch.float32)
    one_way = Data(x=data.x, edge_index=data.edge_index[:, data.edge_index[0] < data.edge_index[1]])
    assert torch.equal(model(one_way), model(data))


def test_bad_options_are_sentences():
    with pytest.raises(ValueError, match="levels must be a whole number"):
        small(levels=0)
    with pytest.raises(ValueError, match="Unknown norm 'rms'"):
        small(norm="rms")
    with pytest.raises(ValueError, match="LatticeUNet has no loops"):
        small().rollout(make_lattice(8, 2), steps=2)
