"""Joey NMT: its model, its Batch, and the training step of its TrainManager.

Its command turns half precision off on a processor; here its autocast is given bfloat16, which it can do.
"""

import tempfile
from pathlib import Path
from typing import Any

import joeynmt
import torch
from joeynmt.batch import Batch
from joeynmt.config import parse_global_args
from joeynmt.model import build_model
from joeynmt.training import TrainManager
from joeynmt.vocabulary import Vocabulary

from peers.batches import Pairs, framed
from peers.rival import Rival
from peers.sizes import ADAM_BETAS, DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

PADDING, START, END, NUM_SPECIALS = 1, 2, 3, 4
AUTOCAST = {"device_type": "cpu", "enabled": True, "dtype": torch.bfloat16}


def layers(size: Size) -> dict[str, Any]:
    """Return one side of the model as its configuration files have it."""
    return {
        "type": "transformer",
        "num_layers": size.num_layers,
        "num_heads": size.num_heads,
        "embeddings": {"embedding_dim": size.d_model, "scale": True, "dropout": DROPOUT},
        "hidden_size": size.d_model,
        "ff_size": size.d_ff,
        "dropout": DROPOUT,
        "layer_norm": "post",
    }


def configuration(size: Size, folder: Path, **training: Any) -> dict[str, Any]:
    """Return what its YAML file would hold."""
    return {
        "name": "benchmark",
        "joeynmt_version": joeynmt.__version__,
        "model_dir": str(folder),
        "use_cuda": False,
        "data": {},
        "testing": {},
        "training": {
            "optimizer": "adam",
            "scheduling": "noam",
            "adam_betas": list(ADAM_BETAS),
            "learning_rate": LEARNING_RATE,
            "label_smoothing": LABEL_SMOOTHING,
            "normalization": "tokens",
            "batch_type": "token",
            "batch_size": size.batch_tokens,
        }
        | training,
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": layers(size),
            "decoder": layers(size),
        },
    }


def make(size: Size) -> Rival:
    """Build the model and its step."""
    folder = Path(tempfile.mkdtemp(prefix="joeynmt-"))
    configured = configuration(size, folder)
    args = parse_global_args(configured, mode="train")
    words = [str(i) for i in range(size.vocabulary_size - NUM_SPECIALS)]
    vocabulary = Vocabulary.__new__(Vocabulary)
    Vocabulary.__init__(vocabulary, words, configured["data"]["special_symbols"])
    model = build_model(args.model, vocabulary, vocabulary)
    model.loss_function = (args.train.loss, args.train.label_smoothing)
    device = torch.device("cpu")
    manager = TrainManager(0, model, folder, device, 0, 0, AUTOCAST, 1, args.train, args.test)
    manager.tb_writer.close()

    def prepare(pairs: Pairs) -> Batch:
        source_BS = framed(pairs.source_BL, padding=PADDING, last=END)
        target_BT = framed(pairs.target_BL, padding=PADDING, first=START, last=END)
        return Batch(
            src=torch.from_numpy(source_BS),
            src_length=torch.from_numpy((source_BS != PADDING).sum(axis=1)),
            src_prompt_mask=None,
            trg=torch.from_numpy(target_BT),
            trg_prompt_mask=None,
            indices=torch.arange(len(source_BS)),
            device=device,
            pad_index=PADDING,
            eos_index=END,
        )

    def step(batch: Batch) -> float:
        loss, _ = manager._train_step(batch)
        manager.optimizer.step()
        manager.model.zero_grad()
        return float(loss)

    return Rival(joeynmt.__version__, model, prepare, step)
