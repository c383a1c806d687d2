"""Settings of the whole suite; its place puts this folder on the path, so tests can import `reference` and `cases`."""

import numba
import torch
from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)  # times are never asserted
settings.load_profile("suite")
torch.set_num_threads(1)  # the graphs are tiny: threads would only wait for each other
numba.set_num_threads(1)


def pytest_addoption(parser):
    parser.addoption("--fuzz", type=int, default=2000, help="how many odd calls test_fuzz makes")
    parser.addoption("--fuzz-seed", type=int, default=0, help="another number makes other calls")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name != "test_site.py")  # the longest: the others run beside it
