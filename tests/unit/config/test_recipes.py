"""Recipes and the choice among them."""

from dataclasses import replace

import pytest

from dragoman.config import (
    RECIPE_NAMES,
    Config,
    DataConfig,
    ModelConfig,
    SearchConfig,
    TrainConfig,
    choose_adaptation,
    choose_parsing_recipe,
    choose_recipe,
    read_config,
)

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


def test_parsing_is_the_model_of_section_6_3() -> None:
    """The recipe for parsing is the paper's, and the base model in all that §6.3 does not name.

    The paper chose its dropout on development data; Table 3 has d_k and d_v of 128 at this width.
    """
    config = read_config(recipe="parsing", file=None, settings=[])
    model = ModelConfig(
        vocabulary_size=16_000,
        num_encoder_layers=4,
        num_decoder_layers=4,
        d_model=1_024,
        d_k=128,
        d_v=128,
        dropout=config.model.dropout,
    )

    assert config == Config(
        model=model,
        data=DataConfig(task="parsing", max_length=512),
        search=SearchConfig(beam_size=21, length_penalty=0.3, extra_length=300),
    )


def test_the_small_parser_searches_as_the_paper_s() -> None:
    """It has the paper's depth, length penalty and limit; its beam is smaller, and it reads words."""
    small, paper = (read_config(recipe=name, file=None, settings=[]) for name in ("parsing-small", "parsing"))

    assert small.data == replace(paper.data, reads_words=True)
    assert small.model.num_encoder_layers == small.model.num_decoder_layers == 4
    assert small.model.d_model < paper.model.d_model
    assert small.search == SearchConfig(beam_size=4, length_penalty=0.3, extra_length=300)


@pytest.mark.parametrize(
    ("num_trees", "max_steps"), [(1, 500), (1_000, 1_500), (20_000, 8_000), (10**9, 100_000)]
)
def test_steps_suit_the_number_of_trees(num_trees: int, max_steps: int) -> None:
    """More trees are given more steps, within bounds, and the choice is parsing-small in all else."""
    config = read_config(recipe=choose_parsing_recipe(num_trees), file=None, settings=[])
    small = read_config(recipe="parsing-small", file=None, settings=[])

    assert config.train.max_steps == max_steps
    assert 4 * config.train.warmup_steps <= max_steps
    assert config.train.validation_interval_steps < max_steps
    assert (config.model, config.data, config.search) == (small.model, small.data, small.search)


@pytest.mark.parametrize("num_trees", SIZES)
def test_reasons_of_a_parser_tell_the_truth(num_trees: int) -> None:
    """The three reasons name the recipe and the numbers that the configuration then holds."""
    choice = choose_parsing_recipe(num_trees)
    config = read_config(recipe=choice, file=None, settings=[])
    shape, vocabulary, length = choice.reasons
    layers = f"{config.model.num_encoder_layers} + {config.model.num_decoder_layers} layers"

    assert choice.name == "parsing-small"
    assert f"{num_trees:,} tree" in shape
    assert shape.endswith(f"recipe parsing-small, {layers} of width {config.model.d_model}")
    assert f"{config.model.vocabulary_size:,} pieces and dropout {config.model.dropout}:" in vocabulary
    assert f"{config.train.max_steps:,} steps of {config.train.batch_tokens:,} tokens:" in length


@pytest.mark.parametrize("num_pairs", SIZES)
def test_choice_is_valid_and_warms_up_in_time(num_pairs: int) -> None:
    """Whatever the size, the choice obeys every rule and the warm-up ends in the first quarter."""
    train = read_config(recipe=choose_recipe(num_pairs), file=None, settings=[]).train

    assert 4 * train.warmup_steps <= train.max_steps
    assert train.validation_interval_steps < train.max_steps


@pytest.mark.parametrize("max_steps", [1, 7, 900, 3_000, 50_000])
def test_what_follows_the_steps_follows_those_that_were_asked_for(max_steps: int) -> None:
    """Warm-up and validations suit the number of steps, whoever chose it, and the reasons name it."""
    for choice in (choose_recipe(20_000, max_steps), choose_parsing_recipe(4_098, max_steps)):
        train = read_config(recipe=choice, file=None, settings=[]).train

        assert train.max_steps == max_steps
        assert 4 * train.warmup_steps <= max(max_steps, 4)
        assert choice.reasons[2].startswith(f"{max_steps:,} steps of ")
    settings, reason = choose_adaptation(20_000, Config(), max_steps)
    train = read_config(recipe=None, file=None, settings=settings).train

    assert (train.max_steps, train.warmup_steps) == (max_steps, max(max_steps // 10, 1))
    assert reason.startswith(f"{max_steps:,} steps of ")


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
    with pytest.raises(ValueError, match="at least 1 tree"):
        choose_parsing_recipe(0)
