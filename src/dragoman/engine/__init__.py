"""The engine that translates on a processor: the model, its search and its batches in native code.

It imports no torch. Beside it stands the readable form: ``dragoman.model`` with ``dragoman.search``.
"""

from dragoman.engine.engine import Engine
from dragoman.engine.library import HINT, engine_name, has_bfloat16, is_there, missing_notice
from dragoman.engine.packed import only_packed, pack, packed_path, read_engine
from dragoman.engine.packing import PRECISIONS, Precision

__all__ = [
    "HINT",
    "PRECISIONS",
    "Engine",
    "Precision",
    "engine_name",
    "has_bfloat16",
    "is_there",
    "missing_notice",
    "only_packed",
    "pack",
    "packed_path",
    "read_engine",
]
