import getpass
import json
import os
import socket

import torch

from ghr.train.provenance import machine, name_cpu, versions


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


def test_processors_of_one_name_are_told_apart() -> None:
    told = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
    assert name_cpu(told) == "AMD EPYC, family 26 model 2"
    assert name_cpu(told.replace("model\t\t: 2\n", "model\t\t: 17\n")) == "AMD EPYC, family 26 model 17"
    assert name_cpu("model name\t: Cortex-A76\n") == "Cortex-A76"  # not all systems tell the numbers
    assert name_cpu("") == ""
