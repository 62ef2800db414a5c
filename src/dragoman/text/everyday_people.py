"""Who acts and who is acted upon in the everyday corpus."""

from dragoman.text import everyday_phrases as phrases
from dragoman.text.everyday_clauses import Complement, Slot, Subject
from dragoman.text.everyday_phrases import POSSESSIVES, THE, Case, Chooser, Determiner, noun_phrase
from dragoman.text.everyday_words import FAMILY, MEN, PEOPLE, WOMEN

PRONOUNS = (
    Subject("I", "ich", 1, False, possessive=0),
    Subject("you", "du", 2, False, possessive=1),
    Subject("he", "er", 3, False, "m", possessive=2),
    Subject("she", "sie", 3, False, "f", possessive=3),
    Subject("we", "wir", 1, True, possessive=4),
    Subject("they", "sie", 3, True, possessive=5),
)
WHO = Subject("who", "wer", 3, False)
_OBJECT_PRONOUNS = (
    ("me", "mich", "mir", 1),
    ("you", "dich", "dir", 2),
    ("him", "ihn", "ihm", 0),
    ("her", "sie", "ihr", 0),
    ("us", "uns", "uns", 1),
    ("them", "sie", "ihnen", 0),
)


def possessive(choose: Chooser, subject: Subject | None = None) -> Determiner:
    """Mostly the subject's own."""
    if subject is not None and subject.possessive >= 0 and choose.chance(0.75):
        return POSSESSIVES[subject.possessive]
    return choose.pick(POSSESSIVES)


def relative_subject(choose: Chooser) -> Subject:
    """Someone of a family or someone with a name: a subject of plain sex."""
    if choose.chance(0.35):
        sex = choose.chance(0.5)
        name = choose.pick(WOMEN if sex else MEN)
        return Subject(name, name, 3, False, "f" if sex else "m", possessive=3 if sex else 2)
    noun = choose.pick(FAMILY)
    words = noun_phrase(noun, "nominative", choose.pick(POSSESSIVES))
    return Subject(*words, 3, False, "m" if noun.gender == "m" else "f")


def subject(choose: Chooser) -> Subject:
    """Anyone: a pronoun, a name, family, other people."""
    form = choose.below(20)
    if form < 10:
        return choose.pick(
            PRONOUNS if choose.chance(0.75) else PRONOUNS[:2]
        )  # ich and du have forms of their own
    if form < 15:
        return relative_subject(choose)
    noun = choose.pick(PEOPLE) if form < 19 else choose.pick(FAMILY[2:])
    plural = choose.chance(0.4)
    determiner = possessive(choose) if noun.name in ("friend", "neighbor") or noun in FAMILY else THE
    adjective = None if noun in FAMILY else phrases.choose_adjective(choose, noun, 0.25)
    return Subject(*noun_phrase(noun, "nominative", determiner, adjective, plural), 3, plural)


def person(choose: Chooser, case: Case, doer: Subject, pronouns: bool = True) -> Complement:
    """Someone to whom it is done; never the doer."""
    form = choose.below(20)
    if form < 7 and pronouns:
        options = [pronoun for pronoun in _OBJECT_PRONOUNS if pronoun[3] != doer.person or doer.person == 3]
        english, accusative, dative, _ = choose.pick(options)
        return Complement(english, accusative if case == "accusative" else dative, Slot.PRONOUN)
    if form < 10:
        name = choose.pick([name for name in WOMEN + MEN if name != doer.english])
        return Complement(name, name, Slot.DEFINITE)
    noun = choose.pick(FAMILY if form < 15 else PEOPLE)
    plural = noun not in FAMILY[:2] and choose.chance(0.25)  # one has one father and one mother
    close = noun in FAMILY or noun.name in ("friend", "neighbor")
    determiner = possessive(choose, doer) if close else THE
    adjective = None if noun in FAMILY else phrases.choose_adjective(choose, noun, 0.2)
    words = noun_phrase(noun, case, determiner, adjective, plural)
    if words.english == doer.english:
        return person(choose, case, doer, pronouns)
    return Complement(*words, Slot.DEFINITE)


def with_someone(choose: Chooser, doer: Subject) -> Complement:
    """In whose company."""
    other = person(choose, "dative", doer)
    return Complement(f"with {other.english}", f"mit {other.german}", Slot.MEANS)
