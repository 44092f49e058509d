"""Makes the session folder `joined`: a PyTorch program of which lines, operators, a device and its memory were recorded.
Nothing was recorded: its numbers are round, so that what is made of them can be computed by hand.

    make_joined.py DIR

Line 8 launches 900 ms of work, line 9 100 ms; line 10 waits for all of it. Line 11 begins the backward pass, in which a
second thread launches 50 ms for line 8 and 20 ms, of no forward operator, while line 11 waits for it.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from make_plain import MAIN, SECOND, STARTED, UNIX, File

PROGRAM = "/home/me/waits.py"
MILLISECOND = SECOND // 1000
BACKWARD = MAIN + 1
SOURCE = '''"""Waits for a device."""

import torch


def step(model, weight):
    x = torch.ones(1 << 18, device="cuda")
    y = model(x)
    z = y + weight
    print(z.sum().item())
    z.sum().backward()


for number in range(4):
    step(torch.nn.Identity(), 1)
'''
# Thread, milliseconds, line; what is left out is in no statement of the program.
RUNS = (
    (MAIN, 0, 4, 7), (MAIN, 4, 10, 8), (MAIN, 10, 16, 9), (MAIN, 16, 1060, 10), (MAIN, 1064, 1200, 11),
)  # fmt: skip


def inside() -> File:
    file = File()
    file.process(0, MAIN, 1, "waits.py", "main")
    for first, hits, total in ((7, 4, 16), (8, 4, 24), (9, 4, 24), (10, 4, 4176), (11, 4, 544)):
        texts = file.text(PROGRAM), first, first, file.text("step"), 6
        file.record(22, "iIIIIIQqq", MAIN, *texts, hits, total * MILLISECOND, total * MILLISECOND)
    for tid, begin, end, line in RUNS:
        start, length = STARTED + begin * MILLISECOND, (end - begin) * MILLISECOND
        file.record(25, "qqiqIII", start, length, MAIN, tid, file.text(PROGRAM), line, file.text("step"))
    return file


def host(name: str, category: str, begin: float, end: float, tid: int = MAIN, **more: Any) -> dict[str, Any]:
    times = {"ts": begin * 1000, "dur": (end - begin) * 1000}
    return {"ph": "X", "cat": category, "name": name, "pid": MAIN, "tid": tid, **times, "args": more}


def device(name: str, category: str, begin: float, end: float, correlation: int, **more: Any) -> dict[str, Any]:
    times = {"ts": begin * 1000, "dur": (end - begin) * 1000}
    args = {"device": 0, "stream": 7, "correlation": correlation, **more}
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, **times, "args": args}


def memory(at: float, size: int, address: int, total: int, tid: int = MAIN) -> dict[str, Any]:
    args = {"Device Type": 1, "Device Id": 0, "Addr": address, "Bytes": size, "Total Allocated": total}
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": MAIN, "tid": tid, "ts": at * 1000, "args": args}


def trace() -> dict[str, Any]:
    back = {"Sequence number": 5, "Fwd thread id": 1}
    events = [
        host("ProfilerStep#1", "user_annotation", 0, 1200),
        host("aten::ones", "cpu_op", 1, 3),
        memory(1.5, 1 << 20, 0xA, 3 << 20),
        host("cudaMemcpyAsync", "cuda_runtime", 2, 2.5, correlation=1),
        device("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 3, 4, 1, bytes=1 << 20),
        host("aten::mm", "cpu_op", 5, 7, **{"Sequence number": 5, "Fwd thread id": 0}),
        memory(5.5, 2 << 20, 0xB, 5 << 20),
        host("cudaLaunchKernel", "cuda_runtime", 6, 6.5, correlation=2),
        device("gemm", "kernel", 10, 910, 2, grid=[8, 1, 1], block=[128, 1, 1]),
        host("aten::add", "cpu_op", 11, 13),
        host("cudaLaunchKernel", "cuda_runtime", 12, 12.5, correlation=3),
        device("add", "kernel", 910, 1010, 3, grid=[8, 1, 1], block=[128, 1, 1]),
        host("cudaDeviceSynchronize", "cuda_runtime", 20, 1020, correlation=4),
        host("autograd::engine::evaluate_function: MmBackward0", "cpu_op", 1070, 1080, BACKWARD, **back),
        memory(1072, 4 << 20, 0xC, 9 << 20, BACKWARD),
        host("cudaLaunchKernel", "cuda_runtime", 1075, 1076, BACKWARD, correlation=5),
        device("gemm", "kernel", 1080, 1130, 5, grid=[8, 1, 1], block=[128, 1, 1]),
        memory(1085, -(2 << 20), 0xB, 7 << 20, BACKWARD),
        host("aten::add_", "cpu_op", 1090, 1100, BACKWARD),
        host("cudaLaunchKernel", "cuda_runtime", 1095, 1096, BACKWARD, correlation=6),
        device("add", "kernel", 1130, 1150, 6, grid=[8, 1, 1], block=[128, 1, 1]),
    ]
    properties = [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "numSms": 108, "computeMajor": 8, "computeMinor": 0}]
    return {
        "schemaVersion": 1,
        "deviceProperties": properties,
        "baseTimeNanoseconds": UNIX,
        "displayTimeUnit": "ms",
        "traceEvents": events,
    }


def main(folder: pathlib.Path) -> None:
    kept = folder / ("sources" + PROGRAM)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(SOURCE)
    inside().save(folder / f"process-{MAIN}.fathom")
    (folder / f"torch-{MAIN}-1.pt.trace.json").write_text(json.dumps(trace(), indent=1) + "\n")
    manifest = {
        "schema": "fathom-run/1",
        "fathom": "0.1.0",
        "name": "waits",
        "command": ["python", "waits.py"],
        "options": {"recording": {"with": ["lines", "memory"]}},
        "started_unix_ns": UNIX,
        "ended_unix_ns": UNIX + 2 * SECOND,
        "exit": {"code": 0, "signal": None},
        "processes": [],
        "not_recorded": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
