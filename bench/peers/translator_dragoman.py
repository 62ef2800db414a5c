"""dragoman: the native engine, or the model in PyTorch where ``precision`` says so."""

import json
from functools import partial
from pathlib import Path

from dragoman import __version__
from dragoman.config import ModelConfig, SearchConfig
from dragoman.engine import PRECISIONS, Engine
from dragoman.model_files import SHORTLIST
from dragoman.run.allocator import keep_freed_memory
from dragoman.searchers import in_order
from dragoman.text.lexicon import Lexicon
from peers.translation_job import END, UNKNOWN, Job, Translate


def make(folder: Path, job: Job) -> tuple[str, Translate]:
    """Read the model; return the version and what translates."""
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model_config = ModelConfig(**about["model"])
    impossible = [UNKNOWN, *([END] if job.fixed_length else [])]
    config = SearchConfig(
        beam_size=job.beam_size,
        length_penalty=job.length_penalty,
        batch_tokens=16 * job.batch_size + 16,
        shortlist=job.shortlist,
    )
    if job.precision.startswith("pytorch"):
        keep_freed_memory()
        searcher = _in_torch(folder, model_config, impossible, in_bytes=job.precision == "pytorch-int8")
    else:
        from safetensors.numpy import load_file

        weights = load_file(folder / "model.safetensors")
        [precision] = [one for one in PRECISIONS if one == job.precision]
        lexicon = partial(Lexicon.load, folder / SHORTLIST)
        searcher = Engine.of_weights(
            model_config, weights, precision, impossible, workers=job.threads, lexicon=lexicon
        )

    def translate(sources: list[list[int]]) -> list[list[int]]:
        limits = [job.fixed_length or len(source) + job.extra_length for source in sources]
        found = in_order(searcher.search_each(sources, limits, config, before_batch=lambda: None))
        return [list(hypotheses[0].tokens) for hypotheses in found]

    return __version__, translate


def _in_torch(folder: Path, config: ModelConfig, impossible: list[int], *, in_bytes: bool = False):  # type: ignore[no-untyped-def]
    from types import SimpleNamespace

    from safetensors.torch import load_file

    from dragoman.model import Transformer
    from dragoman.model_search import ModelSearch

    model = Transformer(config)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    bundle = SimpleNamespace(model=model.eval(), tokenizer=SimpleNamespace(impossible=impossible))
    return ModelSearch(bundle, in_bytes=in_bytes)  # type: ignore[arg-type]
