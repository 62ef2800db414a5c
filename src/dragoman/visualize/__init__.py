"""Pictures of what a model does."""

from dragoman.visualize.terminal import draw_attention

__all__ = ["draw_attention"]
