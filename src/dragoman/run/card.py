"""The model card."""

from collections.abc import Mapping

from dragoman import __version__
from dragoman.bundle import Bundle
from dragoman.evaluate import Scores
from dragoman.evaluate.parses import ParsingScores
from dragoman.model.arithmetic import num_parameters
from dragoman.run.corpora import TrainingText
from dragoman.run.reporter import in_words
from dragoman.storage.progress import Progress


def model_card(
    bundle: Bundle,
    text: TrainingText,
    progress: Progress,
    dev_scores: Mapping[str, float],
    test_scores: Scores | ParsingScores | None,
    first_weights: str | None = None,
) -> str:
    """Return the model card in Markdown: what it is, what it learned from, how well it does."""
    source, target = bundle.source_language or "source", bundle.target_language or "target"
    config, model = bundle.config, bundle.config.model
    verb = "translate" if config.data.task == "translation" else "parse"
    title = f"Translation model, {source} to {target}" if verb == "translate" else "Parsing model"
    unit = text.corpus.unit
    lines = [
        f"# {title}",
        "",
        f"A Transformer of {num_parameters(bundle.model):,} parameters "
        f"({model.num_encoder_layers} + {model.num_decoder_layers} layers, d_model {model.d_model}, "
        f"d_ff {model.d_ff}, {model.num_heads} heads, {model.vocabulary_size:,} pieces), "
        f"trained by dragoman {__version__}.",
        "",
        f"- Trained on {text.num_training_pairs:,} {unit}s: {progress.step:,} steps, "
        f"{progress.num_target_tokens:,} target pieces, {progress.seconds / 60:.1f} minutes.",
    ]
    if first_weights is not None:
        lines.append(f"- Begun with the weights of another model (SHA-256 {first_weights}).")
    if dev_scores:
        of_all = {name: value for name, value in dev_scores.items() if name in ("loss", "perplexity")}
        others = in_words({name: value for name, value in dev_scores.items() if name not in of_all})
        num_scored = min(len(text.dev), config.train.validation_sentences)
        of_few = f"; on the first {num_scored:,}: {others}" if others else ""
        lines.append(f"- On {len(text.dev):,} development {unit}s: {in_words(of_all)}{of_few}.")
    if test_scores is not None:
        lines += [f"- On {test_scores.num_segments:,} test {unit}s:", ""]
        lines += [f"      {line}" for line in test_scores.lines()]
    lines += ["", f"Use it to {verb}:", "", f"    dragoman {verb} THIS_FOLDER < input.txt", ""]
    return "\n".join(lines)
