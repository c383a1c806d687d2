"""The colours of all figures, told apart by people who do not see all colours too."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
