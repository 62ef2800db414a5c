"""Trees of a small English grammar: what a parser can learn in seconds, and never sees twice.

The words tell the structure: "of" belongs to a noun phrase and "near" to a verb phrase, and each word has one
tag. Some trees hold what annotators add, function tags and traces, and some words are brackets.
"""

import random
from collections.abc import Callable
from pathlib import Path

NOUNS = (
    "dog",
    "cat",
    "bird",
    "tree",
    "river",
    "garden",
    "house",
    "window",
    "farmer",
    "child",
    "song",
    "bridge",
    "letter",
    "boat",
    "lamp",
    "field",
)
ADJECTIVES = ("old", "small", "green", "quiet", "bright", "tall", "happy", "cold")
VERBS = ("sees", "finds", "likes", "hears", "paints", "follows", "remembers", "visits")
QUIET_VERBS = ("sleeps", "sings", "waits", "laughs", "falls")
SPEECH = ("says", "thinks", "knows", "hopes")
PRONOUNS = ("he", "she", "it", "everyone", "nobody")
ADVERBS = ("today", "often", "here", "slowly")
PLACES = ("near", "behind", "under", "beside")


def grammar_trees(number: int, seed: int, depth: int = 2) -> list[str]:
    """Return trees of different sentences in Penn brackets, the same for the same arguments."""
    draw = random.Random(seed)
    trees: dict[str, None] = {}
    while len(trees) < number:
        trees[f"(TOP {_Grammar(draw).clause(depth)})"] = None
    return list(trees)


def write_treebank(path: Path, number: int = 120, seed: int = 1, depth: int = 1) -> Path:
    """Write trees of the grammar, one a line."""
    path.write_text("".join(f"{tree}\n" for tree in grammar_trees(number, seed, depth)), encoding="utf-8")
    return path


class _Grammar:
    """Draws the parts of a sentence; deeper parts are drawn as long as ``depth`` is above 0."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def clause(self, depth: int) -> str:
        """A whole sentence with its full stop."""
        opening = f"(ADVP-TMP (RB {self.word(ADVERBS)})) (, ,) " if self.draw.random() < 0.2 else ""
        return f"(S {opening}{self.subject(depth)} {self.verb_phrase(depth)} (. .))"

    def subject(self, depth: int) -> str:
        return self.noun_phrase(depth).replace("(NP", "(NP-SBJ", 1)

    def noun_phrase(self, depth: int) -> str:
        forms = [self.plain, self.plain, self.described, self.pronoun]
        forms += [self.owned, self.relative, self.aside, self.pair] if depth else []
        return self.draw.choice(forms)(depth)

    def plain(self, depth: int) -> str:
        return f"(NP (DT the) (NN {self.word(NOUNS)}))"

    def described(self, depth: int) -> str:
        return f"(NP (DT a) (JJ {self.word(ADJECTIVES)}) (NN {self.word(NOUNS)}))"

    def pronoun(self, depth: int) -> str:
        return f"(NP (PRP {self.word(PRONOUNS)}))"

    def owned(self, depth: int) -> str:
        return f"(NP {self.plain(0)} (PP (IN of) {self.noun_phrase(depth - 1)}))"

    def relative(self, depth: int) -> str:
        trace = "(NP-SBJ (-NONE- *T*-1))"
        return f"(NP {self.plain(0)} (SBAR (WHNP-1 (WP who)) (S {trace} {self.verb_phrase(depth - 1)})))"

    def aside(self, depth: int) -> str:
        return f"(NP {self.plain(0)} (PRN (-LRB- -LRB-) {self.described(0)} (-RRB- -RRB-)))"

    def pair(self, depth: int) -> str:
        return f"(NP {self.plain(0)} (CC and) {self.described(0)})"

    def verb_phrase(self, depth: int) -> str:
        forms: list[Callable[[int], str]] = [self.quiet, self.seeing, self.placed]
        forms += [self.saying] if depth else []
        return self.draw.choice(forms)(depth)

    def quiet(self, depth: int) -> str:
        return f"(VP (VBZ {self.word(QUIET_VERBS)}))"

    def seeing(self, depth: int) -> str:
        return f"(VP (VBZ {self.word(VERBS)}) {self.noun_phrase(depth)})"

    def placed(self, depth: int) -> str:
        place = f"(PP-LOC (IN {self.word(PLACES)}) {self.plain(0)})"
        return f"(VP (VBZ {self.word(VERBS)}) {self.plain(0)} {place})"

    def saying(self, depth: int) -> str:
        inner = f"(S {self.subject(depth - 1)} {self.verb_phrase(depth - 1)})"
        return f"(VP (VBZ {self.word(SPEECH)}) (SBAR (IN that) {inner}))"

    def word(self, words: tuple[str, ...]) -> str:
        return self.draw.choice(words)
