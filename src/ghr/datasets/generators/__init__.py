"""How graphs and targets are made on this machine: one family, model or distance a file."""
