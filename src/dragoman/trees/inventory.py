"""What a treebank is made of: its symbols, and how far its brackets pile up."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dragoman.trees.linear import ANY_TAG, symbol_of
from dragoman.trees.tree import Bracket, Leaf, Tree, walk


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """What a model must be able to write, and where it may be stopped.

    A sequence of symbols is sure to end only if brackets cannot open forever. While it is written, a chain
    looks like a constituent that will have a second child; a run is seen at once, and a limit on runs limits
    chains too.
    """

    roots: tuple[str, ...]
    """Labels of outermost brackets, the most frequent first."""

    labels: tuple[str, ...]
    """Labels of all brackets, the most frequent first."""

    tags: tuple[str, ...]
    """Tags of all words, the most frequent first."""

    longest_chain: int
    """The most brackets around the same words: 3 in (TOP (S (VP (VB go) (RB now))))."""

    longest_run: int
    """The most brackets that open with no word between them: at least ``longest_chain``."""

    def symbols(self, *, keep_tags: bool) -> list[str]:
        """Return each symbol that linear trees can hold: opening brackets, closing brackets, tags."""
        brackets = [symbol_of(Bracket(label, opens)) for opens in (True, False) for label in self.labels]
        return brackets + (list(self.tags) if keep_tags else [ANY_TAG])


def take_inventory(trees: Iterable[Tree]) -> Inventory:
    """Return what trees are made of; all is zero or empty where there are none."""
    roots: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    longest_chain = longest_run = 0
    for tree in trees:
        roots[tree.label] += 1
        longest_chain = max(longest_chain, chain_length(tree))
        run = 0
        for step in walk(tree):
            if isinstance(step, Leaf):
                tags[step.tag] += 1
            elif step.opens:
                labels[step.label] += 1
            run = run + 1 if isinstance(step, Bracket) and step.opens else 0
            longest_run = max(longest_run, run)
    return Inventory(
        roots=_by_frequency(roots),
        labels=_by_frequency(labels),
        tags=_by_frequency(tags),
        longest_chain=longest_chain,
        longest_run=longest_run,
    )


def chain_length(tree: Tree) -> int:
    """Return the length of a tree's longest unary chain: the most brackets around the same words."""
    longest = 0
    chains: list[list[int]] = [[]]  # of the children of each open bracket; 0 for a word
    for step in walk(tree):
        if isinstance(step, Leaf):
            chains[-1].append(0)
        elif step.opens:
            chains.append([])
        else:
            below = chains.pop()
            chain = 1 + (below[0] if len(below) == 1 else 0)
            chains[-1].append(chain)
            longest = max(longest, chain)
    return longest


def _by_frequency(counts: Counter[str]) -> tuple[str, ...]:
    """Return what was counted, the most frequent first; equals in the order of the alphabet."""
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))
