"""The vocabulary of a run, learned from its training pairs."""

from dataclasses import replace

from dragoman.config import Config
from dragoman.errors import ConfigError
from dragoman.run.corpora import TrainingText
from dragoman.run.reporter import Reporter
from dragoman.text import Tokenizer
from dragoman.text.training import smallest_vocabulary


def learn_tokenizer(text: TrainingText, config: Config, reporter: Reporter) -> tuple[Tokenizer, Config]:
    """Return the tokenizer and the configuration with the vocabulary that the corpus could carry.

    For parsing the tokenizer has the symbols of all training trees, and the configuration their longest run.

    Raises:
        ConfigError: The vocabulary has no room for the symbols.
        TokenizerError: There is nothing to learn from.
    """
    wanted, texts = config.model.vocabulary_size, text.texts()
    symbols: list[str] = []
    if config.data.task == "parsing":
        inventory, texts = text.inventory(), text.sources()
        symbols = inventory.symbols(keep_tags=config.data.keep_tags)
        if wanted < (smallest := smallest_vocabulary(len(symbols))):
            raise ConfigError(
                f"model.vocabulary_size={wanted}: must be at least {smallest}, for {len(symbols):,} symbols "
                "of trees, the 256 bytes, end, unknown, padding and a few characters",
                hint=f"set model.vocabulary_size={smallest} or more",
            )
        if config.data.longest_run is None:
            config = replace(config, data=replace(config.data, longest_run=inventory.longest_run))
    tokenizer = Tokenizer.train(
        texts,
        wanted,
        max_sentences=config.data.tokenizer_sentences,
        seed=config.train.seed,
        symbols=symbols,
    )
    if tokenizer.vocabulary_size < wanted:
        reporter.notice(
            f"vocabulary of {tokenizer.vocabulary_size:,} pieces instead of {wanted:,}: "
            "the corpus cannot carry more"
        )
    model = replace(config.model, vocabulary_size=tokenizer.vocabulary_size)
    return tokenizer, replace(config, model=model)
