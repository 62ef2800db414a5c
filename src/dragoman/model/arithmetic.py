"""What the model costs, counted: parameters and floating-point operations."""

from torch import nn

from dragoman.config import ModelConfig


def num_parameters(model: nn.Module) -> int:
    """Return the number of trained values; a tied tensor counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def count_parameters(config: ModelConfig) -> int:
    """Return about how many parameters a model will have, without making it; biases are left out."""
    attention = 2 * config.d_model * config.num_heads * (config.d_k + config.d_v)
    feed_forward = 2 * config.d_model * config.d_ff
    layers = config.num_encoder_layers * (attention + feed_forward)
    layers += config.num_decoder_layers * (2 * attention + feed_forward)
    tables = {"shared": 1, "target": 2, "separate": 3}[config.embeddings]
    return layers + tables * config.vocabulary_size * config.d_model


def forward_flops(config: ModelConfig, num_sentences: int, source_length: int, target_length: int) -> float:
    """Return the floating-point operations of reading sources and writing targets that are known.

    Only matrix products are counted, two operations for each multiply-add, padding included. Training
    takes three times as many: once forward, twice backward.

    Args:
        config: The model.
        num_sentences: Sentences in the batch.
        source_length: Positions of each source.
        target_length: Positions of each target.
    """
    heads_in = config.num_heads * (config.d_k + config.d_v)
    d_model, s, t = config.d_model, source_length, target_length
    feed_forward = 2 * d_model * config.d_ff
    encoder = s * (2 * d_model * heads_in + feed_forward) + s * s * heads_in
    decoder = t * (3 * d_model * heads_in + feed_forward) + (t * t + t * s) * heads_in
    decoder += s * d_model * heads_in
    output = t * d_model * config.vocabulary_size
    layers = config.num_encoder_layers * encoder + config.num_decoder_layers * decoder
    return 2.0 * num_sentences * (layers + output)
