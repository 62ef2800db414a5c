"""Word order: one clause of the everyday corpus as a statement, a question or a subordinate clause.

A clause is put together once and realized in both languages, so that tense, person and order always agree.
German order, between the finite verb and the end of the clause: pronouns, frequency, definite objects, time,
"nicht", means and place, indefinite objects, direction or predicate.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple

from dragoman.text.everyday_phrases import Phrase
from dragoman.text.everyday_words import Verb

Tense = Literal["now", "habit", "past", "perfect", "future", "modal"]


class Slot(IntEnum):
    """The places of the German clause, in order."""

    PRONOUN = 0
    FREQUENCY = 1
    DEFINITE = 2
    TIME = 3
    NEGATION = 4
    MEANS = 5
    PLACE = 6
    INDEFINITE = 7
    DIRECTION = 8


class Subject(NamedTuple):
    """Who does it: words in both languages, grammatical person and number, and the sex where it is plain."""

    english: str
    german: str
    person: Literal[1, 2, 3]
    plural: bool
    sex: Literal["", "m", "f"] = ""
    possessive: int = -1
    """Which of the possessive determiners is the subject's own; -1 where that is not plain."""

    @property
    def form(self) -> int:
        """The column of a German verb: ich, du, er, wir."""
        return 3 if self.plural else self.person - 1


class Complement(NamedTuple):
    """A part of the clause beside subject and verb; its slot gives its place in German."""

    english: str
    german: str
    slot: Slot


class Modal(NamedTuple):
    """A modal verb: English (third person apart where it differs) and German (ich, du, er, wir)."""

    english: str
    german: str
    third: str = ""


CAN = Modal("can", "kann kannst kann können")
MUST = Modal("must", "muss musst muss müssen")
SHOULD = Modal("should", "sollte solltest sollte sollten")
WANT = Modal("want to", "will willst will wollen", "wants to")
WOULD_LIKE = Modal("would like to", "möchte möchtest möchte möchten")
_WILL = "werde wirst wird werden"
_HABEN = "habe hast hat haben"
_SEIN = "bin bist ist sind"
_REFLEXIVES = "mich dich sich uns"


@dataclass(frozen=True)
class Clause:
    """One clause, not yet in any order.

    Args:
        subject: Who does it.
        verb: What is done.
        tense: When, in grammar.
        complements: The rest, in the order of English.
        modal: The modal verb of the tense "modal".
        time: When, in words.
        frequency: An adverb such as often; in English before the verb.
        negated: True where English says "not".
        german_not: The German negation, empty where "kein" has it already.
    """

    subject: Subject
    verb: Verb
    tense: Tense
    complements: tuple[Complement, ...] = ()
    modal: Modal | None = None
    time: Phrase | None = None
    frequency: Phrase | None = None
    negated: bool = False
    german_not: str = ""


class _EnglishVerb(NamedTuple):
    """An English verb group: the auxiliary, what follows it, and the simple form that needs none."""

    auxiliary: str
    rest: str
    simple: str = ""


def english_be(subject: Subject, past: bool) -> str:
    """Am, are, is; was, were."""
    if subject.plural or subject.person == 2:
        return "were" if past else "are"
    if past:
        return "was"
    return "am" if subject.person == 1 else "is"


def _english_verb(clause: Clause) -> _EnglishVerb:
    """Put tense, person and auxiliary together."""
    base = clause.verb.english.split()[0]
    subject = clause.subject
    is_third = subject.person == 3 and not subject.plural
    do = "does" if is_third else "do"
    if clause.modal is not None:
        if clause.modal.third:
            modal = clause.modal.third if is_third else clause.modal.english
            return _EnglishVerb(do, f"{clause.modal.english} {base}", f"{modal} {base}")
        auxiliary, _, rest = clause.modal.english.partition(" ")
        return _EnglishVerb(auxiliary, f"{rest} {base}".strip())
    if clause.tense == "future":
        return _EnglishVerb("will", base)
    if base == "be":
        return _EnglishVerb(english_be(subject, clause.tense == "past"), "")
    return _simple_tense(clause, do)


def _simple_tense(clause: Clause, do: str) -> _EnglishVerb:
    """The tenses without modal verb and future."""
    base, third, past, participle, ing = clause.verb.english.split()
    subject, is_third = clause.subject, do == "does"
    if clause.tense == "perfect":
        return _EnglishVerb("has" if is_third else "have", participle)
    if clause.tense == "past":
        return _EnglishVerb("did", base, past)
    if clause.tense == "habit" or clause.verb.stative:
        return _EnglishVerb(do, base, third if is_third else base)
    return _EnglishVerb(english_be(subject, past=False), ing)


def _english_complements(clause: Clause) -> list[str]:
    """What follows the verb; a particle stands after a pronoun and before anything else."""
    words = [complement.english for complement in clause.complements]
    particle, preposition = clause.verb.particle, clause.verb.preposition[0]
    if preposition and words:
        words[0] = f"{preposition} {words[0]}"
    if particle:
        after_pronoun = (
            bool(clause.complements) and clause.complements[0].slot == Slot.PRONOUN and not preposition
        )
        words.insert(1 if after_pronoun else 0, particle)
    return words


def _join(*words: str) -> str:
    return " ".join(word for word in words if word)


def english_statement(clause: Clause, front: Phrase | None = None) -> str:
    """The clause in the order of a statement; subordinate clauses have the same order."""
    verb = _english_verb(clause)
    frequency = clause.frequency.english if clause.frequency else ""
    if clause.negated:
        auxiliary = "cannot" if verb.auxiliary == "can" else f"{verb.auxiliary} not"
        group = _join(auxiliary, frequency, verb.rest)
    elif verb.simple:
        group = _join(frequency, verb.simple)
    else:
        group = _join(verb.auxiliary, frequency, verb.rest)
    time = clause.time.english if clause.time and clause.time != front else ""
    start = front.english if front else ""
    return _join(start, clause.subject.english, group, *_english_complements(clause), time)


def english_question(clause: Clause, word: str = "") -> str:
    """The clause as a question, with a question word or without; no question mark."""
    verb = _english_verb(clause)
    frequency = clause.frequency.english if clause.frequency else ""
    time = clause.time.english if clause.time else ""
    negation = "not" if clause.negated else ""
    complements = _english_complements(clause)
    return _join(
        word, verb.auxiliary, clause.subject.english, negation, frequency, verb.rest, *complements, time
    )


def infinitive(verb: Verb, zu: bool = False) -> str:
    """The German infinitive, with "zu" where asked: anrufen, anzurufen; lesen, zu lesen."""
    stem = verb.german.split()[0]
    if not zu:
        return verb.prefix + stem
    return f"{verb.prefix}zu{stem}" if verb.prefix else f"zu {stem}"


class _GermanVerb(NamedTuple):
    """A German verb group: the finite verb, the rest of it at the end, and whether that is a prefix."""

    finite: str
    end: str
    end_is_prefix: bool = False


def _german_verb(clause: Clause) -> _GermanVerb:
    """Put tense, person and auxiliary together."""
    verb, form = clause.verb, clause.subject.form
    plural, ich, du, er, participle, _ = verb.german.split()
    if plural == "sein":
        plural = "sind"
    if clause.modal is not None:
        return _GermanVerb(clause.modal.german.split()[form], infinitive(verb))
    if clause.tense == "future":
        return _GermanVerb(_WILL.split()[form], infinitive(verb))
    if clause.tense == "past" and verb.preterite:
        return _GermanVerb(verb.preterite.split()[form], "")
    if clause.tense in ("past", "perfect"):
        auxiliary = _SEIN if verb.being else _HABEN
        return _GermanVerb(auxiliary.split()[form], participle)
    return _GermanVerb((ich, du, er, plural)[form], verb.prefix, end_is_prefix=bool(verb.prefix))


def german_middle(clause: Clause, front: Phrase | None = None) -> list[str]:
    """What stands between the finite verb and the end, in the order of the slots."""
    parts = list(clause.complements)
    if clause.verb.reflexive:
        reflexive = "sich" if clause.subject.person == 3 else _REFLEXIVES.split()[clause.subject.form]
        parts.append(Complement("", reflexive, Slot.PRONOUN))
    if clause.frequency:
        slot = Slot.NEGATION if clause.tense == "perfect" else Slot.FREQUENCY  # schon: after the object
        parts.append(Complement("", clause.frequency.german, slot))
    if clause.time and clause.time != front:
        parts.append(Complement("", clause.time.german, Slot.TIME))
    if clause.german_not:
        parts.append(Complement("", clause.german_not, Slot.NEGATION))
    return [part.german for part in sorted(parts, key=lambda part: part.slot)]


def german_statement(clause: Clause, front: Phrase | None = None) -> str:
    """The clause with its finite verb second."""
    verb = _german_verb(clause)
    middle = german_middle(clause, front)
    if front:
        return _join(front.german, verb.finite, clause.subject.german, *middle, verb.end)
    return _join(clause.subject.german, verb.finite, *middle, verb.end)


def german_question(clause: Clause, word: str = "") -> str:
    """The clause with its finite verb first, or after a question word; no question mark."""
    verb = _german_verb(clause)
    return _join(word, verb.finite, clause.subject.german, *german_middle(clause), verb.end)


def german_subordinate(clause: Clause) -> str:
    """The clause with its finite verb last; a prefix joins it again."""
    verb = _german_verb(clause)
    end = verb.end + verb.finite if verb.end_is_prefix else _join(verb.end, verb.finite)
    return _join(clause.subject.german, *german_middle(clause), end)


def german_infinitive(clause: Clause) -> str:
    """The clause as an infinitive with "zu": what stands in the middle, then the verb."""
    return _join(*german_middle(clause), infinitive(clause.verb, zu=True))


def german_imperative(clause: Clause) -> str:
    """The clause as an order to one person."""
    return _join(clause.verb.german.split()[5], *german_middle(clause), clause.verb.prefix)


def english_imperative(clause: Clause) -> str:
    """The clause as an order."""
    return _join(*_english_order(clause))


def english_infinitive(clause: Clause) -> str:
    """The clause as an infinitive with "to"."""
    return _join("to", *_english_order(clause))


def _english_order(clause: Clause) -> list[str]:
    """Base form, complements and time."""
    time = clause.time.english if clause.time else ""
    return [clause.verb.english.split()[0], *_english_complements(clause), time]
