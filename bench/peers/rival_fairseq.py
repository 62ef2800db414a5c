"""fairseq: its Transformer, its label-smoothed criterion, and the step of its Trainer."""

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.trainer import Trainer

from peers.batches import Pairs, framed
from peers.rival import Rival
from peers.sizes import ADAM_BETAS, ADAM_EPSILON, DROPOUT, LABEL_SMOOTHING, LEARNING_RATE, Size

PADDING, END, NUM_SPECIALS = 1, 2, 4


def arguments(size: Size, folder: Path) -> list[str]:
    """Return its command line."""
    sides = [
        option
        for side in ("encoder", "decoder")
        for option in (
            f"--{side}-layers={size.num_layers}",
            f"--{side}-embed-dim={size.d_model}",
            f"--{side}-ffn-embed-dim={size.d_ff}",
            f"--{side}-attention-heads={size.num_heads}",
        )
    ]
    return [
        str(folder),
        "--cpu",
        "--bf16",
        "--task=translation",
        "--source-lang=en",
        "--target-lang=de",
        "--arch=transformer",
        *sides,
        "--share-all-embeddings",
        f"--dropout={DROPOUT}",
        "--criterion=label_smoothed_cross_entropy",
        f"--label-smoothing={LABEL_SMOOTHING}",
        "--optimizer=adam",
        f"--adam-betas={ADAM_BETAS}",
        f"--adam-eps={ADAM_EPSILON}",
        "--lr-scheduler=fixed",
        f"--lr={LEARNING_RATE}",
        f"--max-tokens={size.batch_tokens}",
    ]


def make(size: Size) -> Rival:
    """Build the model and its step."""
    folder = Path(tempfile.mkdtemp(prefix="fairseq-"))
    words = "".join(f"{i} 1\n" for i in range(size.vocabulary_size - NUM_SPECIALS))
    for language in ("en", "de"):
        (folder / f"dict.{language}.txt").write_text(words, encoding="utf-8")
    parser = options.get_training_parser()
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, arguments(size, folder)))
    config.common.tpu = False  # --bf16 implies --tpu in its command line, not in its Trainer
    task = tasks.setup_task(config.task)
    model, criterion = task.build_model(config.model), task.build_criterion(config.criterion)
    trainer = Trainer(config, task, model, criterion)

    def prepare(pairs: Pairs) -> dict[str, Any]:
        source_BS = torch.from_numpy(framed(pairs.source_BL, padding=PADDING, last=END))
        inputs = {
            "src_tokens": source_BS,
            "src_lengths": (source_BS != PADDING).sum(dim=1),
            "prev_output_tokens": torch.from_numpy(framed(pairs.target_BL, padding=PADDING, first=END)),
        }
        return {
            "id": torch.arange(len(source_BS)),
            "nsentences": len(source_BS),
            "ntokens": pairs.num_target_tokens,
            "net_input": inputs,
            "target": torch.from_numpy(framed(pairs.target_BL, padding=PADDING, last=END)),
        }

    def step(batch: dict[str, Any]) -> float:
        report = trainer.train_step([batch])
        return float(report["loss"]) * 0.6931471805599453  # fairseq reports bits

    return Rival(version("fairseq-fixed"), model, prepare, step)
