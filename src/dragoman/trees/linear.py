"""Trees as sequences of symbols, which a translation model can read and write.

    (S (NP (PRP I)) (VP (VBP see)))    becomes    (S (NP XX )NP (VP XX )VP )S

Depth first, a symbol for each bracket that opens and, with its label, for each that closes; a word is its
part-of-speech tag, or one symbol for all tags. Words themselves are no part of the sequence: they are known
from the sentence, and the n-th tag is that of the n-th word.

Source: Vaswani et al. (2017), §6.3; Vinyals et al. (2015), "Grammar as a Foreign Language", §2.2.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat

from dragoman.errors import TreeError
from dragoman.trees.tree import Bracket, Fault, Leaf, Step, Tree, build, walk

ANY_TAG = "XX"
"""The symbol that stands for every tag where tags are not kept."""


def linear(tree: Tree, *, keep_tags: bool) -> list[str]:
    """Return the symbols of a tree.

    Args:
        tree: A tree whose labels and tags hold no brackets, as the reader gives it.
        keep_tags: Whether a word's symbol is its tag; else it is ``ANY_TAG``.
    """
    return [symbol_of(step if keep_tags else _without_tag(step)) for step in walk(tree)]


def tree_of(symbols: Sequence[str], words: Sequence[str]) -> Tree:
    """Return the tree that symbols describe over the words of a sentence: the inverse of ``linear``.

    Without kept tags, the tag of every word is ``ANY_TAG``.

    Raises:
        TreeError: The symbols are no tree over these words; the message says why.
    """
    tree = _tree(symbols, words, len(words))
    if isinstance(tree, Fault):
        raise TreeError(
            f"symbol {tree.step + 1:,} of {len(symbols):,}: {tree.reason}",
            hint="ask fault_of first where symbols may be no tree",
        )
    return tree


def fault_of(symbols: Sequence[str], num_words: int) -> Fault | None:
    """Return why symbols are no tree over so many words, or None where they are one."""
    tree = _tree(symbols, repeat(ANY_TAG), num_words)
    return tree if isinstance(tree, Fault) else None


def symbol_of(step: Step) -> str:
    """Return the symbol of a step: ``(NP``, ``)NP`` or a tag."""
    if isinstance(step, Leaf):
        return step.tag
    return f"{'(' if step.opens else ')'}{step.label}"


def is_bracket(symbol: str) -> bool:
    """Tell whether a symbol is a bracket, and not the tag of a word."""
    return symbol.startswith(("(", ")"))


def _without_tag(step: Step) -> Step:
    return Leaf(ANY_TAG, step.word) if isinstance(step, Leaf) else step


def _tree(symbols: Sequence[str], words: Iterable[str], num_words: int) -> Tree | Fault:
    num_leaves = sum(not is_bracket(symbol) for symbol in symbols)
    if num_leaves != num_words:
        return Fault(len(symbols), f"there are {num_leaves:,} tags for {num_words:,} words")
    remaining = iter(words)
    return build(
        Bracket(symbol[1:], opens=symbol[0] == "(") if is_bracket(symbol) else Leaf(symbol, next(remaining))
        for symbol in symbols
    )
