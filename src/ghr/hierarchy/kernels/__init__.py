"""Linear-time graph kernels under the partitions and the quotient graph, on plain arrays."""
