"""Six checks that the model is the paper's: small experiments, each with a verdict."""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from dragoman.config import ModelConfig, TrainConfig
from dragoman.data import Batch, collate
from dragoman.model import Transformer
from dragoman.model.attention import MultiHeadAttention, scaled_dot_product_attention
from dragoman.reproduce import table1
from dragoman.reproduce.findings import Finding, Piece, Table
from dragoman.reproduce.layers import LAYER_TYPES
from dragoman.reproduce.measures import counted_flops
from dragoman.reproduce.request import Request
from dragoman.text.ids import END
from dragoman.train.loop import make_optimizer
from dragoman.train.schedule import learning_rate
from dragoman.train.step import train_step
from dragoman.visualize.charts import Line, line_chart


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is drawn and trained."""

    num_draws: int
    """Queries and keys of each d_k."""
    d_k: int
    """Of the two trainings."""
    num_steps: int
    """Of each training."""


SIZES = {
    "laptop": Sizes(num_draws=100_000, d_k=512, num_steps=400),
    "small": Sizes(num_draws=1_000_000, d_k=1_024, num_steps=1_000),
    "full": Sizes(num_draws=1_000_000, d_k=1_024, num_steps=2_000),
    "tiny": Sizes(num_draws=2_000, d_k=64, num_steps=4),
}

_D_K = (16, 32, 64, 128, 256, 512, 1_024)
_VOCABULARY = 32


def repeat_checks(request: Request) -> Piece:
    """Make the six checks."""
    sizes = SIZES[request.scale]
    request.told("checking shapes, cost and causality")
    findings = [_dimensions(), _cost_of_heads(), *_complexity(request), *_causality()]
    request.told("drawing queries and keys")
    variance = _variance_table(sizes.num_draws)
    findings += _variance_findings(variance)
    request.told("training with and without the scale")
    curves = {scaled: _training(sizes, scaled=scaled) for scaled in (True, False)}
    finding = _training_finding(sizes, curves)
    findings.append(finding._replace(agrees=None) if request.scale == "tiny" else finding)
    return Piece(
        title="Six checks of the paper's claims",
        text=[
            "Small experiments with the model of this program: its shapes, what heads cost, how cost grows, "
            "how far a layer reaches, that no position sees a later one, and why scores are divided by √d_k.",
            "The trainings copy random sequences with one layer each and one head of "
            f"d_k = {sizes.d_k}, from the same first weights; in one of them scores are not divided.",
        ],
        findings=findings,
        tables=[variance],
        charts=[_loss_chart(curves), _weight_chart(variance)],
    )


def _loss_chart(curves: dict[bool, list[float]]) -> str:
    names = {True: "divided by √d_k", False: "not divided"}
    lines = [Line(names[scaled], list(enumerate(losses, start=1))) for scaled, losses in curves.items()]
    return line_chart("Training loss with and without the scale", lines, x_name="step")


def _weight_chart(variance: Table) -> str:
    rows = _numbers(variance)
    lines = [
        Line(name, [(math.log2(row[0]), row[place]) for row in rows])
        for name, place in (("not divided", 3), ("divided", 4))
    ]
    return line_chart("Softmax of ten scores: greatest weight", lines, x_name="log2 d_k")


def _dimensions() -> Finding:
    generator = torch.Generator().manual_seed(1)
    wrong, tried = [], []
    for length, d_k, d_v in ((1, 4, 6), (7, 16, 8), (30, 64, 64), (128, 32, 512)):
        query, key = (torch.randn(1, 1, length, d_k, generator=generator) for _ in range(2))
        value = torch.randn(1, 1, length, d_v, generator=generator)
        mixed, weight = scaled_dot_product_attention(
            query, key, value, torch.ones(1, 1, length, length, dtype=torch.bool)
        )
        tried.append(f"n = {length}: {length} × {length} and {length} × {d_v}")
        sums = weight.sum(dim=-1)
        right = weight.shape[2:] == (length, length) and mixed.shape[2:] == (length, d_v)
        if not right or not torch.allclose(sums, torch.ones_like(sums), atol=1e-6):
            wrong.append(length)
    return Finding(
        "QKᵀ is n × n, the softmax is taken by row, and the output is n × d_v (§3.2.1)",
        f"{'; '.join(tried)}; rows sum to 1",
        not wrong,
    )


def _cost_of_heads() -> Finding:
    x_BQD = torch.zeros(1, 32, 512)
    visible = torch.ones(1, 1, 1, 32, dtype=torch.bool)
    counted = {}
    for heads in (1, 2, 4, 8, 16, 32):
        width = 512 // heads
        attention = MultiHeadAttention(ModelConfig(num_heads=heads, d_k=width, d_v=width))
        attention.fast = False
        counted[heads] = counted_flops(partial(attention, x_BQD, x_BQD, visible))
    spelled = ", ".join(f"h = {heads}: {flops:,}" for heads, flops in counted.items())
    return Finding(
        "h heads of width d_model / h cost about as much as one of width d_model (§3.2.2)",
        f"operations of a layer over 32 positions of width 512: {spelled}",
        len(set(counted.values())) == 1,
    )


def _complexity(request: Request) -> list[Finding]:
    """Return what the findings of Table 1 come to, in two."""
    piece = table1.repeat_table1(request)
    costs = piece.findings[: 2 * len(LAYER_TYPES)]
    *paths, meeting = piece.findings[len(costs) :]
    return [
        Finding(
            "self-attention, recurrence, convolution and restricted self-attention cost what Table 1 says",
            "; ".join(
                f"{kind.name}: {one.measured.partition(';')[0]}"
                for kind, one in zip(LAYER_TYPES, costs[::2], strict=True)
            ),
            all(one.agrees for one in costs),
        ),
        meeting,
        Finding(
            "any two positions are one layer of self-attention apart, and as many steps of a recurrence as "
            "they are positions apart (Table 1)",
            "; ".join(one.measured for one in paths),
            all(one.agrees for one in paths),
        ),
    ]


def _causality() -> list[Finding]:
    """Change the target after each position, and look whether anything before it moves by a single bit."""
    torch.manual_seed(1)
    config = ModelConfig(
        vocabulary_size=64,
        num_encoder_layers=2,
        num_decoder_layers=2,
        d_model=64,
        d_ff=128,
        num_heads=4,
        d_k=16,
        d_v=16,
    )
    model = Transformer(config).eval()
    source_BS = torch.randint(2, 60, (1, 9))
    input_BT = torch.randint(2, 60, (1, 12))
    input_BT[0, 0] = model.padding
    findings = []
    for fast in (False, True):
        model.use_fast_forms(fast)
        moved = []
        with torch.inference_mode():
            before = model(source_BS, input_BT)
            for position in range(1, input_BT.size(1)):
                changed_BT = input_BT.clone()
                changed_BT[0, position:] = (changed_BT[0, position:] + 7) % 60 + 2
                after = model(source_BS, changed_BT)
                if not torch.equal(after[:, :position], before[:, :position]):
                    moved.append(position)
        form = "fused attention" if fast else "the attention of Eq. 1"
        findings.append(
            Finding(
                f"no position sees a later one (§3.1), with {form}",
                f"pieces after each of {input_BT.size(1) - 1} positions were changed: outputs before moved "
                f"{f'at {len(moved)} of them' if moved else 'by no bit'}",
                not moved,
            )
        )
    return findings


def _variance_table(num_draws: int) -> Table:
    """Return for each d_k what becomes of q · k, of a softmax over ten of them, and of its gradient."""
    rows: list[list[str | int | float | None]] = []
    for d_k in _D_K:
        generator = torch.Generator().manual_seed(d_k)
        sums = [0.0, 0.0, 0.0]
        weights: dict[bool, list[Tensor]] = {True: [], False: []}
        left = num_draws
        while left > 0:
            number = min(left, 10_000)
            query = torch.randn(number // 10, 1, d_k, generator=generator)
            key = torch.randn(number // 10, 10, d_k, generator=generator)
            score = (query * key).sum(dim=-1)
            squares = (float(one.square().sum()) for one in (score, score / math.sqrt(d_k)))
            sums = [total + more for total, more in zip(sums, (*squares, score.numel()), strict=True)]
            for scaled in (True, False):
                weights[scaled].append((score / math.sqrt(d_k) if scaled else score).softmax(dim=-1))
            left -= number
        raw, divided = (torch.cat(weights[scaled]) for scaled in (False, True))
        variances = (sums[0] / sums[2], sums[1] / sums[2])
        greatest = (float(one.amax(dim=-1).mean()) for one in (raw, divided))
        slope = (float((one * (1 - one)).mean()) for one in (raw, divided))
        rows.append([d_k, *variances, *greatest, *slope])
    return Table(
        name="variance",
        title="q · k for components of mean 0 and variance 1, and the softmax of ten such scores",
        heads=[
            "d_k",
            "variance of q · k",
            "of q · k / √d_k",
            "greatest weight",
            "divided",
            "gradient of a weight by its score",
            "divided",
        ],
        rows=rows,
    )


def _variance_findings(table: Table) -> list[Finding]:
    numbers = _numbers(table)
    first, last = numbers[0], numbers[-1]
    return [
        Finding(
            "q · k has variance d_k, and 1 after the division (§3.2.1, footnote 4)",
            "; ".join(f"d_k = {row[0]:.0f}: {row[1]:,.1f} and {row[2]:.2f}" for row in numbers),
            all(abs(row[2] - 1) < 0.1 for row in numbers),
        ),
        Finding(
            "without the division the softmax of large d_k has extremely small gradients (§3.2.1)",
            f"the greatest of ten weights is {first[3]:.2f} at d_k = 16 and {last[3]:.2f} at 1,024, "
            f"the gradient of a weight by its score {first[5]:.4f} and {last[5]:.4f}; divided, "
            f"{last[4]:.2f} and {last[6]:.4f} at 1,024",
            last[3] > first[3] and last[5] < first[5] < first[6] * 1.01 and last[5] < last[6] / 2,
        ),
    ]


def _numbers(table: Table) -> list[list[float]]:
    return [[cell for cell in row if isinstance(cell, int | float)] for row in table.rows]


def _training(sizes: Sizes, *, scaled: bool) -> list[float]:
    """Return the loss of each step of learning to copy, in nats per piece."""
    torch.manual_seed(1)
    config = ModelConfig(
        vocabulary_size=_VOCABULARY,
        num_encoder_layers=1,
        num_decoder_layers=1,
        d_model=64,
        d_ff=128,
        num_heads=1,
        d_k=sizes.d_k,
        d_v=64,
        dropout=0.0,
    )
    model = Transformer(config)
    if not scaled:
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.query.register_forward_hook(_undo_division)
    train = TrainConfig(
        precision="float32", label_smoothing=0.0, warmup_steps=max(1, sizes.num_steps // 8), peak_rate=0.003
    )
    optimizer = make_optimizer(model, train)
    generator = torch.Generator().manual_seed(2)
    losses = []
    for step in range(1, sizes.num_steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, train, config.d_model)
        losses.append(train_step(model, [_copying(generator)], optimizer, train).plain_loss)
    return losses


def _undo_division(_module: torch.nn.Module, _: tuple[Tensor, ...], query: Tensor) -> Tensor:
    """Multiply queries by √d_k, so that the division of the scores has no effect; of one head."""
    return query * math.sqrt(query.size(-1))


def _copying(generator: torch.Generator) -> Batch:
    """Return thirty-two random sequences, each its own target."""
    rows = []
    for length in torch.randint(3, 11, (32,), generator=generator).tolist():
        ids = torch.randint(2, _VOCABULARY - 1, (length,), generator=generator).tolist()
        rows.append((ids, ids))
    return collate(rows, end=END, padding=_VOCABULARY - 1)


def _training_finding(sizes: Sizes, curves: dict[bool, list[float]]) -> Finding:
    tail = max(1, sizes.num_steps // 10)
    with_scale, without = (sum(curves[scaled][-tail:]) / tail for scaled in (True, False))
    return Finding(
        f"dot-product attention without the division trains worse for large d_k (§3.2.1), here {sizes.d_k}",
        f"mean loss of the last {tail} of {sizes.num_steps:,} steps: {with_scale:.3f} divided, "
        f"{without:.3f} not divided",
        with_scale < without,
    )
