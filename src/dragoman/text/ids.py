"""The ids that every vocabulary shares, as Marian has them; padding is the last id of a vocabulary."""

END = 0
"""Ends a sentence."""

UNKNOWN = 1
"""Stands for what has no piece; byte pieces make it needless, and it is never produced."""
