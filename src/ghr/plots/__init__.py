"""Curves, graphs and sheets of graphs, drawn without a display."""
