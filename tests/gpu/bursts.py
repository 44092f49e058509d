"""Bursts of work with pauses, in two profiles of torch.profiler; the second is exported to the file that is named."""

from __future__ import annotations

import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

BURSTS, BUSY_S, PAUSE_S = 12, 0.06, 0.06


def burst(a: torch.Tensor) -> None:
    end = time.perf_counter() + BUSY_S
    while time.perf_counter() < end:
        for _ in range(4):
            torch.mm(a, a)
        torch.cuda.synchronize()


def main() -> int:
    a = torch.randn(2048, 2048, device="cuda")
    burst(a)
    for number in range(2):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as own:
            for _ in range(BURSTS):
                time.sleep(PAUSE_S)
                burst(a)
            time.sleep(PAUSE_S)
        if number == 1:
            own.export_chrome_trace(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
