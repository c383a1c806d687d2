"""``ghr predict``: predictions for a user's own graphs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ghr.cli.settings import KeyValue, parse_settings
from ghr.cli.train import describe_score
from ghr.datasets.folders import FolderData, Schema, read_folder, write_predictions
from ghr.train import Run


@dataclass
class Predict:
    """Predict new graphs with a model that `ghr fit` trained; they need the same columns, but no targets."""

    directory: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The run directory."""
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
    """The new graphs, in files like those of training."""
    out: Path = Path("predictions.csv")
    """CSV file to write: a row for every node, edge or graph; for classes with their probabilities."""
    set: KeyValue = ()
    """Numbers for the loops of the model, if not as in training, such as --set steps=8."""
    quiet: bool = False
    """Say only how many rows were written."""

    def run(self) -> None:
        """Read the graphs, predict them and write the table."""
        loops = parse_settings(self.set)
        if self.out.is_dir():
            raise IsADirectoryError(f"--out takes a file, but {self.out} is a folder.")
        if not self.out.absolute().parent.is_dir():
            raise FileNotFoundError(f"The folder {self.out.parent} for the file of --out does not exist.")
        run = Run(self.directory)
        try:
            schema = Schema.from_config(run.config)
        except ValueError as error:
            raise ValueError(f"{self.directory} cannot predict a folder. {error}") from error
        run.model.check_loops(loops)
        data = read_folder(self.folder, schema=schema)
        if not self.quiet:
            print(*data.summary, sep="\n", flush=True)
        predictions = run.predict(data.graphs, **loops)
        rows = write_predictions(self.out, data, predictions, run.task)
        if has_targets(data) and not self.quiet:
            print(describe_score(run, "these graphs", run.evaluate(data.graphs, **loops)))
        print(f"{rows:,} {'row' if rows == 1 else 'rows'} in {self.out}")


def has_targets(data: FolderData) -> bool:
    """Whether some row of some graph has a target."""
    task = data.task
    return task is not None and any(
        "y" in graph and bool(task.counted(graph, task.target(graph)).any()) for graph in data.graphs
    )
