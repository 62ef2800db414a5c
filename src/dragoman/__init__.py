"""Dragoman: the Transformer of "Attention Is All You Need" as software to rely on."""

__version__ = "0.1.0"
