"""The definitions of docs/metrics.md over the events of a trace, in plain Python: slow, short, and independent of
fathom. What the exceptions of the comparisons are checked with."""
from __future__ import annotations

import dataclasses
import functools
import gzip
import json
import pathlib
import re
from decimal import ROUND_HALF_UP, Decimal

KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset"}
CALLS = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime"}
COMMUNICATION = re.compile(r"nccl|rccl|cross_device_reduce|all_reduce", re.IGNORECASE)
Span = tuple[int, int]


def ns(microseconds: Decimal) -> int:
    return int((microseconds * 1000).quantize(Decimal(1), ROUND_HALF_UP))


@dataclasses.dataclass
class Activity:
    name: str
    kind: str  # compute, communication, memcpy, memset
    start: int
    end: int
    launch: int | None  # start of its call
    call: str = ""  # name of its call
    stream: str = ""


@dataclasses.dataclass
class Trace:
    first_us: float
    activities: list[Activity]
    steps: list[tuple[str, int, int]]  # host ProfilerStep#N: name, start, end


@functools.cache
def load(path: pathlib.Path) -> Trace:
    with gzip.open(path) as file:
        document = json.loads(file.read(), parse_float=Decimal)
    events = document["traceEvents"] if isinstance(document, dict) else document
    slices = [event for event in events if event.get("ph") == "X" and "dur" in event]

    def span(event: dict) -> Span:
        start = Decimal(event["ts"])
        return ns(start), ns(start + Decimal(event["dur"]))

    calls = {}
    for event in slices:
        correlation = event.get("args", {}).get("correlation")
        if event.get("cat", "").lower() in CALLS and correlation is not None:
            calls[correlation] = (span(event)[0], event["name"])
    activities = []
    for event in slices:
        kind = KINDS.get(event.get("cat", "").lower())
        if kind is None:
            continue
        if kind == "kernel":
            kind = "communication" if COMMUNICATION.search(event["name"]) else "compute"
        launch, call = calls.get(event["args"].get("correlation"), (None, ""))
        stream = str(event["args"].get("stream", ""))
        activities.append(Activity(event["name"], kind, *span(event), launch, call, stream))
    steps = [(event["name"], *span(event)) for event in slices
             if event["name"].startswith("ProfilerStep#") and event.get("cat") != "gpu_user_annotation"]
    first = min(float(event["ts"]) for event in slices)
    return Trace(first, sorted(activities, key=lambda a: a.start), sorted(steps, key=lambda s: s[1]))


def union(spans: list[Span]) -> list[Span]:
    merged: list[list[int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return [(begin, end) for begin, end in merged]


def length(spans: list[Span]) -> int:
    return sum(end - begin for begin, end in spans)


def timeline(activities: list[Activity], window: Span | None = None) -> dict[str, int]:
    """Exclusive times (compute, communication, memcpy, memset, busy, idle) and unions (total_…) over a window."""
    if window is None:
        window = min(a.start for a in activities), max(a.end for a in activities)

    def cut(kinds: tuple[str, ...]) -> int:
        spans = [(max(a.start, window[0]), min(a.end, window[1])) for a in activities if a.kind in kinds]
        return length(union([span for span in spans if span[0] < span[1]]))

    order = ("compute", "communication", "memcpy", "memset")
    result, before = {}, 0
    for rank, kind in enumerate(order):
        covered = cut(order[:rank + 1])
        result[kind] = covered - before
        result["total_" + kind] = cut((kind,))
        before = covered
    result["busy"] = before
    result["window"] = window[1] - window[0]
    result["idle"] = result["window"] - before
    result["compute_or_communication"] = cut(("compute", "communication"))
    result["memory"] = cut(("memcpy", "memset"))
    return result


def windows(trace: Trace) -> list[Span]:
    """The window of each step: b(i) = max(b(i-1), host end, ends of what the step launched)."""
    result, before = [], trace.steps[0][1]
    for _, start, end in trace.steps:
        ends = [a.end for a in trace.activities if a.launch is not None and start <= a.launch < end]
        result.append((before, max([before, end, *ends])))
        before = result[-1][1]
    return result
