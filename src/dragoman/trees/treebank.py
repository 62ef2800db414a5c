"""A treebank as pairs, from which a translation model learns to parse.

The source is the words of a sentence, the target the symbols of its tree, each parted by single spaces:

    I see    and    (TOP (S (NP PRP )NP (VP VBP )VP )S )TOP

Tags that a model shall not write are taken away last, by ``without_tags``, so that a pair still says what is
scored. A word that holds spaces has no-break spaces (U+00A0) in the source, so that the words can be counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import TreeError
from dragoman.text import NumberedPair, Pair
from dragoman.trees.cleaning import clean
from dragoman.trees.linear import ANY_TAG, is_bracket, linear, tree_of
from dragoman.trees.reader import read_trees
from dragoman.trees.tree import Bracket, Tree, build, walk

ROOT = "TOP"
"""The label of every outermost bracket that a model reads or writes, and of no other."""

_ROOTS = (ROOT, "", "ROOT", "S1")
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Treebank:
    """The trees of a file, cleaned and as pairs; made by ``read_treebank``."""

    path: Path
    """The file."""

    pairs: tuple[NumberedPair, ...]
    """The number of each tree's first line, and its pair; of a tree without words, two empty texts."""

    @property
    def names(self) -> str:
        """The file, as messages call it."""
        return str(self.path)

    @property
    def unit(self) -> str:
        """What messages call one of the pairs."""
        return "tree"

    @property
    def files(self) -> tuple[Path, ...]:
        """The file alone."""
        return (self.path,)

    def numbered_pairs(self) -> Iterator[NumberedPair]:
        """Yield the pairs in order."""
        return iter(self.pairs)


def read_treebank(path: Path) -> Treebank:
    """Read a file of trees in Penn brackets, also compressed by gzip.

    Raises:
        CorpusError: The file cannot be read.
        TreeError: Something is no tree, or the file holds none, or none with a word.
    """
    pairs = []
    for line, tree in read_trees(path):
        cleaned = clean(tree)
        pairs.append((line, Pair("", "") if cleaned is None else _pair(rooted(cleaned))))
    if not any(pair.source for _, pair in pairs):
        raise TreeError(
            f"{path}: {len(pairs):,} {'tree' if len(pairs) == 1 else 'trees'} and not a single word in them; "
            "what has the tag -NONE- is no word of a sentence",
            hint="check that this is the file you meant",
        )
    return Treebank(path, tuple(pairs))


def rooted(tree: Tree) -> Tree:
    """Return a tree whose outermost bracket, and no other, is ``ROOT``.

    Other names of the outermost bracket are replaced; of several outermost brackets one is left. A bracket
    that is labeled as the root and stands inside goes, and what it holds takes its place; EVALB counts no
    such bracket either.
    """
    while tree.label in _ROOTS and len(tree.children) == 1:
        [child] = tree.children
        if not isinstance(child, Tree) or child.label not in _ROOTS:
            break
        tree = child
    rooted_tree = Tree(ROOT, tree.children if tree.label in _ROOTS else (tree,))
    _, *inner, _ = walk(rooted_tree)
    kept = [step for step in inner if not (isinstance(step, Bracket) and step.label == ROOT)]
    if len(kept) < len(inner):
        built = build([Bracket(ROOT, opens=True), *kept, Bracket(ROOT, opens=False)])
        assert isinstance(built, Tree)
        return built
    return rooted_tree


def source_of(words: Sequence[str]) -> str:
    """Return the words of a sentence as the source of a pair."""
    return " ".join(word.replace(" ", _NO_BREAK_SPACE) for word in words)


def tree_of_pair(pair: Pair) -> Tree:
    """Return the tree that a pair of a treebank describes."""
    return tree_of(pair.target.split(" "), pair.source.split(" "))


def without_tags(target: str) -> str:
    """Return the target of a pair with ``ANY_TAG`` for each tag."""
    return " ".join(symbol if is_bracket(symbol) else ANY_TAG for symbol in target.split(" "))


def has_tags(target: str) -> bool:
    """Tell whether a word in the target of a pair has a tag of its own."""
    return any(symbol != ANY_TAG and not is_bracket(symbol) for symbol in target.split())


def with_tags_of(tree: Tree, tagged: Tree) -> Tree:
    """Return a tree whose words have the tags that another tree over the same words gives them.

    Raises:
        ValueError: The trees have different numbers of words.
    """
    symbols = linear(tree, keep_tags=True)
    leaves = tagged.leaves()
    if sum(not is_bracket(symbol) for symbol in symbols) != len(leaves):
        raise ValueError(f"{len(leaves)} words have tags, which is not as many as the tree has")
    tags = iter(leaves)
    retagged = [symbol if is_bracket(symbol) else next(tags).tag for symbol in symbols]
    return tree_of(retagged, [leaf.word for leaf in tree.leaves()])


def _pair(tree: Tree) -> Pair:
    words = [leaf.word for leaf in tree.leaves()]
    return Pair(source_of(words), " ".join(linear(tree, keep_tags=True)))
