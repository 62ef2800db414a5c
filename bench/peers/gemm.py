"""The machine's ceiling: bfloat16 products of two matrices of 2,048 × 2,048.

usage: python -m peers.gemm --report FILE
"""

import json
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional as F

SIDE, NUM_REPEATS = 2_048, 20


def main(report_path: str) -> None:
    x, weight = (torch.randn(SIDE, SIDE, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        F.linear(x, weight)
    gflops = []
    for _ in range(NUM_REPEATS):
        started = time.perf_counter()
        F.linear(x, weight)
        gflops.append(2 * SIDE**3 / (time.perf_counter() - started) / 1e9)
    report = {"median": statistics.median(gflops), "best": max(gflops)}
    Path(report_path).write_text(json.dumps(report), encoding="utf-8")


main(sys.argv[2])
