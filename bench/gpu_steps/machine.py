"""What a machine can do at most, and whether it computes what the processor computes."""

import platform
import statistics
import time
from typing import NamedTuple

import torch

from dragoman.config import ModelConfig
from dragoman.model import Transformer

# Dense bfloat16 products with float32 sums, TFLOP/s, from NVIDIA's data sheets: where a sheet says
# "with sparsity", half of its figure. The first name that occurs in the GPU's own counts.
PEAKS = {
    "B200": 2_250.0,
    "H200 NVL": 835.0,
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100 NVL": 835.0,
    "H100": 989.0,
    "A100": 312.0,
    "A10G": 70.0,
    "A10": 125.0,
    "L40S": 362.0,
    "L40": 181.0,
    "L4": 121.0,
    "RTX 4090": 165.2,
    "RTX 3090": 71.0,
}


class Machine(NamedTuple):
    """Where it is measured, and what can be reached there."""

    device: str
    name: str
    peak_tflops: float | None
    """Of the data sheet, where it is known."""
    ceiling_tflops: float
    """Of a large square product, measured."""


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def clock_products(device: torch.device, sizes: tuple[int, int, int], seconds: float) -> float:
    """Return the TFLOP/s of a matrix product and of the two that its gradient takes, in bfloat16."""
    num_rows, inner, num_columns = sizes
    x_ND = torch.randn(num_rows, inner, device=device, dtype=torch.bfloat16)
    weight_VD = torch.randn(num_columns, inner, device=device, dtype=torch.bfloat16)
    times: list[float] = []
    while len(times) < 5 or sum(times) < seconds:
        wait(device)
        before = time.perf_counter()
        y_NV = x_ND @ weight_VD.T
        y_NV @ weight_VD
        y_NV.T @ x_ND
        wait(device)
        times.append(time.perf_counter() - before)
    return 6.0 * num_rows * inner * num_columns / statistics.median(times[2:]) / 1e12


def compare_logits(config: ModelConfig, device: torch.device) -> float:
    """Return the greatest difference between the logits of processor and device, in float32."""
    torch.manual_seed(1)
    model = Transformer(config).eval()
    source_BS = torch.randint(2, config.vocabulary_size - 1, (4, 24))
    source_BS[1, 20:] = model.padding
    input_BT = torch.randint(2, config.vocabulary_size - 1, (4, 22))
    with torch.inference_mode():
        here_BTV = model(source_BS, input_BT)[..., :-1]
        there_BTV = model.to(device)(source_BS.to(device), input_BT.to(device))[..., :-1].cpu()
    return float((here_BTV - there_BTV).abs().max())


def meet(device: torch.device, model: ModelConfig, *, size: int, batch_tokens: int) -> Machine:
    """Describe a machine, check it, and measure its ceilings; all of it is printed.

    Args:
        device: Processor or GPU.
        model: Whose logits are compared, and whose projection to pieces is timed.
        size: Of the square matrices that give the ceiling.
        batch_tokens: Of a step; a quarter of them is projected at once.
    """
    on_gpu = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if on_gpu else platform.processor() or platform.machine()
    peak = next((peak for key, peak in PEAKS.items() if key in name), None) if on_gpu else None
    print(f"{name}; torch {torch.__version__}, CUDA {torch.version.cuda}, Python {platform.python_version()}")
    difference = compare_logits(model, device)
    verdict = "as promised" if difference <= 1e-4 else "NOT within the promised 1e-4"
    print(f"logits of processor and device differ by at most {difference:.1e} in float32: {verdict}")
    ceiling = clock_products(device, (size, size, size), seconds=1.0)
    known = "unknown" if peak is None else f"{peak:,.0f} TFLOP/s"
    print(f"bfloat16: data sheet {known}; products of {size}³ reach {ceiling:,.1f} TFLOP/s")
    for classes in (model.vocabulary_size - 1, model.vocabulary_size, -(-model.vocabulary_size // 64) * 64):
        rate = clock_products(device, (batch_tokens // 4, model.d_model, classes), seconds=0.5)
        print(f"projection to {classes:,} classes and back: {rate:,.1f} TFLOP/s", flush=True)
    return Machine(str(device), name, peak, ceiling)
