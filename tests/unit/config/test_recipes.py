"""Recipes and the choice among them."""

import pytest

from dragoman.config import RECIPE_NAMES, Config, ModelConfig, TrainConfig, choose_recipe, read_config

SIZES = [1, 2, 999, 19_999, 20_000, 30_000, 59_999, 60_000, 499_999, 500_000, 2_000_000, 4_500_000, 10**9]


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_recipe_is_valid(name: str) -> None:
    """Every recipe obeys every rule and widths divide among the heads as in the paper."""
    model = read_config(recipe=name, file=None, settings=[]).model

    assert model.num_heads * model.d_k == model.num_heads * model.d_v == model.d_model


def test_base_is_the_default() -> None:
    """The base recipe is the paper's base model and nothing else."""
    assert read_config(recipe="base", file=None, settings=[]) == Config()


def test_big_is_the_last_row_of_table_3() -> None:
    """The big recipe is the paper's: Table 3's last row, 300,000 steps, 20 checkpoints averaged."""
    config = read_config(recipe="big", file=None, settings=[])

    assert config == Config(
        model=ModelConfig(d_model=1_024, d_ff=4_096, num_heads=16, dropout=0.3),
        train=TrainConfig(max_steps=300_000, average_checkpoints=20),
    )


@pytest.mark.parametrize("num_pairs", SIZES)
def test_choice_is_valid_and_warms_up_in_time(num_pairs: int) -> None:
    """Whatever the size, the choice obeys every rule and the warm-up ends in the first quarter."""
    train = read_config(recipe=choose_recipe(num_pairs), file=None, settings=[]).train

    assert 4 * train.warmup_steps <= train.max_steps
    assert train.validation_interval_steps < train.max_steps


def test_choice_grows_with_the_corpus() -> None:
    """A larger corpus never gets a smaller recipe, a smaller vocabulary or more dropout."""
    configs = [read_config(recipe=choose_recipe(size), file=None, settings=[]) for size in SIZES]
    widths = [config.model.d_model for config in configs]
    pieces = [config.model.vocabulary_size for config in configs]
    dropouts = [config.model.dropout for config in configs]

    assert widths == sorted(widths)
    assert pieces == sorted(pieces)
    assert dropouts == sorted(dropouts, reverse=True)


@pytest.mark.parametrize("num_pairs", SIZES)
def test_reasons_tell_the_truth(num_pairs: int) -> None:
    """The three reasons name the recipe and the numbers that the configuration then holds."""
    choice = choose_recipe(num_pairs)
    config = read_config(recipe=choice, file=None, settings=[])
    model, vocabulary, length = choice.reasons

    assert f"{num_pairs:,} pair" in model
    assert (
        f"recipe {choice.name}, {config.model.num_encoder_layers} + {config.model.num_decoder_layers}"
        in model
    )
    assert model.endswith(f"layers of width {config.model.d_model}")
    assert f"{config.model.vocabulary_size:,} pieces and dropout {config.model.dropout}:" in vocabulary
    assert f"{config.train.max_steps:,} steps of {config.train.batch_tokens:,} tokens:" in length


def test_no_pairs_is_misuse() -> None:
    """An empty corpus is found before a recipe is chosen; asking anyway is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least 1 pair"):
        choose_recipe(0)
