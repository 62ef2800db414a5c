"""Table 1: what each type of layer costs, counted and measured, and how far it reaches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from dragoman.reproduce.findings import Finding, Piece, Table
from dragoman.reproduce.layers import (
    KERNEL,
    LAYER_TYPES,
    RADIUS,
    Convolution,
    LayerType,
    Recurrence,
    restricted_self_attention,
    self_attention,
)
from dragoman.reproduce.measures import (
    counted_flops,
    crossing,
    exponent,
    kept_bytes,
    median_seconds,
    path_length,
    recurrent_steps,
    sequential_operations,
)
from dragoman.reproduce.request import Request
from dragoman.visualize.charts import Line, line_chart

_NEAR = 0.15
"""Counted exponents may be off by so much: terms that a large n or d outgrows are still there."""

_WIDTH_OF_PATHS = 8


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Where layers are measured."""

    lengths: Sequence[int]
    """n, for the width ``width``."""
    width: int
    widths: Sequence[int]
    """d, for the length ``length``."""
    length: int
    path_lengths: Sequence[int]


SIZES = {
    "laptop": Sizes(
        lengths=(64, 128, 256, 512, 1024, 2048),
        width=256,
        widths=(64, 128, 256, 512, 1024),
        length=256,
        path_lengths=(17, 33, 65, 129),
    ),
    "small": Sizes(
        lengths=(128, 256, 512, 1024, 2048, 4096),
        width=512,
        widths=(64, 128, 256, 512, 1024, 2048),
        length=512,
        path_lengths=(17, 33, 65, 129, 257),
    ),
    "full": Sizes(
        lengths=(128, 256, 512, 1024, 2048, 4096, 8192),
        width=512,
        widths=(64, 128, 256, 512, 1024, 2048, 4096),
        length=512,
        path_lengths=(17, 33, 65, 129, 257, 513),
    ),
    "tiny": Sizes(
        lengths=(32, 64, 128, 256), width=64, widths=(32, 64, 128), length=64, path_lengths=(9, 17, 33)
    ),
}


@dataclass(frozen=True)
class _Growth:
    """One layer type over n or over d."""

    sizes: Sequence[int]
    flops: list[float]
    seconds: list[float]
    kept: list[float]
    depth: list[float]


def repeat_table1(request: Request) -> Piece:
    """Measure every row of Table 1.

    Source: Vaswani et al. (2017), §4 and Table 1.
    """
    sizes = SIZES[request.scale]
    over_n, over_d = {}, {}
    for kind in LAYER_TYPES:
        request.told(f"measuring {kind.name}")
        over_n[kind.name] = _grow(kind, [(n, sizes.width) for n in sizes.lengths], sizes.lengths)
        over_d[kind.name] = _grow(kind, [(sizes.length, d) for d in sizes.widths], sizes.widths)
    request.told("measuring path lengths")
    paths = _paths(sizes.path_lengths)
    findings = [finding for kind in LAYER_TYPES for finding in _growth_findings(kind, over_n, over_d)]
    findings += _path_findings(sizes.path_lengths, paths)
    findings += _crossing_findings(sizes, over_n)
    return Piece(
        title="Table 1: complexity, sequential operations and path length of layer types",
        text=[
            f"Each layer mixes the positions of one sequence of n positions and d columns, in float32 on the "
            f"processor, without projections that all types could have. k = {KERNEL}, r = {RADIUS}. "
            "Operations are those of matrix products and convolutions, two for a multiply-add; seconds are "
            "medians of five calls forward; memory is what is kept for the backward pass; sequential "
            "operations are the longest chain of operations that wait for each other.",
            "Exponents are fitted by least squares of logarithms over the upper half of the sizes, since "
            "Table 1 says what large ones grow with. Seconds hold the cost of starting operations too, which "
            "no formula counts: a recurrence starts n of them.",
        ],
        findings=findings,
        tables=[
            _growth_table("over_n", f"Over n, with d = {sizes.width}", "n", over_n),
            _growth_table("over_d", f"Over d, with n = {sizes.length}", "d", over_d),
            _exponent_table(over_n, over_d),
            Table(
                name="paths",
                title="Longest path: layers, or steps of a recurrence, from the first position to the last",
                heads=["layer", *(f"n = {length}" for length in sizes.path_lengths)],
                rows=[[name, *found] for name, found in paths.items()],
            ),
        ],
        charts=[
            *(
                _chart(f"{what} over {size}", f"log2 {size}", growths, pick)
                for what, pick in (("Operations", "flops"), ("Seconds", "seconds"), ("Bytes kept", "kept"))
                for size, growths in (("n", over_n), ("d", over_d))
            ),
        ],
    )


def _grow(kind: LayerType, shapes: Sequence[tuple[int, int]], sizes: Sequence[int]) -> _Growth:
    flops, seconds, kept, depth = [], [], [], []
    for length, width in shapes:
        generator = torch.Generator().manual_seed(1)
        layer = kind.make(width, generator)
        x_TD = torch.randn(length, width, generator=generator)
        mix = partial(layer, x_TD)
        flops.append(float(counted_flops(mix)))
        kept.append(float(kept_bytes(layer, x_TD)))
        depth.append(float(sequential_operations(layer(x_TD.clone().requires_grad_()))))
        with torch.inference_mode():
            seconds.append(median_seconds(mix))
    return _Growth(sizes, flops, seconds, kept, depth)


def _fit(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the exponent over the upper half of the sizes."""
    half = len(sizes) // 2
    return exponent(
        sizes[half:] if len(sizes) - half > 1 else sizes, values[half:] if len(sizes) - half > 1 else values
    )


def _growth_findings(
    kind: LayerType, over_n: dict[str, _Growth], over_d: dict[str, _Growth]
) -> list[Finding]:
    n, d = over_n[kind.name], over_d[kind.name]
    of_n, of_d = _fit(n.sizes, n.flops), _fit(d.sizes, d.flops)
    agrees = abs(of_n - kind.n_exponent) <= _NEAR and abs(of_d - kind.d_exponent) <= _NEAR
    chain = _fit(n.sizes, n.depth)
    wanted = 1.0 if kind.name == "recurrence" else 0.0
    return [
        Finding(
            f"a layer of {kind.name} costs {kind.complexity}",
            f"operations grow with n^{of_n:.2f} and d^{of_d:.2f}; "
            f"seconds with n^{_fit(n.sizes, n.seconds):.2f} and d^{_fit(d.sizes, d.seconds):.2f}",
            agrees,
        ),
        Finding(
            f"{kind.name} needs {'n' if wanted else 'a constant number of'} sequential operations",
            f"the longest chain grows with n^{chain:.2f}, to {n.depth[-1]:,.0f} at n = {n.sizes[-1]:,}",
            abs(chain - wanted) <= _NEAR,
        ),
    ]


def _paths(lengths: Sequence[int]) -> dict[str, list[int]]:
    """Return the path length of each type at each length; float64 is used, where no gradient vanishes."""
    generator = torch.Generator().manual_seed(1)
    width = _WIDTH_OF_PATHS
    recurrence = Recurrence(width, generator, torch.float64)
    contiguous = Convolution(width, KERNEL, generator, dtype=torch.float64)
    separable = Convolution(width, KERNEL, generator, separable=True, dtype=torch.float64)
    dilated = [
        Convolution(width, KERNEL, generator, dilation=KERNEL**i, dtype=torch.float64) for i in range(9)
    ]
    radius = 8
    return {
        "self-attention": [path_length(lambda _: self_attention, n, width) for n in lengths],
        "recurrence": [recurrent_steps(recurrence, n, width) for n in lengths],
        f"convolution, k = {KERNEL}": [path_length(lambda _: contiguous, n, width) for n in lengths],
        f"separable convolution, k = {KERNEL}": [path_length(lambda _: separable, n, width) for n in lengths],
        f"dilated convolution, k = {KERNEL}": [path_length(dilated.__getitem__, n, width) for n in lengths],
        f"restricted self-attention, r = {radius}": [
            path_length(lambda _: lambda x: restricted_self_attention(x, radius), n, width) for n in lengths
        ],
    }


def _path_findings(lengths: Sequence[int], paths: dict[str, list[int]]) -> list[Finding]:
    attention, recurrence, contiguous, separable, dilated, restricted = paths.values()
    n = lengths[-1]
    return [
        Finding(
            "the longest path of self-attention is 1",
            f"the gradient reaches the first of {n} positions from the last in {max(attention)} layer",
            set(attention) == {1},
        ),
        Finding(
            "that of a recurrence is n",
            f"{recurrence[-1]} steps join {n} positions, one between neighbors",
            recurrence == [length - 1 for length in lengths],
        ),
        Finding(
            "that of a convolution, separable or not, is n / k, or log_k n where it is dilated",
            f"{contiguous[-1]} layers join {n} positions, {dilated[-1]} if each layer is dilated by k times "
            "the one before",
            contiguous == separable == [-(-(length - 1) // (KERNEL - 1)) for length in lengths]
            and dilated == [math.ceil(math.log(length, KERNEL)) for length in lengths],
        ),
        Finding(
            "that of restricted self-attention is n / r",
            f"{restricted[-1]} layers join {n} positions",
            restricted == [-(-(length - 1) // 8) for length in lengths],
        ),
    ]


def _crossing_findings(sizes: Sizes, over_n: dict[str, _Growth]) -> list[Finding]:
    attention, recurrence = over_n["self-attention"], over_n["recurrence"]
    counted = crossing(sizes.lengths, attention.flops, recurrence.flops)
    timed = crossing(sizes.lengths, attention.seconds, recurrence.seconds)
    where = f"n = {timed:,.0f}" if timed else f"no n up to {sizes.lengths[-1]:,}, as it starts n operations"
    return [
        Finding(
            "self-attention is cheaper than recurrence while n < d",
            f"with d = {sizes.width} both count the same operations at "
            f"{f'n = {counted:,.0f}' if counted else 'no n that was tried'}; their times cross at {where}",
            counted is not None and 0.8 <= counted / sizes.width <= 1.25,
        )
    ]


def _growth_table(name: str, title: str, size_name: str, growths: dict[str, _Growth]) -> Table:
    return Table(
        name=name,
        title=title,
        heads=["layer", size_name, "operations", "seconds", "bytes kept", "sequential operations"],
        rows=[
            [kind, size, flops, seconds, int(kept), int(depth)]
            for kind, one in growths.items()
            for size, flops, seconds, kept, depth in zip(
                one.sizes, one.flops, one.seconds, one.kept, one.depth, strict=True
            )
        ],
    )


def _exponent_table(over_n: dict[str, _Growth], over_d: dict[str, _Growth]) -> Table:
    return Table(
        name="exponents",
        title="Fitted exponents beside Table 1",
        heads=[
            "layer",
            "Table 1",
            "longest path",
            "operations: n",
            "d",
            "seconds: n",
            "d",
            "bytes kept: n",
            "d",
        ],
        rows=[
            [
                kind.name,
                kind.complexity,
                kind.path,
                *(
                    round(_fit(growth.sizes, values), 2)
                    for pick in ("flops", "seconds", "kept")
                    for growth in (over_n[kind.name], over_d[kind.name])
                    for values in (getattr(growth, pick),)
                ),
            ]
            for kind in LAYER_TYPES
        ],
    )


def _chart(title: str, x_name: str, growths: dict[str, _Growth], pick: str) -> str:
    lines = [
        Line(name, [(math.log2(x), math.log2(y)) for x, y in zip(one.sizes, getattr(one, pick), strict=True)])
        for name, one in growths.items()
    ]
    return line_chart(f"{title}, logarithms to base 2", lines, x_name=x_name)
