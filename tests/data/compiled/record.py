#!/usr/bin/env python3
"""Records a small model as it is and compiled, on a CPU: record.py FOLDER. Needs torch, and a compiler of C++."""

import gzip
import json
import pathlib
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 8


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(self.norm(x))
        h = 0.5 * h * (1 + torch.tanh(0.79788456 * (h + 0.044715 * h * h * h)))
        return x + self.down(h)


def record(path: pathlib.Path, compiled: bool, train: bool) -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    net = nn.Sequential(*[Block(256) for _ in range(3)], nn.Linear(256, 64))
    model = torch.compile(net) if compiled else net
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    x, y = torch.randn(512, 256), torch.randint(0, 64, (512,))

    def step() -> None:
        if not train:
            with torch.no_grad():
                model(x).sum().item()
            return
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    for _ in range(4):
        step()
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder, "trace.json")
        plan = schedule(wait=1, warmup=2, active=STEPS, repeat=1)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, schedule=plan,
                     on_trace_ready=lambda done: done.export_chrome_trace(str(plain))) as profiler:
            for _ in range(STEPS + 3):
                step()
                profiler.step()
        document = json.loads(plain.read_text())
    document.pop("traceName", None)
    path.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), 9, mtime=0))


torch.set_num_threads(1)
for name, train in (("infer", False), ("train", True)):
    for kind in ("eager", "compiled"):
        record(pathlib.Path(sys.argv[1], f"{name}_{kind}.json.gz"), kind == "compiled", train)
