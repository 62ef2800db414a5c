"""Hugging Face's MarianMTModel with its Trainer's loss, optimizer and clipping.

The Trainer's label smoothing needs the decoder's inputs, which its data collator makes from the labels.
"""

import torch
import transformers
from torch import Tensor
from transformers import MarianConfig, MarianMTModel
from transformers.trainer_pt_utils import LabelSmoother

from peers.batches import Pairs, framed
from peers.rival import Rival
from peers.sizes import ADAM_BETAS, ADAM_EPSILON, DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

END, IGNORED = 0, -100


def configuration(size: Size) -> MarianConfig:
    """Return the model's sizes; what is not named here is Hugging Face's default."""
    padding = size.vocabulary_size - 1
    return MarianConfig(
        vocab_size=size.vocabulary_size,
        max_position_embeddings=512,
        d_model=size.d_model,
        encoder_layers=size.num_layers,
        decoder_layers=size.num_layers,
        encoder_ffn_dim=size.d_ff,
        decoder_ffn_dim=size.d_ff,
        encoder_attention_heads=size.num_heads,
        decoder_attention_heads=size.num_heads,
        activation_function="relu",
        dropout=DROPOUT,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        use_cache=False,
        pad_token_id=padding,
        eos_token_id=END,
        decoder_start_token_id=padding,
        forced_eos_token_id=None,
    )


def make(size: Size) -> Rival:
    """Build the model and its step."""
    model = MarianMTModel(configuration(size)).train()
    padding = size.vocabulary_size - 1
    smooth = LabelSmoother(epsilon=LABEL_SMOOTHING, ignore_index=IGNORED)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=ADAM_BETAS, eps=ADAM_EPSILON, weight_decay=0.0, fused=True
    )

    def prepare(pairs: Pairs) -> dict[str, Tensor]:
        source_BS = torch.from_numpy(framed(pairs.source_BL, padding=padding, last=END))
        labels_BT = torch.from_numpy(framed(pairs.target_BL, padding=IGNORED, last=END))
        return {
            "input_ids": source_BS,
            "attention_mask": (source_BS != padding).long(),
            "labels": labels_BT,
            "decoder_input_ids": model.prepare_decoder_input_ids_from_labels(labels=labels_BT),
        }

    def step(batch: dict[str, Tensor]) -> float:
        labels_BT = batch["labels"]
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        with torch.autocast("cpu", torch.bfloat16):
            logit_BTV = model(**inputs).logits
        loss = smooth({"logits": logit_BTV.float()}, labels_BT)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        model.zero_grad(set_to_none=True)
        return float(loss.detach())

    return Rival(transformers.__version__, model, prepare, step)
