"""Its place puts this folder on the path, so that every test can import `reference` and `cases`."""

import torch

torch.set_num_threads(1)  # the graphs are tiny: threads would only wait for each other
