"""Profiles itself several times by torch.profiler; prints how many kernels each profile has."""

from __future__ import annotations

import importlib.util
import json
import sys

LAUNCHES = 50


def main() -> int:
    way = sys.argv[1]
    first = way.removesuffix(" first")
    if first in ("cupy", "numba"):
        if importlib.util.find_spec(first) is None:
            print(json.dumps({"possible": False, "reason": f"no {first}"}))
            return 0
        if first == "cupy":
            import cupy

            cupy.zeros(10).sum()
        else:
            from numba import cuda

            cuda.to_device([1.0])
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.ones(1000, device="cuda")
    if first == "cpu":
        with profile(activities=[ProfilerActivity.CPU]):
            torch.ones(10).sum()
    kernels = []
    for _ in range(10 if way == "ten" else 2):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as own:
            for _ in range(LAUNCHES):
                x.add_(1)
            torch.cuda.synchronize()
        cuda = torch.autograd.DeviceType.CUDA
        kernels.append(sum(event.device_type == cuda and "add" in event.name for event in own.events()))
    print(json.dumps({"possible": True, "launches": LAUNCHES, "kernels": kernels, "cuda": torch.version.cuda, "torch": torch.__version__}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
