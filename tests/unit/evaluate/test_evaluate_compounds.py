"""What `split_compounds` and `paper_bleu` promise."""

import pytest

from dragoman.errors import ScoreError
from dragoman.evaluate import paper_bleu, score, split_compounds


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("a-b", "a ##AT##-##AT## b"),
        ("the well-known inn", "the well ##AT##-##AT## known inn"),
        ("mother-in-law", "mother ##AT##-##AT## in ##AT##-##AT## law"),
        ("x-y-z", "x ##AT##-##AT## y-z"),
        ("a - b", "a - b"),
        ("-5 and 5-", "-5 and 5-"),
        ("über-älter", "über ##AT##-##AT## älter"),
        ("", ""),
    ],
)
def test_hyphens_between_characters_are_tokens(text: str, split: str) -> None:
    """A hyphen becomes a token where it joins two characters, and stays where it stands apart."""
    assert split_compounds(text) == split


def test_splitting_both_sides_rewards_part_of_a_compound() -> None:
    """A compound that is half right counts in part, as it cannot when it is one token."""
    output, reference = ["we stayed at a well-kept inn"], ["we stayed at a well-known inn"]

    assert paper_bleu(output, reference).value > score(output, reference, tokenized=True).bleu.value


def test_without_hyphens_it_is_tokenized_bleu() -> None:
    """Texts without compounds score the same as by plain tokenized BLEU."""
    output, reference = ["the boat , at last , came in"], ["the boat came in , at last"]

    assert paper_bleu(output, reference).value == score(output, reference, tokenized=True).bleu.value


def test_the_name_and_signature_say_what_was_done() -> None:
    """A paper's BLEU cannot be taken for another: name and signature tell tokens and compounds."""
    one = paper_bleu(["a-b c d e"], [["a-b c d e"], ["a b c d e"]])

    assert one.name == "BLEU (tokenized, compounds split)"
    assert {"nrefs:2", "tok:none", "compounds:split"} <= set(one.signature.split("|"))
    assert one.value == pytest.approx(100.0)


def test_other_lengths_are_refused_by_the_paper_s_bleu_too() -> None:
    """The same rule of lengths holds."""
    with pytest.raises(ScoreError):
        paper_bleu(["a", "b"], ["a"])
