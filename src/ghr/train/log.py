"""A training watched with TensorBoard."""

import os
from pathlib import Path
from types import TracebackType
from typing import Any

CURVES = {"train_loss": "loss/train", "val": "metric/validation", "lr": "lr", "seconds": "seconds"}


class TensorBoardLog:
    """A callback that writes loss, validation metric, learning rate and seconds of every epoch for TensorBoard.

    A run that goes on after it was killed goes on here too: what was written of an epoch that is repeated is hidden.

    Args:
        folder: Where TensorBoard finds it, such as ``tensorboard`` in the run directory; made at the first epoch.

    Raises:
        ImportError: Where TensorBoard is not installed.

    Example:
        >>> with TensorBoardLog("runs/mine/tensorboard") as log:  # doctest: +SKIP
        ...     ghr.fit(graphs, task, out="runs/mine", callback=log)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ImportError('TensorBoard is not installed; install it with: pip install "ghr[log]".') from error
        self.folder = Path(folder)
        self._make = SummaryWriter
        self._writer: Any = None

    def __call__(self, line: dict[str, Any]) -> None:
        """Write one epoch, a line of ``metrics.jsonl``."""
        epoch = line["epoch"]
        if self._writer is None:
            self._writer = self._make(str(self.folder), purge_step=epoch)
        for name, curve in CURVES.items():
            self._writer.add_scalar(curve, line[name], epoch)
        self._writer.flush()  # a killed run keeps what it wrote

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> "TensorBoardLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"TensorBoardLog({str(self.folder)!r})"
