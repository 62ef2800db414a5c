"""From a corpus to a model folder.

config.json, tokenizer.model, model.safetensors, README.md    the model
metrics.jsonl        what each step and validation measured; the same for the same seed
held-out/            development and test pairs that were split off, if none were named
training/            what a run needs to go on: configuration, checkpoints, encoded pairs
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from dragoman.bundle import CONFIG, Bundle
from dragoman.config import AUTO, Config, choose_recipe, read_config
from dragoman.data import EncodedCorpus
from dragoman.errors import ConfigError, CorpusError
from dragoman.evaluate import Scores
from dragoman.model import Transformer
from dragoman.model.arithmetic import count_parameters
from dragoman.run import folder as run_folder
from dragoman.run.card import model_card
from dragoman.run.corpora import TrainingText, encode, encode_dev, encode_with_dropout, read_text
from dragoman.run.device import choose_precision, sustained_flops, total_memory
from dragoman.run.metrics import MetricsLog, check_tensorboard
from dragoman.run.plan import make_plan
from dragoman.run.reporter import Reporter, Sample
from dragoman.run.scoring import score_pairs
from dragoman.run.validation import DevSet, validate
from dragoman.text import Corpus, Tokenizer, check_corpus, languages_of, open_corpus
from dragoman.text.training import SMALLEST_VOCABULARY
from dragoman.train.average import average
from dragoman.train.checkpoint import CheckpointKeeper, Progress
from dragoman.train.loop import (
    TrainingRun,
    fit,
    make_optimizer,
    resume,
    selection_score,
    why_ended,
)
from dragoman.train.step import StepResult
from dragoman.translator import choose_device

CorpusPaths = Sequence[Path | str]


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How to train; every default is chosen to give a good result."""

    source_language: str | None = None
    """Left out, it is the suffix of the source file."""
    target_language: str | None = None
    """Left out, it is the suffix of the target file."""
    dev: CorpusPaths = ()
    """Development pairs; left out, they are split off."""
    test: CorpusPaths = ()
    """Test pairs for the final scores; left out, they are split off."""
    recipe: str = AUTO
    """Settings to begin with; ``auto`` chooses by the number of pairs."""
    config_file: Path | None = None
    """A TOML file with keys."""
    settings: Sequence[str] = ()
    """Single keys, as ``train.max_steps=500``."""
    resume: bool = False
    """Go on with the run that the folder holds, if it holds one."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    dry_run: bool = False
    """Check and plan everything, write nothing and train nothing."""


@dataclass(frozen=True)
class Outcome:
    """What a run has come to."""

    reason: str
    """Why it ended: max_steps, max_minutes, patience, interrupted, dry_run or nothing_to_do."""
    progress: Progress
    folder: Path
    dev_scores: Mapping[str, float]
    """Scores of the model that was kept."""
    test_scores: Scores | None
    chosen: str
    """Which parameters were kept, in words."""
    test_files: tuple[Path, Path] | None = None
    """Source and target files of the held-out test pairs, if they were split off."""
    sustained_flops: float = 0.0
    """Float32 operations a second that the device sustains, measured at the end."""

    @property
    def paper_flops(self) -> float:
        """Cost of the training as the paper counts it: time times sustained operations (§6.1)."""
        return self.progress.seconds * self.sustained_flops


def train(
    corpus: CorpusPaths,
    out: Path | str,
    options: TrainOptions | None = None,
    *,
    reporter: Reporter | None = None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train a translation model from parallel text and write its folder.

    Args:
        corpus: One file of pairs, or two line-aligned files.
        out: The model folder; must be new or empty unless the run is resumed.
        options: How to train.
        reporter: Hears what happens.
        stop_requested: Asked after each step; True saves and ends the run, which can then be resumed.

    Raises:
        DragomanError: Anything a user can mend; see each kind.
    """
    options, reporter, out = options or TrainOptions(), reporter or Reporter(), Path(out)
    pairs = open_corpus(corpus)
    dev = open_corpus(options.dev) if options.dev else None
    test = open_corpus(options.test) if options.test else None
    stored = run_folder.stored_config(out) if options.resume else None
    if stored is None:
        run_folder.check_is_free(out)
    elif options.recipe != AUTO or options.config_file is not None:
        reporter.notice("a resumed run keeps its configuration; recipe and configuration file play no part")
    device = choose_device(options.device)
    config, reporter_lines = _configure(pairs, options, stored)
    for line in reporter_lines:
        reporter.notice(line)
    precision, why = choose_precision(config.train.precision, device)
    if config.train.precision != precision:
        reporter.notice(f"matrix products in {precision}: {why}")
    config = replace(config, train=replace(config.train, precision=precision))
    _check_can_train(config, device)
    reporter.stage("reading the corpus")
    text = read_text(pairs, dev, test, config.data, config.train.seed, reporter)
    if stored is not None:
        run_folder.check_same_corpus(out, text, config, stored)
    if options.dry_run:
        return _dry_run(text, config, device, out, reporter)
    return _Run(text, config, device, out, _languages(pairs, options), reporter).go(stop_requested)


def _check_can_train(config: Config, device: torch.device) -> None:
    """Refuse, before any work, what only imported models have, what has no room, what is not installed."""
    if config.model.source_vocabulary_size is not None or config.model.positions == "table":
        raise ConfigError(
            "model.source_vocabulary_size and model.positions = table are for models of other programs; "
            "a model that is trained here has one vocabulary and no stored table",
            hint="leave these keys out",
        )
    if config.model.vocabulary_size < SMALLEST_VOCABULARY:
        raise ConfigError(
            f"model.vocabulary_size={config.model.vocabulary_size}: must be at least {SMALLEST_VOCABULARY}, "
            "for the 256 bytes, end, unknown, padding and a few characters",
            hint=f"set model.vocabulary_size={SMALLEST_VOCABULARY} or more",
        )
    needed, there = 16 * count_parameters(config.model), total_memory(device)
    if there is not None and needed > there:
        raise ConfigError(
            f"the model needs {needed / 2**30:,.0f} GiB for parameters, gradients and Adam's moments; "
            f"{device} has {there / 2**30:,.0f} GiB",
            hint="set a smaller model.d_model, model.d_ff, model.vocabulary_size or fewer layers",
        )
    if config.train.tensorboard:
        check_tensorboard()


def _configure(pairs: Corpus, options: TrainOptions, stored: Path | None) -> tuple[Config, Sequence[str]]:
    """Return the configuration, and lines that explain how it was chosen."""
    if stored is not None:
        return run_folder.resumed_config(stored, options.settings), ()
    if options.recipe != AUTO:
        recipe: str | None = options.recipe
        return read_config(recipe=recipe, file=options.config_file, settings=options.settings), ()
    read_config(recipe=None, file=options.config_file, settings=options.settings)  # its faults come first
    report = check_corpus(pairs)
    choice = choose_recipe(report.num_pairs - report.num_empty)
    return read_config(recipe=choice, file=options.config_file, settings=options.settings), choice.reasons


def _languages(pairs: Corpus, options: TrainOptions) -> tuple[str | None, str | None]:
    source, target = languages_of(pairs)
    return options.source_language or source, options.target_language or target


def _learn_tokenizer(text: TrainingText, config: Config, reporter: Reporter) -> tuple[Tokenizer, Config]:
    """Return the tokenizer and the configuration with the vocabulary that the corpus could carry."""
    wanted = config.model.vocabulary_size
    tokenizer = Tokenizer.train(
        text.texts(), wanted, max_sentences=config.data.tokenizer_sentences, seed=config.train.seed
    )
    if tokenizer.vocabulary_size < wanted:
        reporter.notice(
            f"vocabulary of {tokenizer.vocabulary_size:,} pieces instead of {wanted:,}: "
            "the corpus cannot carry more"
        )
    model = replace(config.model, vocabulary_size=tokenizer.vocabulary_size)
    return tokenizer, replace(config, model=model)


def _dry_run(
    text: TrainingText, config: Config, device: torch.device, out: Path, reporter: Reporter
) -> Outcome:
    import tempfile

    tokenizer, config = _learn_tokenizer(text, config, reporter)
    with tempfile.TemporaryDirectory() as scratch:
        corpus = encode(text, tokenizer, config.data, Path(scratch), reporter)
        with torch.device("meta"):
            model = Transformer(config.model)
        reporter.planned(make_plan(model, corpus, config, device))
    return Outcome("dry_run", Progress(), out, {}, None, "")


class _Run:
    """One run of training, from prepared text to a model folder."""

    def __init__(
        self,
        text: TrainingText,
        config: Config,
        device: torch.device,
        out: Path,
        languages: tuple[str | None, str | None],
        reporter: Reporter,
    ) -> None:
        self.text = text
        self.out = out
        self.reporter = reporter
        tokenizer = run_folder.stored_tokenizer(out)
        if tokenizer is None:
            reporter.stage("learning the vocabulary")
            tokenizer, config = _learn_tokenizer(text, config, reporter)
        self.config = config
        is_new = run_folder.stored_config(out) is None
        run_folder.create(out, text, config, tokenizer, languages)
        reporter.stage("encoding the corpus")
        encoded = out / "training" / "encoded"
        try:
            self.corpus = encode(text, tokenizer, config.data, encoded, reporter)
        except CorpusError:
            if is_new:
                run_folder.remove(out)
            raise
        dev = encode_dev(text, tokenizer, config.data, encoded, reporter)
        count = config.train.validation_sentences
        self.dev = None if dev is None else DevSet(dev, [pair for _, pair in text.dev[:count]])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.train.seed)
            model = Transformer(config.model).to(device)
        model.use_fast_forms(config.train.fast)
        self.bundle = Bundle(config, tokenizer, model, *languages)
        keeper = CheckpointKeeper(out / "training" / "checkpoints", config.train.average_checkpoints)
        self.metrics = MetricsLog(
            out / "metrics.jsonl", out / "tensorboard" if config.train.tensorboard else None
        )
        self.samples: list[Sample] = []
        self.last_loss = 0.0
        self.loop = TrainingRun(
            model=model,
            optimizer=make_optimizer(model, config.train),
            config=config.train,
            corpus_of_epoch=self.corpus_of_epoch,
            validate=self.validate,
            keeper=keeper,
            observer=self,
            stop_requested=lambda: False,
        )

    def go(self, stop_requested: Callable[[], bool]) -> Outcome:
        """Train to the end, or until a stop is requested, and write the model."""
        loop = replace(self.loop, stop_requested=stop_requested)
        progress = resume(loop, self.reporter.notice)
        self.metrics.cut_after(progress.step)
        self.reporter.planned(
            make_plan(self.bundle.model, self.corpus, self.config, self.bundle.model.output_weight_VD.device)
        )
        if why_ended(progress, self.config.train):
            self.reporter.notice(
                f"nothing to do: at step {progress.step:,}, limit {self.config.train.max_steps:,}"
            )
            reason = "nothing_to_do"
            self.metrics.close()
            if (self.out / CONFIG).exists():
                return Outcome(reason, progress, self.out, {}, None, "")
        else:
            self.reporter.training_started(progress, self.config.train.max_steps)
            reason = "error"
            try:
                progress, reason = fit(loop, progress)
            finally:
                self.reporter.training_ended(reason)
                self.metrics.close()
        if reason == "interrupted":
            return Outcome(reason, progress, self.out, {}, None, "")
        return self._finish(progress, reason)

    def _finish(self, progress: Progress, reason: str) -> Outcome:
        """Keep the better of the best checkpoint and the average of the last, and write the model."""
        dev_scores, chosen = self._choose_parameters()
        test_scores = None
        if self.text.test:
            self.reporter.stage(f"translating {len(self.text.test):,} test pairs")
            test_scores = score_pairs(self.bundle, [pair for _, pair in self.text.test])
        self.bundle.save(
            self.out,
            model_card(self.bundle, self.text, progress, dev_scores, test_scores),
        )
        return Outcome(
            reason,
            progress,
            self.out,
            dev_scores,
            test_scores,
            chosen,
            run_folder.test_files(self.out),
            sustained_flops(self.bundle.model.output_weight_VD.device),
        )

    def _choose_parameters(self) -> tuple[Mapping[str, float], str]:
        keeper, model, key = self.loop.keeper, self.bundle.model.eval(), self.config.train.select_by
        best, last = keeper.best, keeper.last_validated(self.config.train.average_checkpoints)
        if best is None:  # it was stopped before its first validation, and its limit is no longer ahead
            return self.validate(), "the last step, which was not validated before"
        if len(last) > 1:
            self.reporter.stage(f"averaging the last {len(last)} checkpoints")
            model.load_state_dict(average(keeper.load_parameters(entry) for entry in last))
            scores = self.validate()
            if self.dev is None:
                return {}, f"the average of the last {len(last)} checkpoints"
            if best.score is None or selection_score(scores, key) >= best.score:
                return scores, f"the average of the last {len(last)} checkpoints"
        model.load_state_dict(keeper.load_parameters(best))
        return self.validate(), f"step {best.step:,}, the best by development {key}"

    def corpus_of_epoch(self, epoch: int) -> EncodedCorpus:
        """Return the encoded pairs of an epoch."""
        if self.config.data.bpe_dropout == 0.0:
            return self.corpus
        seed = (self.config.train.seed, epoch)
        folder = self.out / "training" / "encoded"
        return encode_with_dropout(self.text, self.bundle.tokenizer, self.config.data, folder, seed)

    def validate(self) -> Mapping[str, float]:
        """Return the development scores of the model as it stands; without pairs, training loss alone."""
        if self.dev is None:
            return {"loss": self.last_loss}
        scores, self.samples = validate(self.bundle, self.dev)
        return scores

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """Write a step down and report it."""
        self.last_loss = result.plain_loss
        self.metrics.write(
            {
                "step": progress.step,
                "epoch": progress.epoch,
                "rate": rate,
                "loss": result.loss,
                "plain_loss": result.plain_loss,
                "grad_norm": result.grad_norm,
                "target_tokens": result.num_target_tokens,
            }
        )
        self.reporter.stepped(progress, result, rate)

    def validated(self, progress: Progress, scores: Mapping[str, float], *, is_best: bool) -> None:
        """Write a validation down and report it."""
        self.metrics.write({"step": progress.step, "epoch": progress.epoch, "validation": dict(scores)})
        self.reporter.validated(progress, scores, self.samples, is_best=is_best)


def read_metrics(folder: Path) -> list[dict[str, object]]:
    """Return the records of ``metrics.jsonl``, steps and validations in order."""
    with (folder / "metrics.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
