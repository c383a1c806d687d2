"""The command ``ghr``."""

import logging
import os
import sys
from typing import Annotated

import tyro

from ghr import __version__
from ghr.cli.bench import Bench
from ghr.cli.data import Data
from ghr.cli.demo import Demo
from ghr.cli.eval import Eval
from ghr.cli.reproduce import Reproduce
from ghr.cli.train import Train

Command = (
    Annotated[Demo, tyro.conf.subcommand("demo")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Reproduce, tyro.conf.subcommand("reproduce")]
    | Annotated[Data, tyro.conf.subcommand("data")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
)


def main(arguments: list[str] | None = None) -> None:
    """Run one command; what goes wrong is said in one sentence, with exit code 2.

    Set ``GHR_DEBUG=1`` to see where it went wrong.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given == ["--version"]:
        print(f"ghr {__version__}")
        return
    command = tyro.cli(
        Command,
        prog="ghr",
        args=given or ["--help"],
        description="Graph Hierarchical Recurrence: train short, be right at distances never seen in training.",
    )
    say(logging.WARNING if command.quiet else logging.INFO)
    try:
        command.run()
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("GHR_DEBUG"):
            raise
        print(f"ghr: {_sentence(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        trains = isinstance(command, Demo | Train | Reproduce)
        print(f"ghr: stopped{'; the same command goes on from the last whole epoch' * trains}.", file=sys.stderr)
        sys.exit(130)


def _sentence(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename is None else f"Could not open {error.filename}: {error.strerror}."


def say(level: int) -> None:
    """Show the library's own messages from a level up, on the error output."""
    logger = logging.getLogger("ghr")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(level)
