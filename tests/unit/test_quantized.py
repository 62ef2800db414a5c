"""Products in bytes through torch: near those of float32, and each row by itself."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from dragoman import quantized
from dragoman.bundle import Bundle
from dragoman.config import Config, SearchConfig
from dragoman.model_search import ModelSearch
from dragoman.quantized import QuantizedLinear, QuantizedTransformer, can_quantize
from dragoman.text.ids import END
from text_samples import sentences, trained
from tiny_models import tiny_model

pytestmark = pytest.mark.skipif(not can_quantize(), reason="torch has no exact products of bytes here")


def maps(*, bias: bool) -> tuple[nn.Linear, QuantizedLinear]:
    torch.manual_seed(1)
    exact = nn.Linear(64, 48, bias=bias)
    added = exact.bias.detach() if bias else None
    return exact, QuantizedLinear(exact.weight.detach(), added, quantized._Rounding())


@pytest.mark.parametrize("bias", [False, True])
@torch.inference_mode()
def test_the_error_is_that_of_rounding(bias: bool) -> None:
    """An output is off by at most half a byte's worth of each input and each weight."""
    exact, ours = maps(bias=bias)
    x_NSD = torch.randn(3, 5, 64) * torch.tensor([1e-3, 1.0, 1e3])[:, None, None]
    step_NS1 = x_NSD.abs().amax(dim=2, keepdim=True) / 127
    step_E = exact.weight.abs().amax(dim=1) / 127
    limit_NSE = (
        step_NS1 / 2 * exact.weight.abs().sum(dim=1) + x_NSD.abs().sum(dim=2, keepdim=True) * step_E / 2
    )
    limit_NSE += 64 * step_NS1 * step_E / 4
    error_NSE = (ours(x_NSD) - exact(x_NSD)).abs()

    assert bool((error_NSE <= limit_NSE * 1.001).all())
    assert float(error_NSE.max()) > 0


@torch.inference_mode()
def test_a_row_depends_on_no_other() -> None:
    """Alone it gives the same bits, whatever stands beside it; a row of zeros gives the bias."""
    exact, ours = maps(bias=True)
    x_ND = torch.randn(7, 64) * torch.logspace(-3, 3, 7)[:, None]
    x_ND[3] = 0.0
    together_NE = ours(x_ND)

    for i in range(7):
        assert torch.equal(ours(x_ND[i : i + 1])[0], together_NE[i])
    assert torch.equal(together_NE[3], exact.bias)


@torch.inference_mode()
def test_other_rows_are_rounded_anew() -> None:
    """What was rounded last is used again for the same rows alone."""
    _, ours = maps(bias=False)
    first_ND, second_ND = torch.randn(2, 4, 64)
    found = [ours(x_ND) for x_ND in (first_ND, first_ND, second_ND, first_ND)]

    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[3])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.inference_mode()
def test_a_model_in_bytes_is_near_its_original(norm: str) -> None:
    """Which keeps its own weights; padding stays impossible."""
    model = tiny_model(1, norm=norm, output_bias=True).float()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ours = QuantizedTransformer.of(model)
    source_BS, input_BT = torch.randint(2, 8, (2, 3, 5))
    exact_BTV, logit_BTV = model(source_BS, input_BT), ours(source_BS, input_BT)

    assert bool((logit_BTV[..., model.padding] == -torch.inf).all())
    possible_BTV = exact_BTV > -torch.inf
    error = (logit_BTV - exact_BTV)[possible_BTV].norm() / exact_BTV[possible_BTV].norm()
    assert 0 < float(error) < 0.05
    assert not any(isinstance(module, nn.Linear) for module in ours.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert ours.embedding.weight_VD is model.embedding.weight_VD


@pytest.mark.parametrize("fault", ["overflows", "is not there"])
def test_a_processor_without_exact_products_is_noticed(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Pairs of products added up in 16 bits would overflow."""

    def product(*_: object) -> torch.Tensor:
        if fault == "is not there":
            raise NotImplementedError
        return torch.full((2, 16), 64 / 2 * (2**15 - 1) - 128 * 127 * 64)

    monkeypatch.setattr(quantized, "_product", product)

    assert not can_quantize.__wrapped__()


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    tokenizer = trained(sentences(100), 304)
    model = tiny_model(1, vocabulary_size=tokenizer.vocabulary_size).float()
    return Bundle(Config(model=model.config), tokenizer, model)


SOURCES = [[*range(5, 5 + length), END] for length in (1, 9, 2, 8, 3, 7, 4, 6, 5)]
LIMITS = [12] * len(SOURCES)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("beam_size", [1, 4])
def test_each_thread_searches_batches_of_its_own(bundle: Bundle, beam_size: int) -> None:
    """What is found is what is found alone, and torch has its threads back in the end."""
    config = SearchConfig(beam_size=beam_size, batch_tokens=10)
    search = ModelSearch(bundle, in_bytes=True)
    found = dict(search.search_each(SOURCES, LIMITS, config))
    alone = [dict(search.search_each([source], [12], config))[0] for source in SOURCES]

    assert [[one.tokens for one in found[i]] for i in range(len(SOURCES))] == [
        [one.tokens for one in own] for own in alone
    ]
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_searches_at_the_same_time_are_alike(bundle: Bundle) -> None:
    """Several callers share a model; each gets what it gets alone, and torch has its threads back."""
    search, config = ModelSearch(bundle, in_bytes=True), SearchConfig(beam_size=2, batch_tokens=10)

    def tokens(_: int = 0) -> list[tuple[int, tuple[int, ...]]]:
        return [(i, found[0].tokens) for i, found in search.search_each(SOURCES, LIMITS, config)]

    alone = sorted(tokens())
    with ThreadPoolExecutor(4) as callers:
        assert [sorted(found) for found in callers.map(tokens, range(8))] == [alone] * 8
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_a_search_of_several_threads_can_be_ended(bundle: Bundle) -> None:
    """By what ``before_batch`` raises, or by reading no further: nothing is left behind."""
    search, config = ModelSearch(bundle, in_bytes=True), SearchConfig(beam_size=1, batch_tokens=10)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(search.search_each(SOURCES, LIMITS, config, before_batch=stop))
    assert torch.get_num_threads() == 3
    some = search.search_each(SOURCES, LIMITS, config)
    next(some)
    some.close()

    assert torch.get_num_threads() == 3
