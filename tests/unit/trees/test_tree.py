"""Trees as values: equal, hashable, copied and walked at any depth."""

import copy
import pickle

import pytest

from dragoman.trees import Bracket, Fault, Leaf, Tree, build, walk

pytestmark = pytest.mark.untraced  # trees have no shapes

DEPTH = 100_000
SEE = Tree("S", (Tree("NP", (Leaf("PRP", "I"),)), Tree("VP", (Leaf("VBP", "see"),)), Leaf(".", ".")))


def tower(label: str = "NP") -> Tree:
    """Return a word under very many brackets."""
    tree = Tree(label, (Leaf("NN", "dog"),))
    for _ in range(DEPTH):
        tree = Tree("NP", (tree,))
    return tree


def opens(label: str) -> Bracket:
    return Bracket(label, opens=True)


def closes(label: str) -> Bracket:
    return Bracket(label, opens=False)


def test_a_walk_goes_depth_first() -> None:
    """Each bracket opens before what it holds and closes after it."""
    noun = [opens("NP"), Leaf("PRP", "I"), closes("NP")]
    verb = [opens("VP"), Leaf("VBP", "see"), closes("VP")]

    assert list(walk(SEE)) == [opens("S"), *noun, *verb, Leaf(".", "."), closes("S")]


def test_leaves_are_the_sentence() -> None:
    """The leaves are the words with their tags, in order."""
    assert SEE.leaves() == [Leaf("PRP", "I"), Leaf("VBP", "see"), Leaf(".", ".")]


@pytest.mark.parametrize(
    "other",
    [
        Tree("X", SEE.children),
        Tree("S", SEE.children[:2]),
        Tree("S", (*SEE.children[:2], Leaf(".", "!"))),
        Tree("S", (*SEE.children[:2], Leaf(":", "."))),
        Tree("S", (Tree("NP", (Leaf("PRP", "I"), *SEE.children[1:])),)),
        "S",
    ],
)
def test_trees_differ_in_any_part(other: object) -> None:
    """Another label, tag, word or place of a bracket makes another tree."""
    assert other != SEE


def test_deep_trees_are_compared_and_copied() -> None:
    """Equality, hash, text, copies and pickles work far below Python's stack."""
    tree, twin, other = tower(), tower(), tower("X")

    assert tree == twin
    assert hash(tree) == hash(twin)
    assert tree != other
    assert repr(tree).count("(NP") == DEPTH + 1
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.leaves() == [Leaf("NN", "dog")]


@pytest.mark.parametrize("children", [(), (Leaf("NN", ""),), (Leaf("", "dog"),)])
def test_a_constituent_has_words(children: tuple[Leaf, ...]) -> None:
    """No tree can be made without children, or of leaves without tag or word."""
    with pytest.raises(ValueError, match=r"\(NP (has none|lacks)"):
        Tree("NP", children)


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([], Fault(0, "there is no bracket")),
        ([opens("S"), opens("NP")], Fault(2, "2 brackets are not closed, the outermost of them (S")),
        ([opens("S"), Leaf("UH", "Yes")], Fault(2, "(S is not closed")),
        ([opens("S"), closes("S")], Fault(1, "(S holds neither a word nor a bracket")),
        ([opens("S"), closes("NP")], Fault(1, ")NP stands where (S must be closed")),
        ([closes("S")], Fault(0, ")S closes no bracket")),
        ([Leaf("UH", "Yes")], Fault(0, "'Yes'/UH stands outside of all brackets")),
        ([opens("S"), Leaf("", "Yes")], Fault(1, "'Yes' has no part-of-speech tag")),
        ([*walk(SEE), opens("S")], Fault(9, "(S stands after the end of the tree")),
    ],
)
def test_the_first_wrong_step_is_found(steps: list[Leaf | Bracket], fault: Fault) -> None:
    """Steps that are no tree are told by the first of them that no tree has there."""
    assert build(steps) == fault
