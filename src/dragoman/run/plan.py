"""What a run is going to take, before its first step."""

import torch

from dragoman.config import Config
from dragoman.data import EncodedCorpus
from dragoman.model import Transformer
from dragoman.model.arithmetic import num_parameters
from dragoman.run.device import describe_device
from dragoman.run.reporter import Plan
from dragoman.train.loop import flops_of, plan_of


def make_plan(
    model: Transformer, corpus: EncodedCorpus, config: Config, device: torch.device, num_steps_done: int
) -> Plan:
    """Return what training this model on this corpus will take, of which some steps may be made already."""
    settings = config.train
    plan = plan_of(corpus, settings, epoch=0)
    micro_batches = [part for step in plan for part in step]
    positions = sum(rows * (source + target) for rows, source, target in corpus.shapes(micro_batches))
    flops = flops_of(micro_batches, corpus, config.model, config.train)
    size = num_parameters(model)
    return Plan(
        num_parameters=size,
        vocabulary_size=config.model.vocabulary_size,
        num_training_pairs=len(corpus),
        unit="tree" if config.data.task == "parsing" else "pair",
        num_steps=settings.max_steps,
        num_steps_done=num_steps_done,
        steps_per_epoch=len(plan),
        padding_share=1 - int(corpus.lengths.sum()) / positions,
        num_validations=-(-settings.max_steps // settings.validation_interval_steps)
        - num_steps_done // settings.validation_interval_steps,
        max_minutes=settings.max_minutes,
        micro_batch_tokens=settings.positions_at_once,
        device=describe_device(device),
        precision=settings.precision,
        optimizer_bytes=settings.bytes_per_parameter * size,
        step_flops=flops / len(plan),
    )
