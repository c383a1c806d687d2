"""Speed and memory of the library against plain code with the same weights on the same graphs."""

from ghr.bench.workloads import WORKLOADS, select

__all__ = ["WORKLOADS", "select"]
