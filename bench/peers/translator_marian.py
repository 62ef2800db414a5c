"""Hugging Face: MarianMT with the same weights, and ``generate``."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file
from torch import Tensor

from peers.translation_job import END, UNKNOWN, Job, Translate


def make(folder: Path, job: Job) -> tuple[str, Translate]:
    """Read the model; return the version and what translates, sources of like length together."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model"]
    model = converted(config, load_file(folder / "model.safetensors"))
    padding = config["vocabulary_size"] - 1

    @torch.inference_mode()
    def translate(sources: list[list[int]]) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in sources]
        order = sorted(range(len(sources)), key=lambda place: len(sources[place]))
        for start in range(0, len(order), job.batch_size):
            places = order[start : start + job.batch_size]
            longest = len(sources[places[-1]])
            ids = torch.tensor([sources[i] + [padding] * (longest - len(sources[i])) for i in places])
            outputs = model.generate(
                ids,
                attention_mask=(ids != padding).long(),
                num_beams=job.beam_size,
                max_new_tokens=job.fixed_length or longest + job.extra_length,
                min_new_tokens=job.fixed_length,
                length_penalty=job.length_penalty,
                do_sample=False,
            )
            for place, output in zip(places, outputs.tolist(), strict=True):
                found[place] = written(output[1:])
        return found

    return transformers.__version__, translate


def written(output: list[int]) -> list[int]:
    """Return the pieces before the end."""
    return output[: output.index(END)] if END in output else output


def converted(config: dict[str, Any], weights: dict[str, Tensor]) -> Any:
    """Return the model in the class of Hugging Face.

    Its sines stand left of its cosines, where here they take turns; so all that has a model's width is
    put into that order.
    """
    size, width = config["vocabulary_size"], config["d_model"]
    padding, turned = size - 1, torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    embedding = weights["embedding.weight_VD"][:, turned].clone()
    embedding[padding] = 0.0
    state = {
        f"model.{name}.weight": embedding
        for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens")
    }
    state["lm_head.weight"], state["final_logits_bias"] = embedding, torch.zeros(1, size)
    state["final_logits_bias"][0, [UNKNOWN, padding]] = -1e9

    def linear(theirs: str, ours: str, *, reads: bool = True, writes: bool = False) -> None:
        weight = weights[f"{ours}.weight"]
        bias = weights.get(f"{ours}.bias", torch.zeros(len(weight)))
        weight = weight[:, turned] if reads else weight
        state[f"{theirs}.weight"], state[f"{theirs}.bias"] = (
            (weight[turned], bias[turned]) if writes else (weight, bias)
        )

    def sublayer(theirs: str, norm: str, ours: str, residual: str) -> None:
        for their_part, part in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
            linear(f"{theirs}.{their_part}", f"{ours}.{part}")
        linear(f"{theirs}.out_proj", f"{ours}.output", reads=False, writes=True)
        scaled(norm, residual)

    def scaled(norm: str, residual: str) -> None:
        for part in ("weight", "bias"):
            state[f"{norm}.{part}"] = weights[f"{residual}.norm.{part}"][turned]

    for stack, own in (("encoder", "attention"), ("decoder", "self_attention")):
        for number in range(config[f"num_{stack}_layers"]):
            theirs, ours = f"model.{stack}.layers.{number}", f"{stack}.{number}"
            residual = f"{ours}.{own.removesuffix('_attention')}_residual"
            sublayer(f"{theirs}.self_attn", f"{theirs}.self_attn_layer_norm", f"{ours}.{own}", residual)
            if stack == "decoder":
                norm, cross = f"{theirs}.encoder_attn_layer_norm", f"{ours}.cross_attention"
                sublayer(f"{theirs}.encoder_attn", norm, cross, f"{ours}.cross_residual")
            linear(f"{theirs}.fc1", f"{ours}.feed_forward.inner")
            linear(f"{theirs}.fc2", f"{ours}.feed_forward.outer", reads=False, writes=True)
            scaled(f"{theirs}.final_layer_norm", f"{ours}.feed_forward_residual")
    model = transformers.MarianMTModel(configuration(config)).eval()
    missing = model.load_state_dict(state, strict=False)
    if missing.unexpected_keys or any("embed_positions" not in name for name in missing.missing_keys):
        raise ValueError(f"weights do not fit: {missing}")
    return model


def configuration(config: dict[str, Any]) -> Any:
    """Return the sizes of the model in the terms of Hugging Face."""
    sides = {
        f"{side}_{key}": config[own.format(side=side)]
        for side in ("encoder", "decoder")
        for key, own in (
            ("layers", "num_{side}_layers"),
            ("attention_heads", "num_heads"),
            ("ffn_dim", "d_ff"),
        )
    }
    padding = config["vocabulary_size"] - 1
    return transformers.MarianConfig(
        vocab_size=config["vocabulary_size"],
        d_model=config["d_model"],
        pad_token_id=padding,
        eos_token_id=END,
        decoder_start_token_id=padding,
        forced_eos_token_id=None,
        scale_embedding=True,
        activation_function="relu",
        **sides,
    )
