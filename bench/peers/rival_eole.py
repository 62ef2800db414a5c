"""eole: its model, and its Trainer with its own loss, optimizer and mixed precision.

Its decoder knows the norm before each sub-layer only, so both sides have it there; the work is the same but
for one more norm at the end of each stack.
"""

from importlib.metadata import version
from typing import Any

import pyonmttok
import torch
from eole.config.run import TrainConfig
from eole.models.model import get_model_class
from eole.trainer import Trainer, TrainerConfig
from eole.utils import Statistics
from eole.utils.loss import LossCompute
from eole.utils.optimizers import Optimizer

from peers.batches import Pairs, framed
from peers.rival import Rival
from peers.sizes import ADAM_BETAS, ADAM_EPSILON, DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

SPECIALS = {"unk_token": "<unk>", "pad_token": "<blank>", "bos_token": "<s>", "eos_token": "</s>"}


def configuration(size: Size) -> TrainConfig:
    """Return what its YAML file would hold; what is not named here is eole's default."""
    return TrainConfig(
        src_vocab="none",
        share_vocab=True,
        data={},
        model={
            "architecture": "transformer",
            "layers": size.num_layers,
            "hidden_size": size.d_model,
            "word_vec_size": size.d_model,
            "heads": size.num_heads,
            "transformer_ff": size.d_ff,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {"position_encoding_type": "SinusoidalInterleaved"},
        },
        training={
            "compute_dtype": "bf16",
            "world_size": 0,
            "gpu_ranks": [],
            "dropout": [DROPOUT],
            "attention_dropout": [0.0],
            "label_smoothing": LABEL_SMOOTHING,
            "optim": "adam",
            "adam_beta1": ADAM_BETAS[0],
            "adam_beta2": ADAM_BETAS[1],
            "adam_eps": ADAM_EPSILON,
            "learning_rate": LEARNING_RATE,
            "normalization": "tokens",
            "max_grad_norm": 0.0,
            "param_init_method": "xavier_uniform",
            "log_attention_entropy": False,
        },
    )


def make_vocabularies(size: Size) -> dict[str, Any]:
    """Return its vocabularies: the special words, then numbers."""
    words = [str(i) for i in range(size.vocabulary_size - len(SPECIALS))]
    vocabulary = pyonmttok.build_vocab_from_tokens(words, special_tokens=list(SPECIALS.values()))
    return {"src": vocabulary, "tgt": vocabulary, "specials": SPECIALS, "decoder_start_token": "<s>"}


def make_trainer(config: TrainConfig, model: Any, vocabularies: dict[str, Any]) -> Trainer:
    """Return its Trainer as its ``build_trainer`` makes it for one processor."""
    loss = LossCompute.from_config(config, model, vocabularies)
    return Trainer(
        model=model,
        train_loss=loss,
        valid_loss=loss,
        scoring_preparator=None,
        valid_scorers={},
        optim=Optimizer.from_config(model, config),
        config=TrainerConfig(
            norm_method="tokens", n_gpu=0, gpu_rank=-1, dropout=[DROPOUT], attention_dropout=[0.0]
        ),
    )


def make(size: Size) -> Rival:
    """Build the model and its step."""
    config, vocabularies = configuration(size), make_vocabularies(size)
    model = get_model_class(config.model).for_training(
        config.model, vocabularies, config.training, device_id=-1
    )
    trainer = make_trainer(config, model, vocabularies)
    padding, start, end = (vocabularies["tgt"][SPECIALS[f"{name}_token"]] for name in ("pad", "bos", "eos"))

    def prepare(pairs: Pairs) -> dict[str, Any]:
        source_BS = torch.from_numpy(framed(pairs.source_BL, padding=padding, last=end))
        return {
            "src": source_BS,
            "srclen": (source_BS != padding).sum(dim=1),
            "tgt": torch.from_numpy(framed(pairs.target_BL, padding=padding, first=start, last=end)),
            "images": None,
            "prefix_len": None,
            "cid": ["pairs"] * len(source_BS),
            "cid_line_number": list(range(len(source_BS))),
            "num_target_tokens": pairs.num_target_tokens,
        }

    def step(batch: dict[str, Any]) -> float:
        statistics = Statistics()
        trainer._train_step([batch], batch["num_target_tokens"], Statistics(), statistics)
        return float(statistics.loss / statistics.n_tokens)

    return Rival(version("eole"), model, prepare, step)
