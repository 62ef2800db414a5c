"""A corpus of everyday sentences in English and German, made by a grammar of our own.

The corpus ships as its grammar: the same seed gives the same sentences everywhere. It exists so that a first
training takes minutes and can be judged exactly; it says nothing about the translation of real text.
"""

from dataclasses import dataclass

from dragoman.text.everyday_complex import LONGER_SENTENCES
from dragoman.text.everyday_phrases import Chooser
from dragoman.text.everyday_sentences import SIMPLE_SENTENCES
from dragoman.text.pairs import Pair

MIN_WORDS = 3
"""The shortest sentence, in English words."""

MAX_WORDS = 18
"""The longest sentence, in words of either language."""

_ATTEMPTS_PER_PAIR = 20


@dataclass(frozen=True)
class EverydayCorpus:
    """Sentences to train on and sentences never seen in training; no source and no target occurs twice."""

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


def everyday_pairs(num_train: int = 30_000, num_held_out: int = 500, seed: int = 1) -> EverydayCorpus:
    """Generate distinct sentence pairs and keep some of them out of training.

    Args:
        num_train: Number of training pairs.
        num_held_out: Number of held-out pairs; they share no source and no target with the training pairs.
        seed: Which sentences; the same seed gives the same corpus in every version of Python.

    Raises:
        ValueError: If a number is negative or more pairs are asked for than the grammar readily yields.
    """
    if num_train < 0 or num_held_out < 0:
        raise ValueError(f"numbers of pairs must not be negative: {num_train}, {num_held_out}")
    choose = Chooser(seed)
    wanted = num_train + num_held_out
    makers = [make for weight, make in (*SIMPLE_SENTENCES, *LONGER_SENTENCES) for _ in range(weight)]
    pairs: list[Pair] = []
    sources: set[str] = set()
    targets: set[str] = set()
    for _ in range(_ATTEMPTS_PER_PAIR * wanted):
        if len(pairs) == wanted:
            break
        pair = choose.pick(makers)(choose)
        lengths = len(pair.source.split()), len(pair.target.split())
        if lengths[0] < MIN_WORDS or max(lengths) > MAX_WORDS:
            continue
        if pair.source not in sources and pair.target not in targets:
            sources.add(pair.source)
            targets.add(pair.target)
            pairs.append(pair)
    if len(pairs) < wanted:
        raise ValueError(f"the grammar yields fewer than {wanted:,} distinct pairs")
    choose.shuffle(pairs)
    return EverydayCorpus(train=tuple(pairs[num_held_out:]), held_out=tuple(pairs[:num_held_out]))
