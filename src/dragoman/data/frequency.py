"""How often each piece occurs."""

import numpy as np

from dragoman.data.encoded import EncodedCorpus


def unigram_entropy(corpus: EncodedCorpus, *, max_pairs: int = 20_000) -> float:
    """Return the entropy of the target pieces, ends of sentences included, in nats per piece.

    H = -Σ_v p_v ln p_v

    It is the loss of a model that guesses every piece by its frequency and looks at nothing else. A large
    corpus is sampled at even distances: 20,000 sentences give the entropy within a hundredth of a nat.

    Args:
        corpus: Of at least one pair.
        max_pairs: Pairs that are counted at most.
    """
    chosen = np.linspace(0, len(corpus) - 1, min(max_pairs, len(corpus))).round().astype(int)
    counts = np.bincount(np.concatenate([corpus[int(i)][1] for i in chosen]))
    every = np.append(counts[counts > 0], len(chosen))  # the last are the ends of sentences
    share = every / every.sum()
    return float(-(share * np.log(share)).sum())
