"""One run of training, from prepared text to a model folder: on rank 0, and on the others."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.bundle import Bundle
from dragoman.config import Config
from dragoman.data import EncodedCorpus
from dragoman.errors import CorpusError
from dragoman.evaluate import Scores
from dragoman.evaluate.parses import ParsingScores
from dragoman.model.arithmetic import count_parameters
from dragoman.run import folder as run_folder
from dragoman.run.allocator import give_back_freed_memory
from dragoman.run.card import model_card
from dragoman.run.corpora import TrainingText
from dragoman.run.device import same_bits, sustained_flops
from dragoman.run.encoding import (
    encode,
    encode_dev,
    encode_with_dropout,
    leaves_read,
    read_encoded,
    tell_unseen_symbols,
)
from dragoman.run.held_out import held_out_test_files
from dragoman.run.metrics import MetricsLog
from dragoman.run.pack import write_shortlist
from dragoman.run.place import Place, encoded_folder, give_back_now_and_then, make_loop
from dragoman.run.plan import make_plan
from dragoman.run.preflight import check_begins, check_fits, check_space
from dragoman.run.report import HISTORY, history_record, write_report
from dragoman.run.reporter import Reporter, Sample, in_words
from dragoman.run.scoring import score_pairs
from dragoman.run.sheet import make_sheet, write_sheet
from dragoman.run.start import Start
from dragoman.run.validation import DevSet, validate
from dragoman.run.vocabulary import learn_tokenizer
from dragoman.storage.checkpoint import CheckpointKeeper
from dragoman.storage.progress import Progress
from dragoman.train.average import average
from dragoman.train.loop import fit, is_over, resume, selection_score
from dragoman.train.step import StepResult, StopRequestedError


@dataclass(frozen=True)
class Outcome:
    """What a run has come to."""

    reason: str
    """Why it ended: max_steps, max_minutes, patience, interrupted, dry_run or nothing_to_do."""
    progress: Progress
    folder: Path
    dev_scores: Mapping[str, float]
    """Scores of the model that was kept."""
    test_scores: Scores | ParsingScores | None
    chosen: str
    """Which parameters were kept, in words."""
    test_files: tuple[Path, ...] | None = None
    """Source and target files of the held-out test pairs, or a file of trees, if they were split off."""
    sustained_flops: float = 0.0
    """Float32 operations a second that the device sustains, measured at the end."""
    task: str = "translation"
    """What was learned: translation or parsing."""

    @property
    def paper_flops(self) -> float:
        """Cost of the training as the paper counts it: time times sustained operations (§6.1)."""
        return self.progress.seconds * self.sustained_flops


class Session:
    """The run as rank 0 has it: it prepares, writes, validates and finishes."""

    def __init__(
        self,
        text: TrainingText,
        config: Config,
        place: Place,
        languages: tuple[str | None, str | None],
        reporter: Reporter,
        start: Start | None = None,
    ) -> None:
        self.text = text
        self.place = place
        self.out = out = place.out
        self.reporter = reporter
        tokenizer = start.brought.tokenizer if start else run_folder.stored_tokenizer(out)
        if tokenizer is None:
            reporter.stage("learning the vocabulary")
            tokenizer, config = learn_tokenizer(text, config, reporter)
        elif start is not None:
            config = start.fitted(config, text)
        self.config = config
        tell_unseen_symbols(text, tokenizer, config.data, reporter)
        check_space(out, count_parameters(config.model), config.train)
        is_new = run_folder.stored_config(out) is None
        weights = start.brought.weights if start else None
        brought = run_folder.Brought(tokenizer=tokenizer, languages=languages, weights=weights)
        run_folder.create(out, text, config, brought)
        reporter.stage("encoding the corpus")
        try:
            self.pairs = encode(text, tokenizer, config.data, encoded_folder(out), reporter)
        except CorpusError:
            if is_new:
                run_folder.remove(out)
            raise
        dev = encode_dev(text, tokenizer, config.data, encoded_folder(out), reporter)
        count = config.train.validation_sentences
        self.dev = None if dev is None else DevSet(dev, [pair for _, pair in text.dev[:count]])
        self.samples: list[Sample] = []
        self.last_loss = self.validation_seconds = 0.0
        place.ranks.from_first(config)
        count, of_best = config.train.average_checkpoints, config.train.average_of == "best"
        keeper = CheckpointKeeper(
            out / "training" / "checkpoints",
            1 if of_best else count,
            reporter.notice,
            keep_best=count if of_best else 1,
        )
        self.loop = make_loop(config, place, self.pairs.of_epoch(0, config), self.corpus_of_epoch)
        self.bundle = Bundle(config, tokenizer, self.loop.parallel.shown, *languages)
        self.metrics = MetricsLog(
            out / "metrics.jsonl", out / "tensorboard" if config.train.tensorboard else None
        )
        self.history = MetricsLog(out / HISTORY)
        first = run_folder.first_weights_checksum(out)
        self.sheet = make_sheet(text, config, str(place.device), place.ranks.size, first)
        self.loop = replace(self.loop, validate=self.validate, keeper=keeper, observer=self)

    def tell_scores(self) -> None:
        """Say how good the model is before its first step; a wish to stop is heard again in training."""
        if self.dev is not None:
            self.bundle.model.eval()
            with suppress(StopRequestedError):
                scores, _ = validate(self.bundle, self.dev, self.reporter.busy)
                self.reporter.notice(f"the model as it was: development {in_words(scores)}")

    def go(self) -> Outcome:
        """Train to the end, or until a stop is requested, and write the model."""
        model = self.bundle.model
        check_fits(self.out, model.state_dict())
        progress = resume(self.loop, self.reporter.notice)
        if progress.step == 0:
            check_begins(self.out, self.metrics.last_saved_step())
        last = self.metrics.cut_after(progress.step, self.reporter.notice)
        if last < progress.step:
            steps = f"steps {last + 1:,} to {progress.step:,}"
            self.reporter.notice(f"metrics.jsonl: {steps} have no record any more")
        self.history.cut_after(progress.step, self.reporter.notice)
        first = self.pairs.of_epoch(0, self.config)
        self.reporter.planned(make_plan(model, first, self.config, self.place.device, progress.step))
        if is_over(self.loop, progress):
            self.reporter.notice(
                f"nothing to do: at step {progress.step:,}, limit {self.config.train.max_steps:,}"
            )
            reason = "nothing_to_do"
            self.metrics.close()
            self.history.close()
            if run_folder.is_finished(self.out, progress.step):
                return Outcome(reason, progress, self.out, {}, None, "", task=self.config.data.task)
        else:
            self.reporter.training_started(progress, self.config.train.max_steps)
            reason = "error"
            try:
                progress, reason = fit(self.loop, progress)
            finally:
                self.metrics.close()
                self.history.close()
                self.reporter.training_ended(reason)
        if reason == "interrupted":
            return Outcome(reason, progress, self.out, {}, None, "", task=self.config.data.task)
        return self._finish(progress, reason)

    def _finish(self, progress: Progress, reason: str) -> Outcome:
        """Keep the better of the best checkpoint and the average of the last, and write the model."""
        dev_scores, chosen = self._choose_parameters()
        test_scores = None
        if self.text.test:
            self.reporter.stage(f"scoring {len(self.text.test):,} test {self.text.corpus.unit}s")
            test_scores = score_pairs(self.bundle, [pair for _, pair in self.text.test])
        self.bundle.save(
            self.out,
            model_card(self.bundle, self.text, progress, dev_scores, test_scores, self.sheet.first_weights),
        )
        if self.config.data.task == "translation":
            self.reporter.stage("counting the shortlist")
            pairs = self.pairs.of_epoch(0, self.config)
            write_shortlist(self.out, pairs, self.bundle.tokenizer, seed=self.config.train.seed)
        write_sheet(self.out, self.sheet, self.config)
        tested = test_scores.lines() if test_scores else []
        self._write_report(
            [
                f"Ended at step {progress.step:,} after {progress.seconds / 60:.1f} minutes ({reason}).",
                f"Kept: {chosen}. Development: {in_words(dev_scores) or 'none'}.",
                *(f"Test: {line}" for line in tested),
            ]
        )
        run_folder.note_finished(self.out, progress.step)  # last: a run killed before it does all this again
        return Outcome(
            reason,
            progress,
            self.out,
            dev_scores,
            test_scores,
            chosen,
            held_out_test_files(self.out),
            sustained_flops(self.place.device),
            task=self.config.data.task,
        )

    def _write_report(self, lines: Sequence[str]) -> None:
        """Write the report as the run stands, with how it stands in words."""
        source, target = self.bundle.source_language or "source", self.bundle.target_language or "target"
        what = f"{source} to {target}" if self.config.data.task == "translation" else "parsing"
        write_report(self.out, self.sheet, lines, what)

    def _choose_parameters(self) -> tuple[Mapping[str, float], str]:
        config, keeper, model = self.config.train, self.loop.keeper, self.bundle.model.eval()
        assert keeper is not None
        keeper.drop_damaged()
        best, last, key = keeper.best, keeper.last, config.select_by
        assert last is not None
        if best is None:  # it was stopped before its first validation, and its limit is no longer ahead
            model.load_state_dict(keeper.load_parameters(last))
            return self.validate() if self.dev else {}, "the last step, which was not validated before"
        choose = keeper.best_validated if config.average_of == "best" else keeper.last_validated
        chosen = choose(config.average_checkpoints)
        if len(chosen) > 1:
            what = f"the {config.average_of} {len(chosen)} checkpoints"
            self.reporter.stage(f"averaging {what}")
            model.load_state_dict(average(keeper.load_parameters(entry) for entry in chosen))
            scores = self.validate()
            if self.dev is None:
                return {}, f"the average of {what}"
            if config.average_always or best.score is None or selection_score(scores, key) >= best.score:
                return scores, f"the average of {what}"
        model.load_state_dict(keeper.load_parameters(best))
        if self.dev is None:
            return {}, f"step {best.step:,}, the best by training loss"
        return self.validate(), f"step {best.step:,}, the best by development {key}"

    def corpus_of_epoch(self, epoch: int) -> EncodedCorpus:
        """Return the encoded pairs of an epoch."""
        if self.config.data.bpe_dropout == 0.0:
            return self.pairs.of_epoch(epoch, self.config)
        seed, pairs = (self.config.train.seed, epoch), None
        with suppress(StopRequestedError):
            pairs = encode_with_dropout(
                self.text,
                self.bundle.tokenizer,
                self.config.data,
                encoded_folder(self.out),
                seed,
                self.reporter.busy,
            )
        self.place.ranks.from_first(pairs is not None)
        if pairs is None:
            raise StopRequestedError
        return pairs.of_epoch(epoch, self.config)

    def validate(self) -> Mapping[str, float]:
        """Return the development scores of the model as it stands; without pairs, training loss alone."""
        if self.dev is None:
            return {"loss": self.last_loss}
        started = time.monotonic()
        scores, self.samples = validate(self.bundle, self.dev, self.reporter.busy)
        self.validation_seconds = time.monotonic() - started
        return scores

    def stepped(self, progress: Progress, result: StepResult, rate: float) -> None:
        """Write a step down and report it."""
        record: dict[str, object] = {"step": progress.step, "epoch": progress.epoch, "rate": rate}
        if result.is_skipped:
            record["skipped"] = True
        else:
            self.last_loss = result.plain_loss
            record |= {
                "loss": result.loss,
                "plain_loss": result.plain_loss,
                "grad_norm": result.grad_norm,
                "target_tokens": result.num_target_tokens,
            }
        self.metrics.write(record)
        self.reporter.stepped(progress, result, rate)
        give_back_now_and_then(progress)

    def validated(self, progress: Progress, scores: Mapping[str, float], *, is_best: bool) -> None:
        """Write a validation down and report it."""
        self.metrics.write({"step": progress.step, "epoch": progress.epoch, "validation": dict(scores)})
        self.history.write(history_record(progress, self.samples, self.validation_seconds))
        self._write_report([f"Step {progress.step:,} of {self.config.train.max_steps:,}; training goes on."])
        self.reporter.validated(progress, scores, self.samples, is_best=is_best)
        give_back_freed_memory()

    def went_back(self, progress: Progress, reason: str) -> None:
        """Write a setback down and tell it."""
        factor = progress.health.rate_factor
        self.metrics.cut_after(progress.step, self.notice)
        self.history.cut_after(progress.step, self.notice)
        self.metrics.write({"step": progress.step, "setback": reason, "rate_factor": factor})
        self.notice(
            f"{reason}; back to step {progress.step:,}, and on with {factor:g} of the rate "
            f"(time {progress.health.num_setbacks})"
        )

    def notice(self, text: str) -> None:
        """Tell the user."""
        self.reporter.notice(text)


def follow(place: Place, reporter: Reporter) -> Outcome:
    """Train as one of the ranks that are not the first: it reads what rank 0 has prepared."""
    config: Config = place.ranks.from_first(Config())
    folder = encoded_folder(place.out)
    try:
        tokenizer = run_folder.stored_tokenizer(place.out)
        leaves = None if tokenizer is None else leaves_read(tokenizer, config.data)
        pairs = read_encoded(folder, "train", leaves)
    except OSError as error:
        raise CorpusError(
            f"{folder / 'train.bin'}: cannot be read: {error.strerror}; every rank must see the folder --out",
            hint="name a folder that all machines share",
        ) from error

    def corpus_of_epoch(epoch: int) -> EncodedCorpus:
        if config.data.bpe_dropout == 0.0:
            return pairs.of_epoch(epoch, config)
        if not place.ranks.from_first(False):
            raise StopRequestedError
        return read_encoded(folder, "epoch", leaves).of_epoch(epoch, config)

    loop = make_loop(config, place, pairs.of_epoch(0, config), corpus_of_epoch)
    progress, reason = resume(loop, reporter.notice), "nothing_to_do"
    if not is_over(loop, progress):
        reporter.training_started(progress, config.train.max_steps)
        with same_bits(place.device, wanted=config.train.deterministic):
            progress, reason = fit(loop, progress)
        reporter.training_ended(reason)
    return Outcome(reason, progress, place.out, {}, None, "", task=config.data.task)
