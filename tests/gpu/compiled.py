"""A model that torch.compile turns into CUDA graphs; prints how many kernels five of its steps have by torch.profiler."""

from __future__ import annotations

import collections
import json
import os
import sys

STEPS, FIRST, PROFILED = 20, 10, 5


def main() -> int:
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.ones(64, 256, device="cuda")
    try:
        compiled = torch.compile(model, mode="reduce-overhead")
        compiled(x).sum().backward()
    except Exception as error:  # no Triton, no compiler: what it needs is not there
        print(json.dumps({"possible": False, "reason": f"{type(error).__name__}: {error}"[:300]}))
        return 0
    # Fathom has torch.profiler where it records.
    own = None if "FATHOM_SESSION" in os.environ else profile(activities=[ProfilerActivity.CUDA])
    total = torch.zeros((), device="cuda")
    for step in range(STEPS):
        if own is not None and step == FIRST:
            torch.cuda.synchronize()
            own.start()
        torch.compiler.cudagraph_mark_step_begin()
        loss = compiled(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        total += loss.detach()
        if own is not None and step == FIRST + PROFILED - 1:
            torch.cuda.synchronize()
            own.stop()
    kernels: collections.Counter[str] = collections.Counter()
    for event in own.events() if own is not None else ():
        copies = event.name.startswith(("Memcpy", "Memset"))
        if event.device_type == torch.autograd.DeviceType.CUDA and not copies:
            kernels[event.name] += 1
    print(json.dumps({"possible": True, "sum": round(float(total), 3), "kernels": kernels}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
