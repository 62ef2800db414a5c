"""A model as it is trained: alone, copied to every rank, or cut into shards.

Letters of shapes: B sentences, S source positions, T target positions.
"""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from dragoman.config import TrainConfig
from dragoman.data import Batch
from dragoman.model import Transformer
from dragoman.train.loss import Loss, loss_sums
from dragoman.train.ranks import Ranks


class _LossSums(nn.Module):
    """The loss of a batch as a module, so that what wraps it sees its beginning and its end."""

    def __init__(self, model: Transformer, config: TrainConfig) -> None:
        super().__init__()
        self.model = model
        self._config = config

    def forward(self, source_BS: Tensor, input_BT: Tensor, target_BT: Tensor, num_tokens: int) -> Loss:
        """Return the sums over the target pieces of a batch."""
        batch = Batch(source_BS, input_BT, target_BT, num_tokens)
        smoothing, fast, r_drop = self._config.label_smoothing, self._config.fast, self._config.r_drop
        return loss_sums(self.model, batch, smoothing, fast=fast, r_drop=r_drop)


class Parallel:
    """One model on all ranks.

    With copies (DDP), every rank has all parameters, and gradients are summed while the last micro-batch
    goes backward. With shards (FSDP2, ``train.sharded``), every rank keeps its share of parameters,
    gradients and moments, and each layer is gathered when it is needed.

    Args:
        model: With the same parameters on every rank; it is changed into shards where that is asked for.
        config: Of the training.
        ranks: All processes.

    Attributes:
        model: Whose parameters are trained.
        shown: The model as rank 0 evaluates and saves it: the same one, or beside shards a whole copy.
        ranks: All processes.
    """

    def __init__(self, model: Transformer, config: TrainConfig, ranks: Ranks | None = None) -> None:
        self.model = model
        self.ranks = ranks or Ranks()
        self.is_sharded = config.sharded and self.ranks.size > 1
        self._loss: nn.Module = _LossSums(model, config)
        self.shown = copy.deepcopy(model) if self.is_sharded and self.ranks.is_first else model
        if self.is_sharded:
            _cut_into_shards(model, self._loss)
        elif self.ranks.size > 1:
            self._loss = DistributedDataParallel(self._loss, gradient_as_bucket_view=True)

    def loss(self, batch: Batch) -> Loss:
        """Return the loss of a micro-batch; without pairs it is 0 and takes part all the same."""
        sums: Loss = self._loss(batch.source_BS, batch.input_BT, batch.target_BT, batch.num_target_tokens)
        return sums

    @contextmanager
    def exchange(self, *, now: bool) -> Iterator[None]:
        """While it is entered, gradients are summed over the ranks, or kept for a later micro-batch."""
        if isinstance(self._loss, DistributedDataParallel) and not now:
            with self._loss.no_sync():
                yield
            return
        if self.is_sharded:
            self._loss.set_requires_gradient_sync(now)  # type: ignore[operator]
        yield

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """While it is entered, the model does not train and ``shown`` has its parameters."""
        self.model.eval()
        if self.is_sharded:
            tensors = self.whole(self.model.state_dict())
            if tensors:
                self.shown.load_state_dict(tensors)
        yield
        self.model.train()

    def whole(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return tensors without shards on rank 0, and nothing on others; every rank must ask.

        Put together from shards they lie in the processor's memory: never more than one is whole on a GPU.
        """
        found = {}
        for name, tensor in tensors.items():
            one = _whole(tensor)
            if self.ranks.is_first:
                found[name] = one.cpu() if self.is_sharded else one
        return found

    @torch.no_grad()
    def fill(self, mine: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
        """Put the tensors that rank 0 has into those of every rank.

        Args:
            mine: Tensors of the model or the optimizer by name, in the same order on every rank.
            tensors: What rank 0 puts there; of other ranks it is not looked at.
        """
        for name, tensor in mine.items():
            whole = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
            if self.ranks.is_first:
                whole.copy_(tensors[name])
            if self.is_sharded and hasattr(tensor, "placements"):
                from torch.distributed.tensor import distribute_tensor

                whole = distribute_tensor(whole, tensor.device_mesh, tensor.placements)  # type: ignore[attr-defined]
            elif self.ranks.size > 1:
                distributed.broadcast(whole, 0)
            tensor.copy_(whole)


def _cut_into_shards(model: Transformer, root: nn.Module) -> None:
    """Let every rank keep its share of each layer, and of the embeddings."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    device = model.output_weight_VD.device.type
    mesh = init_device_mesh(device, (distributed.get_world_size(),))
    for layer in (*model.encoder, *model.decoder):
        fully_shard(layer, mesh=mesh)
    fully_shard(root, mesh=mesh)


def _whole(tensor: Any) -> Tensor:
    """Return a tensor, put together if it is in shards."""
    whole: Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return whole
