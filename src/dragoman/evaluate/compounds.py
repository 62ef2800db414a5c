"""The paper's BLEU: tokens as they stand, with compounds split at their hyphens.

Source: Vaswani et al. (2017), §6.1, Table 2. The paper's authors published how they measured: Moses tokens,
compounds split, and multi-bleu over what whitespace parts.
"""

import re
from collections.abc import Sequence

from sacrebleu import BLEU

from dragoman.evaluate.scores import Score
from dragoman.evaluate.segments import References, reference_sets

_HYPHEN = re.compile(r"(\S)-(\S)")


def split_compounds(text: str) -> str:
    """Return ``text`` with each hyphen between two characters as a token: ``a ##AT##-##AT## b``.

    Hyphens are taken from left to right, and a character stands beside one of them only, as in the pattern
    that the paper's authors published: ``x-y-z`` keeps its second hyphen, ``ex-wye-zed`` keeps none.
    """
    return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", text)


def paper_bleu(hypotheses: Sequence[str], references: References) -> Score:
    """Return tokenized BLEU with compounds split in outputs and references, as in Table 2 of the paper.

    The texts must be tokenized already, by Moses if the value is to stand beside published ones; whitespace
    parts tokens. The value is usually above BLEU of the detokenized text and does not compare with it.

    Raises:
        TypeError: An argument is not a list of texts, or references mix texts and lists.
        ScoreError: There is nothing to score, or a reference set is not as long as the outputs.
    """
    sets = reference_sets(hypotheses, references)
    bleu = BLEU(tokenize="none", force=True)
    result = bleu.corpus_score(
        [split_compounds(text) for text in hypotheses],
        [[split_compounds(text) for text in one_set] for one_set in sets],
    )
    signature = bleu.get_signature()
    signature.update("compounds", "split")
    return Score("BLEU (tokenized, compounds split)", float(result.score), str(signature))
