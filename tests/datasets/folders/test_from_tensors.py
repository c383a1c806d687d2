import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets.folders.from_tensors import apply_tensor_schema, learn_tensors
from ghr.datasets.folders.request import Request

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def graph(**more):
    return Data(**{"x": torch.tensor([[0.5], [1.5], [4.0]]), "edge_index": PATH, "y": torch.tensor([[3.0]]), **more})


def save(folder, *graphs, name="own.pt"):
    torch.save(list(graphs), folder / name)
    return folder / name


def learn(folder, *graphs, **options):
    return learn_tensors(save(folder, *graphs), Request(**options), "own.pt")


def test_real_features_and_a_target_per_graph(tmp_path):
    data = learn(tmp_path, graph(), graph(y=torch.tensor([[4.0]])))
    assert (data.task.level, data.task.loss, data.schema.target) == ("graph", "mse", ("y",))
    assert torch.equal(data.graphs[1].x, graph().x)
    assert torch.equal(data.graphs[1].edge_index, PATH)
    assert data.graphs[1].y.tolist() == [[4]]
    assert data.summary[:2] == ["own.pt: 2 graphs with 6 nodes and 8 edges.", "Nodes have 1 feature: x[0] (numbers)."]


def test_integers_are_codes_and_weights_are_features(tmp_path):
    kind = torch.tensor([[2], [0], [1], [1]])
    data = learn(tmp_path, graph(x=torch.tensor([[1, 0], [3, 0], [0, 0]]), edge_attr=kind, edge_weight=torch.rand(4)))
    assert [column.codes for column in data.schema.nodes] == [4, 1]
    assert data.graphs[0].x.tolist() == [[1, 0], [3, 0], [0, 0]]
    assert [column.name for column in data.schema.edges] == ["edge_attr[0]", "edge_weight[0]"]
    assert data.graphs[0].edge_attr[:, :3].argmax(dim=1).tolist() == [2, 0, 1, 1]


def test_classes_masks_and_other_tensors(tmp_path):
    mask = torch.tensor([True, False, False])
    data = learn(tmp_path, graph(y=torch.tensor([0, 1, -1]), train_mask=mask, test_mask=~mask, pos=torch.rand(3, 2)))
    assert data.task.classes == ("0", "1")
    assert data.graphs[0].train_mask.tolist() == [True, False, False]
    assert "Tensors that are not used: pos." in data.summary
    assert "The nodes are divided by train_mask, test_mask." in data.summary
    assert "1 node has no target and is left out." in data.summary


def test_another_tensor_may_be_the_target_or_none(tmp_path):
    data = learn(tmp_path, graph(charge=torch.rand(3)), target=("charge",))
    assert (data.task.level, data.task.name) == ("node", "charge")
    assert "Tensors that are not used: y." in data.summary
    bare = Data(edge_index=PATH, num_nodes=3)
    data = learn(tmp_path, bare)
    assert data.task is None
    assert data.graphs[0].x.tolist() == [[1], [1], [1]]


def test_several_columns_are_several_targets(tmp_path):
    data = learn(tmp_path, graph(y=torch.rand(1, 3)))
    assert data.task.out_channels == 3
    assert data.schema.target == ("y[0]", "y[1]", "y[2]")


@pytest.mark.parametrize(
    ("more", "options", "sentence"),
    [
        ({}, {"categorical": ("x",)}, "name one target and nothing categorical"),
        ({}, {"target": ("y", "x")}, "name one target"),
        (
            {"x": torch.tensor([[-1], [0], [0]])},
            {},
            r"own.pt: x\[0\] holds integers, .* but one is -1",
        ),
        ({"x": torch.tensor([[torch.nan], [0], [0]])}, {}, r"own.pt: x\[0\] must hold finite numbers"),
        ({"train_mask": torch.ones(1, 2).bool()}, {}, "train_mask must be boolean, one flag per graph; got 2 columns"),
        ({"train_mask": torch.ones(1)}, {}, "train_mask must be boolean, .* got 1 columns of torch.float32"),
        ({"train_mask": torch.ones(3).bool()}, {}, "train_mask must have one row for each of 1 graphs"),
    ],
)
def test_tensors_that_cannot_be_used_are_said(tmp_path, more, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        learn(tmp_path, graph(**more), **options)


def test_the_same_columns_are_read_again(tmp_path):
    schema = learn(tmp_path, graph(), graph()).schema
    new = Data(x=torch.rand(4, 1), edge_index=PATH)
    data = apply_tensor_schema(save(tmp_path, new, name="new.pt"), schema, "new.pt")
    assert torch.equal(data.graphs[0].x, new.x)
    assert "y" not in data.graphs[0]
    assert apply_tensor_schema(save(tmp_path, graph(), name="new.pt"), schema, "new.pt").graphs[0].y.tolist() == [[3]]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            {"x": torch.zeros(3, 2).long()},
            r"new.pt has the features x\[0\] \(codes\), x\[1\] \(codes\);",
        ),
        ({"x": torch.rand(3, 1)}, r"new.pt has the features x\[0\]; the model was trained with x\[0\] \(codes\)"),
        ({"x": torch.tensor([[0], [7], [0]])}, r"new.pt: x\[0\] has the code 7; training had codes from 0 to 2"),
        ({"x": torch.zeros(3, 1).long(), "edge_weight": torch.rand(4)}, "trained with none"),
    ],
)
def test_other_columns_than_those_of_training_are_said(tmp_path, more, sentence):
    schema = learn(tmp_path, graph(x=torch.tensor([[0], [2], [1]]))).schema
    with pytest.raises(ValueError, match=sentence):
        apply_tensor_schema(save(tmp_path, graph(**more), name="new.pt"), schema, "new.pt")
