"""Every error a user can meet.

    DragomanError
    ├── UsageError              a command or a call that asks for something impossible      exit code 2
    ├── ConfigError             keys, values and files of the configuration                 exit code 2
    ├── CorpusError             text and pairs that were given                              exit code 1
    ├── TokenizerError          a tokenizer that cannot be trained or read                  exit code 1
    ├── TreeError               a syntax tree that cannot be read or built                  exit code 1
    ├── BundleError             a model folder that cannot be read or written               exit code 1
    ├── CheckpointError         saved training state that cannot be used                    exit code 1
    ├── DivergedError           training that has left the finite numbers                   exit code 1
    ├── OutOfMemoryError        a batch that does not fit into memory, however it is cut    exit code 1
    ├── RanksError              processes that cannot train together                        exit code 3
    ├── ScoreError              outputs and references that cannot be compared              exit code 1
    └── MissingDependencyError  an optional package that is not installed                   exit code 1

A user's fault raises one of these; ours raises AssertionError and keeps its traceback.
"""


class DragomanError(Exception):
    """Something a user can understand and mend.

    Args:
        message: What is wrong with the values, where it is, and the rule it breaks.
        hint: One thing that can be done, if possible as a command that can be typed.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DragomanError):
    """A command or a call that asks for something impossible."""

    exit_code = 2


class ConfigError(DragomanError):
    """Keys, values or files of the configuration that break a rule."""

    exit_code = 2


class CorpusError(DragomanError):
    """Text or pairs that cannot be read or used."""


class TokenizerError(DragomanError):
    """A tokenizer that cannot be trained or read."""


class TreeError(DragomanError):
    """A syntax tree that cannot be read or built."""


class BundleError(DragomanError):
    """A model folder that cannot be read or written."""


class CheckpointError(DragomanError):
    """Saved training state that cannot be used."""


class DivergedError(DragomanError):
    """Training that has left the finite numbers."""


class OutOfMemoryError(DragomanError):
    """A batch that does not fit into memory, however it is cut."""


class RanksError(DragomanError):
    """Processes that cannot train together, or cannot any longer: one has ended for a reason of its own."""

    exit_code = 3


class ScoreError(DragomanError):
    """Outputs and references that cannot be compared."""


class MissingDependencyError(DragomanError):
    """An optional package that is needed here and is not installed."""


class EngineError(DragomanError):
    """The native engine is missing, or cannot do what is asked."""
