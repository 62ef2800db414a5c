"""Which of the two finds outputs: the native engine, or the model in torch."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from dragoman.config import Config, SearchConfig
from dragoman.device_name import check_device_name
from dragoman.engine import (
    HINT,
    PRECISIONS,
    Precision,
    engine_name,
    has_bfloat16,
    is_there,
    missing_notice,
    only_packed,
    read_engine,
)
from dragoman.errors import UsageError
from dragoman.hypothesis import Hypothesis
from dragoman.model_files import Outline
from dragoman.text import Tokenizer

if TYPE_CHECKING:
    from dragoman.bundle import Bundle

Item = TypeVar("Item")

MOST_THREADS = 1_024


class Searcher(Protocol):
    """Something that finds the outputs of sources: the model in torch, or the native engine."""

    def search_each(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        config: SearchConfig,
        *,
        before_batch: Callable[[], None],
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Yield the place of each source and its best outputs, best first, as soon as they are found.

        Args:
            sources: Ids of each, its end included.
            limits: Ids that each output may have, its end included.
            config: Settings of the search.
            before_batch: Called often; what it raises ends the search.
        """
        ...


def in_order(found: Iterable[tuple[int, Item]]) -> Iterator[Item]:
    """Yield what has places 0, 1, 2 and so on in this order, each as soon as those before it have come."""
    waiting: dict[int, Item] = {}
    following = 0
    for place, item in found:
        waiting[place] = item
        while following in waiting:
            yield waiting.pop(following)
            following += 1


class Model(Protocol):
    """What translating needs to know of a model: a ``Bundle``, or an ``Outline`` of one."""

    @property
    def config(self) -> Config:
        """All its keys."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Cuts texts into pieces."""


def load_searcher(
    folder: Path, *, device: str, precision: str, threads: int | None
) -> tuple[Model, Searcher]:
    """Return a model as far as translating needs it, and what finds outputs with its weights.

    The engine is taken on a processor, if it is there: then torch is not even imported. On a GPU and without
    the engine it is the model in torch.

    Args:
        folder: The model folder.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        precision: ``auto`` or one of ``PRECISIONS``.
        threads: Of the processor; left out, all that there are.

    Raises:
        BundleError: The folder does not hold a whole model.
        UsageError: There is no such device, it lacks the precision, or the number of threads is none.
    """
    chosen: Precision | None = next((one for one in PRECISIONS if one == precision), None)
    if chosen is None and precision != "auto":
        raise UsageError(
            f"--precision {precision}: must be one of auto, {', '.join(PRECISIONS)}",
            hint="leave it out for float32, the precision that the model was measured in",
        )
    check_device_name(device)
    if threads is not None and not (type(threads) is int and 1 <= threads <= MOST_THREADS):
        raise UsageError(
            f"--threads {threads}: must be a whole number of at least 1 and at most {MOST_THREADS:,}",
            hint="leave it out for all cores",
        )
    if _is_processor(device):
        if is_there():
            outline = Outline.read(folder)
            return outline, read_engine(outline, _of_engine(folder, chosen), threads or num_threads())
        if chosen == "bfloat16" or (chosen == "int8" and not _can_quantize()):
            raise UsageError(f"--precision {precision}: {missing_notice()}", hint=HINT)
        if (packed := only_packed(folder)) is not None:
            raise UsageError(
                f"{folder} holds weights packed for {packed} alone, and {missing_notice()}", hint=HINT
            )
    elif chosen not in (None, "float32"):
        raise UsageError(
            f"--precision {precision} is for processors", hint="leave it out, or add --device cpu"
        )
    import torch

    from dragoman.bundle import Bundle
    from dragoman.model_search import ModelSearch, choose_device

    if threads is not None:
        torch.set_num_threads(threads)
    bundle = Bundle.load(folder, choose_device(device))
    return bundle, ModelSearch(bundle, in_bytes=chosen == "int8")


def _of_engine(folder: Path, chosen: Precision | None) -> Precision:
    """Return what the engine computes in: what was chosen, or what the only weights are packed for."""
    packed = only_packed(folder)
    if packed is not None and chosen not in (None, packed):
        raise UsageError(
            f"--precision {chosen}: {folder} holds weights that are packed for {packed} alone",
            hint=f"add --precision {packed}, or copy model.safetensors into the folder",
        )
    precision = chosen or packed or "float32"
    if precision == "bfloat16" and not has_bfloat16():
        raise UsageError(
            f"--precision bfloat16: this processor has no instructions for it ({engine_name()})",
            hint="leave it out for float32, or take --precision int8, which every processor computes"
            if packed is None
            else "copy model.safetensors into the folder, or pack the weights for int8 where they lie",
        )
    return precision


def _can_quantize() -> bool:
    from dragoman.quantized import can_quantize

    return can_quantize()


def searcher_of(model: Model) -> Searcher:
    """Return what finds outputs with a ``Bundle``."""
    from dragoman.model_search import ModelSearch

    return ModelSearch(bundle_of(model))


def bundle_of(model: Model) -> "Bundle":
    """Return a model with its weights in torch, which an ``Outline`` reads."""
    from dragoman.bundle import Bundle

    if isinstance(model, Bundle):
        return model
    if not isinstance(model, Outline):
        raise TypeError(f"a Bundle or an Outline is needed, not {type(model).__name__}")
    return Bundle.load(model.folder)


def check_joins(other: Model, other_folder: Path, first: Model, folder: Path) -> None:
    """Refuse a model that cannot translate together with another one.

    Raises:
        UsageError: It has another tokenizer, or fewer positions.
    """
    if other.tokenizer.to_bytes() != first.tokenizer.to_bytes():
        raise UsageError(
            f"{other_folder} has another tokenizer than {folder}; models choose each piece together, so all "
            "must have the same pieces",
            hint="train them on the same files, and name the held-out ones: --seed 2 --dev FILE --test FILE",
        )
    if (least := _num_positions(other)) < _num_positions(first):
        raise UsageError(
            f"{other_folder} has {least:,} positions, fewer than {folder}",
            hint=f"name it first, so that its limit counts: {other_folder}",
        )


def _num_positions(model: Model) -> float:
    config = model.config.model
    return config.max_positions if config.positions in ("learned", "table") else math.inf


def num_threads() -> int:
    """Return how many threads to compute with: OMP_NUM_THREADS, or the cores that this process may use."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return min(int(given), MOST_THREADS)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def without_engine(device: str) -> str | None:
    """Return why a processor translates without the engine, and how to get it; None if it has it."""
    if not _is_processor(device) or is_there():
        return None
    return f"{missing_notice()}, so PyTorch translates, which is slower; {HINT}"


def _is_processor(device: str) -> bool:
    """Tell whether a device is a processor, without importing torch, which takes longer than to translate."""
    return device == "cpu" or (device == "auto" and not _may_have_gpu())


def _may_have_gpu() -> bool:
    return any(Path(path).exists() for path in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"))
