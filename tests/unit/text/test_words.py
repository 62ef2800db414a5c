"""English text as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.words import spaced_words, split_words

pytestmark = pytest.mark.untraced

SENTENCES = [
    ("\"I don't,\" Mr. Lee's aide said.", "\" I do n't , \" Mr. Lee 's aide said ."),
    ("It's the dogs' food, isn't it?", "It 's the dogs ' food , is n't it ?"),
    ("I can't, won't and cannot.", "I ca n't , wo n't and can not ."),
    ("I’m sure they’ll say you’ve won.", "I ’m sure they ’ll say you ’ve won ."),
    ("She wouldn't've come, he'd said; we're late.", "She would n't 've come , he 'd said ; we 're late ."),
    ("DON'T SHOUT, IT'S LATE!", "DO N'T SHOUT , IT 'S LATE !"),
    ("'Tis late; 'twas 'em in the '90s.", "'T is late ; 't was 'em in the '90s ."),
    ("Gimme that, I'm gonna go.", "Gim me that , I 'm gon na go ."),
    ("He paid $1,000.50 (5% more) at 10:30.", "He paid $ 1,000.50 ( 5 % more ) at 10:30 ."),
    ("A 20-year-old drank .5 mg/kg of C++.", "A 20-year-old drank .5 mg/kg of C++ ."),
    ("Wait... what -- no---really…", "Wait ... what -- no --- really …"),
    ("J. R. Smith et al. left the U.S. in Jan. 1999.", "J. R. Smith et al. left the U.S. in Jan. 1999 ."),
    ("He left the U.S.", "He left the U.S ."),
    ("(He left the U.S.)", "( He left the U.S . )"),
    ("See No. 5 and no. 6, e.g. here, approx. five.", "See No. 5 and no. 6 , e.g. here , approx. five ."),
    ("She came. He said no. They left.", "She came . He said no . They left ."),
    ("``Yes,'' he said [sic] {so}.", "`` Yes , '' he said [ sic ] { so } ."),
    ("“Don’t,” she said; ‘why?’", "“ Do n’t , ” she said ; ‘ why ? ’"),
    ("AT&T's R&D, me@home.org", "AT&T 's R&D , me@home.org"),
    ("See https://example.com/a?b=c,d.", "See https://example.com/a?b=c,d ."),
    ("a ( b ( c ) d ) e", "a ( b ( c ) d ) e"),
    ("état naïve \U0001f600 船", "état naïve \U0001f600 船"),
]
SPELLED = st.text(alphabet="aBsS.nNtT'’\"`-,:;!?()[]$%&@ 15\t\u00a0…é", max_size=30)


@pytest.mark.parametrize(("text", "words"), SENTENCES)
def test_sentences_are_parted_as_in_the_treebank(text: str, words: str) -> None:
    """Punctuation and clitics stand apart; numbers, abbreviations and addresses stay whole."""
    assert split_words(text) == words.split(" ")


@given(text=st.one_of(st.text(max_size=60), SPELLED))
def test_only_spaces_change(text: str) -> None:
    """The words without spaces are the text without white space, in the same order, whatever it is."""
    words = split_words(text)

    assert "".join(words) == "".join(text.split())
    assert all(words)


@pytest.mark.parametrize(("text", "words"), SENTENCES)
def test_words_are_parted_no_further(text: str, words: str) -> None:
    """Text that is parted already stays as it is."""
    assert split_words(words) == words.split(" ")


@pytest.mark.parametrize(
    "part", ["a.", "'", "n't", "a'll", ". ", "a.)", "www.", "http://,", "-", "1.", "(", '"']
)
def test_long_texts_take_no_time(part: str) -> None:
    """A hundred thousand characters of anything are parted while one waits."""
    text = part * (100_000 // len(part))

    assert sum(map(len, split_words(text))) == len(text.replace(" ", ""))


@given(words=st.lists(st.text(min_size=1).filter(lambda word: not set(word) & set(" \t\n")), max_size=8))
def test_tokenized_lines_are_parted_at_spaces_alone(words: list[str]) -> None:
    """Words of a tokenized line hold anything but spaces and tabs; white space alone is no word."""
    line = " ".join(words)

    assert spaced_words(f" {line}\t ") == ([] if not line or line.isspace() else words)
