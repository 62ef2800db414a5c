"""Hugging Face: MarianMT of the same size and ``generate``; random weights of its own, so a fixed length."""

import json
from pathlib import Path

import torch
import transformers

from peers.translation_job import Job, Translate


def make(folder: Path, job: Job) -> tuple[str, Translate]:
    """Build the model; return the version and what translates."""
    if not job.fixed_length:
        raise ValueError("its weights are random: it is compared at a fixed length alone")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model"]
    size, padding = config["vocabulary_size"], config["vocabulary_size"] - 1
    sides = {
        f"{side}_{key}": config[own.format(side=side)]
        for side in ("encoder", "decoder")
        for key, own in (
            ("layers", "num_{side}_layers"),
            ("attention_heads", "num_heads"),
            ("ffn_dim", "d_ff"),
        )
    }
    model = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=size,
            d_model=config["d_model"],
            pad_token_id=padding,
            eos_token_id=0,
            decoder_start_token_id=padding,
            forced_eos_token_id=None,
            scale_embedding=True,
            activation_function="relu",
            **sides,
        )
    ).eval()

    @torch.inference_mode()
    def translate(sources: list[list[int]]) -> list[list[int]]:
        found: list[list[int]] = []
        ordered = sorted(sources, key=len)
        for start in range(0, len(ordered), job.batch_size):
            batch = ordered[start : start + job.batch_size]
            longest = max(map(len, batch))
            ids = torch.tensor([[*source, *[padding] * (longest - len(source))] for source in batch])
            outputs = model.generate(
                ids,
                attention_mask=(ids != padding).long(),
                num_beams=job.beam_size,
                max_new_tokens=job.fixed_length,
                min_new_tokens=job.fixed_length,
                do_sample=False,
            )
            found += outputs.tolist()
        return found

    return transformers.__version__, translate
