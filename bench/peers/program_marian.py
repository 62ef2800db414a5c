"""Hugging Face's Seq2SeqTrainer with MarianMTModel on Multi30k, with its data collator and shuffled batches.

usage: python -m peers.program_marian FOLDER SECONDS --report FILE

It knows batches of sentences only: as many as fill, on average, the positions that the others have.
"""

import json
import random
import tempfile
from typing import Any

import transformers
from torch import Tensor, nn
from transformers import (
    DataCollatorForSeq2Seq,
    MarianMTModel,
    MarianTokenizer,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from peers.events import Events, parse
from peers.rival_marian import configuration
from peers.sizes import LABEL_SMOOTHING, LEARNING_RATE, SMALL

Example = dict[str, list[int]]


def sentences_a_batch(examples: list[Example], positions: int) -> int:
    """Return how many sentences in random order take ``positions`` on the longer side, on average."""
    longest = [max(map(len, (example["input_ids"], example["labels"]))) for example in examples]
    random.Random(1).shuffle(longest)

    def mean_positions(size: int) -> float:
        cut = [longest[i : i + size] for i in range(0, len(longest) - size, size)]
        return size * sum(map(max, cut)) / len(cut)

    return max(size for size in range(8, 513, 4) if mean_positions(size) <= positions)


class TimedTrainer(Seq2SeqTrainer):
    """Its trainer, watched."""

    events: Events

    def training_step(self, model: nn.Module, inputs: dict[str, Any], *arguments: Any) -> Tensor:
        num_target_tokens = int((inputs["labels"] != -100).sum())
        loss: Tensor = super().training_step(model, inputs, *arguments)
        self.events.stepped(num_target_tokens)
        self.control.should_training_stop = self.events.are_over
        return loss


def main() -> None:
    options = parse()
    pieces = str(options.folder / "pieces.model")
    tokenizer = MarianTokenizer(pieces, pieces, str(options.folder / "pieces.json"))
    texts = [
        (options.folder / f"train.{language}").read_text(encoding="utf-8").split("\n")[:-1]
        for language in ("en", "de")
    ]
    encoded = tokenizer(texts[0], text_target=texts[1])
    examples = [{key: encoded[key][i] for key in ("input_ids", "labels")} for i in range(len(texts[0]))]
    model = MarianMTModel(configuration(SMALL))
    settings = Seq2SeqTrainingArguments(
        output_dir=tempfile.mkdtemp(),
        use_cpu=True,
        bf16=True,
        per_device_train_batch_size=sentences_a_batch(examples, SMALL.batch_tokens),
        label_smoothing_factor=LABEL_SMOOTHING,
        learning_rate=LEARNING_RATE,
        num_train_epochs=1_000,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    trainer = TimedTrainer(
        model, settings, train_dataset=examples, data_collator=DataCollatorForSeq2Seq(tokenizer, model)
    )
    trainer.events = Events(options.seconds)
    trainer.train()
    options.report.write_text(json.dumps(trainer.events.report(transformers.__version__)), encoding="utf-8")


main()
