"""Longer sentences of the everyday corpus: subordinate and relative clauses, infinitives, orders, weather."""

from collections.abc import Callable
from dataclasses import replace

from dragoman.text import everyday_actions as actions
from dragoman.text import everyday_clauses as clauses
from dragoman.text import everyday_people as people
from dragoman.text import everyday_phrases as phrases
from dragoman.text import everyday_verbs as verbs
from dragoman.text.everyday_clauses import CAN, Clause, Complement, Slot, Subject, Tense
from dragoman.text.everyday_phrases import THE, Chooser, Phrase, noun_phrase
from dragoman.text.everyday_sentences import finish, mood_clause, state, timetable
from dragoman.text.everyday_words import ADJECTIVES_OF, CITIES, MOODS, NOUNS, PEOPLE, Adjective, Verb
from dragoman.text.pairs import Pair

_IT = Subject("it", "es", 3, False)
_RAIN = Verb("rain rains rained rained raining", "regnen regne regnest regnet geregnet regne")
_SNOW = Verb("snow snows snowed snowed snowing", "schneien schneie schneist schneit geschneit schnei")
_KNOW = Verb("know knows knew known knowing", "wissen weiß weißt weiß gewusst wisse", stative=True)
_BELIEVE = Verb("believe believes - - -", "glauben glaube glaubst glaubt geglaubt glaub", stative=True)
_HOPE = Verb("hope hopes - - -", "hoffen hoffe hoffst hofft gehofft hoff", stative=True)
_SAY = Verb("say says - - -", "sagen sage sagst sagt gesagt sag", stative=True)
_ASK = Verb("ask asks - - -", "fragen frage fragst fragt gefragt frag", stative=True)
_TRY = Verb("try tries tried tried trying", "versuchen versuche versuchst versucht versucht versuch")
_TROUBLES = (MOODS[0], MOODS[1], MOODS[5])
"""What makes people stay at home: tired, sick, sad."""


def _weather(choose: Chooser, time: Phrase | None, tense: Tense) -> Clause:
    """It is raining; it will be cold."""
    if choose.chance(0.5):
        return Clause(_IT, choose.pick((_RAIN, _SNOW)), tense, time=time)
    warmth = choose.pick((Phrase("cold", "kalt"), Phrase("warm", "warm"), Phrase("very cold", "sehr kalt")))
    return Clause(_IT, verbs.BE, tense, (Complement(*warmth, Slot.DIRECTION),), time=time)


def _pronoun(doer: Subject) -> Subject:
    """What stands for the doer in the second clause: he or she, or the pronoun itself."""
    return people.PRONOUNS[2 if doer.sex == "m" else 3] if doer.sex else doer


def _doer(choose: Chooser) -> Subject:
    """Someone whom a pronoun can take up."""
    return choose.pick(people.PRONOUNS) if choose.chance(0.5) else people.relative_subject(choose)


def _at_home(doer: Subject, tense: Tense) -> Clause:
    """Someone stays at home."""
    return Clause(doer, verbs.STAY, tense, (Complement("at home", "zu Hause", Slot.PLACE),))


def _remedy(choose: Chooser, doer: Subject, mood: Adjective) -> Clause:
    """What helps: the hungry eat, the thirsty drink, the sick and the tired stay at home or sleep."""
    if mood.english not in ("hungry", "thirsty"):
        sleep = next(verb for verb in verbs.ALONE if verb.english.startswith("sleep "))
        return choose.pick((_at_home(doer, "modal"), Clause(doer, sleep, "modal")))
    base = "eat" if mood.english == "hungry" else "drink"
    verb = next(verb for verb in verbs.WITH_OBJECT if verb.english.startswith(f"{base} "))
    noun = NOUNS[choose.pick(verb.objects.split())]
    return Clause(doer, verb, "modal", (actions.thing(choose, noun, doer, False, choose.chance(0.2)),))


def _condition(choose: Chooser) -> Pair:
    """If it rains tomorrow, we will stay at home. If you are hungry, you can eat an apple."""
    doer, form = _doer(choose), choose.below(10)
    if form < 3:
        day = choose.pick((Phrase("tomorrow", "morgen"), phrases.day_phrase(choose)))
        condition = _weather(choose, day, "habit")
        result = actions.act(choose, doer, "future") if choose.chance(0.7) else _at_home(doer, "future")
    elif form < 6:
        mood = choose.pick(MOODS[:4])
        condition = mood_clause(choose, doer, moods=(mood,))
        result = _remedy(choose, _pronoun(doer), mood)
    else:
        when = choose.pick(
            (None, Phrase("today", "heute"), Phrase("tomorrow", "morgen"), phrases.day_phrase(choose))
        )
        time = Complement("time", "Zeit", Slot.INDEFINITE)
        condition = Clause(doer, verbs.HAVE, "habit", (time,), time=when)
        result = actions.act(choose, _pronoun(doer), "modal")
    modal = (
        choose.pick((CAN, clauses.MUST, clauses.SHOULD)) if form < 6 else choose.pick((CAN, clauses.SHOULD))
    )
    result = replace(result, time=None, modal=modal if result.tense == "modal" else None)
    english = f"if {clauses.english_statement(condition)}, {clauses.english_statement(result)}"
    return finish(english, f"wenn {clauses.german_subordinate(condition)}, {clauses.german_question(result)}")


def _reason(choose: Chooser) -> Pair:
    """He cannot come because he must work. She is working although she is tired. He is sad, but ..."""
    doer, form = _doer(choose), choose.below(10)
    mood = mood_clause(choose, _pronoun(doer), moods=_TROUBLES)
    link = Phrase("because", "weil")
    if form < 6:
        cannot = actions.act(choose, doer, "modal", negated=True)
        main = _at_home(doer, "now") if form < 2 else replace(cannot, modal=CAN)
        duty = replace(actions.act(choose, _pronoun(doer), "modal"), modal=clauses.MUST)
        mood = mood if choose.chance(0.4) else duty
    elif form < 8:
        main, link = actions.act(choose, doer, "now"), Phrase("although", "obwohl")
        if choose.chance(0.3):
            mood = Clause(_IT, choose.pick((_RAIN, _SNOW)), "now")
    else:
        main = mood_clause(choose, doer, moods=_TROUBLES)
        but = actions.act(choose, _pronoun(doer), "now")
        english = f"{clauses.english_statement(main)}, but {clauses.english_statement(but)}"
        return finish(english, f"{clauses.german_statement(main)}, aber {clauses.german_statement(but)}")
    main = replace(main, time=None)
    english = f"{clauses.english_statement(main)} {link.english} {clauses.english_statement(mood)}"
    return finish(
        english, f"{clauses.german_statement(main)}, {link.german} {clauses.german_subordinate(mood)}"
    )


def _reported(choose: Chooser) -> Pair:
    """She says that ...; I hope that ...; do you know whether ...?; he asks when ..."""
    speaker = choose.pick(people.PRONOUNS) if choose.chance(0.6) else people.relative_subject(choose)
    clause = timetable(choose) if choose.chance(0.2) else actions.any_act(choose)
    english, german = clauses.english_statement(clause), clauses.german_subordinate(clause)
    form = choose.below(10)
    if form < 5:
        verb = choose.pick((_KNOW, _BELIEVE, _HOPE, _SAY))
        matrix = Clause(speaker, verb, "now")
        link = Phrase(" that", "dass")
        mark = "."
    else:
        link = choose.pick((Phrase(" whether", "ob"), Phrase(" whether", "ob"), Phrase(" why", "warum")))
        if form < 7:
            question = Clause(people.PRONOUNS[1], _KNOW, "now")
            return finish(f"{clauses.english_question(question)}{link.english} {english}",
                           f"{clauses.german_question(question)}, {link.german} {german}", "?")  # fmt: skip
        negated = form < 9 or speaker.person != 3
        matrix = Clause(speaker, _KNOW if negated else _ASK, "now", negated=negated,
                        german_not="nicht" if negated else "")  # fmt: skip
        mark = "."
    return finish(f"{clauses.english_statement(matrix)}{link.english} {english}",
                   f"{clauses.german_statement(matrix)}, {link.german} {german}", mark)  # fmt: skip


def _infinitive(choose: Chooser) -> Pair:
    """She is trying to repair the car. It is important to learn German. He has no time to cook."""
    form = choose.below(10)
    doer = people.subject(choose)
    clause = replace(actions.act(choose, doer, "modal"), modal=None, time=None)
    if form < 4 or clause.verb.reflexive:
        matrix = Clause(doer, _TRY, "now")
        front = Phrase(clauses.english_statement(matrix), clauses.german_statement(matrix))
    elif form < 7:
        matrix = Clause(doer, verbs.HAVE, "now", (Complement("no time", "keine Zeit", Slot.INDEFINITE),))
        front = Phrase(clauses.english_statement(matrix), clauses.german_statement(matrix))
    else:
        quality = choose.pick((Phrase("important", "wichtig"), Phrase("not easy", "nicht leicht"),
                               Phrase("nice", "schön")))  # fmt: skip
        clause = replace(actions.act(choose, people.PRONOUNS[0], "modal"), modal=None, time=None)
        front = Phrase(f"it is {quality.english}", f"es ist {quality.german}")
    return finish(f"{front.english} {clauses.english_infinitive(clause)}",
                   f"{front.german}, {clauses.german_infinitive(clause)}")  # fmt: skip


def _purpose(choose: Chooser) -> Pair:
    """She is going to the market to buy fresh bread."""
    doer = people.subject(choose)
    verb = next(verb for verb in verbs.WITH_OBJECT if verb.english.startswith("buy "))
    goods = NOUNS[choose.pick(verb.objects.split())]
    bought = actions.thing(choose, goods, doer, False, choose.chance(0.3))
    if bought.slot != Slot.INDEFINITE:
        return _purpose(choose)
    aim = Clause(doer, verb, "now", (bought,))
    tense: Tense = choose.pick(("now", "past", "future", "modal"))
    time = phrases.past_time(choose) if tense == "past" else None
    place = NOUNS[choose.pick(("market", "city"))]
    words = noun_phrase(place, "accusative", THE)
    german = f"{'auf' if place.name == 'market' else 'in'} {words.german}"
    where = Complement(f"to {words.english}", german, Slot.DIRECTION)
    go = Clause(doer, verbs.GO, tense, (where,), modal=clauses.MUST if tense == "modal" else None, time=time)
    return finish(
        f"{clauses.english_statement(go, time)} {clauses.english_infinitive(aim)}",
        f"{clauses.german_statement(go, time)}, um {clauses.german_infinitive(aim)}",
    )


def _relative_person(choose: Chooser) -> Pair:
    """The man who is repairing the car is my uncle."""
    noun = choose.pick([noun for noun in PEOPLE if noun.name in ("man", "woman", "child", "boy", "girl")])
    plural = choose.chance(0.25)
    head = noun_phrase(noun, "nominative", THE, phrases.choose_adjective(choose, noun, 0.2), plural)
    article = "die" if plural else {"m": "der", "f": "die", "n": "das"}[noun.gender]
    tense: Tense = choose.pick(("now", "past", "future", "modal"))
    clause = actions.act(choose, Subject("who", article, 3, plural), tense)
    inner = Phrase(clauses.english_statement(clause), clauses.german_subordinate(clause))
    doer = Subject(f"{head.english} {inner.english}", f"{head.german}, {inner.german},", 3, plural)
    if choose.chance(0.5):
        return state(mood_clause(choose, doer))
    friend = NOUNS[choose.pick(("friend", "neighbor"))] if noun.gender == "m" else NOUNS["sister"]
    if noun.name == "boy":
        friend = NOUNS["brother"]
    if noun.name in ("child", "woman", "girl"):
        friend = NOUNS[{"child": "son", "woman": "aunt", "girl": "daughter"}[noun.name]]
    words = noun_phrase(friend, "nominative", people.possessive(choose), None, plural)
    return state(Clause(doer, verbs.BE, "now", (Complement(*words, Slot.DIRECTION),)))


def _relative_thing(choose: Chooser) -> Pair:
    """The book that I bought yesterday is very interesting."""
    base = choose.pick(("read", "buy", "sell", "repair", "wear", "wash", "need", "find"))
    verb = next(verb for verb in verbs.WITH_OBJECT if verb.english.startswith(f"{base} "))
    counted = [NOUNS[name] for name in verb.objects.split() if NOUNS[name].counted]
    noun = choose.pick([noun for noun in counted if noun.kind not in ("part", "vehicle")])
    plural = choose.chance(0.25) or noun.name == "shoe"
    head = noun_phrase(noun, "nominative", THE, None, plural)
    article = "die" if plural else {"m": "den", "f": "die", "n": "das"}[noun.gender]
    doer = people.subject(choose)
    if base in ("need", "wear"):
        clause = Clause(doer, verb, "now")
    else:
        clause = Clause(doer, verb, "past", time=phrases.past_time(choose))
    inner = Phrase(clauses.english_statement(clause), clauses.german_subordinate(clause))
    whole = Subject(
        f"{head.english} that {inner.english}", f"{head.german}, {article} {inner.german},", 3, plural
    )
    adjective = choose.pick(ADJECTIVES_OF[noun.kind])
    very = choose.pick((Phrase("", ""), Phrase("very", "sehr")))
    if adjective.comparative[0] == "":
        very = Phrase("", "")
    quality = Complement(
        f"{very.english} {adjective.english}".strip(),
        f"{very.german} {adjective.german}".strip(),
        Slot.DIRECTION,
    )
    return state(Clause(whole, verbs.BE, "now", (quality,)))


_ORDERS = ("open", "close", "turn", "wash", "repair", "bring", "read", "try", "tidy", "buy", "cook")


def _order(choose: Chooser) -> Pair:
    """Please open the window. Do not forget your key!"""
    you = people.PRONOUNS[1]
    negated = choose.chance(0.3)
    form = choose.below(10)
    if negated and form < 4:
        verb = next(verb for verb in verbs.WITH_OBJECT if verb.english.startswith("forget "))
        noun = NOUNS[choose.pick(verb.objects.split())]
        words = noun_phrase(noun, "accusative", choose.pick((THE, phrases.POSSESSIVES[1])))
        action = actions.Action(verb, (Complement(*words, Slot.DEFINITE),))
    elif form < 6:
        options = [verb for verb in verbs.WITH_OBJECT if verb.english.split()[0] in _ORDERS]
        verb = choose.pick(options)
        noun, known = NOUNS[choose.pick(verb.objects.split())], verb.english.split()[0] in actions.KNOWN
        thing = actions.thing(choose, noun, you, negated, choose.chance(0.2), known)
        action = actions.Action(verb, (thing,), actions.german_not(thing, True))
    elif form < 8:
        options = [verb for verb in verbs.WITH_PERSON if verb.english.split()[0] not in ("thank", "see")]
        verb = choose.pick(options)
        action = actions.Action(verb, (people.person(choose, verb.case, you),))
    else:
        makers = (actions.putting_action, actions.giving_action, actions.preposition_action)
        action = choose.pick(makers)(choose, you, "now", negated)
    if action.verb.reflexive or action.verb.english.split()[0] in ("dream", "remember"):
        return _order(choose)
    clause = Clause(you, action.verb, "now", action.complements)
    if negated:
        clause = replace(clause, german_not=action.german_not)
        return finish(f"do not {clauses.english_imperative(clause)}", clauses.german_imperative(clause), "!")
    clause = replace(clause, frequency=Phrase("", "bitte"))
    if choose.chance(0.2):
        clause = replace(clause, time=choose.pick((Phrase("today", "heute"), Phrase("tomorrow", "morgen"))))
    return finish(f"please {clauses.english_imperative(clause)}", clauses.german_imperative(clause))


def _weather_report(choose: Chooser) -> Pair:
    """It is raining in Hamburg today. Tomorrow it will be cold in Berlin."""
    tense: Tense = choose.pick(("now", "past", "future"))
    city = choose.pick(CITIES[:6])
    place = Complement(f"in {city[0]}", f"in {city[1]}", Slot.PLACE)
    times = {
        "now": Phrase("today", "heute"),
        "past": phrases.past_time(choose),
        "future": phrases.future_time(choose),
    }
    clause = _weather(choose, times[tense], tense)
    # The place comes before a predicate in German and after it in English.
    clause = replace(clause, complements=(*clause.complements, place))
    return state(clause, clause.time if choose.chance(0.4) else None)


LONGER_SENTENCES: tuple[tuple[int, Callable[[Chooser], Pair]], ...] = (
    (2, _weather_report),
    (4, _condition),
    (7, _reason),
    (8, _reported),
    (4, _infinitive),
    (2, _purpose),
    (3, _relative_person),
    (3, _relative_thing),
    (6, _order),
)
"""How many in a hundred or so, and what makes them."""
