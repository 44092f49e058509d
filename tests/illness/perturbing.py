"""Edits of a trace that must change a diagnosis in a known way, or not at all. For perturbed_test.py."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

Trace = dict[str, Any]

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "Kernel", "Memcpy", "Memset")
SHAPES = ("Input Dims", "Input dims", "Input type", "Input Strides", "Concrete Inputs")
LIBRARY = re.compile(r"^<|torch/|nn\.Module|site-packages|^(threading|runpy|contextlib|enum|os|typing|inspect|functools)\.py")
RENAMED = "Q7"  # what renaming adds, so that the answers can be compared without it


def read(path: Path) -> Trace:
    with gzip.open(path, "rt") as file:
        read = json.load(file)
    # Some files are the list of events alone.
    trace: Trace = {"traceEvents": read} if isinstance(read, list) else read
    return trace


def shuffled(trace: Trace) -> Trace:
    """Events of different threads and streams in another order; those of one keep theirs."""
    by_thread: dict[str, list[Any]] = defaultdict(list)
    for event in trace["traceEvents"]:
        by_thread[f"{event.get('pid')} {event.get('tid')} {event.get('ph') in 'sft'}"].append(event)
    order = [thread for thread, events in by_thread.items() for _ in events]
    random.Random(7).shuffle(order)
    rows = {thread: iter(events) for thread, events in by_thread.items()}
    return trace | {"traceEvents": [next(rows[thread]) for thread in order]}


def renamed(trace: Trace) -> Trace:
    """The user's functions are called otherwise."""

    def named(event: Any) -> Any:
        name = event.get("name", "")
        own = event.get("cat") == "python_function" and not LIBRARY.search(name)
        return event | {"name": name + RENAMED} if own else event

    return trace | {"traceEvents": [named(event) for event in trace["traceEvents"]]}


def without_properties(trace: Trace) -> Trace:
    return {key: value for key, value in trace.items() if key != "deviceProperties"}


def without_stacks(trace: Trace) -> Trace:
    return trace | {"traceEvents": [e for e in trace["traceEvents"] if e.get("cat") != "python_function"]}


def without_shapes(trace: Trace) -> Trace:
    edited = copy.deepcopy(trace)
    for event in edited["traceEvents"]:
        for key in SHAPES:
            (event.get("args") or {}).pop(key, None)
    return edited


def device_clock_shifted(trace: Trace, us: float) -> Trace:
    """What the device did, and the ends of arrows there, at other times."""

    def moved(event: Any) -> Any:
        there = event.get("cat") in DEVICE or event.get("ph") == "f"
        return event | {"ts": float(event["ts"]) + us} if there and "ts" in event else event

    return trace | {"traceEvents": [moved(event) for event in trace["traceEvents"]]}


def steps(trace: Trace) -> list[Any]:
    marks = [e for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#") and e.get("ph") == "X"]
    return sorted((e for e in marks if e.get("cat") not in DEVICE), key=lambda e: float(e["ts"]))


def first_step_slowed(trace: Trace, us: float) -> Trace:
    """The first step is in no operator for longer right after it began, as in a warm-up; all that follows is later."""
    mark = steps(trace)[0]
    begin = float(mark["ts"])

    def later(event: Any) -> Any:
        if event.get("name") == mark["name"] and event.get("cat") not in DEVICE and event.get("ph") == "X":
            return event | {"dur": float(event["dur"]) + us}
        if "ts" not in event or float(event["ts"]) < begin:
            return event
        return event | {"ts": float(event["ts"]) + us}

    return trace | {"traceEvents": [later(event) for event in trace["traceEvents"]]}


def without_first_step(trace: Trace) -> Trace:
    """Cut off where the second step begins."""
    begin = float(steps(trace)[1]["ts"])
    first = [e for e in trace["traceEvents"] if "ts" not in e or float(e["ts"]) >= begin]
    return trace | {"traceEvents": first}
