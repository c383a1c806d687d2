"""The command ``ghr``."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

import tyro
from tqdm import tqdm

from ghr.checks import check_choice
from ghr.cli.bench import Bench
from ghr.cli.data import Data
from ghr.cli.demo import Demo
from ghr.cli.eval import Eval
from ghr.cli.fit import Fit
from ghr.cli.list import List
from ghr.cli.predict import Predict
from ghr.cli.reproduce import Reproduce
from ghr.cli.search import Search
from ghr.cli.train import Train
from ghr.cli.view import View
from ghr.cli.warm_up import WarmUp
from ghr.progress import hide_bars


class Command(Protocol):
    """What every command has."""

    quiet: bool

    def run(self) -> None:
        """Do what it is for."""


COMMANDS: dict[str, Callable[..., Command]] = {
    "demo": Demo,
    "list": List,
    "train": Train,
    "eval": Eval,
    "fit": Fit,
    "predict": Predict,
    "search": Search,
    "reproduce": Reproduce,
    "data": Data,
    "bench": Bench,
    "warm-up": WarmUp,
    "view": View,
}
DESCRIPTION = "Graph Hierarchical Recurrence: train short, be right at distances never seen in training."
LOOK = (tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff)
GOES_ON = ("demo", "train", "fit", "search", "reproduce")  # from the last whole epoch, if stopped


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; what goes wrong is said in one sentence, with exit code 2.

    Set ``GHR_DEBUG=1`` to see where it went wrong.
    """
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    try:
        command = _parse(given or ["--help"])
        say(logging.WARNING if command.quiet else logging.INFO)
        with hide_bars(command.quiet):
            command.run()
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("GHR_DEBUG"):
            raise
        print(f"ghr: {_sentence(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        kept = "; the same command goes on from the last whole epoch" if given and given[0] in GOES_ON else ""
        print(f"ghr: stopped{kept}.", file=sys.stderr)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # pressed again, it ends the process without another word
        sys.exit(130)


def _parse(given: Sequence[str]) -> Command:
    if given[0].startswith("-"):
        parsed: Command = tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="ghr", args=given, description=DESCRIPTION, config=LOOK
        )
        return parsed
    # The parser of one command alone: what it says of a misspelt option is about this command.
    name = check_choice("command", given[0], COMMANDS)
    return tyro.cli(COMMANDS[name], prog=f"ghr {name}", args=given[1:], config=LOOK)


def _sentence(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename is None else f"Could not open {error.filename}: {error.strerror}."


def say(level: int) -> None:
    """Show the library's own messages from a level up, on the error output."""
    logger = logging.getLogger("ghr")
    handler = _Beside()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(level)


class _Beside(logging.StreamHandler[TextIO]):
    """Writes messages above the progress bars, not into them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        tqdm.write(self.format(record), file=self.stream)
