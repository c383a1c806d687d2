import pytest
import torch

from ghr import GHR, GPS, DeepGNN, MinPlusGHR
from ghr.models import GRIT, GraphViT
from ghr.nn import CONVS

BUILD = {
    **{conv: lambda conv=conv: GHR(2, 32, 2, conv=conv, edge_dim=3, time_informed=True) for conv in CONVS},
    "deep": lambda: DeepGNN(2, 32, 2, layers=2, edge_dim=3),
    "gps": lambda: GPS(2, 32, 2, layers=2, edge_dim=3),
    "gps with walks": lambda: GPS(2, 32, 2, layers=2, edge_dim=3, encoding="rwse"),
    "gps with eigenvectors": lambda: GPS(2, 32, 2, layers=2, edge_dim=3, encoding="laplacian"),
    "grit": lambda: GRIT(2, 32, 2, layers=2, edge_dim=3),
    "graph-vit": lambda: GraphViT(2, 32, 2, layers=2, edge_dim=3),
    "min-plus": lambda: MinPlusGHR(2, 32),
    "min-plus with learned lengths": lambda: MinPlusGHR(2, 32, levels=1, edge_dim=3),
}


@pytest.mark.parametrize("name", BUILD)
def test_parameters_are_drawn_anew_as_the_constructor_draws_them(name):
    torch.manual_seed(0)
    model = BUILD[name]()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    model.reset_parameters()
    for part, parameter in model.named_parameters():
        value, start = parameter.detach(), before[part]
        constant = bool((start == start.flatten()[0]).all())
        if start.dim() == 0 or (constant and start.numel() > 1):
            assert torch.equal(value, start), part
        else:
            assert not torch.equal(value, start), part
            if start.numel() > 100:
                assert torch.isclose(value.std(), start.std(), rtol=0.2), part
                assert torch.isclose(value.abs().max(), start.abs().max(), rtol=0.5), part
