"""``python -m ghr`` is ``ghr``."""

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command ``ghr``; Ctrl-C ends it with one line from its first moment."""
    if sys.argv[1:] == ["--version"]:
        from ghr import __version__

        print(f"ghr {__version__}")
        return
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if own:  # an exception in the middle of an import may come out of compiled code as another one
        signal.signal(signal.SIGINT, _leave)
    from ghr import cli

    try:
        if own:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main()
    except KeyboardInterrupt:  # before the command had begun
        _leave(signal.SIGINT, None)
    finally:
        if own:  # all is done but the end of the process, which needs no more words
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: nothing has been begun yet."""
    os.write(2, b"ghr: stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
