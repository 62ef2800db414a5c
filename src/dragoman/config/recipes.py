"""Recipes: named settings that suit a size of corpus, and the choice among them."""

from dataclasses import dataclass
from importlib import resources

from dragoman.config.sections import Config

RECIPE_NAMES = ("demo", "tiny", "small", "base", "big", "parsing-small", "parsing")
"""The recipes that ship with the package, from the least to the greatest; those of parsing come last."""

AUTO = "auto"
"""The word that asks for ``choose_recipe``, or for ``choose_parsing_recipe`` where trees are learned from."""

_TOKENS_PER_PAIR = 20
"""Target pieces of an average sentence, end included; news has 25 to 30, captions 14, dialog 10."""


@dataclass(frozen=True, kw_only=True)
class RecipeChoice:
    """A recipe chosen for a corpus, and why."""

    name: str
    """The recipe's name."""

    reasons: tuple[str, str, str]
    """Three lines for the reader: model, vocabulary and dropout, length of the training."""

    settings: tuple[str, ...]
    """Settings over the recipe, in the form of ``--set``."""


@dataclass(frozen=True, kw_only=True)
class _Tier:
    """What suits corpora of fewer than ``below_pairs`` pairs."""

    below_pairs: int
    recipe: str
    shape: str
    vocabulary_size: int
    dropout: float
    passes: int
    batch_tokens: int
    warmup_steps: int
    cooldown_share: float


_TIERS = (
    # Few pairs: rare pieces are never learned, so a small vocabulary and much dropout.
    _Tier(
        below_pairs=20_000,
        recipe="tiny",
        shape="4 + 4 layers of width 128",
        vocabulary_size=4_000,
        dropout=0.3,
        passes=60,
        batch_tokens=4_096,
        warmup_steps=1_000,
        cooldown_share=0.4,
    ),
    _Tier(
        below_pairs=60_000,
        recipe="tiny",
        shape="4 + 4 layers of width 128",
        vocabulary_size=8_000,
        dropout=0.2,
        passes=40,
        batch_tokens=4_096,
        warmup_steps=1_000,
        cooldown_share=0.4,
    ),
    _Tier(
        below_pairs=500_000,
        recipe="small",
        shape="3 + 3 layers of width 256",
        vocabulary_size=8_000,
        dropout=0.1,
        passes=20,
        batch_tokens=4_096,
        warmup_steps=800,
        cooldown_share=0.4,
    ),
    _Tier(
        below_pairs=2_000_000,
        recipe="base",
        shape="6 + 6 layers of width 512",
        vocabulary_size=24_000,
        dropout=0.1,
        passes=30,
        batch_tokens=25_000,
        warmup_steps=4_000,
        cooldown_share=0.0,
    ),
    # The paper's corpora: 4.5 and 36 million pairs.
    _Tier(
        below_pairs=2**63,
        recipe="base",
        shape="6 + 6 layers of width 512",
        vocabulary_size=37_000,
        dropout=0.1,
        passes=22,
        batch_tokens=25_000,
        warmup_steps=4_000,
        cooldown_share=0.0,
    ),
)
_FEWEST_STEPS, _MOST_STEPS = 500, 100_000

_SYMBOLS_PER_TREE = 60
"""Symbols of an average tree, end included; spoken and written English mixed has 50, science 66."""

_ADAPTING_PASSES, _ADAPTING_RATE_STEPS = 10, 16_000
"""Of a training that goes on from a trained model: passes over the corpus, and the step of the paper's
training whose rate is its highest."""

_PARSING_BATCH_TOKENS, _PARSING_WARMUP_STEPS = 4_096, 800
"""What the recipe parsing-small has."""


def choose_recipe(num_pairs: int, max_steps: int | None = None) -> RecipeChoice:
    """Return the recipe that suits a corpus, with the reasons for it.

    Model, vocabulary and dropout follow the number of pairs. The steps are so many passes over the corpus
    at 20 target pieces a pair, from 500 to the 100,000 of the paper's base model; the warm-up takes at
    most a quarter of them. ``big`` is never chosen, because it needs a GPU and days, which only the user
    knows; nor is ``demo``, whose minutes are too few for real text.

    Args:
        num_pairs: Training pairs, at least 1.
        max_steps: Steps where they are not to be chosen; warm-up and validations follow them.
    """
    if num_pairs < 1:
        raise ValueError(f"num_pairs is {num_pairs}; a recipe is chosen for at least 1 pair")
    tier = next(tier for tier in _TIERS if num_pairs < tier.below_pairs)
    steps_a_pass = num_pairs * _TOKENS_PER_PAIR / tier.batch_tokens
    max_steps = max_steps or _steps(round(tier.passes * steps_a_pass), _FEWEST_STEPS)
    interval = min(max(max_steps // 20, 100), 1_000)
    settings = (
        f"model.vocabulary_size={tier.vocabulary_size}",
        f"model.dropout={tier.dropout}",
        f"train.max_steps={max_steps}",
        f"train.warmup_steps={min(tier.warmup_steps, max(max_steps // 4, 1))}",
        f"train.cooldown_share={tier.cooldown_share}",
        f"train.validation_interval_steps={interval}",
    )
    limit = f" (fewer than {tier.below_pairs:,})" if tier.below_pairs < 2**63 else ""
    passes = max_steps / steps_a_pass
    reasons = (
        f"{num_pairs:,} {'pair' if num_pairs == 1 else 'pairs'}{limit}: recipe {tier.recipe}, {tier.shape}",
        f"vocabulary of {tier.vocabulary_size:,} pieces and dropout {tier.dropout}: "
        "the fewer pairs, the fewer pieces and the more dropout",
        f"{max_steps:,} steps of {tier.batch_tokens:,} tokens: "
        f"about {passes:,.{0 if passes >= 10 else 1}f} passes over the corpus",
    )
    return RecipeChoice(name=tier.recipe, reasons=reasons, settings=settings)


def choose_parsing_recipe(num_trees: int, max_steps: int | None = None) -> RecipeChoice:
    """Return the recipe that suits a treebank, with the reasons for it.

    It is always ``parsing-small``, with steps for so many trees: 1,500 for 1,000 trees, 8,000 for 20,000, and
    by the same power between and beyond, from 500 to 100,000. The more trees, the more steps, but the fewer
    passes over them, as a few trees are soon known by heart. The warm-up takes at most a quarter of the
    steps. ``parsing`` is never chosen, because it needs a GPU and hours, which only the user knows.

    Args:
        num_trees: Trees of the treebank, at least 1.
        max_steps: Steps where they are not to be chosen; warm-up and validations follow them.
    """
    if num_trees < 1:
        raise ValueError(f"num_trees is {num_trees}; a recipe is chosen for at least 1 tree")
    max_steps = max_steps or _steps(round(1_500 * (num_trees / 1_000) ** 0.5588), _FEWEST_STEPS)
    settings = (
        f"train.max_steps={max_steps}",
        f"train.warmup_steps={min(_PARSING_WARMUP_STEPS, max(max_steps // 4, 1))}",
        f"train.validation_interval_steps={min(max(max_steps // 12, 100), 1_000)}",
    )
    passes = max_steps * _PARSING_BATCH_TOKENS / (num_trees * _SYMBOLS_PER_TREE)
    reasons = (
        f"{num_trees:,} {'tree' if num_trees == 1 else 'trees'}: recipe parsing-small, "
        "4 + 4 layers of width 256",
        "vocabulary of 8,000 pieces and dropout 0.3: a treebank is small, so few pieces and much dropout",
        f"{max_steps:,} steps of {_PARSING_BATCH_TOKENS:,} tokens: "
        f"about {passes:,.{0 if passes >= 10 else 1}f} passes over the treebank",
    )
    return RecipeChoice(name="parsing-small", reasons=reasons, settings=settings)


def choose_adaptation(
    num_pairs: int, config: Config, max_steps: int | None = None
) -> tuple[tuple[str, ...], str]:
    """Return settings for a training that goes on from a trained model, and the reason in a line.

    Ten passes over the pairs, at least 200 steps and at most 100,000, with a rate that rises to
    (d_model · 16,000)^-0.5, as high as it is in the paper's training after 16,000 steps (Eq. 3), and falls to
    zero over the second half. Batches are as large as those of a new model for as many pairs.

    Args:
        num_pairs: Training pairs or trees, at least 1.
        config: Of the trained model.
        max_steps: Steps where they are not to be chosen; warm-up and validations follow them.
    """
    is_parser, d_model = config.data.task == "parsing", config.model.d_model
    batch_tokens = next(tier.batch_tokens for tier in _TIERS if num_pairs < tier.below_pairs)
    batch_tokens = _PARSING_BATCH_TOKENS if is_parser else batch_tokens
    steps_a_pass = num_pairs * (_SYMBOLS_PER_TREE if is_parser else _TOKENS_PER_PAIR) / batch_tokens
    max_steps = max_steps or _steps(round(_ADAPTING_PASSES * steps_a_pass), 200)
    peak_rate = float(f"{(d_model * _ADAPTING_RATE_STEPS) ** -0.5:.1e}")
    settings = (
        f"train.batch_tokens={batch_tokens}",
        f"train.max_steps={max_steps}",
        f"train.warmup_steps={max(max_steps // 10, 1)}",
        f"train.peak_rate={peak_rate}",
        "train.cooldown_share=0.5",
        f"train.validation_interval_steps={min(max(max_steps // 10, 1), 1_000)}",
    )
    return settings, f"{max_steps:,} steps of {batch_tokens:,} tokens at a rate of at most {peak_rate:.1e}"


def recipe_text(name: str) -> str:
    """Return the TOML of one of ``RECIPE_NAMES``."""
    folder = resources.files("dragoman.config") / "recipes"
    return (folder / f"{name}.toml").read_text(encoding="utf-8")


def _steps(wanted: int, fewest: int) -> int:
    """Return a number of steps in hundreds, within the bounds."""
    return min(max(-(-wanted // 100) * 100, fewest), _MOST_STEPS)
