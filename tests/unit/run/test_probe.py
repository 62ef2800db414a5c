"""What a run will take, measured and told."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.cli.progress import plan_lines, probe_lines
from dragoman.config import Config, SearchConfig, TrainConfig
from dragoman.data import EncodedCorpus, encode_corpus
from dragoman.errors import OutOfMemoryError
from dragoman.model import Transformer
from dragoman.run import probe as probing
from dragoman.run.device import describe_device, peak_memory
from dragoman.run.plan import make_plan
from dragoman.run.probe import probe
from dragoman.run.reporter import Plan, Probe
from dragoman.text import Pair
from tiny_models import tiny_config

pytestmark = pytest.mark.untraced

CPU = torch.device("cpu")


def tiny_settings(**train: object) -> Config:
    """Return the configuration of a model of a few thousand weights."""
    settings = {"precision": "float32", "batch_tokens": 200, "micro_batch_tokens": 100, "max_steps": 400}
    return Config(
        model=tiny_config(),
        train=TrainConfig(**(settings | train)),  # type: ignore[arg-type]
        search=SearchConfig(beam_size=2),
    )


@pytest.fixture
def corpus(tmp_path: Path) -> EncodedCorpus:
    """Two hundred pairs of one to twelve random pieces."""
    draw = random.Random(1)
    sources, targets = (
        [[draw.randint(2, 22) for _ in range(draw.randint(1, 12))] for _ in range(200)] for _ in range(2)
    )
    return encode_corpus(
        [(line, Pair("", "")) for line in range(200)],
        (lambda _: sources, lambda _: targets),
        tmp_path / "corpus.bin",
        key="k",
        max_length=99,
        vocabulary_size=24,
    )


def planned(corpus: EncodedCorpus, config: Config, num_steps_done: int = 0) -> Plan:
    return make_plan(Transformer(config.model), corpus, config, CPU, num_steps_done)


def test_a_probe_measures_time_memory_and_search(corpus: EncodedCorpus) -> None:
    """Every measure is there, and pieces a second are those of an average step."""
    config = tiny_settings()
    found = probe(config, corpus, CPU, num_dev_pairs=10, seconds=1.0)
    tokens_per_step = int(corpus.lengths[:, 1].sum()) / planned(corpus, config).steps_per_epoch

    assert 1 <= found.num_steps <= 20
    assert found.target_tokens_per_second * found.seconds_per_step == pytest.approx(tokens_per_step)
    assert found.seconds_per_validation > 0
    assert found.sustained_flops > 0
    assert (found.peak_bytes is None) == (peak_memory(CPU) is None)


def test_a_slow_model_is_measured_by_micro_batches(corpus: EncodedCorpus) -> None:
    """With no time at all one micro-batch is timed, and stands for the whole step."""
    found = probe(tiny_settings(), corpus, CPU, seconds=0.0)

    assert found.num_steps == 1
    assert found.seconds_per_step > 0
    assert found.seconds_per_validation == 0.0


def test_a_probe_leaves_the_global_generator_alone(corpus: EncodedCorpus) -> None:
    """Random numbers of the caller are the same whether it probes in between or not."""
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    probe(tiny_settings(), corpus, CPU, seconds=0.0)

    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("memory does not suffice for a micro-batch of 1 pairs"),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried to allocate"),
    ],
)
def test_a_step_that_does_not_fit_is_a_result(
    error: Exception, corpus: EncodedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory is told with the key that helps; no traceback is shown."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(probing, "train_step", fail)
    found = probe(tiny_settings(), corpus, CPU)

    assert found == Probe(0)
    assert "--set train.micro_batch_tokens=50" in probe_lines(planned(corpus, tiny_settings()), found)[0]


def test_a_micro_batch_that_does_not_fit_is_halved(
    corpus: EncodedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are cut until they fit, as training does it, and the cuts are counted."""
    make = probing.train_step

    def limited(model: Any, batches: list[Any], *rest: Any) -> Any:
        if max(len(batch.source_BS) for batch in batches) > 4:
            raise OutOfMemoryError("memory does not suffice")
        return make(model, batches, *rest)

    monkeypatch.setattr(probing, "train_step", limited)
    found = probe(tiny_settings(), corpus, CPU, seconds=0.0)

    assert found.num_cuts > 0
    assert found.num_steps == 1


def test_other_faults_are_not_hidden(corpus: EncodedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not about memory keeps its traceback."""

    def fail(*_: object) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(probing, "train_step", fail)

    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        probe(tiny_settings(), corpus, CPU)


def test_the_lines_tell_time_memory_and_cost(corpus: EncodedCorpus) -> None:
    """Hours are steps times seconds plus validations; the cost is time times the sustained rate."""
    measured = Probe(5, 2.0, 4_870.0, 100.0, 1.9, 300 * 2**20, 0, 1e9)
    plan = replace(planned(corpus, tiny_settings(validation_interval_steps=100)), num_steps=3_600)

    assert probe_lines(plan, measured) == [
        "measured in 5 steps: 2 seconds a step, 4,870 target pieces a second",
        "memory: 300 MiB at most of the process, PyTorch included, with the longest pairs",
        "time: about 2.1 hours; 3,600 steps take 2.0 hours, 4 validations 6.7 minutes",
        "cost as the paper counts: 7.6e+12 FLOPs (time x 1 sustained GFLOPS)",
    ]


def test_a_busy_processor_is_told(corpus: EncodedCorpus) -> None:
    """Where other work took the processor, the lines say that the time is too long."""
    lines = probe_lines(planned(corpus, tiny_settings()), Probe(5, 3e3, 10.0, 0.0, 0.12, None, 0, 1e9))

    assert "time: about 13.9 days" in lines[2]
    assert lines[3] == "only 12% of one processor was free for it; alone it will be faster"


def test_micro_batches_that_were_cut_are_told(corpus: EncodedCorpus) -> None:
    """Where a micro-batch was cut to fit, the lines say which size would have fitted."""
    lines = probe_lines(planned(corpus, tiny_settings()), Probe(5, 1.0, 10.0, num_cuts=2))

    assert lines[3].endswith("they are cut into 4: set train.micro_batch_tokens=25")


def test_a_limit_in_minutes_shortens_the_estimate(corpus: EncodedCorpus) -> None:
    """With ``train.max_minutes`` the lines say near which step it ends, and what that costs."""
    plan = planned(corpus, tiny_settings(max_minutes=10.0))
    lines = probe_lines(plan, Probe(5, 3.0, 100.0, 0.0, 1.0, None, 0, 1e9))

    assert "memory: not told by this system" in lines[1]
    assert lines[3] == "train.max_minutes ends it after 10 minutes, near step 200"
    assert "6.0e+11 FLOPs" in lines[4]


def test_the_plan_says_where_it_computes_and_why(corpus: EncodedCorpus) -> None:
    """The processor is named with its threads and the reason that no GPU is used."""
    expected = "the GPU here is left alone" if torch.cuda.is_available() else "PyTorch sees no GPU here"

    assert expected in describe_device(CPU)
    assert f"computing on {describe_device(CPU)} in float32" in plan_lines(planned(corpus, tiny_settings()))
