"""The command line: parse, call, render; no logic.

A module of a command imports what is slow to load (torch, pydantic, sacrebleu) inside its functions, so
that ``--help`` and ``--version`` answer at once.
"""

from dragoman.cli.entry import main

__all__ = ["main"]
