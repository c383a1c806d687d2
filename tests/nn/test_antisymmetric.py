import pytest
import torch

from dynamics_cases import check_reset
from ghr.nn.antisymmetric import AntisymmetricLinear, TriangularLinear


def matrix_of(module, size):
    """Column j is what becomes of unit vector j, less what becomes of zero."""
    zero = module(torch.zeros(1, size))
    return (module(torch.eye(size)) - zero).T.detach()


def test_an_antisymmetric_map_less_a_diffusion():
    module = AntisymmetricLinear(6, diffusion=0.25)
    matrix = matrix_of(module, 6)
    assert torch.allclose(matrix, module.weight - module.weight.T - 0.25 * torch.eye(6), atol=1e-6)
    assert torch.equal(module(torch.zeros(2, 6)), module.bias.expand(2, 6))
    assert repr(module) == "AntisymmetricLinear(6, diffusion=0.25)"


@pytest.mark.parametrize(("sign", "count"), [(-1, 15), (1, 21)])
def test_triangles(sign, count):
    module = TriangularLinear(6, sign)
    matrix = matrix_of(module, 6)
    assert torch.equal(matrix, sign * matrix.T)
    assert sum(parameter.numel() for parameter in module.parameters()) == count
    assert torch.unique(matrix.abs().round(decimals=6)).numel() == count + (sign < 0)  # every parameter has its place
    assert repr(module) == f"TriangularLinear(6, sign={sign})"


def test_starts_are_those_of_a_linear_layer():
    for module in (AntisymmetricLinear(400), TriangularLinear(400, 1)):
        for parameter in module.parameters():
            assert 0.9 / 20 < parameter.abs().max() <= 1 / 20
    check_reset(lambda: AntisymmetricLinear(5))
    check_reset(lambda: TriangularLinear(5, -1))


def test_other_signs_are_refused():
    with pytest.raises(ValueError, match="sign must be -1 or 1; got 0"):
        TriangularLinear(3, 0)
