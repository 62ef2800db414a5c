"""CTranslate2, with the same weights, written into its format."""

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file

from peers.translation_job import END, UNKNOWN, Job, Translate


def make(folder: Path, job: Job) -> tuple[str, Translate]:
    """Convert the model; return the version and what translates, two workers of one thread each."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model"]
    spec = specification(config, load_file(folder / "model.safetensors"))
    one_by_one = job.batch_size == 1
    with tempfile.TemporaryDirectory() as converted:
        spec.save(converted)
        if job.shortlist:
            write_shortlist(load_file(folder / "shortlist.safetensors"), Path(converted, "vmap.txt"))
        translator = ctranslate2.Translator(
            converted,
            device="cpu",
            compute_type=job.precision,
            inter_threads=1 if one_by_one else job.threads,
            intra_threads=1,
        )
    fixed: dict[str, int] = {}
    if job.fixed_length:
        fixed = {"max_decoding_length": job.fixed_length, "min_decoding_length": job.fixed_length}

    def translate(sources: list[list[int]]) -> list[list[int]]:
        words = [[word(token) for token in source] for source in sources]
        limit = max(map(len, sources)) + job.extra_length
        found = translator.translate_batch(
            words,
            beam_size=job.beam_size,
            length_penalty=job.length_penalty,
            use_vmap=job.shortlist,
            max_batch_size=0 if one_by_one else job.batch_size,
            **(fixed or {"max_decoding_length": limit}),
        )
        return [[token(piece) for piece in one.hypotheses[0]] for one in found]

    return ctranslate2.__version__, translate


def write_shortlist(lexicon: dict[str, Any], path: Path) -> None:
    """Write a line for each piece of a source, and one for those that may always come."""
    starts, targets, frequent = (lexicon[name].tolist() for name in ("starts", "targets", "frequent"))
    lines = [("", frequent)] + [
        (word(piece), targets[first:last])
        for piece, (first, last) in enumerate(pairwise(starts))
        if first < last
    ]
    text = "".join(f"{key}\t{' '.join(map(word, may_come))}\n" for key, may_come in lines)
    path.write_text(text, encoding="utf-8")


def word(token: int) -> str:
    return {END: "</s>", UNKNOWN: "<unk>"}.get(token, f"p{token}")


def token(word: str) -> int:
    return {"</s>": END, "<unk>": UNKNOWN}[word] if word[0] == "<" else int(word[1:])


def specification(config: dict[str, Any], weights: dict[str, Any]) -> transformer_spec.TransformerSpec:
    """Return the model in the classes of CTranslate2."""
    layers = (config["num_encoder_layers"], config["num_decoder_layers"])
    spec = transformer_spec.TransformerSpec.from_config(
        layers, config["num_heads"], pre_norm=False, activation=common_spec.Activation.RELU
    )

    def linear(part: Any, *names: str) -> None:
        part.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
        biases = [weights.get(f"{name}.bias") for name in names]
        part.bias = np.zeros(len(part.weight), np.float32) if biases[0] is None else np.concatenate(biases)

    def norm(part: Any, name: str) -> None:
        part.gamma, part.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    embedding = weights["embedding.weight_VD"]
    for stack, side, own in (
        ("encoder", spec.encoder, "attention"),
        ("decoder", spec.decoder, "self_attention"),
    ):
        embeddings = side.embeddings[0] if stack == "encoder" else side.embeddings
        embeddings.weight, side.scale_embeddings = embedding, True
        side.position_encodings.encodings = positions(1_024, config["d_model"])
        for number, layer in enumerate(side.layer):
            name = f"{stack}.{number}"
            attention = f"{name}.{own}"
            linear(
                layer.self_attention.linear[0], *(f"{attention}.{part}" for part in ("query", "key", "value"))
            )
            linear(layer.self_attention.linear[1], f"{attention}.output")
            norm(layer.self_attention.layer_norm, f"{name}.{own.removesuffix('_attention')}_residual.norm")
            if stack == "decoder":
                cross = f"{name}.cross_attention"
                linear(layer.attention.linear[0], f"{cross}.query")
                linear(layer.attention.linear[1], f"{cross}.key", f"{cross}.value")
                linear(layer.attention.linear[2], f"{cross}.output")
                norm(layer.attention.layer_norm, f"{name}.cross_residual.norm")
            linear(layer.ffn.linear_0, f"{name}.feed_forward.inner")
            linear(layer.ffn.linear_1, f"{name}.feed_forward.outer")
            norm(layer.ffn.layer_norm, f"{name}.feed_forward_residual.norm")
    spec.decoder.start_from_zero_embedding = True
    spec.decoder.projection.weight = embedding
    bias = np.zeros(len(embedding), np.float32)
    bias[UNKNOWN], bias[-1] = -1e9, -np.inf
    spec.decoder.projection.bias = bias
    words = [*map(word, range(len(embedding) - 1)), "<pad>"]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_bos, spec.config.add_source_eos = False, False
    spec.config.decoder_start_token = spec.config.bos_token = "<pad>"
    spec.config.eos_token, spec.config.unk_token = "</s>", "<unk>"
    spec.validate()
    spec.optimize()
    return spec


def positions(count: int, width: int) -> Any:
    angle = np.arange(count)[:, None] / 10_000.0 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(count, width).astype(np.float32)
