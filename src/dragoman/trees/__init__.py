"""Trees of sentences: Penn brackets in and out, cleaned, and as the symbols that a model writes; no torch.

The way of a tree: lines → ``NumberedTree`` → ``clean`` → ``linear`` → symbols; and from symbols and words by
``tree_of`` to a tree again.
"""

from dragoman.trees.cleaning import EMPTY_TAG, clean, core
from dragoman.trees.inventory import Inventory, chain_length, take_inventory
from dragoman.trees.linear import ANY_TAG, fault_of, is_bracket, linear, symbol_of, tree_of
from dragoman.trees.reader import BadTree, NumberedTree, parse_trees, read_trees, scan_lines, scan_trees
from dragoman.trees.tree import Bracket, Fault, Leaf, Step, Tree, build, walk
from dragoman.trees.treebank import (
    ROOT,
    Treebank,
    has_tags,
    read_treebank,
    rooted,
    source_of,
    tree_of_pair,
    with_tags_of,
    without_tags,
)
from dragoman.trees.writer import format_tree

__all__ = [
    "ANY_TAG",
    "EMPTY_TAG",
    "ROOT",
    "BadTree",
    "Bracket",
    "Fault",
    "Inventory",
    "Leaf",
    "NumberedTree",
    "Step",
    "Tree",
    "Treebank",
    "build",
    "chain_length",
    "clean",
    "core",
    "fault_of",
    "format_tree",
    "has_tags",
    "is_bracket",
    "linear",
    "parse_trees",
    "read_treebank",
    "read_trees",
    "rooted",
    "scan_lines",
    "scan_trees",
    "source_of",
    "symbol_of",
    "take_inventory",
    "tree_of",
    "tree_of_pair",
    "walk",
    "with_tags_of",
    "without_tags",
]
