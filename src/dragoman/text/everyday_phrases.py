"""Agreement: noun phrases, pronouns, numbers and times of the everyday corpus in both languages."""

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

from dragoman.text.everyday_words import ADJECTIVES_OF, Adjective, Noun

Case = Literal["nominative", "accusative", "dative", "genitive"]
T = TypeVar("T")

_CASES: tuple[Case, ...] = ("nominative", "accusative", "dative", "genitive")
_COLUMNS = ("m", "f", "n", "plural")
_DEFINITE = ("der die das die", "den die das die", "dem der dem den", "des der des der")
_DIESER = ("er e es e", "en e es e", "em er em en", "es er es er")
_EIN = ("- e - e", "en e - e", "em er em en", "es er es er")
_WEAK = ("e e e en", "en e e en", "en en en en", "en en en en")
_MIXED = ("er e es en", "en e es en", "en en en en", "en en en en")
_STRONG = ("er e es e", "en e es e", "em er em en", "en er en er")
_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("in", "das"): "ins",
}
_ENGLISH_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_GERMAN_UNITS = [
    "null",
    "ein",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_ENGLISH_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_GERMAN_TENS = [
    "-",
    "-",
    "zwanzig",
    "dreißig",
    "vierzig",
    "fünfzig",
    "sechzig",
    "siebzig",
    "achtzig",
    "neunzig",
]


class Chooser:
    """Seeded choices that are the same in every version of Python.

    Only `random.Random.random` is promised to stay as it is, so every choice is made from it.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def below(self, limit: int) -> int:
        """An integer from 0 up to, not including, ``limit``."""
        return int(self._random.random() * limit)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[self.below(len(options))]

    def shuffle(self, items: list[T]) -> None:
        """Put the items into a random order, in place (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


class Phrase(NamedTuple):
    """A part of a sentence in both languages."""

    english: str
    german: str


class Determiner(NamedTuple):
    """A determiner: its English word, its German stem, and how it and its adjective are declined."""

    english: str
    german: str
    kind: Literal["definite", "dieser", "ein", "bare", "number"]


THE = Determiner("the", "", "definite")
THIS = Determiner("this", "dies", "dieser")
A = Determiner("a", "ein", "ein")
BARE = Determiner("", "", "bare")
NO = Determiner("no", "kein", "ein")
ANY = Determiner("any", "kein", "ein")
"""What English says after "not" where German says "kein"."""
A_NEGATED = Determiner("a", "kein", "ein")
POSSESSIVES = (
    Determiner("my", "mein", "ein"),
    Determiner("your", "dein", "ein"),
    Determiner("his", "sein", "ein"),
    Determiner("her", "ihr", "ein"),
    Determiner("our", "unser", "ein"),
    Determiner("their", "ihr", "ein"),
)


def is_definite(determiner: Determiner) -> bool:
    """True where German puts an object before the time: the, this and the possessives."""
    return determiner in (THE, THIS) or determiner in POSSESSIVES


def _ending(table: tuple[str, ...], case: Case, column: str) -> str:
    """Look up one ending; "-" is none."""
    return table[_CASES.index(case)].split()[_COLUMNS.index(column)].strip("-")


def _german_noun(noun: Noun, case: Case, plural: bool) -> str:
    """Decline a noun: -n in the dative plural, weak nouns, and the genitive of the table."""
    forms = noun.german.split()
    if plural:
        return forms[2] + ("n" if case == "dative" and forms[2][-1] not in "ns" else "")
    if case == "genitive":
        return noun.genitive
    return forms[2] if noun.weak and case != "nominative" else forms[1]


def german_noun_phrase(
    noun: Noun, case: Case, determiner: Determiner, adjective: Adjective | None, plural: bool
) -> str:
    """Decline determiner, adjective and noun so that they agree."""
    column = "plural" if plural else noun.gender
    words = []
    if determiner.kind == "definite":
        words.append(_ending(_DEFINITE, case, column))
    elif determiner.kind in ("dieser", "ein"):
        table = _DIESER if determiner.kind == "dieser" else _EIN
        words.append(determiner.german + _ending(table, case, column))
    elif determiner.kind == "number":
        words.append(determiner.german)
    if adjective is not None:
        tables = {"definite": _WEAK, "dieser": _WEAK, "ein": _MIXED}
        stem = (adjective.stem or adjective.german).removesuffix("e")
        words.append(stem + _ending(tables.get(determiner.kind, _STRONG), case, column))
    return " ".join([*words, _german_noun(noun, case, plural)])


def english_noun_phrase(noun: Noun, determiner: Determiner, adjective: Adjective | None, plural: bool) -> str:
    """Put determiner, adjective and noun together; "a" becomes "an" before a vowel."""
    article = "these" if plural and determiner == THIS else determiner.english
    words = [adjective.english] if adjective is not None else []
    words.append(noun.english.split()[1 if plural else 0])
    if article == "a" and words[0][0] in "aeiou":
        article = "an"
    return " ".join([article, *words] if article else words)


def noun_phrase(
    noun: Noun, case: Case, determiner: Determiner, adjective: Adjective | None = None, plural: bool = False
) -> Phrase:
    """Put a noun phrase together in both languages."""
    return Phrase(
        english_noun_phrase(noun, determiner, adjective, plural),
        german_noun_phrase(noun, case, determiner, adjective, plural),
    )


def contract(preposition: str, phrase: str) -> str:
    """Join a German preposition and a phrase: in + dem Garten = im Garten."""
    first, _, rest = phrase.partition(" ")
    contracted = _CONTRACTIONS.get((preposition, first))
    return f"{contracted} {rest}" if contracted else f"{preposition} {phrase}"


def choose_adjective(choose: Chooser, noun: Noun, probability: float) -> Adjective | None:
    """An adjective that fits the noun, with this probability."""
    options = ADJECTIVES_OF[noun.kind]
    return choose.pick(options) if options and choose.chance(probability) else None


def number_phrase(number: int) -> Phrase:
    """A number below 100 in words: twenty-five, fünfundzwanzig; one is "ein", as before a noun."""
    if number < 20:
        return Phrase(_ENGLISH_UNITS[number], _GERMAN_UNITS[number])
    tens, units = divmod(number, 10)
    if not units:
        return Phrase(_ENGLISH_TENS[tens], _GERMAN_TENS[tens])
    return Phrase(
        f"{_ENGLISH_TENS[tens]}-{_ENGLISH_UNITS[units]}", f"{_GERMAN_UNITS[units]}und{_GERMAN_TENS[tens]}"
    )


def count_determiner(number: int) -> Determiner:
    """A number from two to nineteen before a noun."""
    return Determiner(*number_phrase(number), "number")


def _german_hour(hour: int) -> str:
    """The hour as it stands alone on the clock: eins, zwei, drei."""
    return "eins" if hour == 1 else _GERMAN_UNITS[hour]


def clock_phrase(choose: Chooser) -> Phrase:
    """A time of the clock; "half past two" is "halb drei", for German counts toward the next hour."""
    hour = 1 + choose.below(12)
    following = hour % 12 + 1
    english, german = _ENGLISH_UNITS[hour], _german_hour(hour)
    form = choose.below(12)
    if form < 4:
        return Phrase(f"at {english} o'clock", f"um {_GERMAN_UNITS[hour]} Uhr")
    if form < 7:
        return Phrase(f"at half past {english}", f"um halb {_german_hour(following)}")
    if form < 9:
        return Phrase(f"at a quarter past {english}", f"um Viertel nach {german}")
    if form < 11:
        return Phrase(
            f"at a quarter to {_ENGLISH_UNITS[following]}", f"um Viertel vor {_german_hour(following)}"
        )
    minutes, to = number_phrase(choose.pick((5, 10, 20))), choose.chance(0.5)
    return Phrase(
        f"at {minutes.english} {'to' if to else 'past'} {english}",
        f"um {minutes.german} {'vor' if to else 'nach'} {german}",
    )


def _paired(table: str) -> tuple[Phrase, ...]:
    """Read english/german words."""
    return tuple(Phrase(*pair.split("/")) for pair in table.split())


DAYS = _paired(
    "Monday/Montag Tuesday/Dienstag Wednesday/Mittwoch Thursday/Donnerstag "
    "Friday/Freitag Saturday/Samstag Sunday/Sonntag"
)
MONTHS = _paired(
    "January/Januar February/Februar March/März April/April May/Mai June/Juni "
    "July/Juli August/August September/September October/Oktober November/November December/Dezember"
)
DAY_PARTS = (Phrase("morning", "Morgen"), Phrase("afternoon", "Nachmittag"), Phrase("evening", "Abend"))
_ORDINALS = _paired(
    "first/ersten second/zweiten third/dritten fourth/vierten fifth/fünften sixth/sechsten "
    "seventh/siebten eighth/achten ninth/neunten tenth/zehnten eleventh/elften twelfth/zwölften"
)


def date_phrase(choose: Chooser) -> Phrase:
    """A date, the day in words or in digits: on the third of May, am dritten Mai; on May 17, am 17. Mai."""
    month = choose.pick(MONTHS)
    if choose.chance(0.5):
        ordinal = choose.pick(_ORDINALS)
        return Phrase(f"on the {ordinal.english} of {month.english}", f"am {ordinal.german} {month.german}")
    day = 1 + choose.below(28)
    return Phrase(f"on {month.english} {day}", f"am {day}. {month.german}")


def day_phrase(choose: Chooser) -> Phrase:
    """A day of the week, sometimes with a part of it: on Monday evening, am Montagabend."""
    day = choose.pick(DAYS)
    if choose.chance(0.7):
        return Phrase(f"on {day.english}", f"am {day.german}")
    part = choose.pick(DAY_PARTS)
    return Phrase(f"on {day.english} {part.english}", f"am {day.german}{part.german.lower()}")


_FUTURE = (
    Phrase("tomorrow", "morgen"),
    Phrase("tomorrow morning", "morgen früh"),
    Phrase("tomorrow evening", "morgen Abend"),
    Phrase("the day after tomorrow", "übermorgen"),
    Phrase("next week", "nächste Woche"),
    Phrase("soon", "bald"),
    Phrase("this evening", "heute Abend"),
)

_PAST = (
    Phrase("yesterday", "gestern"),
    Phrase("yesterday evening", "gestern Abend"),
    Phrase("the day before yesterday", "vorgestern"),
    Phrase("this morning", "heute Morgen"),
    Phrase("last week", "letzte Woche"),
    Phrase("a week ago", "vor einer Woche"),
    Phrase("an hour ago", "vor einer Stunde"),
    Phrase("three days ago", "vor drei Tagen"),
)
_NOW = (Phrase("now", "jetzt"), Phrase("today", "heute"), Phrase("at the moment", "gerade"))
_HABIT = (
    Phrase("every day", "jeden Tag"),
    Phrase("every week", "jede Woche"),
    Phrase("every morning", "jeden Morgen"),
    Phrase("every evening", "jeden Abend"),
    Phrase("at the weekend", "am Wochenende"),
)


def future_time(choose: Chooser) -> Phrase:
    """A time to come."""
    form = choose.below(10)
    if form < 5:
        return choose.pick(_FUTURE)
    if form < 7:
        return day_phrase(choose)
    if form < 8:
        return date_phrase(choose)
    clock = clock_phrase(choose)
    return Phrase(f"tomorrow {clock.english}", f"morgen {clock.german}")


def past_time(choose: Chooser) -> Phrase:
    """A time that is over."""
    form = choose.below(10)
    if form < 6:
        return choose.pick(_PAST)
    if form < 8:
        return day_phrase(choose)
    if form < 9:
        return date_phrase(choose)
    clock = clock_phrase(choose)
    return Phrase(f"yesterday {clock.english}", f"gestern {clock.german}")


def present_time(choose: Chooser) -> Phrase:
    """A time that is now."""
    return choose.pick(_NOW)


def habit_time(choose: Chooser) -> Phrase:
    """A time that comes back: every day, every Monday."""
    if choose.chance(0.7):
        return choose.pick(_HABIT)
    day = choose.pick(DAYS)
    return Phrase(f"every {day.english}", f"jeden {day.german}")
