import numpy as np

from ghr.ops.kernels.peak import multiply
from ghr.ops.share import share


def test_every_block_is_multiplied_however_often():
    rng = np.random.default_rng(0)
    blocks, weight, bias = (rng.standard_normal(shape) for shape in ((5, 32, 7), (7, 9), 9))
    out = np.zeros((5, 32, 9))
    share(multiply, 5, 3, blocks.reshape(5, -1), weight.ravel(), bias, out.reshape(5, -1), 7, 9)
    np.testing.assert_allclose(out, blocks @ weight + bias)
