"""What people do in the everyday corpus: subjects, objects and the actions that make sense with them."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from dragoman.text import everyday_people as people
from dragoman.text import everyday_phrases as phrases
from dragoman.text import everyday_verbs as verbs
from dragoman.text.everyday_clauses import (
    CAN,
    MUST,
    SHOULD,
    WANT,
    WOULD_LIKE,
    Clause,
    Complement,
    Slot,
    Subject,
    Tense,
)
from dragoman.text.everyday_phrases import (
    POSSESSIVES,
    THE,
    THIS,
    Case,
    Chooser,
    Determiner,
    Phrase,
    noun_phrase,
)
from dragoman.text.everyday_words import (
    CITIES,
    FAMILY,
    MEANS,
    MEN,
    NOUNS,
    PLACE_OF,
    PLACES,
    VESSELS,
    WOMEN,
    Noun,
    Verb,
)

FREQUENCIES = (
    Phrase("often", "oft"),
    Phrase("always", "immer"),
    Phrase("sometimes", "manchmal"),
    Phrase("never", "nie"),
    Phrase("usually", "meistens"),
)
_NOT_IN: dict[Tense, tuple[str, ...]] = {
    "now": ("forget", "lose", "find"),
    "future": ("forget", "lose", "dream"),
    "modal": ("forget", "lose", "need", "find", "see", "remember", "dream", "wear"),
}
"""Verbs of what befalls people: nobody is doing them now, wants to or must."""
KNOWN = ("repair", "turn", "tidy", "open", "close", "wash", "try", "lose", "forget", "find")
"""Verbs for what is one's own or known to both."""
_BARE_NEGATED = Determiner("", "kein", "ein")
_LYING = [
    "book",
    "newspaper",
    "letter",
    "key",
    "knife",
    "ball",
    "umbrella",
    "hat",
    "watch",
    "camera",
    "ticket",
]
_STANDING = ["glass", "bottle", "lamp", "plate", "computer", "radio"]
_POSITIONS = (
    ("on", "auf", "table chair bed"),
    ("under", "unter", "table chair bed"),
    ("in", "in", "cupboard kitchen office"),
    ("next to", "neben", "bed lamp window door computer"),
    ("behind", "hinter", "door cupboard radio"),
)


class Action(NamedTuple):
    """A verb with what it needs; `german_not` is empty where a complement says "kein"."""

    verb: Verb
    complements: tuple[Complement, ...] = ()
    german_not: str = "nicht"


def owned(choose: Chooser, noun: Noun, case: Case) -> Phrase:
    """A thing and its owner: my father's new car, das neue Auto meines Vaters; Anna's car, Annas Auto."""
    if choose.chance(0.3):
        name = choose.pick(WOMEN + MEN)
        bare = noun_phrase(noun, case, phrases.BARE)
        return Phrase(f"{name}'s {bare.english}", f"{name}s {bare.german}")
    owner = noun_phrase(choose.pick(FAMILY), "nominative", choose.pick(POSSESSIVES))
    thing = noun_phrase(noun, case, THE, phrases.choose_adjective(choose, noun, 0.3))
    determiner, name = owner.english.split()
    genitive = phrases.german_noun_phrase(
        NOUNS[name], "genitive", next(own for own in POSSESSIVES if own.english == determiner), None, False
    )
    return Phrase(f"{owner.english}'s {thing.english.removeprefix('the ')}", f"{thing.german} {genitive}")


def _uncounted(choose: Chooser, noun: Noun, doer: Subject, negated: bool) -> Determiner:
    """The determiner of what is not counted."""
    if noun.kind in ("language", "story"):
        return _BARE_NEGATED if negated else phrases.BARE
    if choose.chance(0.6):
        return phrases.ANY if negated else phrases.BARE
    return THE if choose.chance(0.6) else people.possessive(choose, doer)


def _counted(choose: Chooser, doer: Subject, plural: bool, negated: bool) -> Determiner:
    """The determiner of one thing or several."""
    form = choose.below(10)
    if form < 4:
        if plural:
            if negated:
                return phrases.ANY
            return phrases.count_determiner(2 + choose.below(11)) if form < 3 else phrases.BARE
        return phrases.A_NEGATED if negated else phrases.A
    if form < 7:
        return THE
    return THIS if form < 8 else people.possessive(choose, doer)


def thing(
    choose: Chooser, noun: Noun, doer: Subject, negated: bool, plural: bool, known: bool = False
) -> Complement:
    """A thing in the accusative; negated and indefinite it takes "kein".

    A known thing is always definite: one forgets one's key, not a key.
    """
    if noun.name in VESSELS and not negated and choose.chance(0.3):
        vessel, german, gender = VESSELS[noun.name]
        article = "ein" if gender == "n" else "eine"
        return Complement(
            f"a {vessel} {noun.name}", f"{article} {german} {noun.german.split()[1]}", Slot.INDEFINITE
        )
    if not noun.counted:
        plural, determiner = False, _uncounted(choose, noun, doer, negated)
    elif noun.kind in ("part", "story") or (known and choose.chance(0.5)):
        plural, determiner = noun.name == "shoe", THE
    else:
        plural = plural or noun.name == "shoe"
        determiner = people.possessive(choose, doer) if known else _counted(choose, doer, plural, negated)
    if (
        determiner == THE
        and noun.kind in ("thing", "tool", "garment", "text")
        and choose.chance(0.3)
        and not plural
    ):
        return Complement(*owned(choose, noun, "accusative"), Slot.DEFINITE)
    adjective = phrases.choose_adjective(choose, noun, 0.35)
    words = noun_phrase(noun, "accusative", determiner, adjective, plural)
    return Complement(*words, Slot.DEFINITE if phrases.is_definite(determiner) else Slot.INDEFINITE)


def at_place(choose: Chooser, name: str) -> Complement:
    """Where something is or happens: the dative."""
    place = PLACE_OF[name]
    adjective = phrases.choose_adjective(choose, place.noun, 0.2)
    words = noun_phrase(place.noun, "dative", THE, adjective)
    return Complement(
        f"{place.at[0]} {words.english}", phrases.contract(place.at[1], words.german), Slot.PLACE
    )


def to_place(choose: Chooser) -> Complement:
    """Where someone goes: the accusative, and the dative after "zu"."""
    if choose.chance(0.12):
        return Complement("home", "nach Hause", Slot.DIRECTION)
    place = choose.pick(PLACES)
    adjective = phrases.choose_adjective(choose, place.noun, 0.2)
    words = noun_phrase(place.noun, "dative" if place.to == "zu" else "accusative", THE, adjective)
    return Complement(f"to {words.english}", phrases.contract(place.to, words.german), Slot.DIRECTION)


def position(choose: Chooser, case: Case, avoid: str = "") -> Complement:
    """On the table, under the bed: accusative for whither, dative for where."""
    english, german, names = choose.pick(_POSITIONS)
    noun = NOUNS[choose.pick([name for name in names.split() if name != avoid])]
    words = noun_phrase(noun, case, THE)
    return Complement(f"{english} {words.english}", phrases.contract(german, words.german), Slot.DIRECTION)


def lying_thing(choose: Chooser) -> tuple[Noun, str]:
    """A thing that lies or stands somewhere, and the German verb for it."""
    if choose.chance(0.6):
        return NOUNS[choose.pick(_LYING)], "liegen"
    return NOUNS[choose.pick(_STANDING)], "stehen"


def _fits(verb: Verb, tense: Tense) -> bool:
    """True where the verb makes sense in the tense."""
    base = verb.english.split()[0]
    if tense == "habit":
        return verb.habitual
    if tense in _NOT_IN:
        wished = tense == "modal" and verb.particle == "forward"  # nobody must look forward
        return base not in _NOT_IN[tense] and not wished
    return tense != "perfect" or (not verb.stative and base not in ("wear", "look", "dream"))


def _pick_verb(choose: Chooser, options: tuple[Verb, ...], tense: Tense) -> Verb:
    return choose.pick([verb for verb in options if _fits(verb, tense)])


def object_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is done with a thing."""
    verb = _pick_verb(choose, verbs.WITH_OBJECT, tense)
    noun = NOUNS[choose.pick(verb.objects.split())]
    plural = choose.chance(0.5 if tense == "habit" else 0.25)
    complement = thing(choose, noun, doer, negated, plural, known=verb.english.split()[0] in KNOWN)
    return Action(verb, (complement,), german_not(complement, negated))


def german_not(complement: Complement, negated: bool) -> str:
    """Say "nicht" where the complement does not say "kein"."""
    return "nicht" if negated and complement.slot != Slot.INDEFINITE else ""


def person_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is done to someone."""
    verb = (
        verbs.KNOW if tense == "now" and choose.chance(0.15) else _pick_verb(choose, verbs.WITH_PERSON, tense)
    )
    return Action(verb, (people.person(choose, verb.case, doer),), "nicht" if negated else "")


def place_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is done somewhere, or someone goes somewhere."""
    form = choose.below(10)
    company = () if negated or choose.chance(0.75) else (people.with_someone(choose, doer),)
    if form < 4:
        verb = _pick_verb(choose, verbs.AT_PLACE, tense)
        where = at_place(choose, choose.pick(verb.objects.split()))
        return Action(verb, (where, *company), "nicht" if negated else "")
    if form < 8:
        verb = _pick_verb(choose, verbs.TO_PLACE, tense)
        return Action(verb, (to_place(choose), *company), "nicht" if negated else "")
    english, german = choose.pick(CITIES)
    city = Complement(f"to {english}", f"nach {german}", Slot.DIRECTION)
    means = Complement(*choose.pick(MEANS), Slot.MEANS)
    return Action(verbs.DRIVE, (city, means), "nicht" if negated else "")


def preposition_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is done for, with, of or about someone or something."""
    verb = _pick_verb(choose, verbs.WITH_PREPOSITION, tense)
    name = choose.pick(verb.objects.split())
    case: Case = "dative" if verb.preposition[2] == "dative" else "accusative"
    if name == "person":
        words = Phrase(*people.person(choose, case, doer)[:2])
    else:
        noun = NOUNS[name]
        determiner = choose.pick((THE, THE, THIS, people.possessive(choose, doer)))
        words = noun_phrase(noun, case, determiner, phrases.choose_adjective(choose, noun, 0.25))
    german = phrases.contract(verb.preposition[1], words.german)
    return Action(verb, (Complement(words.english, german, Slot.DIRECTION),), "nicht" if negated else "")


def alone_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is done that needs nothing else."""
    del doer
    return Action(_pick_verb(choose, verbs.ALONE, tense), (), "nicht" if negated else "")


def giving_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Someone gives, shows or sends something to someone."""
    del tense
    verb = choose.pick(verbs.GIVING)
    receiver = people.person(choose, "dative", doer)
    given = thing(choose, NOUNS[choose.pick(verb.objects.split())], doer, negated, choose.chance(0.2))
    return Action(verb, (receiver, given), german_not(given, negated))


def putting_action(choose: Chooser, doer: Subject, tense: Tense, negated: bool) -> Action:
    """Something is put somewhere; whether it is laid or stood up depends on the thing."""
    del tense
    noun, posture = lying_thing(choose)
    determiner = choose.pick((THE, THE, people.possessive(choose, doer)))
    words = noun_phrase(noun, "accusative", determiner, phrases.choose_adjective(choose, noun, 0.2))
    where = position(choose, "accusative", avoid=noun.name)
    return Action(verbs.PUT[posture], (Complement(*words, Slot.DEFINITE), where), "nicht" if negated else "")


_Maker = Callable[[Chooser, Subject, Tense, bool], Action]
_ACTIONS: tuple[_Maker, ...] = (
    *(object_action,) * 10,
    *(person_action,) * 4,
    *(place_action,) * 5,
    *(preposition_action,) * 4,
    *(alone_action,) * 3,
)
_SINGLE_ACTIONS: tuple[_Maker, ...] = (*_ACTIONS, *(giving_action,) * 2, *(putting_action,) * 2)


def _when(choose: Chooser, tense: Tense, action: Action, negated: bool) -> Phrase | None:
    """A time that fits the tense; the past always has one, for "they read" may be either."""
    if tense == "past":
        return phrases.past_time(choose)
    if tense == "future":
        return phrases.future_time(choose)
    if tense == "habit":
        return None if negated else phrases.habit_time(choose)
    if tense == "modal":
        return phrases.future_time(choose) if choose.chance(0.35) else None
    if tense == "now" and not action.verb.stative and choose.chance(0.4):
        return phrases.present_time(choose)
    return Phrase("yet", "") if tense == "perfect" and negated else None


def act(choose: Chooser, doer: Subject, tense: Tense, negated: bool = False) -> Clause:
    """A clause in which someone does something."""
    options: tuple[_Maker, ...] = _ACTIONS if tense == "habit" else _SINGLE_ACTIONS
    if tense == "perfect":
        options = (object_action, person_action, alone_action)
    action = choose.pick(options)(choose, doer, tense, negated)
    clause = Clause(
        doer, action.verb, tense, action.complements, negated=negated, german_not=action.german_not
    )
    if not negated:
        clause = replace(clause, german_not="")
    clause = replace(clause, time=_when(choose, tense, action, negated))
    if tense == "perfect":
        if negated:
            return replace(clause, german_not=f"noch {action.german_not}".strip())
        return replace(clause, frequency=Phrase("already", "schon"))
    if tense == "habit" and not negated and choose.chance(0.5):
        return replace(clause, frequency=choose.pick(FREQUENCIES), time=None)
    if tense == "modal":
        modals = (CAN, SHOULD, WANT) if negated else (CAN, MUST, SHOULD, WANT, WOULD_LIKE)
        return replace(clause, modal=choose.pick(modals))
    return clause


_TENSES: tuple[Tense, ...] = (
    *("now",) * 5,
    *("habit",) * 2,
    *("past",) * 2,
    "perfect",
    "future",
    *("modal",) * 2,
)


def any_act(choose: Chooser, doer: Subject | None = None, negatable: bool = True) -> Clause:
    """A clause of any tense, negated now and then."""
    return act(choose, doer or people.subject(choose), choose.pick(_TENSES), negatable and choose.chance(0.2))
