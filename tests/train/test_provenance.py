import getpass
import json
import os
import socket

import torch

from ghr.train.provenance import machine, versions


def test_versions_of_what_decides_a_number() -> None:
    found = versions()
    assert list(found) == ["python", "torch", "torch_geometric", "numpy", "ghr"]
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]


def test_machine_names_hardware_but_no_place() -> None:
    found = machine(torch.device("cpu"))
    assert found["cpu"]
    assert found["cores"] == os.cpu_count()
    assert found["threads"] == torch.get_num_threads()
    assert found["device"] == "cpu"
    values = json.dumps(found)
    assert socket.gethostname() not in values.split('"')
    assert getpass.getuser() not in values.split('"')
    assert "/" not in found["platform"]
