"""What holds for other ways to choose an output, over any table."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from decoding_tables import CHARACTERS, holds, piece_table, run_pieces, run_samples
from dragoman.choice import Sampling
from dragoman.config import SearchConfig
from dragoman.decoding import (
    Forbidden,
    ForbiddingDecoder,
    PieceTable,
    Prefix,
    PrefixDecoder,
    search_diversely,
)
from dragoman.search import Hypothesis
from dragoman.text import Tokenizer
from search_tables import END, START, Table, TableDecoder, random_table, run, token_scores
from text_samples import sentences, trained

pytestmark = pytest.mark.untraced  # the tables are slow enough
often = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)
penalties = st.sampled_from([-0.6, 0.0, 0.6, 2.0])
words = st.sampled_from(["river", "boat", "ed", "a", "The", "ö", "€", *CHARACTERS])
texts = st.lists(words, max_size=8).map("".join)
beams = st.sampled_from([1, 3])


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained(sentences(200), vocabulary_size=304)


def spoken_table(seed: int, tokenizer: Tokenizer, spoken: str) -> Table:
    """A table that likes the pieces and the bytes of a text, in any order."""
    spelled = [f"<0x{byte:02X}>" for byte in spoken.encode()]
    return piece_table(seed, tokenizer, {*tokenizer.encode(spoken), *tokenizer.tokens(spelled)})


@often
@given(texts=st.lists(texts | st.text(max_size=6), min_size=1, max_size=3), seed=seeds, beam_size=beams)
@example(texts=[" ", "  x", "x ", "▁", "é"], seed=1, beam_size=3)
def test_every_output_starts_with_its_prefix(
    tokenizer: Tokenizer, texts: list[str], seed: int, beam_size: int
) -> None:
    """Whatever a table likes, each text starts with its prefix to the byte and has the table's own scores."""
    table = spoken_table(seed, tokenizer, "".join(texts))
    prefixes = [Prefix.of(text, tokenizer) for text in texts]
    limits = [prefix.num_tokens + 1 + place for place, prefix in enumerate(prefixes)]
    decoder = PrefixDecoder(
        TableDecoder(table, range(len(texts)), beam_size), prefixes, beam_size, PieceTable(tokenizer)
    )
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    for sentence, found in enumerate(run_pieces(decoder, tokenizer, limits, config)):
        assert found
        for one in found:
            assert tokenizer.decode(one.tokens).startswith(texts[sentence])
            assert list(one.token_scores) == scores_of(table, tokenizer, sentence, one)


@often
@given(
    phrases=st.lists(texts.filter(lambda text: bool(text.strip())), max_size=4),
    seed=seeds,
    limits=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    beam_size=beams,
)
@example(phrases=["€", "é\ufffd", "\ufffd", "_"], seed=1, limits=[1, 2, 3], beam_size=3)
def test_no_output_holds_a_forbidden_phrase(
    tokenizer: Tokenizer, phrases: list[str], seed: int, limits: list[int], beam_size: int
) -> None:
    """Finished, cut or no UTF-8 at all: no text holds a phrase as whole words, and scores are the table's."""
    table = spoken_table(seed, tokenizer, " ".join(phrases) + "é€😀 .")
    forbidden = Forbidden.of(phrases, tokenizer)
    inner = TableDecoder(table, range(len(limits)), beam_size)
    decoder = ForbiddingDecoder(inner, forbidden, torch.tensor(limits), beam_size)
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    for sentence, found in enumerate(run_pieces(decoder, tokenizer, limits, config)):
        assert found
        for one in found:
            assert [phrase for phrase in phrases if holds(tokenizer.decode(one.tokens), phrase)] == []
            assert list(one.token_scores) == scores_of(table, tokenizer, sentence, one)


@often
@given(
    phrases=st.lists(texts.filter(lambda text: bool(text.strip())), min_size=1, max_size=4),
    tokens=st.lists(st.integers(2, 250), max_size=4),
    data=st.data(),
)
def test_what_is_forbidden_is_what_cannot_end_well(
    tokenizer: Tokenizer, phrases: list[str], tokens: list[int], data: st.DataObject
) -> None:
    """Until a phrase is whole, the end is possible exactly where the text, of any bytes, holds no phrase."""
    spoken = tokenizer.encode(data.draw(st.sampled_from(phrases))) + tokens
    forbidden = Forbidden.of(phrases, tokenizer)
    state = forbidden.first_state()
    for place, token in enumerate(spoken):
        never, needed = forbidden.restrictions(state)
        text = tokenizer.decode(spoken[:place])
        ends_well = not any(holds(text, phrase) for phrase in phrases)

        assert (tokenizer.end not in never.tolist()) == ends_well
        if token in never[needed > 9].tolist():
            break
        state = forbidden.read(state, token)


@often
@given(seed=seeds, limits=st.lists(st.integers(1, 9), min_size=1, max_size=5), data=st.data())
def test_samples_depend_on_their_sentence_alone(seed: int, limits: list[int], data: st.DataObject) -> None:
    """Any order, any batch and any number of samples give each sentence the same first samples."""
    table = random_table(seed, 6, holes=False)
    settings = {"seed": seed, "temperature": 1.5, "top_k": 4, "top_p": 0.9}
    alone = [
        run_samples(table, [key], [limit], Sampling(count=4, **settings))[0]
        for key, limit in enumerate(limits)
    ]
    order = data.draw(st.permutations(range(len(limits))))
    count = data.draw(st.integers(1, 4))
    together = run_samples(table, order, [limits[key] for key in order], Sampling(count=count, **settings))

    assert together == [alone[key][:count] for key in order]


@often
@given(seed=seeds)
def test_other_seeds_keys_and_numbers_draw_otherwise(seed: int) -> None:
    """Two seeds, two keys of one table and two numbers share no long output, but equal ones share all."""
    table = random_table(seed, 12, holes=False)

    def endless(sentence: int, history: tuple[int, ...]) -> list[float]:
        return [-99.0 if token == END else p for token, p in enumerate(table(0, history))]

    first, again, other = (
        run_samples(endless, [5, 6], [40, 40], Sampling(count=2, seed=s)) for s in (seed, seed, seed + 1)
    )
    outputs = [one.tokens for found in (*first, *other) for one in found]

    assert first == again
    assert len(set(outputs)) == len(outputs) == 8


def diverse(
    seed: int, keys: list[int], limits: list[int], config: SearchConfig, diversity: float
) -> list[list[Hypothesis]]:
    return search_diversely(
        TableDecoder(random_table(seed, 7, holes=False), keys, config.beam_size),
        start=START,
        end=END,
        limit_B=torch.tensor(limits),
        config=config,
        diversity=diversity,
    )


@often
@given(
    seed=seeds,
    alpha=penalties,
    limits=st.lists(st.integers(1, 10), min_size=1, max_size=3),
    group_size=st.integers(1, 4),
    num_groups=st.integers(1, 4),
    diversity=st.sampled_from([0.0, 0.5, 2.0]),
)
def test_the_first_group_is_plain_search(
    seed: int, alpha: float, limits: list[int], group_size: int, num_groups: int, diversity: float
) -> None:
    """What search finds with the beam of one group is among the outputs, and is all without diversity."""
    config = SearchConfig(beam_size=group_size * num_groups, n_best=num_groups, length_penalty=alpha)
    keys = list(range(len(limits)))
    right = run(
        random_table(seed, 7, holes=False),
        keys,
        limits,
        SearchConfig(beam_size=group_size, length_penalty=alpha),
    )
    for found, [best] in zip(diverse(seed, keys, limits, config, diversity), right, strict=True):
        assert best in found
        assert found == [best] or diversity > 0.0 < num_groups - 1


@often
@given(seed=seeds, limits=st.lists(st.integers(1, 9), min_size=1, max_size=5), data=st.data())
def test_diverse_outputs_depend_on_their_sentence_alone(
    seed: int, limits: list[int], data: st.DataObject
) -> None:
    """Any batch gives each sentence the same outputs: distinct, ordered, with the table's own scores."""
    config = SearchConfig(beam_size=6, n_best=3)
    alone = [diverse(seed, [key], [limit], config, 1.0)[0] for key, limit in enumerate(limits)]
    order = data.draw(st.permutations(range(len(limits))))

    assert diverse(seed, order, [limits[key] for key in order], config, 1.0) == [alone[key] for key in order]
    for key, found in enumerate(alone):
        assert 1 <= len({one.tokens for one in found}) == len(found) <= 3
        assert found == sorted(found, key=lambda one: (not one.finished, -one.score))
        for one in found:
            assert list(one.token_scores) == token_scores(random_table(seed, 7, holes=False), key, one)


def scores_of(table: Table, tokenizer: Tokenizer, sentence: int, one: Hypothesis) -> list[float]:
    tokens = (tokenizer.padding, *one.tokens, *((tokenizer.end,) if one.finished else ()))
    return [table(sentence, tokens[:place])[tokens[place]] for place in range(1, len(tokens))]
