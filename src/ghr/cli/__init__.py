"""The command ``ghr``."""

import logging
import os
import sys
from typing import Annotated

import tyro

from ghr.cli.bench import Bench
from ghr.cli.data import Data
from ghr.cli.demo import Demo
from ghr.cli.eval import Eval
from ghr.cli.train import Train

Command = (
    Annotated[Demo, tyro.conf.subcommand("demo")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Data, tyro.conf.subcommand("data")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
)


def main(arguments: list[str] | None = None) -> None:
    """Run one command; what goes wrong is said in one sentence, with exit code 2.

    Set ``GHR_DEBUG=1`` to see where it went wrong.
    """
    given = sys.argv[1:] if arguments is None else arguments
    command = tyro.cli(
        Command,
        prog="ghr",
        args=given or ["--help"],
        description="Graph Hierarchical Recurrence: train short, be right at distances never seen in training.",
    )
    _say(logging.WARNING if command.quiet else logging.INFO)
    try:
        command.run()
    except (ValueError, OSError) as error:
        if os.environ.get("GHR_DEBUG"):
            raise
        sentence = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        print(f"ghr: {sentence}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("ghr: stopped; the same command goes on from the last whole epoch.", file=sys.stderr)
        sys.exit(130)


def _say(level: int) -> None:
    """Show the library's own messages from a level up, on the error output."""
    logger = logging.getLogger("ghr")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(level)
