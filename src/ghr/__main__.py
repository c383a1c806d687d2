"""``python -m ghr`` is ``ghr``."""

from ghr.cli import main

main()
