"""The paper, repeated: each table, figure and claim of "Attention Is All You Need" by one call.

Each piece is measured, set beside the paper's numbers, and judged in words; a folder keeps all of it.
"""

from dragoman.reproduce.findings import Finding, Piece, Table
from dragoman.reproduce.pieces import PIECES, reproduce
from dragoman.reproduce.request import SCALES, Request

__all__ = ["PIECES", "SCALES", "Finding", "Piece", "Request", "Table", "reproduce"]
