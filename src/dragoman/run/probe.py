"""What a run will take, measured: a few real steps of a model that is thrown away."""

import time
from collections.abc import Iterable, Sequence
from itertools import cycle

import numpy as np
import torch

from dragoman.config import Config
from dragoman.data import Batch, EncodedCorpus, gather, pad
from dragoman.data.batches import Indices
from dragoman.errors import OutOfMemoryError
from dragoman.model import CachedDecoder, Transformer
from dragoman.model.arithmetic import forward_flops
from dragoman.run.device import peak_memory, sustained_flops
from dragoman.run.reporter import Probe
from dragoman.search import search
from dragoman.text.ids import END
from dragoman.train.loop import flops_of, halved, make_optimizer, plan_of
from dragoman.train.schedule import learning_rate
from dragoman.train.step import is_out_of_memory, train_step

_MOST_STEPS = 20
"""So many give the mean of small models within some percent."""

_SENTENCES, _LONGEST_OUTPUT = 16, 16
"""Of the search that is timed, so that it ends in a second or two with large models as well."""


def probe(
    config: Config,
    corpus: EncodedCorpus,
    device: torch.device,
    *,
    num_dev_pairs: int = 0,
    seconds: float = 5.0,
) -> Probe:
    """Measure steps, memory and search of the model that ``config`` describes, with random weights.

    One step of the longest micro-batch finds the greatest memory. Then steps of average size are timed; where
    a whole one would take too long, micro-batches stand for it, by their operations. A slow model makes three
    micro-batches at most. The random numbers of the caller stay as they are.

    Args:
        config: Its precision is resolved and its vocabulary is the tokenizer's.
        corpus: The encoded training pairs.
        device: Where to compute.
        num_dev_pairs: Development pairs of each validation.
        seconds: About how long to time steps.
    """
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(config.train.seed)
        try:
            return _Prober(config, corpus, device).measure(num_dev_pairs, seconds)
        except OutOfMemoryError:
            pass  # not even one pair at a time
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
    return Probe(0)


class _Prober:
    """A model, its optimizer, and the steps of the first epoch."""

    def __init__(self, config: Config, corpus: EncodedCorpus, device: torch.device) -> None:
        self.config = config
        self.corpus = corpus
        self.device = device
        self.steps = plan_of(corpus, config.train, epoch=0)
        self.model = Transformer(config.model).to(device).train()
        self.model.use_fast_forms(config.train.fast)
        self.num_cuts = 0
        self.optimizer = make_optimizer(self.model, config.train)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(1, config.train, config.model.d_model)

    def measure(self, num_dev_pairs: int, seconds: float) -> Probe:
        """Return all measurements; RuntimeError where memory does not suffice."""
        largest = max((part for step in self.steps for part in step), key=lambda part: self.flops([part]))
        first = self.timed([largest])
        peak = peak_memory(self.device)
        mean_flops = sum(map(self.flops, self.steps)) / len(self.steps)
        worked, started = time.process_time(), time.perf_counter()
        num_steps, seconds_per_flop = self.pace(mean_flops, first / self.flops([largest]), seconds)
        share = (time.process_time() - worked) / (time.perf_counter() - started)
        seconds_per_step = mean_flops * seconds_per_flop
        tokens = int(self.corpus.lengths[:, 1].sum()) / len(self.steps)
        return Probe(
            num_steps=num_steps,
            seconds_per_step=seconds_per_step,
            target_tokens_per_second=tokens / seconds_per_step,
            seconds_per_validation=self.validation_seconds(num_dev_pairs, seconds_per_flop),
            processor_share=share,
            num_cuts=self.num_cuts,
            peak_bytes=peak,
            sustained_flops=sustained_flops(self.device),
        )

    def pace(self, mean_flops: float, first: float, seconds: float) -> tuple[int, float]:
        """Return how many steps were timed, and the seconds an operation takes in a step.

        Args:
            mean_flops: Operations of an average step.
            first: Seconds an operation took in the first step, which is slower than others.
            seconds: About how long to go on.
        """
        is_slow = mean_flops * first > seconds / 2
        units: list[Sequence[Indices]] = (
            [[part] for step in self.steps for part in step] if is_slow else list(self.steps)
        )
        flops = np.array([self.flops(unit) for unit in units])
        nearest = np.argsort(np.abs(flops - flops.mean()), kind="stable")[:_MOST_STEPS]
        spent, done, end = 0.0, 0.0, time.perf_counter() + seconds
        for count, i in enumerate(cycle(nearest.tolist()), start=1):
            spent += self.timed(units[i])
            done += float(flops[i])
            if count == _MOST_STEPS or time.perf_counter() >= end:
                return count, spent / done
        raise AssertionError("a corpus has pairs")

    def timed(self, parts: Iterable[Indices]) -> float:
        """Make one update from micro-batches and return its seconds; they are halved until they fit.

        Raises:
            OutOfMemoryError: Not even a single pair fits.
        """
        parts = list(parts)
        while True:
            started = time.perf_counter()
            batches = [self.batch(piece) for piece in halved(parts, self.num_cuts) if len(piece)]
            try:
                train_step(self.model, batches, self.optimizer, self.config.train)
                return time.perf_counter() - started
            except OutOfMemoryError:
                if max(len(batch.source_BS) for batch in batches) == 1:
                    raise
            self.num_cuts += 1

    def batch(self, part: Indices) -> Batch:
        """Return the pairs of a micro-batch on the device."""
        return gather(self.corpus, part, end=END, padding=self.model.padding).to(self.device)

    def flops(self, parts: Iterable[Indices]) -> float:
        """Return the operations of a step of these micro-batches."""
        return flops_of(parts, self.corpus, self.config.model, self.config.train)

    def validation_seconds(self, num_dev_pairs: int, seconds_per_flop: float) -> float:
        """Return about how long a validation takes, if development pairs are as long as training pairs."""
        if num_dev_pairs == 0:
            return 0.0
        source, target = map(float, self.corpus.lengths.mean(axis=0))
        loss_flops = forward_flops(self.config.model, num_dev_pairs, round(source), round(target))
        num_translated = min(num_dev_pairs, self.config.train.validation_sentences)
        return loss_flops * seconds_per_flop + num_translated * target * self.seconds_per_position(source)

    @torch.inference_mode()
    def seconds_per_position(self, source_length: float) -> float:
        """Return the seconds that the beam takes to write one piece of one sentence."""
        nearest = np.argsort(np.abs(self.corpus.lengths[:, 0] - source_length), kind="stable")[:_SENTENCES]
        sources = [self.corpus[int(i)][0].tolist() for i in nearest]
        model, settings = self.model.eval(), self.config.search
        source_BS = pad(sources, end=END, padding=model.source_padding).to(self.device)
        limit_B = torch.full((len(sources),), _LONGEST_OUTPUT, device=self.device)
        started = time.perf_counter()
        decoder = CachedDecoder(model, model.encode(source_BS), settings.beam_size)
        search(decoder, start=model.padding, end=END, limit_B=limit_B, config=settings)
        return (time.perf_counter() - started) / (len(sources) * _LONGEST_OUTPUT)
