"""The encoded pairs of a run."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.config import Config, DataConfig
from dragoman.data import EncodeAll, EncodedCorpus, Leaves, Mixture, encode_corpus
from dragoman.errors import CorpusError
from dragoman.parsing import leaves_of
from dragoman.run.corpora import TrainingText, counted, line_numbers
from dragoman.run.reporter import Reporter
from dragoman.text import NumberedPair, PairSource, Tokenizer
from dragoman.trees import without_tags

_MOST_NAMES = 5
"""Labels that a notice names."""


@dataclass(frozen=True)
class EncodedPairs:
    """The training pairs: those of the corpus, and silver ones if there are any."""

    gold: EncodedCorpus
    silver: EncodedCorpus | None

    def of_epoch(self, epoch: int, config: Config) -> EncodedCorpus:
        """Return the pairs that come in an epoch."""
        if self.silver is None:
            return self.gold
        weight, seed = config.data.silver_weight, config.train.seed
        return Mixture(self.gold, self.silver, weight, seed=seed, epoch=epoch)


def read_encoded(folder: Path, name: str, leaves: Leaves | None) -> EncodedPairs:
    """Return pairs that another rank has encoded as ``train`` or as ``epoch``.

    Args:
        folder: Where they lie.
        name: ``train`` or ``epoch``.
        leaves: What ``leaves_read`` returns.
    """
    silver = folder / f"{name}-silver.bin"
    pairs = EncodedPairs(
        EncodedCorpus(folder / f"{name}.bin"), EncodedCorpus(silver) if silver.exists() else None
    )
    pairs.gold.leaves = leaves
    return pairs


def leaves_read(tokenizer: Tokenizer, config: DataConfig) -> Leaves | None:
    """Return what is read as words, or None where the decoder reads what it has written."""
    return leaves_of(tokenizer) if config.reads_words else None


def encode(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedPairs:
    """Return the encoded training pairs, made once and kept in ``folder``.

    Raises:
        CorpusError: Every pair is over the length limit.
    """
    gold = _encoded(text.training_pairs(), text.digest, tokenizer, config, folder / "train.bin")
    _tell_too_long(gold, text.corpus, config, reporter)
    if text.silver is None:
        return EncodedPairs(gold, None)
    silver = _encoded(text.silver_pairs(), text.digest, tokenizer, config, folder / "train-silver.bin")
    _tell_too_long(silver, text.silver, config, reporter)
    share = f"; {config.silver_weight:.0%} of them come in each epoch" if config.silver_weight < 1 else ""
    reporter.notice(f"{text.silver.names}: {counted(len(silver), text.silver.unit)} made by a machine{share}")
    return EncodedPairs(gold, silver)


def _tell_too_long(encoded: EncodedCorpus, pairs: PairSource, config: DataConfig, reporter: Reporter) -> None:
    """Say which pairs are left out; CorpusError if all are."""
    if encoded.num_too_long:
        reporter.notice(
            f"{pairs.names}: left out {counted(encoded.num_too_long, pairs.unit)} of more than "
            f"{_limit(config)} ({line_numbers(encoded.first_too_long, encoded.num_too_long)})"
        )
    if len(encoded) == 0:
        raise CorpusError(
            f"{pairs.names}: every {pairs.unit} is longer than {_limit(config)}",
            hint="set data.max_length higher, or cut the texts into sentences",
        )


def encode_with_dropout(
    text: TrainingText,
    tokenizer: Tokenizer,
    config: DataConfig,
    folder: Path,
    seed: tuple[int, int],
    busy: Callable[[], None],
) -> EncodedPairs:
    """Return the training pairs, encoded with BPE-dropout for one epoch.

    Args:
        text: The pairs.
        tokenizer: Encodes them.
        config: The share of merges that are left out.
        folder: Where the files of this epoch take the place of those before.
        seed: Seed of the run and epoch, on which alone the pieces depend.
        busy: Called every some thousand texts; what it raises ends the encoding.
    """

    def encoders(number: int) -> tuple[EncodeAll, EncodeAll]:
        """Return those of one file, which draw the same whether or not another file is encoded before."""
        chunks = itertools.count()

        def encode_all(texts: list[str]) -> list[list[int]]:
            busy()
            state = np.random.SeedSequence([*seed, next(chunks), number]).generate_state(1, np.uint64)
            return tokenizer.encode_with_dropout(texts, config.bpe_dropout, int(state[0]))

        return encode_all, _target_encoder(tokenizer, config) if tokenizer.symbols else encode_all

    digest = repr((text.digest, config.bpe_dropout, seed))
    gold = _encoded(text.training_pairs(), digest, tokenizer, config, folder / "epoch.bin", encoders(0))
    if text.silver is None:
        return EncodedPairs(gold, None)
    path = folder / "epoch-silver.bin"
    return EncodedPairs(gold, _encoded(text.silver_pairs(), digest, tokenizer, config, path, encoders(1)))


def encode_dev(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, folder: Path, reporter: Reporter
) -> EncodedCorpus | None:
    """Return the encoded development pairs, or None where there are none."""
    if not text.dev:
        return None
    digest = hashlib.sha256(repr(text.dev).encode()).hexdigest()
    dev = _encoded(text.dev, digest, tokenizer, config, folder / "dev.bin")
    if dev.num_too_long:
        reporter.notice(
            f"left out {dev.num_too_long:,} of {len(text.dev):,} development {text.corpus.unit}s "
            f"of more than {_limit(config)} ({line_numbers(dev.first_too_long, dev.num_too_long)})"
        )
    return dev if len(dev) else None


def tell_unseen_symbols(
    text: TrainingText, tokenizer: Tokenizer, config: DataConfig, reporter: Reporter
) -> None:
    """Say for which labels and tags of held-out trees the model has no symbol: it cannot write them."""
    if not tokenizer.symbols:
        return
    for pairs, what in ((text.dev, "development"), (text.test, "test")):
        written = (_as_written(pair.target, config).split(" ") for _, pair in pairs)
        found = [set(symbols) - tokenizer.symbols.keys() for symbols in written]
        trees = Counter(symbol.lstrip("(") for symbols in found for symbol in symbols if symbol[0] != ")")
        if trees:
            named = ", ".join(f"{name} ({number:,})" for name, number in trees.most_common(_MOST_NAMES))
            reporter.notice(
                f"{sum(map(bool, found)):,} of {len(pairs):,} {what} trees hold labels "
                f"{'or tags ' if config.keep_tags else ''}that the model cannot write, as no tree it learned "
                f"from has them: {named}{', ...' if len(trees) > _MOST_NAMES else ''}"
            )


def _encoded(
    pairs: Iterable[NumberedPair],
    digest: str,
    tokenizer: Tokenizer,
    config: DataConfig,
    path: Path,
    encode: tuple[EncodeAll, EncodeAll] | None = None,
) -> EncodedCorpus:
    """Return the encoded pairs, made again where they, the tokenizer or the limit have changed."""
    pieces = hashlib.sha256(tokenizer.to_bytes()).hexdigest()
    corpus = encode_corpus(
        pairs,
        encode or (tokenizer.encode_all, _target_encoder(tokenizer, config)),
        path,
        key=hashlib.sha256(repr((digest, pieces, config.max_length, config.keep_tags)).encode()).hexdigest(),
        max_length=config.max_length,
        vocabulary_size=tokenizer.vocabulary_size,
    )
    corpus.leaves = leaves_read(tokenizer, config)
    return corpus


def _target_encoder(tokenizer: Tokenizer, config: DataConfig) -> EncodeAll:
    """Return what turns targets into ids: texts, or symbols of trees with or without their tags."""
    return lambda targets: tokenizer.encode_targets([_as_written(target, config) for target in targets])


def _as_written(target: str, config: DataConfig) -> str:
    """Return a target as the model writes it: a tree without its tags, if they are not kept."""
    return without_tags(target) if config.task == "parsing" and not config.keep_tags else target


def _limit(config: DataConfig) -> str:
    return f"{config.max_length} {'pieces' if config.task == 'translation' else 'pieces or symbols'}"
