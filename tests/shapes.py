"""A watch over the shapes that names tell.

While it is on, every function of the numerical parts of the package is looked at as it returns: a tensor
named ``score_BHQM`` must have four dimensions, every name of one call must mean the same size by the same
letter, and 1 means a size of one. Named fields of what a function hands over (``Beam.token_BWL``) are read
in the same way. What is ``visible`` broadcasts, so there a letter may also stand for one.
"""

import dis
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

LETTERS = {
    "B": "sentences",
    "S": "source positions",
    "T": "target positions",
    "Q": "query positions",
    "M": "memory positions",
    "D": "d_model",
    "H": "heads",
    "K": "d_k",
    "E": "d_v",
    "F": "d_ff",
    "V": "vocabulary",
    "W": "beam size",
    "C": "candidates",
    "L": "tokens so far",
    "N": "rows",
    "G": "labels",
    "P": "places of a stack",
    "1": "broadcast",
}
WATCHED = tuple(
    str(Path(__file__).resolve().parents[1] / "src" / "dragoman" / part) + "/"
    for part in ("data", "decoding", "model", "parsing", "search", "train")
)
_NAME = re.compile(rf"[a-z][a-z0-9_]*_(?=1*[A-Z])([{''.join(LETTERS)}]+)")
_LEAVING = {"RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE"}


def suffix(name: str) -> str | None:
    """Return the letters that end a name, or None where it tells no shape."""
    found = _NAME.fullmatch(name)
    return found.group(1) if found else None


def untrue(values: dict[str, Any]) -> list[str]:
    """Say which of the named values have another shape than their names tell; all belong to one call."""
    sizes: dict[str, tuple[int, str]] = {"1": (1, "1")}
    found = []
    for name, value in values.items():
        letters, shape = suffix(name), getattr(value, "shape", None)
        if letters is None or not isinstance(shape, tuple):
            continue
        if len(shape) != len(letters):
            found.append(f"{name} has shape {tuple(shape)}: {len(letters)} letters, {len(shape)} dimensions")
            continue
        for letter, size in zip(letters, shape, strict=True):
            if size == 1 and name.startswith("visible_"):
                continue
            known, where = sizes.setdefault(letter, (size, name))
            if size != known:
                told = "1 is one" if letter == "1" else f"{letter} is {known} in {where}"
                found.append(f"{name} has shape {tuple(shape)}: {letter} is {size} here, and {told}")
    return found


class Watch:
    """Looks at the calls of watched files and collects the names that are untrue.

    Args:
        watched: Beginnings of the file names whose functions are looked at.
    """

    def __init__(self, watched: tuple[str, ...] = WATCHED) -> None:
        self.untrue: set[str] = set()
        self._watched = watched
        self._names: dict[CodeType, tuple[str, ...]] = {}
        self._fields: dict[type, tuple[str, ...]] = {}

    def __call__(self, frame: FrameType, event: str, returned: Any) -> None:
        """Answer the interpreter's profiling events; only a return is looked at."""
        if event != "return":
            return
        code = frame.f_code
        names = self._names.get(code)
        if names is None:
            names = self._names[code] = self._names_of(code)
        # A call that ends in an error also "returns None": what it refused may well be of the wrong shape.
        if names and not (returned is None and _raised(frame)):
            self._look(code, frame.f_locals, names)

    def _names_of(self, code: CodeType) -> tuple[str, ...]:
        if not code.co_filename.startswith(self._watched):
            return ()
        return tuple(dict.fromkeys(code.co_varnames + code.co_cellvars))

    def _look(self, code: CodeType, values: dict[str, Any], names: tuple[str, ...]) -> None:
        own = {name: values[name] for name in names if name in values}
        found = untrue(own)
        for name, value in own.items():
            fields = self._fields.get(type(value))
            if fields is None:
                fields = self._fields[type(value)] = _fields_of(type(value))
            if fields:
                parts = {field: getattr(value, field) for field in fields if hasattr(value, field)}
                found += [f"{name}.{line}" for line in untrue(parts)]
        where = f"{Path(code.co_filename).name}:{code.co_firstlineno} {code.co_name}"
        self.untrue.update(f"{where}: {line}" for line in found)


def _fields_of(kind: type) -> tuple[str, ...]:
    """Fields of a NamedTuple or dataclass whose names tell a shape."""
    fields = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__", ())
    return tuple(field for field in fields if suffix(field))


def _raised(frame: FrameType) -> bool:
    """Whether the frame is left by an exception and not at an instruction that hands a value over."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] not in _LEAVING


@contextmanager
def watching(watch: Watch | None = None) -> Iterator[Watch]:
    """Watch the calls of this thread, and fail at the end if a name told an untrue shape.

    Raises:
        AssertionError: With one line for each untrue name.
    """
    watch = watch or Watch()
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield watch
    finally:
        sys.setprofile(before)
    if watch.untrue:
        raise AssertionError("names that tell an untrue shape:\n  " + "\n  ".join(sorted(watch.untrue)))
