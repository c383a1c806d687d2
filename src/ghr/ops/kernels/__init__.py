"""CPU kernels in numba, on plain arrays; `ghr.ops` wraps them for PyTorch."""
