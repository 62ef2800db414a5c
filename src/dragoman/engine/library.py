"""The native library: found, loaded, and its functions with their types."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_void_p
from functools import cache
from pathlib import Path

from dragoman.engine.build import is_whole, library_name, places
from dragoman.errors import EngineError

HINT = "build it with 'dragoman build-engine', which needs a C++ compiler"
"""How to get the library."""

TableFunction = CFUNCTYPE(c_int, c_int, POINTER(c_int), c_int, POINTER(c_float))


class Positions(ctypes.Structure):
    """Vectors of positions of source and target, and how many there are."""

    _fields_ = (("source", c_void_p), ("target", c_void_p), ("count", c_int))


_FUNCTIONS: dict[str, tuple[type | None, list[type]]] = {
    "dragoman_fault": (c_char_p, []),
    "dragoman_kernels": (c_char_p, []),
    "dragoman_use_kernels": (c_int, [c_char_p]),
    "dragoman_model": (c_void_p, [c_void_p, c_float]),
    "dragoman_free_model": (None, [c_void_p]),
    "dragoman_add_matrix": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "dragoman_add_vector": (c_int, [c_void_p, c_char_p, c_void_p, c_int]),
    "dragoman_add_shortlist": (c_int, [c_void_p] * 5),
    "dragoman_connect": (c_int, [c_void_p]),
    "dragoman_channel": (c_void_p, []),
    "dragoman_free_channel": (None, [c_void_p]),
    "dragoman_stop": (None, [c_void_p]),
    "dragoman_take": (c_void_p, [c_void_p, c_int]),
    "dragoman_translate": (
        c_int,
        [c_void_p] * 4 + [c_int, c_void_p, c_double, c_void_p, POINTER(Positions), c_void_p],
    ),
    "dragoman_search": (
        c_void_p,
        [TableFunction, c_int, c_int, c_void_p, c_int, c_void_p, c_double],
    ),
    "dragoman_session": (c_void_p, [c_void_p] * 3 + [c_int, c_int, POINTER(Positions)]),
    "dragoman_free_session": (None, [c_void_p]),
    "dragoman_step": (c_int, [c_void_p, c_void_p, c_void_p]),
    "dragoman_reorder": (c_int, [c_void_p, c_void_p, c_int]),
    "dragoman_free_results": (None, [c_void_p]),
    "dragoman_results": (None, [c_void_p, POINTER(c_void_p), POINTER(c_int64)]),
}


@cache
def library_path() -> Path | None:
    """Return where the library lies, or None where it has not been built; one that is damaged is none."""
    paths = [folder / library_name() for folder in places()]
    return next((path for path in paths if is_whole(path)), None)


@cache
def library() -> ctypes.CDLL:
    """Return the library.

    Raises:
        EngineError: It is not there, or cannot be loaded.
    """
    path = library_path()
    if path is None:
        raise EngineError(missing_notice(), hint=HINT)
    try:
        found = ctypes.CDLL(str(path))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise EngineError(f"{path} cannot be loaded: {error}", hint=HINT) from error
    return found


def is_there() -> bool:
    """Tell whether the library can be loaded."""
    try:
        library()
    except EngineError:
        return False
    return True


def engine_name() -> str:
    """Return the instructions that the engine computes with, or why there is none, in words."""
    return library().dragoman_kernels().decode() if is_there() else missing_notice()


def has_bfloat16() -> bool:
    """Tell whether the engine is there, on a processor with instructions for bfloat16."""
    return is_there() and engine_name() == "avx512bf16"


def missing_notice() -> str:
    """Return why the engine is not used, in words."""
    path = library_path()
    return "the native engine is not built" if path is None else f"{path} cannot be loaded"


def fault() -> str:
    """Return why the last function of this thread has failed."""
    text: bytes = library().dragoman_fault()
    return text.decode()
