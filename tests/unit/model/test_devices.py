"""A GPU computes what the processor computes."""

import copy

import pytest
import torch

from dragoman.config import TrainConfig
from dragoman.model import Transformer
from dragoman.train.loop import make_optimizer
from dragoman.train.step import train_step
from tiny_models import random_batch, tiny_config, tiny_model

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here")

SIZES = {"vocabulary_size": 1_000, "d_model": 256, "d_ff": 1_024, "num_heads": 4, "d_k": 64, "d_v": 64}


@pytest.mark.parametrize("fast", [True, False])
def test_logits_agree(fast: bool) -> None:
    """The logits of processor and GPU differ by at most 1e-4 in float32, padding in the batch or not."""
    torch.manual_seed(1)
    model = Transformer(tiny_config(**SIZES)).eval()
    model.use_fast_forms(fast)
    batch = random_batch([9, 40, 1], [30, 12, 7])
    with torch.inference_mode():
        expected_BTV = model(batch.source_BS, batch.input_BT)[..., : model.padding]
        there = batch.to(torch.device("cuda"))
        found_BTV = model.cuda()(there.source_BS, there.input_BT)[..., : model.padding].cpu()

    torch.testing.assert_close(found_BTV, expected_BTV, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("fast", [True, False])
def test_updates_agree(fast: bool, dtype: torch.dtype, tolerance: float) -> None:
    """A training step on either device gives the same loss and the same parameters."""
    here = tiny_model(dtype=dtype).train()
    there = copy.deepcopy(here).cuda()
    # A large epsilon, so that gradients that are zero but for rounding do not decide the direction.
    config = TrainConfig(precision="float32", fast=fast, adam_epsilon=1e-3)
    batch = random_batch([4, 9, 1], [6, 3, 8])
    losses = []
    for model in (here, there):
        model.use_fast_forms(fast)
        optimizer = make_optimizer(model, config)
        optimizer.param_groups[0]["lr"] = 0.01
        batches = [batch.to(model.output_weight_VD.device)]
        losses.append(train_step(model, batches, optimizer, config).loss)

    torch.testing.assert_close(there.cpu().state_dict(), here.state_dict(), rtol=0, atol=tolerance)
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
