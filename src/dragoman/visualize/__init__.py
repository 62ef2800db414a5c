"""Pictures of what a model does."""

from dragoman.visualize.terminal import draw_attention
from dragoman.visualize.trees import draw_tree, tree_svg

__all__ = ["draw_attention", "draw_tree", "tree_svg"]
