"""The kinds of sentences of the everyday corpus."""

from collections.abc import Callable
from dataclasses import replace

from dragoman.text import everyday_actions as actions
from dragoman.text import everyday_clauses as clauses
from dragoman.text import everyday_people as people
from dragoman.text import everyday_phrases as phrases
from dragoman.text import everyday_verbs as verbs
from dragoman.text.everyday_clauses import CAN, Clause, Complement, Slot, Subject, Tense
from dragoman.text.everyday_phrases import THE, A, Chooser, Phrase, noun_phrase
from dragoman.text.everyday_words import ADJECTIVES_OF, CITIES, JOBS, MOODS, NOUNS, PLACE_OF, Adjective, Noun
from dragoman.text.pairs import Pair

_PRICED = [
    "coat",
    "shirt",
    "dress",
    "hat",
    "jacket",
    "chair",
    "lamp",
    "picture",
    "bag",
    "watch",
    "radio",
    "umbrella",
]
_COMPARED = (
    "coat dress jacket shirt",
    "table chair lamp bed cupboard",
    "watch camera computer radio",
    "car bicycle",
    "dog cat horse",
    "garden",
    "city",
    "park forest lake",
    "hotel church museum restaurant",
    "book letter newspaper",
)
_POSSESSIONS = ["dog", "cat", "horse", "car", "bicycle", "camera", "computer", "watch", "radio", "umbrella"]
_EVENTS = (("train", verbs.LEAVE), ("bus", verbs.LEAVE), ("train", verbs.ARRIVE), ("bus", verbs.ARRIVE),
           ("film", verbs.BEGIN), ("concert", verbs.BEGIN))  # fmt: skip
_FURNISHED = (
    ("kitchen", "table chair lamp cupboard window radio glass plate knife"),
    ("room", "bed chair lamp picture window cupboard computer"),
    ("garden", "flower dog cat bird bicycle"),
    ("city", "park museum hotel church cinema restaurant library lake school"),
    ("forest", "lake bird church hotel"),
    ("office", "computer chair table lamp picture window"),
    ("school", "library kitchen garden computer"),
    ("hotel", "restaurant kitchen garden cinema"),
)


_NO_WORD = Phrase("", "")


def finish(english: str, german: str, mark: str = ".") -> Pair:
    """Start with a capital letter, end with the mark."""
    return Pair(english[0].upper() + english[1:] + mark, german[0].upper() + german[1:] + mark)


def state(clause: Clause, front: Phrase | None = None) -> Pair:
    """The clause as a whole statement."""
    return finish(clauses.english_statement(clause, front), clauses.german_statement(clause, front))


def ask(clause: Clause, word: Phrase = _NO_WORD) -> Pair:
    """The clause as a whole question, with a question word or without."""
    return finish(
        clauses.english_question(clause, word.english), clauses.german_question(clause, word.german), "?"
    )


def _statement(choose: Chooser) -> Pair:
    """She bought a red car yesterday. Now and then the time stands first."""
    clause = actions.any_act(choose)
    movable = clause.time is not None and clause.time.german and not clause.negated
    return state(clause, clause.time if movable and choose.chance(0.35) else None)


def _question(choose: Chooser) -> Pair:
    """Does she read? Why does she read? When will she read?"""
    clause = actions.any_act(choose, negatable=False)
    if clause.frequency == Phrase("never", "nie"):
        clause = replace(clause, frequency=Phrase("often", "oft"))
    form = choose.below(10)
    if form < 6 or clause.tense == "perfect":
        return ask(clause)
    if form < 8 or clause.tense in ("now", "habit"):
        return ask(clause, Phrase("why", "warum"))
    return ask(replace(clause, time=None), Phrase("when", "wann"))


def _who(choose: Chooser) -> Pair:
    """Who is repairing the car?"""
    tense: Tense = choose.pick(("now", "past", "future", "modal"))
    clause = actions.act(choose, people.WHO, tense)
    return finish(clauses.english_statement(clause), clauses.german_statement(clause), "?")


def _what(choose: Chooser) -> Pair:
    """What is she reading? Where does she work? Where is she going?"""
    doer = people.subject(choose)
    tense: Tense = choose.pick(("now", "past", "future", "modal"))
    form = choose.below(10)
    if form < 6:
        names = ("read", "write", "drink", "eat", "buy", "cook", "learn", "repair", "draw", "wash")
        base, word = choose.pick(names), Phrase("what", "was")
        verb = next(verb for verb in verbs.WITH_OBJECT if verb.english.startswith(f"{base} "))
    elif form < 8:
        verb, word = choose.pick(verbs.AT_PLACE), Phrase("where", "wo")
    else:
        verb, word = choose.pick((verbs.GO, verbs.DRIVE)), Phrase("where", "wohin")
    clause = Clause(doer, verb, tense, modal=CAN if tense == "modal" else None)
    if tense in ("past", "future"):
        time = phrases.past_time(choose) if tense == "past" else phrases.future_time(choose)
        clause = replace(clause, time=time)
    return ask(clause, word)


def mood_clause(
    choose: Chooser,
    doer: Subject,
    negated: bool = False,
    time: Phrase | None = None,
    moods: tuple[Adjective, ...] = MOODS,
) -> Clause:
    """Someone is tired."""
    mood = choose.pick(moods)
    tense: Tense = "past" if time is not None and time != Phrase("today", "heute") else "now"
    return Clause(
        doer, verbs.BE, tense, (Complement(mood.english, mood.german, Slot.DIRECTION),),
        time=time, negated=negated, german_not="nicht" if negated else "",
    )  # fmt: skip


def _amount(choose: Chooser) -> int:
    """A number from 2 to 69; those below twenty have words of their own and come more often."""
    return 2 + choose.below(18 if choose.chance(0.4) else 68)


def _being(choose: Chooser) -> Pair:
    """She is tired. Is she sick? He was happy yesterday. She is a doctor. He is twelve years old."""
    form = choose.below(10)
    if form < 5:
        doer = people.subject(choose)
        times = (
            None,
            None,
            Phrase("today", "heute"),
            Phrase("yesterday", "gestern"),
            phrases.past_time(choose),
        )
        clause = mood_clause(choose, doer, choose.chance(0.25), choose.pick(times))
        return ask(clause) if choose.chance(0.3) and not clause.negated else state(clause)
    doer = choose.pick(people.PRONOUNS[2:4]) if choose.chance(0.3) else people.relative_subject(choose)
    if form < 7:
        english, man, woman = choose.pick(JOBS)
        job = Complement(phrases.english_noun_phrase(Noun(english, "", "person"), A, None, False),
                         woman if doer.sex == "f" else man, Slot.DIRECTION)  # fmt: skip
        clause = Clause(doer, verbs.BE, "now", (job,))
        return ask(clause) if choose.chance(0.3) else state(clause)
    grown = doer.english.endswith(("father", "mother", "uncle", "aunt"))
    number = 30 + choose.below(40) if grown else _amount(choose)
    words = phrases.number_phrase(number) if choose.chance(0.7) else Phrase(str(number), str(number))
    age = Complement(f"{words.english} years old", f"{words.german} Jahre alt", Slot.DIRECTION)
    return state(Clause(doer, verbs.BE, "now", (age,)))


def _thing_subject(choose: Chooser, noun: Noun, plural: bool = False) -> Subject:
    """The red dress, your dress, these shoes: a thing as subject."""
    determiner = choose.pick((THE, THE, phrases.THIS, people.possessive(choose)))
    adjective = phrases.choose_adjective(choose, noun, 0.4)
    return Subject(*noun_phrase(noun, "nominative", determiner, adjective, plural), 3, plural)


def _described(choose: Chooser) -> Pair:
    """The coat is very expensive. The coat is cheaper than the dress. It is not as old as the dress."""
    alike = [NOUNS[name] for name in choose.pick(_COMPARED).split()]
    noun = choose.pick(alike)
    compared = [adjective for adjective in ADJECTIVES_OF[noun.kind] if adjective.comparative[0]]
    adjective = choose.pick(compared)
    plural = choose.chance(0.25)
    determiner = choose.pick((THE, phrases.THIS, people.possessive(choose)))
    doer = Subject(*noun_phrase(noun, "nominative", determiner, None, plural), 3, plural)
    others = [other for other in alike if other != noun]
    form = choose.below(10)
    if form < 4 or not others:
        degrees = (_NO_WORD, Phrase("very", "sehr"), Phrase("too", "zu"))
        extreme = adjective.english in ("big", "small", "expensive", "long", "short", "warm")
        degree = choose.pick(degrees if extreme else degrees[:2])
        words = Phrase(
            f"{degree.english} {adjective.english}".strip(), f"{degree.german} {adjective.german}".strip()
        )
        return state(Clause(doer, verbs.BE, "now", (Complement(*words, Slot.DIRECTION),)))
    determiner = choose.pick((THE, people.possessive(choose)))
    other = noun_phrase(choose.pick(others), "nominative", determiner, None, plural)
    negated = form == 9
    if form < 7:
        english, german = adjective.comparative
        words = Phrase(f"{english} than {other.english}", f"{german} als {other.german}")
    else:
        words = Phrase(
            f"as {adjective.english} as {other.english}", f"so {adjective.german} wie {other.german}"
        )
    return state(
        Clause(doer, verbs.BE, "now", (Complement(*words, Slot.DIRECTION),), negated=negated,
               german_not="nicht" if negated else "")
    )  # fmt: skip


def _price(choose: Chooser) -> Pair:
    """The coat costs forty-five euros. How much does the coat cost?"""
    plural = choose.chance(0.2)
    doer = _thing_subject(choose, NOUNS[choose.pick(_PRICED)], plural)
    if choose.chance(0.25):
        return ask(Clause(doer, verbs.COST, "now"), Phrase("how much", "wie viel"))
    number = _amount(choose)
    words = phrases.number_phrase(number) if choose.chance(0.6) else Phrase(str(number), str(number))
    price = Complement(f"{words.english} euros", f"{words.german} Euro", Slot.DIRECTION)
    return state(Clause(doer, verbs.COST, "now", (price,)))


def _where(choose: Chooser) -> Pair:
    """The key is on the table; in German a key lies and a glass stands."""
    noun, posture = actions.lying_thing(choose)
    plural = choose.chance(0.25)
    doer = _thing_subject(choose, noun, plural)
    place = actions.position(choose, "dative", avoid=noun.name)
    past = choose.chance(0.25)
    clause = Clause(doer, verbs.LIE[posture], "past" if past else "now", (place,),
                    time=phrases.past_time(choose) if past else None)  # fmt: skip
    return ask(clause) if choose.chance(0.25) else state(clause)


def _belonging(choose: Chooser) -> Pair:
    """The car belongs to my father. My father has a new car."""
    noun = NOUNS[choose.pick(_PRICED)]
    if choose.chance(0.4):
        doer = Subject(
            *noun_phrase(noun, "nominative", THE, phrases.choose_adjective(choose, noun, 0.6)), 3, False
        )
        owner = people.person(choose, "dative", doer)
        words = owner._replace(english=f"to {owner.english}")
        negated = choose.chance(0.2)
        return state(Clause(doer, verbs.BELONG, "now", (words,), negated=negated,
                             german_not="nicht" if negated else ""))  # fmt: skip
    owner_subject = people.subject(choose)
    plural, negated = choose.chance(0.15), choose.chance(0.2)
    if plural and not negated:
        determiner = phrases.count_determiner(2 + choose.below(5))
    else:
        determiner = phrases.A_NEGATED if negated else A
        plural = False
    noun = NOUNS[choose.pick(_POSSESSIONS)]
    words_owned = noun_phrase(
        noun, "accusative", determiner, phrases.choose_adjective(choose, noun, 0.6), plural
    )
    clause = Clause(
        owner_subject, verbs.HAVE, "now", (Complement(*words_owned, Slot.INDEFINITE),), negated=negated
    )
    return ask(clause) if choose.chance(0.2) and not negated else state(clause)


def _there_is(choose: Chooser) -> Pair:
    """There is a new cinema in the city. In the city there is a new cinema. Is there a ...?"""
    where, names = choose.pick(_FURNISHED)
    noun = NOUNS[choose.pick(names.split())]
    place = actions.at_place(choose, where)
    plural = choose.chance(0.45)
    most = 3 if where == "city" or noun.name in PLACE_OF else 11
    determiner = phrases.count_determiner(2 + choose.below(most)) if plural else A
    adjective = phrases.choose_adjective(choose, noun, 0.5)
    negated = choose.chance(0.2)
    if negated:
        english = phrases.english_noun_phrase(noun, phrases.NO, adjective, plural)
        german = phrases.german_noun_phrase(noun, "accusative", phrases.NO, adjective, plural)
    else:
        english, german = noun_phrase(noun, "accusative", determiner, adjective, plural)
    be = "are" if plural else "is"
    form = choose.below(10)
    if form < 2 and not negated:
        return finish(f"{be} there {english} {place.english}", f"gibt es {german} {place.german}", "?")
    if form < 5:
        return finish(f"{place.english} there {be} {english}", f"{place.german} gibt es {german}")
    return finish(f"there {be} {english} {place.english}", f"es gibt {german} {place.german}")


def timetable(choose: Chooser) -> Clause:
    """The train to Berlin leaves at half past two."""
    name, verb = choose.pick(_EVENTS)
    time = phrases.clock_phrase(choose)
    if verb == verbs.BEGIN:
        words = noun_phrase(NOUNS[name], "nominative", THE)
    else:
        english, german = choose.pick(CITIES[:5])
        link = Phrase("to", "nach") if verb == verbs.LEAVE else Phrase("from", "aus")
        phrase = noun_phrase(NOUNS[name], "nominative", THE)
        words = Phrase(
            f"{phrase.english} {link.english} {english}", f"{phrase.german} {link.german} {german}"
        )
    return Clause(Subject(*words, 3, False), verb, "habit", time=time)


def _event(choose: Chooser) -> Pair:
    """What begins, leaves or arrives when; who was born when."""
    if choose.chance(0.7):
        clause = timetable(choose)
        if choose.chance(0.2):
            return ask(replace(clause, time=None), Phrase("when", "wann"))
        if choose.chance(0.5):
            day = choose.pick((Phrase("today", "heute"), Phrase("tomorrow", "morgen"), *phrases.DAYS))
            if day in phrases.DAYS:
                day = Phrase(f"on {day.english}", f"am {day.german}")
            return _dated(clause, day)
        return state(clause)
    doer = people.relative_subject(choose)
    if choose.chance(0.5):
        date = phrases.date_phrase(choose)
        return finish(
            f"{doer.english}'s birthday is {date.english}", f"{doer.german} hat {date.german} Geburtstag"
        )
    year = 1940 + choose.below(75)
    return finish(f"{doer.english} was born in {year}", f"{doer.german} wurde {year} geboren")


def _dated(clause: Clause, day: Phrase) -> Pair:
    """The day before the time of the clock in both languages: today at two o'clock, heute um zwei Uhr."""
    assert clause.time is not None
    time = Phrase(f"{day.english} {clause.time.english}", f"{day.german} {clause.time.german}")
    return state(replace(clause, tense="habit" if day.english == "today" else "future", time=time))


SIMPLE_SENTENCES: tuple[tuple[int, Callable[[Chooser], Pair]], ...] = (
    (30, _statement),
    (9, _question),
    (4, _who),
    (4, _what),
    (8, _being),
    (4, _described),
    (3, _price),
    (4, _where),
    (4, _belonging),
    (4, _there_is),
    (5, _event),
)
"""How many in a hundred or so, and what makes them."""
