"""With what a result was made: versions and machine, but nothing that names a person or a place."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

_PACKAGES = ("torch", "torch_geometric", "numpy", "ghr")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide a number."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine(device: torch.device) -> dict[str, Any]:
    """The hardware, without the names of host, user or folders."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "platform": f"{platform.system()}-{platform.machine()}",
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
    }


def _cpu_model() -> str:
    # platform.processor() is empty or just the architecture on most Linux systems.
    try:
        told = Path("/proc/cpuinfo").read_text()
    except OSError:
        told = ""
    return name_cpu(told) or platform.processor() or platform.machine()


def name_cpu(told: str) -> str:
    """Return the name of a processor from what Linux tells of it, with the numbers that tell apart those of one name.

    Example:
        >>> name_cpu("cpu family : 25\\nmodel : 1\\nmodel name : AMD EPYC")
        'AMD EPYC, family 25 model 1'
    """
    name, family, model = (_look_up(key, told) for key in ("model name", "cpu family", "model"))
    return f"{name}, family {family} model {model}" if name and family and model else name


def _look_up(key: str, told: str) -> str:
    found = re.search(rf"^{key}[^\S\n]*:(.*)$", told, re.MULTILINE)
    return found.group(1).strip() if found else ""
