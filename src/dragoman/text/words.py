r"""English text as words in the manner of the Penn Treebank, which a parser reads.

    "I don't," Mr. Lee's aide said.    becomes    " I do n't , " Mr. Lee 's aide said .

Punctuation, quotes, brackets and signs such as $ and % stand apart. So do dashes of two hyphens or more and
an ellipsis, each in one piece. Clitics are cut off: do n't, 's, 'll, can not. Numbers keep their points and
commas, abbreviations their periods. A hyphen, a slash and a point between letters part nothing, and so
addresses stay whole as far as they hold no other signs.

A text is taken for one sentence: its last period stands apart even after an abbreviation, as in Penn's own
script. A period before that stays with an abbreviation of the list, with initials, and where the text goes on
with a small letter, a comma or the like.

Nothing is changed but the spaces: unlike in the treebank, quotes and brackets stay as they are typed, and a
period that ends an abbreviation and the sentence at once is one word and not two. An apostrophe at the end of
a word stands apart, whether it is a quote or a genitive. Only English clitics are known.
"""

import re
from collections.abc import Iterator

_OPENING = r"\(\[{<“„‟«‹‘‚‛`"
_CLOSING = r"\)\]}>”»›"
_APART = rf"{_OPENING}{_CLOSING}\"'’.,;:?!¿¡…—–@#$%&£€¥"
_CLITIC = r"(?:s|m|d|ll|re|ve)"

_WORD = rf"""
    (?: (?<![\w.]) \. (?=\d) )?                    # .5
    (?: (?!--) [^\s{_APART}] )+
    (?: (?: (?<=\d) [.,:] (?=\d)                   # 1,000.50 and 10:30
          | (?<=\w) [.@&'’] (?=\w) )               # e.g, me@home, R&D, don't
        (?: (?!--) [^\s{_APART}] )+ )*
    """
_TOKEN = re.compile(
    rf"""
      (?P<address> (?: (?:https?|ftp):// | www\. ) [^\s<>"]* [^\s{_APART}] )
    | (?P<word> ['’] (?: (?:em|til|cause|bout|tis|twas|t|n) (?!\w) | \d\ds? (?!\w) ) | {_WORD} )
    | ['’]{_CLITIC} (?!\w)                         # after a bracket or a period, or apart already
    | `` | '' | --+ | \.\.+
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LAST_CLITIC = re.compile(rf"(?: n['’]t | ['’]{_CLITIC} ) \Z", re.VERBOSE | re.IGNORECASE)
_LONGEST_CLITIC = 3
_JOINED = {
    "cannot": 3,
    "gimme": 3,
    "gonna": 3,
    "gotta": 3,
    "lemme": 3,
    "wanna": 3,
    "'tis": 2,
    "’tis": 2,
    "'twas": 2,
    "’twas": 2,
}
"""Letters of the first of the two words in one."""

_INITIALS = re.compile(r"(?: [^\W\d_] \. )* [^\W\d_]", re.VERBOSE)
_ABBREVIATION = re.compile(
    r"""
      adm | al | apr | approx | asst | aug | ave | blvd | bros | capt | cf | cmdr | co | col | corp | dec
    | dept | dist | dr | drs | ed | eds | eq | eqs | esp | est | etc | feb | fig | figs | ft | gen | gov | hon
    | inc | jan | jr | jul | jun | lt | ltd | maj | mar | messrs | mme | mr | mrs | ms | mt | mts | nov
    | oct | op | ph\.d | pp | prof | pty | rep | reps | rev | sen | sens | sep | sept | sgt | sq | sr | st
    | supt | univ | viz | vol | vols | vs
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_NUMBERS = ("no", "nos")
"""Abbreviations only where a number follows."""
_END = re.compile(rf"[\s{_CLOSING}\"'’]*\Z")
_GOES_ON = re.compile(r"\s*(?P<next>\S)")


def spaced_words(line: str) -> list[str]:
    """Return the words of a tokenized line, which spaces and tabs part; of white space alone, none."""
    if line.isspace():
        return []
    return [word for word in line.replace("\t", " ").split(" ") if word]


def split_words(text: str) -> list[str]:
    """Return the words of a sentence; joined without spaces they are the text without its white space."""
    words: list[str] = []
    position = 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        if not found["word"]:
            words.append(found[0])
            continue
        parts = list(_parts(found[0]))
        if _keeps_period(parts[-1], text, position):
            parts[-1] += "."
            position += 1
        words += parts
    return words


def _parts(word: str) -> Iterator[str]:
    """Yield a word without its clitics, then these."""
    clitics = []
    end = len(word)
    while found := _LAST_CLITIC.search(word, max(1, end - _LONGEST_CLITIC), end):
        end = found.start()
        clitics.append(found[0])
    cut = _JOINED.get(word[:end].lower(), end)
    yield word[:cut]
    if cut < end:
        yield word[cut:end]
    yield from reversed(clitics)


def _keeps_period(word: str, text: str, position: int) -> bool:
    """Tell whether a word that ends at a position is an abbreviation together with a period that follows."""
    after = position + 1
    if not text.startswith(".", position) or text.startswith(".", after) or _END.match(text, after):
        return False
    if _ABBREVIATION.fullmatch(word) or _INITIALS.fullmatch(word):
        return True
    found = _GOES_ON.match(text, after)
    if found is None:
        return False
    follows = found["next"]
    return follows.islower() or follows in ",;:?!" or (follows.isdigit() and word.lower() in _BEFORE_NUMBERS)
