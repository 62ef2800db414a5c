"""The native engine computes what the readable model computes, whatever else it computes beside it."""

import copy
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.config import SearchConfig
from dragoman.engine import Engine, Precision, is_there
from dragoman.engine.library import library
from dragoman.engine.packing import quantized
from dragoman.engine_decoder import EngineDecoder
from dragoman.errors import EngineError
from dragoman.hypothesis import Hypothesis
from dragoman.model import Transformer
from dragoman.model_files import expected_shapes
from dragoman.model_search import ModelSearch
from dragoman.search import search
from dragoman.text.ids import END, UNKNOWN
from tiny_engines import LENGTHS, PRECISIONS, assert_alike, plain, run, sources, weights
from tiny_models import tiny_model

pytestmark = pytest.mark.skipif(not is_there(), reason="the native engine is not built: no C++ compiler")

KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm": {"norm": "pre", "norm_epsilon": 1e-6},
    "one head": {"num_heads": 1, "d_k": 7, "d_v": 5},
    "three heads": {"num_heads": 3, "d_k": 5, "d_v": 3},
    "eight heads": {"num_heads": 8, "d_k": 4, "d_v": 2},
    "twenty heads": {"num_heads": 20, "d_k": 2, "d_v": 3},
    "biases": {"attention_bias": True, "output_bias": True},
    "gelu": {"activation": "gelu"},
    "swish and halves": {"activation": "swish", "positions": "halves", "first_position": 2},
    "learned positions": {"positions": "learned", "max_positions": 64},
    "separate embeddings": {"embeddings": "separate", "source_vocabulary_size": 31},
    "target embeddings": {"embeddings": "target"},
    "separate learned positions": {
        "embeddings": "separate",
        "positions": "learned",
        "max_positions": 64,
    },
    "odd sizes": {"d_model": 70, "d_ff": 131, "vocabulary_size": 136, "num_decoder_layers": 1},
}


def engine(model: Transformer, precision: Precision = "float32", workers: int = 1) -> Engine:
    return Engine.of_weights(model.config, weights(model), precision, [UNKNOWN], workers=workers)


def by_torch(model: Transformer, config: SearchConfig) -> list[list[Hypothesis]]:
    bundle: Any = SimpleNamespace(model=model, tokenizer=SimpleNamespace(impossible=[UNKNOWN]))
    return run(ModelSearch(bundle), sources(), [20] * len(LENGTHS), config)


@pytest.mark.parametrize("beam_size", [1, 4, 8, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_finds_what_the_model_in_torch_finds(kind: str, beam_size: int) -> None:
    """The same outputs with the same scores of each token, of every kind of model, in float32."""
    model = tiny_model(3, torch.float32, **KINDS[kind])
    config = SearchConfig(beam_size=beam_size, n_best=min(3, beam_size))
    right = by_torch(model, config)
    found = run(engine(model), sources(), [20] * len(LENGTHS), config)

    assert_alike(found, right)


@pytest.mark.full
@pytest.mark.parametrize("beam_size", [1, 4, 8])
def test_two_thousand_sentences_are_as_in_torch(beam_size: int) -> None:
    """The same text but for near ties, and scores to 1e-4, over 2,000 sentences."""
    model = tiny_model(3, torch.float32, d_model=64, d_ff=131, num_heads=4, d_k=16, d_v=16)
    lengths = np.random.default_rng(beam_size).integers(1, 20, 2_000).tolist()
    given, config = sources(lengths, seed=7), SearchConfig(beam_size=beam_size)
    limits = [length + 10 for length in lengths]
    bundle: Any = SimpleNamespace(model=model, tokenizer=SimpleNamespace(impossible=[UNKNOWN]))
    right = run(ModelSearch(bundle), given, limits, config)
    found = run(engine(model), given, limits, config)
    gaps = [
        abs(ours.score - theirs.score) / max(1.0, abs(theirs.score))
        for [ours], [theirs] in zip(found, right, strict=True)
    ]
    others = [i for i, [ours] in enumerate(found) if ours.tokens != right[i][0].tokens]

    assert max(gaps) < 1e-4
    assert max([gaps[i] for i in others], default=0.0) < 1e-5
    assert len(others) < 20


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_nothing_depends_on_neighbors(beam_size: int, precision: Precision) -> None:
    """A sentence alone, in a batch, in a small one that is filled again, on three threads: the same bits."""
    model = tiny_model(3, torch.float32)
    config, given = SearchConfig(beam_size=beam_size), sources()
    limits = [5 + 3 * (i % 6) for i in range(len(given))]
    alone = [
        run(engine(model, precision), [one], [limit], config)[0]
        for one, limit in zip(given, limits, strict=True)
    ]
    together = run(engine(model, precision), given, limits, config)
    shared_out = run(engine(model, precision, workers=3), given, limits, config)
    small = SearchConfig(beam_size=beam_size, batch_tokens=8)

    assert together == alone
    assert shared_out == alone
    assert run(engine(model, precision), given[::-1], limits[::-1], small) == alone[::-1]


def test_several_threads_of_python_may_search_at_once() -> None:
    """Each gets what it would get alone, also while another needs more positions."""
    model = tiny_model(3, torch.float32)
    shared, given = engine(model), sources()
    config = SearchConfig(beam_size=2)
    limits = [20, 300, 60, 500]
    alone = [run(engine(model), given, [limit] * len(given), config) for limit in limits]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda limit: run(shared, given, [limit] * len(given), config), limits))

    assert found == alone


@pytest.mark.parametrize(("precision", "most"), [("bfloat16", 0.03), ("int8", 0.1)])
def test_rounded_weights_are_near_the_numbers(precision: Precision, most: float) -> None:
    """Weights and activations of 16 and of 8 bits move a log-probability by some hundredths of a nat."""
    if precision not in PRECISIONS:
        pytest.skip("this processor has no instructions for bfloat16")
    model = tiny_model(3, torch.float32, d_model=64, d_ff=128)
    config, given = SearchConfig(beam_size=1), sources()
    limits = [1] * len(given)
    exact = run(engine(model, "float32"), given, limits, config)
    near = run(engine(model, precision), given, limits, config)
    gaps = [abs(a[0].token_scores[0] - b[0].token_scores[0]) for a, b in zip(exact, near, strict=True)]

    assert 0 < float(np.mean(gaps)) < most


@pytest.fixture
def every_table() -> Iterator[list[str]]:
    """The names of the tables of inner loops that run here; the best one is chosen again afterwards."""
    native = library()
    best = native.dragoman_kernels()
    names = [
        name
        for name in ("avx512bf16", "avx512", "avx2", "plain")
        if native.dragoman_use_kernels(name.encode()) == 0
    ]
    yield names
    native.dragoman_use_kernels(best)


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("kind", ["the paper's", "odd sizes", "twenty heads", "swish and halves"])
def test_every_processor_finds_the_same(every_table: list[str], kind: str, precision: Precision) -> None:
    """Each table of inner loops gives the same outputs, with scores that differ by rounding.

    A sum that is rounded another way may be rounded to another byte, which is a step of a hundredth.
    """
    model = tiny_model(3, torch.float32, **KINDS[kind])
    config, found = SearchConfig(beam_size=4), []
    for name in every_table:
        assert library().dragoman_use_kernels(name.encode()) == 0
        found.append(run(engine(model, precision), sources(), [20] * len(LENGTHS), config))

    tolerance, num_others = (1e-4, 0) if precision == "float32" else (0.05, 2)
    assert "plain" in every_table
    for other in found[1:]:
        same = [(a[0], b[0]) for a, b in zip(other, found[0], strict=True) if a[0].tokens == b[0].tokens]
        assert len(same) >= len(found[0]) - num_others
        for ours, theirs in same:
            assert ours.score == pytest.approx(theirs.score, abs=tolerance)


def test_a_precision_that_the_processor_lacks_is_refused(every_table: list[str]) -> None:
    """Instead of being slower than float32."""
    assert library().dragoman_use_kernels(b"plain") == 0
    with pytest.raises(EngineError, match="no instructions for bfloat16"):
        engine(tiny_model(3, torch.float32), "bfloat16")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_engine_is_not_copied(copied: Callable[[Any], Any]) -> None:
    """Two would free the same native memory; what can be done instead is said."""
    with pytest.raises(TypeError, match="read the model again"):
        copied(engine(tiny_model(3, torch.float32)))


@pytest.mark.filterwarnings("error")
def test_weights_that_are_nearly_zero_are_zero() -> None:
    """In 8 bits they have no scale that float32 could hold, and nothing is warned of or made infinite."""
    byte_OI, scale_O = quantized(np.array([[1e-39, -1e-39], [0, 0], [1, -2]], np.float32))

    assert byte_OI.tolist() == [[0, 0], [0, 0], [64, -127]]
    assert np.isfinite(scale_O).all()


def test_weights_that_overflow_are_told() -> None:
    """Where they leave no token possible, as one message."""
    model = tiny_model(3, torch.float32)
    model.load_state_dict({name: tensor * 1e30 for name, tensor in model.state_dict().items()})
    with pytest.raises(EngineError, match="too large to compute with"):
        run(engine(model), sources(), [20] * len(LENGTHS), SearchConfig())


def test_an_unknown_table_is_refused() -> None:
    """The one that was chosen stays."""
    before = library().dragoman_kernels()

    assert library().dragoman_use_kernels(b"mmx") == 1
    assert library().dragoman_kernels() == before


def test_what_is_raised_meanwhile_ends_the_search() -> None:
    """An exception of the caller comes out as it was, and the native threads end."""
    model = tiny_model(3, torch.float32)
    calls = []

    def stop() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            engine(model, workers=2),
            [[5, 6, END]] * 50_000,
            [200] * 50_000,
            SearchConfig(),
            before_batch=stop,
        )

    assert len(calls) == 2


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_any_search_may_ask_the_engine(kind: str, beam_size: int) -> None:
    """As a decoder it gives what the model in torch gives, to a search that knows neither."""
    model = tiny_model(3, torch.float32, **KINDS[kind])
    config, given = SearchConfig(beam_size=beam_size), sources()
    decoder = EngineDecoder(engine(model), given, beam_size, 20)
    limit_B = torch.full((len(given),), 20)
    found = search(decoder, start=model.padding, end=END, limit_B=limit_B, config=config)
    right = by_torch(model, config)

    assert plain(found) == plain(right)
    for ours, theirs in zip(chain(*found), chain(*right), strict=True):
        assert ours.token_scores == pytest.approx(theirs.token_scores, abs=1e-4)


def test_a_step_or_row_that_is_none_is_refused() -> None:
    """With a message, and the session can go on; so is a step where the positions end."""
    model = tiny_model(3, torch.float32, positions="learned", max_positions=16)
    session = engine(model).session([[5, 6, END]], 2, 16)
    with pytest.raises(ValueError, match="3 tokens for 2 rows"):
        session.step(np.array([1, 2, 3], np.intc))
    with pytest.raises(EngineError, match="a token is not in the vocabulary"):
        session.step(np.array([1, 24], np.intc))
    with pytest.raises(EngineError, match="there is no such row"):
        session.reorder(np.array([0, 2], np.intc))
    for _ in range(16):
        session.step(np.array([1, 2], np.intc))
    with pytest.raises(EngineError, match="too few positions"):
        session.step(np.array([1, 2], np.intc))


@pytest.mark.parametrize("kind", KINDS)
def test_the_shapes_of_a_model_are_known_without_torch(kind: str) -> None:
    """Names and shapes that the configuration tells are those of the model."""
    model = tiny_model(3, torch.float32, **KINDS[kind])

    assert expected_shapes(model.config) == {
        name: tuple(tensor.shape) for name, tensor in model.state_dict().items()
    }


def test_weights_that_do_not_fit_are_refused() -> None:
    """By name."""
    model = tiny_model(3, torch.float32)
    wrong = weights(model) | {"encoder.0.feed_forward.inner.weight": np.zeros((3, 16), np.float32)}
    with pytest.raises(EngineError, match=r"encoder\.0\.inner: a scale or bias of shape"):
        Engine.of_weights(model.config, wrong, "float32", [UNKNOWN])


def test_tokens_outside_the_vocabulary_are_refused() -> None:
    """Before anything is computed with them."""
    model = tiny_model(3, torch.float32)
    for ids in ([99, END], [-1, END]):
        with pytest.raises(EngineError, match="a token is not in the vocabulary"):
            run(engine(model), [ids], [5], SearchConfig())
