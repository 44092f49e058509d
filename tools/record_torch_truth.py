#!/usr/bin/env python3
"""Record small PyTorch runs together with what torch itself says about them.

For every case below this writes a pair: NAME.trace.json.gz, the Kineto trace as torch exports it,
and NAME.expected.json.gz, the rows of torch's key_averages() (flat, by input shape, by stack) and
the text of its table. manifest.json lists the pairs with the torch version and the options.

Setting up (about 6 GB; PyPI's Linux wheel needs its CUDA libraries even where there is no GPU):
    python3 -m venv build/torch && build/torch/bin/pip install -r tools/requirements-torch.txt
Then, from the top of the repository, so that the recorded Python frames carry neutral paths:
    build/torch/bin/python tools/record_torch_truth.py tests/data/torch/2.15
    tools/torch_averages_from_trace.py --check tests/data/torch \\
        --write-exceptions tests/data/torch/exceptions.json
On a machine with a GPU the same command runs the models on it and the device columns are filled.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
COLUMNS = (
    "key overload_name count cpu_time_total self_cpu_time_total device_time_total "
    "self_device_time_total cpu_memory_usage self_cpu_memory_usage device_memory_usage "
    "self_device_memory_usage flops is_async is_user_annotation device_type"
).split()
GROUPINGS: dict[str, dict[str, Any]] = {
    "key_averages": {},
    "key_averages_by_input_shape": {"group_by_input_shape": True},
    "key_averages_by_stack5": {"group_by_stack_n": 5},
}
Step = Callable[[], object]
# Compiled from text, so that no path of a source file gets into the recorded stacks.
FORKING = """
def forking(x: Tensor) -> Tensor:
    future = torch.jit.fork(torch.relu, x)
    y = torch.mm(x, x)
    return y + torch.jit.wait(future)
"""


class Attention(nn.Module):
    """Self-attention spelled with baddbmm and bmm, so that their formulas are exercised."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        bias = torch.zeros(x.shape[0], x.shape[1], x.shape[1], device=x.device)
        weights = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=x.shape[-1] ** -0.5).softmax(-1)
        return self.out(torch.bmm(weights, v))


class Square(torch.autograd.Function):
    """A custom function: Python runs inside the operator, in both directions."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * grads[0]


def cnn_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, stride=2, dilation=2, groups=4),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, 5),
    ).to(DEVICE)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    optimizer.zero_grad()
    with record_function("forward"):
        out = model(x.to(DEVICE, non_blocking=True))
        with record_function("loss"):
            loss = F.cross_entropy(out.flatten(0, -2), y.to(DEVICE).flatten())
    with record_function("backward"):
        loss.backward()
    optimizer.step()


def cnn(workers: int) -> Step:
    data = TensorDataset(torch.randn(64, 3, 12, 12), torch.randint(0, 5, (64,)))
    batches = iter(DataLoader(data, batch_size=4, num_workers=workers))
    model = cnn_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return lambda: train(model, optimizer, *next(batches))


def transformer(workers: int) -> Step:
    tokens = torch.randint(0, 50, (64, 6))
    data = TensorDataset(tokens, tokens.roll(-1, 1))
    batches = iter(DataLoader(data, batch_size=2, num_workers=workers))
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    model = nn.Sequential(nn.Embedding(50, 16), layer, Attention(16), nn.Linear(16, 50)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return lambda: train(model, optimizer, *next(batches))


def inference() -> Step:
    model = cnn_model().eval()
    same = nn.Conv2d(3, 4, (3, 1), padding="same").to(DEVICE)
    x, m = torch.randn(2, 3, 9, 11, device=DEVICE), torch.randn(2, 4, 4, device=DEVICE)

    def step() -> None:
        with torch.inference_mode(), record_function("inference"):
            model(x)
            same(x)
            total = torch.mm(m[0], m[1]) * 2 + torch.addmm(m[0], m[0], m[1], beta=0.5)
            total.add(torch.stack([m[0], m[1]]).sum(0)).mul(torch.tensor(3.0)).sum().item()
            torch.baddbmm(m, m, m).bmm(m) + torch.cat([m, m]).mean()
            F.conv1d(m, torch.ones(2, 4, 3, device=DEVICE))

    return step


def threads() -> Step:
    """Work that does not stay on the thread that asked for it, and events that end elsewhere."""
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    model = cnn_model()
    scripted = torch.jit.CompilationUnit(FORKING).forking
    x = torch.randn(2, 3, 12, 12, device=DEVICE)

    def step() -> None:
        with record_function("forward"):
            loss = Square.apply(model(x)).sum()
        backward = threading.Thread(target=loss.backward, name="backward")
        backward.start()
        backward.join()
        scripted(torch.randn(4, 4, device=DEVICE))
        work = dist.all_reduce(torch.ones(3), async_op=True)
        torch.randn(4, 4).relu()
        work.wait()
        with record_function("ends elsewhere") as region:
            future = torch.jit._fork(scripted, torch.randn(700, 700))
            region._call_end_callbacks_on_future(future)
        torch.randn(4, 4).relu()
        torch.jit._wait(future)

    return step


def allocations() -> Step:
    """Memory that is freed outside of every operator."""

    def step() -> None:
        kept = [torch.empty(n, device=DEVICE) for n in (10, 100, 1000)]
        total = sum(t.numel() for t in kept)
        kept.clear()
        del total

    return step


@dataclass(frozen=True)
class Case:
    """One recording. A case of `active` 0 has no schedule: one profiled call, no ProfilerStep."""

    name: str
    make: Callable[[], Step]
    options: dict[str, Any] = field(default_factory=dict)
    active: int = 2
    experimental: dict[str, Any] = field(default_factory=dict)


FULL = dict.fromkeys(("record_shapes", "profile_memory", "with_stack", "with_flops"), True)
FULL["with_modules"] = True
NUMBERS = dict.fromkeys(("record_shapes", "profile_memory", "with_flops"), True)
CASES = [
    Case("cnn_full", lambda: cnn(0), FULL, experimental={"verbose": True}),
    Case("cnn_stack", lambda: cnn(0), {"with_stack": True}, active=1),
    Case("cnn_workers0", lambda: cnn(0), NUMBERS, active=3),
    Case("cnn_workers2", lambda: cnn(2), {"record_shapes": True}, active=3),
    Case("transformer_full", lambda: transformer(0), FULL, 1, {"verbose": True}),
    Case("transformer_numbers", lambda: transformer(2), NUMBERS),
    Case("transformer_plain", lambda: transformer(0)),
    Case("inference", inference, NUMBERS, active=0),
    Case("overloads", inference, NUMBERS, 0, {"capture_overload_names": True}),
    Case("threads", threads, NUMBERS, 1, {"profile_all_threads": True}),
    Case(
        "threads_stack",
        threads,
        NUMBERS | {"with_stack": True},
        1,
        {"profile_all_threads": True, "verbose": True},
    ),
    Case("allocations", allocations, {"profile_memory": True}, active=0),
]


def record(case: Case) -> profile:
    """Runs one case; the returned profiler has stopped and holds exactly its last cycle."""
    torch.manual_seed(0)
    activities = [ProfilerActivity.CPU]
    if DEVICE == "cuda":
        activities.append(ProfilerActivity.CUDA)
    config = torch._C._profiler._ExperimentalConfig(**case.experimental)
    plan = schedule(wait=1, warmup=1, active=case.active, repeat=1) if case.active else None
    step = case.make()
    if not case.active:
        step()
    with profile(
        activities=activities, schedule=plan, experimental_config=config, **case.options
    ) as profiler:
        for _ in range(2 + case.active if case.active else 1):
            step()
            if case.active:
                profiler.step()
    return profiler


def value_of(row: Any, column: str) -> Any:
    """Torch said cuda where it now says device, and did not have every column from the start."""
    return getattr(row, column, getattr(row, column.replace("device", "cuda"), None))


def rows(profiler: profile, grouping: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in profiler.key_averages(**grouping):
        out = {column: value_of(row, column) for column in COLUMNS}
        out["device_type"] = row.device_type.name
        if "group_by_input_shape" in grouping:
            out["input_shapes"] = str(row.input_shapes)
        if "group_by_stack_n" in grouping:
            out["stack"] = list(row.stack)
        yield out


def neutral(text: str) -> str:
    """The text without what tells whose machine recorded it; refuses if anything is left."""
    text = re.sub(r'\n\s*"host_name": "[^"]*",', "", text)
    private = {os.getcwd(), str(Path.home()), sys.prefix, sys.base_prefix, tempfile.gettempdir()}
    for word in private | {f'"{platform.node()}"'}:
        if word in text:
            raise SystemExit(f"the trace mentions {word!r}: run this from the repository's top")
    return text


def write(path: Path, text: str) -> None:
    with gzip.GzipFile(path, "wb", compresslevel=9, mtime=0) as out:
        out.write(text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the pairs go")
    parser.add_argument("cases", nargs="*", help="names of cases; all without any")
    args = parser.parse_args()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    manifest: list[dict[str, Any]] = []
    for case in CASES:
        if args.cases and case.name not in args.cases:
            continue
        try:
            torch._C._profiler._ExperimentalConfig(**case.experimental)
        except TypeError as error:
            print(f"{case.name}: left out, this torch is too old ({str(error).split(chr(10))[0]})")
            continue
        profiler = record(case)
        described = {
            "name": case.name,
            "torch": torch.__version__,
            "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU",
            "options": case.options | case.experimental,
            "steps": case.active,
        }
        expected: dict[str, Any] = described | {
            name: list(rows(profiler, grouping)) for name, grouping in GROUPINGS.items()
        }
        expected["asynchronous"] = [e.id for e in profiler.events() if e.is_async]
        averages = profiler.key_averages()
        expected["table"] = averages.table(row_limit=-1)
        expected["table_by_self_cpu"] = averages.table("self_cpu_time_total", row_limit=10)
        with tempfile.TemporaryDirectory() as scratch:
            here = os.getcwd()
            os.chdir(scratch)
            profiler.export_chrome_trace(f"{case.name}.json")
            os.chdir(here)
            text = neutral(Path(scratch, f"{case.name}.json").read_text())
        write(folder / f"{case.name}.trace.json.gz", text)
        write(folder / f"{case.name}.expected.json.gz", neutral(json.dumps(expected, indent=0)))
        manifest.append(described)
        print(f"{case.name}: {len(expected['key_averages'])} rows")
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
