"""Batches and the plan of an epoch."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data import collate, pad, plan_epoch
from dragoman.text import open_corpus, usable_pairs
from text_samples import trained

LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=80)


def planned(
    lengths: list[tuple[int, int]], seed: int = 1, epoch: int = 0, **budget: int
) -> list[list[list[int]]]:
    budget = {"batch_tokens": 256, "micro_batch_tokens": 64} | budget
    plan = plan_epoch(np.array(lengths), seed=seed, epoch=epoch, **budget)
    return [[part.tolist() for part in step] for step in plan]


@settings(max_examples=60, deadline=None)
@given(lengths=LENGTHS, batch_tokens=st.integers(1, 400), micro_batch_tokens=st.integers(1, 400))
def test_an_epoch_has_every_pair_once_within_the_budget(
    lengths: list[tuple[int, int]], batch_tokens: int, micro_batch_tokens: int
) -> None:
    """No pair is left out or doubled, and only a pair that is too long by itself breaks a budget."""
    steps = planned(lengths, batch_tokens=batch_tokens, micro_batch_tokens=micro_batch_tokens)
    micro_batches = [part for step in steps for part in step]

    assert sorted(index for part in micro_batches for index in part) == list(range(len(lengths)))
    for step in steps:
        positions = [len(part) * max(max(lengths[i]) for i in part) for part in step]

        assert all(
            count <= micro_batch_tokens or len(part) == 1 for count, part in zip(positions, step, strict=True)
        )
        assert sum(positions) <= batch_tokens or any(len(part) == 1 for part in step)


@settings(max_examples=30, deadline=None)
@given(lengths=LENGTHS, seed=st.integers(0, 2**31 - 1), epoch=st.integers(0, 10_000))
def test_the_order_is_a_function_of_seed_and_epoch(
    lengths: list[tuple[int, int]], seed: int, epoch: int
) -> None:
    """No global generator is asked or moved, and asking again gives the same order."""
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = planned(lengths, seed, epoch)

    assert planned(lengths, seed, epoch) == first
    assert torch.equal(torch.random.get_rng_state(), before)


def test_epochs_and_seeds_differ() -> None:
    """Another epoch, and another seed, has another order and other neighbors."""
    lengths = [(5 + i % 7, 5 + i % 5) for i in range(400)]
    plans = [planned(lengths, seed, epoch) for seed in (1, 2) for epoch in (0, 1)]
    neighbors = [{frozenset(part) for step in plan for part in step} for plan in plans]

    assert all(plans[i] != plans[j] for i in range(4) for j in range(i))
    assert all(neighbors[i] != neighbors[j] for i in range(4) for j in range(i))


def test_a_step_is_not_sorted_by_length() -> None:
    """Short and long micro-batches take turns by chance, so the loss does not swing with the length."""
    lengths = [(1 + i % 50, 1 + i % 50) for i in range(1_000)]
    firsts = [lengths[step[0][0]][0] for step in planned(lengths)]

    assert firsts != sorted(firsts)
    assert abs(np.corrcoef(firsts, range(len(firsts)))[0, 1]) < 0.3


@pytest.fixture(scope="module")
def multi30k_lengths(request: pytest.FixtureRequest) -> np.ndarray:
    folder = request.config.rootpath.parent / "shared" / "data" / "multi30k"
    if not folder.is_dir():
        pytest.skip("Multi30k (shared/data/multi30k) is not here")
    corpus = open_corpus([folder / "raw" / "train.en.gz", folder / "raw" / "train.de.gz"])
    pairs = [pair for _, pair in usable_pairs(corpus)]
    texts = [text for pair in pairs for text in pair]
    tokenizer = trained(texts, 8_000)
    sides = [tokenizer.encode_all([pair[side] for pair in pairs]) for side in (0, 1)]
    return np.array([[len(ids) + 1 for ids in side] for side in sides]).T


def padding_share(lengths: np.ndarray, micro_batch_tokens: int) -> float:
    plan = plan_epoch(
        lengths, seed=1, epoch=0, batch_tokens=micro_batch_tokens, micro_batch_tokens=micro_batch_tokens
    )
    parts = [part for step in plan for part in step]
    positions = sum(len(part) * int(lengths[part].max(axis=0).sum()) for part in parts)
    return 1 - int(lengths.sum()) / positions


def test_little_of_multi30k_is_padding(multi30k_lengths: np.ndarray) -> None:
    """At most 6 % of an epoch's positions are padding, and fewer in smaller micro-batches."""
    shares = [padding_share(multi30k_lengths, budget) for budget in (4_096, 2_048, 1_024)]

    assert shares[0] <= 0.06
    assert shares == sorted(shares, reverse=True)


def test_little_is_padding_where_lengths_are_like_multi30k() -> None:
    """The same holds for lengths drawn as captions have them: about 14 pieces, sides alike but not equal."""
    draw = np.random.default_rng(1)
    source = np.clip(draw.gamma(9.0, 1.6, 29_000).round(), 4, 50).astype(int)
    target = np.clip(source + draw.normal(1.0, 2.5, 29_000).round(), 3, 60).astype(int)
    lengths = np.stack([source, target], axis=1)

    assert padding_share(lengths, 4_096) <= 0.06
    assert padding_share(lengths, 1_024) < padding_share(lengths, 4_096)


def test_batches_are_shifted_and_padded() -> None:
    """Every side has its end; the input is the target moved right behind the start, which is padding."""
    batch = collate([([5, 6], [7]), ([8], [9, 10, 11])], end=0, padding=23)

    assert batch.source_BS.tolist() == [[5, 6, 0], [8, 0, 23]]
    assert batch.target_BT.tolist() == [[7, 0, 23, 23], [9, 10, 11, 0]]
    assert batch.input_BT.tolist() == [[23, 7, 23, 23], [23, 9, 10, 11]]
    assert batch.num_target_tokens == 6


def test_empty_rows_have_their_end_alone() -> None:
    """A row without pieces is its end and padding."""
    assert pad([[], [3, 4]], end=0, padding=9).tolist() == [[0, 9, 9], [3, 4, 0]]
    assert pad([[]], end=0, padding=9).tolist() == [[0]]
