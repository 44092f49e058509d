#!/usr/bin/env python3
"""Recompute torch's key_averages() from an exported Kineto trace alone.

This is the plain, slow statement of the rules that `fathom ops` follows: which events of the file
are rows, how they nest, what they own. Times are integer nanoseconds. With --check it compares
every cell with the recorded truth of tools/record_torch_truth.py. A cell may differ only where one
of REASONS applies, which is proved by applying that reason and getting torch's number.

    torch_averages_from_trace.py TRACE [--by shape|stack] [--torch VERSION]
    torch_averages_from_trace.py --check FOLDER [--write-exceptions FILE]
"""

from __future__ import annotations

import argparse
import bisect
import collections
import gzip
import itertools
import json
import math
import re
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Row = dict[str, Any]

HOST = set(
    "cpu_op user_annotation cuda_runtime cuda_driver xpu_runtime xpu_driver mtia_runtime "
    "glow_runtime privateuse1_runtime privateuse1_driver overhead collective_comm "
    "Operator UserAnnotation Runtime".split()
)
DEVICE = set(
    "kernel gpu_memcpy gpu_memset gpu_user_annotation cuda_sync cuda_event cuda_profiler_range "
    "Kernel Memcpy Memset".split()
)
ANNOTATIONS = {"user_annotation", "gpu_user_annotation"}
FRAMES = {"python_function", "Python"}
OPERATORS = {"cpu_op", "user_annotation", "Operator", "UserAnnotation"}  # own their External id
UTILITIES = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
}
# Events that begin and end on different threads, or say of themselves that they are asynchronous.
# The file does not tell; these are the names that torch itself gives them.
ASYNCHRONOUS = re.compile(r"(nccl|gloo|mpi|ucc|xccl|rccl|hccl):|rpc_(sync|async|remote)#")
HOST_MEMORY, DEVICE_MEMORY = {0, 2, 5}, {1, 6, 12, 20}  # c10::DeviceType
HIDDEN_STACK_ENTRIES = [
    ("autograd/__init__", "_make_grads"),
    ("autograd/__init__", "backward"),
    ("torch/tensor", "backward"),
    ("_internal/common_utils", "prof_callable"),
    ("_internal/common_utils", "prof_func_call"),
    ("_internal/common_utils", "prof_meth_call"),
]
SUMS = (
    "count cpu_time_total self_cpu_time_total device_time_total self_device_time_total "
    "cpu_memory_usage self_cpu_memory_usage device_memory_usage self_device_memory_usage flops"
).split()
REASONS = {
    "python frames": "from 2.12 on torch nests Python frames among the operators, so that their "
    "time leaves the self time of the operator around them; here frames stand apart",
    "asynchronous": "torch knows that this event ended on another thread and leaves it out of the "
    "nesting; the file does not tell",
    "rounded memory": "torch 2.4 to 2.10 asked which allocations lie in an operator in doubles of "
    "microseconds since 1970, in steps of 0.25 us; here it is exact",
    "unlinked": "torch puts profiler overhead, and runtime calls outside of every operator, on the "
    "thread that stopped the profiler; here they stay where the file has them",
    "operations": "torch counts floating-point operations only when asked to (with_flops); here they "
    "are counted wherever shapes and arguments were recorded",
    "several": "more than one of these at once",
}
TABLES = {
    "key_averages": "",
    "key_averages_by_input_shape": "shape",
    "key_averages_by_stack5": "stack",
}


@dataclass(frozen=True)
class Rules:
    """Where versions of torch differ, or know more than the file. The defaults are fathom's."""

    frames: str = "absent"  # python_function events: "absent", "parents" of operators, or "rows"
    rounded_memory: bool = False
    unlinked_on_main: bool = False
    flops_when_asked: bool = False
    asynchronous: frozenset[Any] = frozenset()  # External ids
    tick: int = 1  # of torch's clock, ns

    @staticmethod
    def of_torch(version: str, asynchronous: list[Any]) -> Rules:
        number = tuple(int(n) for n in version.split(".")[:2])
        return Rules(
            frames="absent" if number < (2, 12) else "rows" if number < (2, 14) else "parents",
            rounded_memory=(2, 4) <= number < (2, 11),
            unlinked_on_main=True,
            flops_when_asked=True,
            asynchronous=frozenset(asynchronous),
            tick=1000 if number < (2, 4) else 1,
        )

    def one_by_one(self) -> dict[str, Rules]:
        """These rules taken singly, by reason."""
        return {
            "python frames": Rules(frames=self.frames),
            "asynchronous": Rules(asynchronous=self.asynchronous),
            "rounded memory": Rules(rounded_memory=self.rounded_memory),
            "unlinked": Rules(unlinked_on_main=self.unlinked_on_main),
            "operations": Rules(flops_when_asked=self.flops_when_asked),
        }


@dataclass(eq=False, slots=True)
class Event:
    """What torch calls a FunctionEvent."""

    name: str
    cat: str
    thread: tuple[Any, Any]
    start: int
    end: int
    args: Json
    asynchronous: bool = False
    shapes: list[Any] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    flops: int = 0
    memory: list[int] = field(default_factory=lambda: [0, 0])  # on the host, on devices
    parent: Event | None = None
    children: list[Event] = field(default_factory=list)
    kernels: list[Event] = field(default_factory=list)
    device_total: int = 0

    @property
    def on_device(self) -> bool:
        return self.cat in DEVICE

    @property
    def external_id(self) -> Any:
        """An operator's own number; on a runtime call or device activity, its operator's."""
        return self.args.get("External id", self.args.get("external id"))

    @property
    def duration(self) -> int:
        return self.end - self.start

    def row(self, with_device: bool) -> Row:
        """What this one event adds to its row, by column; SUMS names the columns."""
        nested = not self.on_device and not self.asynchronous
        out = dict.fromkeys(SUMS, 0) | {"count": 1, "flops": self.flops}
        out["children"] = len(self.children)
        if self.on_device:
            out["device_time_total"] = out["self_device_time_total"] = self.duration
            return out
        out["cpu_time_total"] = self.duration
        out["cpu_memory_usage"], out["device_memory_usage"] = self.memory
        if nested:
            out["self_cpu_time_total"] = self.duration - sum(c.duration for c in self.children)
            for kind, column in enumerate(("self_cpu_memory_usage", "self_device_memory_usage")):
                out[column] = self.memory[kind] - sum(c.memory[kind] for c in self.children)
        if nested and with_device:
            out["device_time_total"] = self.device_total
            children = sum(c.device_total for c in self.children)
            out["self_device_time_total"] = self.device_total - children
        return out


def nanoseconds(microseconds: Any) -> int:
    """Decimal text to the nanosecond, halves away from zero."""
    value = Decimal(microseconds) * 1000
    return int(value + Decimal("0.5").copy_sign(value))


def load(path: Path) -> Json:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        document = json.load(file, parse_float=Decimal)
    return {"traceEvents": document} if isinstance(document, list) else document


def times_of(e: Json) -> tuple[int, int]:
    """Start and end."""
    start = nanoseconds(e["ts"])
    end = start + nanoseconds(e.get("dur", 0))
    if e.get("cat") == "gpu_user_annotation":  # the exporter widens these, for Chrome's sake
        start, end = start + 1, end - 1
    return start, end


def read_events(document: Json, rules: Rules) -> list[Event]:
    events = []
    with_flops = bool(document.get("with_flops")) or not rules.flops_when_asked
    for e in document["traceEvents"]:
        cat, name, args = e.get("cat", ""), e.get("name", ""), e.get("args") or {}
        is_frame = cat in FRAMES and rules.frames != "absent"
        if e["ph"] != "X" or not (cat in HOST or cat in DEVICE or is_frame):
            continue
        if name in UTILITIES or args.get("hidden") in (1, "1"):
            continue
        if cat in OPERATORS and re.fullmatch(r"\w+::\w+\.\w+", name):
            name = name.rpartition(".")[0]  # capture_overload_names appends the overload
        if name.startswith("ProfilerStep#"):
            name = "ProfilerStep*"
        event = Event(name, cat, (e.get("pid"), e.get("tid")), *times_of(e), args)
        if cat in HOST:
            known = cat in OPERATORS and event.external_id in rules.asynchronous
            unfinished = args.get("finished") is False  # still open when the profiler stopped
            event.asynchronous = known or unfinished or ASYNCHRONOUS.match(name) is not None
        event.shapes = [flat_shape(s) for s in args.get("Input Dims", [])]
        event.stack = stack_of(args.get("Call stack", ""))
        event.flops = flops_of(event) if with_flops else 0
        events.append(event)
    if rules.unlinked_on_main:
        main = main_thread(events)
        for event in events:
            linked = event.cat in OPERATORS | FRAMES or event.external_id is not None
            event.thread = event.thread if linked or event.on_device else main
    return events


def main_thread(events: list[Event]) -> tuple[Any, Any]:
    """The one with the steps; else the one numbered like its process; else the first."""
    steps = (e.thread for e in events if e.name == "ProfilerStep*")
    alike = (e.thread for e in events if e.thread[0] == e.thread[1])
    return next(itertools.chain(steps, alike, (e.thread for e in events)), (None, None))


def flat_shape(dims: list[Any]) -> list[Any]:
    """A list of tensors has no flat shape."""
    return [] if any(isinstance(d, list) for d in dims) else dims


def stack_of(text: str) -> list[str]:
    entries = [entry for entry in text.split(";") if entry]
    return [e for e in entries if not any(a in e and b in e for a, b in HIDDEN_STACK_ENTRIES)]


def flops_of(event: Event) -> int:
    """torch's formulas (torch/csrc/profiler/util.cpp), for the operators that it has any for."""
    dims, types = event.args.get("Input Dims", []), event.args.get("Input type", [])
    gemm = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
    if event.name in gemm:
        left, right = dims[gemm[event.name] :][:2] if len(dims) >= 2 else ([], [])
        batched = event.name in ("aten::bmm", "aten::baddbmm")
        if not left or not left[-1] or (batched and not left[0]):
            return 0
        rows = math.prod(left) // left[-1] // (left[0] if batched else 1)
        return int(2 * rows * math.prod(right))
    if event.name in ("aten::mul", "aten::add"):
        is_tensor = types and types[0] not in ("", "Scalar", "ScalarList", "TensorList")
        return math.prod(dims[0]) if dims and is_tensor else 0
    if event.name == "aten::conv2d":
        return conv2d_flops(dims, event.args.get("Concrete Inputs", []))
    return 0


def conv2d_flops(dims: list[Any], concrete: list[str]) -> int:
    if len(concrete) < 7 or len(dims[0]) != 4 or len(dims[1]) != 4:
        return 0
    try:
        stride, padding, dilation, groups = (json.loads(concrete[i]) for i in range(3, 7))
    except ValueError:  # padding "same" or "valid"
        return 0
    if any(len(x) != 2 for x in (stride, padding, dilation)) or not stride[0] * stride[1] * groups:
        return 0
    batch, channels, *size = dims[0]
    out_channels, _, *kernel = dims[1]
    out = [
        (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i in (0, 1)
    ]
    return int(2 * batch * math.prod(out + kernel) * channels * out_channels // groups)


def assign_memory(document: Json, events: list[Event], rules: Rules) -> list[Event]:
    """Gives every host event the records of its time, on whatever thread; returns the rest as rows.

    torch compares times only, so one record counts for each event that contains it, of any thread.
    """
    origin = int(document.get("baseTimeNanoseconds", 0))
    records = [
        (times_of(e)[0], e)
        for e in document["traceEvents"]
        if e["ph"] == "i" and e.get("name") == "[memory]"
    ]
    records.sort(key=lambda r: r[0])
    times = [time for time, _ in records]
    owned = [0] * (len(records) + 1)
    sums = [[0], [0]]
    for kind, types in enumerate((HOST_MEMORY, DEVICE_MEMORY)):
        for _, e in records:
            counts = e["args"].get("Device Type", 0) in types
            sums[kind].append(sums[kind][-1] + (e["args"]["Bytes"] if counts else 0))
    for event in events:
        if not event.on_device:
            bounds: list[float] = [event.start, event.end]
            if rules.rounded_memory:
                bounds = [(b + origin) / 1000 * 1000 - origin for b in (event.start, event.end)]
            first = bisect.bisect_left(times, bounds[0])
            last = max(first, bisect.bisect_right(times, bounds[1]))
            event.memory = [s[last] - s[first] for s in sums]
            owned[first] += 1
            owned[last] -= 1
    out = []
    for i, depth in enumerate(itertools.accumulate(owned[:-1])):
        if not depth:
            time, e = records[i]
            event = Event("[memory]", "cpu_op", (e.get("pid"), e.get("tid")), time, time, {})
            event.memory = [s[i + 1] - s[i] for s in sums]
            out.append(event)
    for e in document["traceEvents"]:
        if e["ph"] == "i" and e.get("name") == "[OutOfMemory]":
            thread = (e.get("pid"), e.get("tid"))
            out.append(Event("[OutOfMemory]", "cpu_op", thread, *times_of(e), {}))
    return out


def attach_kernels(events: list[Event]) -> None:
    """Device work belongs to the operator whose External id it carries."""
    owners: dict[Any, Event] = {}
    for event in events:
        if event.cat in OPERATORS and not event.asynchronous:
            owners.setdefault(event.external_id, event)
    for event in events:
        owner = owners.get(event.external_id)
        is_work = event.on_device and event.cat != "gpu_user_annotation"
        if is_work and owner and event.external_id is not None:
            owner.kernels.append(event)


def nest(events: list[Event]) -> None:
    """One forest per thread; expects events sorted by (start, -end)."""
    stacks: dict[Any, list[Event]] = collections.defaultdict(list)
    for event in events:
        if event.on_device or event.asynchronous:
            continue
        stack = stacks[event.thread]
        while stack:
            top = stack[-1]
            if event.start < top.end and event.end <= top.end:
                event.parent = top
                top.children.append(event)
                break
            stack.pop()
        stack.append(event)


def drop_duplicates(events: list[Event]) -> list[Event]:
    """Removes only children that are named like their parent, until there are none."""
    while True:
        kept = []
        for event in events:
            parent = event.parent
            if parent and parent.name == event.name and len(parent.children) == 1:
                parent.children, parent.kernels = event.children, event.kernels
                for child in event.children:
                    child.parent = parent
            else:
                kept.append(event)
        if len(kept) == len(events):
            return kept
        events = kept


def sum_device_time(events: list[Event]) -> None:
    """Children stand after their parents, so one pass from the end sees every child first."""
    for event in reversed(events):
        if not event.on_device:
            event.device_total = sum(k.duration for k in event.kernels)
            event.device_total += sum(c.device_total for c in event.children)


def backward_node(event: Event | None) -> Event | None:
    """The nearest event at or above this one that is a node of the backward graph."""
    while event:
        above = event.parent
        while above and above.cat in FRAMES:
            above = above.parent
        if above and above.name == f"autograd::engine::evaluate_function: {event.name}":
            return event
        event = event.parent
    return None


def torch_threads(events: list[Event]) -> dict[Any, Any]:
    """torch numbers threads itself, and the file has that number only as `Fwd thread id`.

    A forward operator with the sequence number of a backward one shows the thread that is meant.
    """
    forward = collections.defaultdict(list)
    for event in events:
        if "Sequence number" in event.args and not event.args.get("Fwd thread id"):
            forward[event.args["Sequence number"]].append(event.thread)
    votes: dict[Any, collections.Counter[Any]] = collections.defaultdict(collections.Counter)
    for event in events:
        if number := event.args.get("Fwd thread id"):
            votes[number].update(forward[event.args["Sequence number"]])
    return {number: count.most_common(1)[0][0] for number, count in votes.items() if count}


def stacks_of_backward(events: list[Event]) -> None:
    """A backward operator takes the Python stack of its forward operator."""
    threads = torch_threads(events)
    nodes = [backward_node(event) for event in events]
    stacks: dict[Any, list[str]] = {}
    for event, node in zip(events, nodes, strict=True):
        if not node:
            key = (event.args.get("Sequence number", -1), event.thread)
            stacks.setdefault(key, event.stack)
    for event, node in zip(events, nodes, strict=True):
        if node:
            thread = threads.get(node.args.get("Fwd thread id"))
            event.stack = stacks.get((node.args.get("Sequence number", -1), thread), [])


def averages(document: Json, by: str = "", depth: int = 5, rules: Rules | None = None) -> list[Row]:
    """The rows of key_averages(), in torch's order; `by` is "", "shape" or "stack"."""
    rules = rules or Rules()
    events = read_events(document, rules)
    with_device = any(event.on_device for event in events)
    attach_kernels(events)
    events += assign_memory(document, events, rules)
    events.sort(key=lambda e: (e.start, -e.end))
    nest(events)
    events = drop_duplicates(events)
    sum_device_time(events)
    stacks_of_backward(events)
    rows: dict[Any, Row] = {}
    for event in events:
        if event.cat in FRAMES and rules.frames != "rows":
            continue
        annotation = event.cat in ANNOTATIONS
        key: tuple[Any, ...] = (event.name, event.on_device, annotation)
        key += (str(event.shapes),) if by == "shape" else ()
        key += tuple(event.stack[:depth]) if by == "stack" else ()
        row = rows.get(key)
        if row is None:
            row = rows[key] = dict.fromkeys((*SUMS, "children"), 0)
            row |= {"key": event.name, "is_async": event.asynchronous}
            row |= {"is_user_annotation": annotation}
            row |= {"device_type": "CUDA" if event.on_device else "CPU"}
            row |= {"input_shapes": str(event.shapes)} if by == "shape" else {}
            row |= {"stack": event.stack[:depth]} if by == "stack" else {}
        for column, value in event.row(with_device).items():
            row[column] += value
    return list(rows.values())


def table(document: Json, by: str, rules: Rules, annotations: bool) -> dict[Any, Row]:
    return {identity(row, annotations): row for row in averages(document, by, rules=rules)}


def identity(row: Row, annotations: bool) -> tuple[Any, ...]:
    """The group of a row; torch tells annotations apart from operators since 2.5."""
    annotation = annotations and row["is_user_annotation"]
    stack = tuple(row.get("stack", ()))
    return row["key"], row.get("device_type", "CPU"), annotation, row.get("input_shapes"), stack


def agrees(theirs: Row, ours: Row | None, column: str, rules: Rules) -> bool:
    """Equal; times within one tick of torch's clock for every event that the cell is made of."""
    if ours is None:
        return False
    if "time" not in column:
        return bool(theirs[column] == ours[column])
    events = ours["count"] + (ours["children"] if column.startswith("self") else 0)
    return bool(abs(nanoseconds(theirs[column]) - ours[column]) <= rules.tick * events)


def check(trace: Path, expected: Path) -> tuple[int, list[Json]]:
    """Number of cells compared, and those that differ from torch's, each with its reason."""
    said, document = load(expected), load(trace)
    exact = Rules.of_torch(said["torch"], said.get("asynchronous", []))
    variants = {"": Rules()} | exact.one_by_one() | {"several": exact}
    cells, wrong = 0, []
    for name, by in TABLES.items():
        theirs = said.get(name)
        if theirs is None:
            continue
        annotations = any(row.get("is_user_annotation") is not None for row in theirs)
        ours = {why: table(document, by, rules, annotations) for why, rules in variants.items()}
        for place, row in enumerate(theirs):
            for column in (c for c in (*SUMS, "is_async") if row.get(c) is not None):
                cells += 1
                which = identity(row, annotations)
                fitting = (w for w in ours if agrees(row, ours[w].get(which), column, exact))
                if reason := next(fitting, "unexplained"):
                    mine = ours[""].get(which, {}).get(column)
                    place_of = {"trace": trace.name, "table": name, "row": place}
                    group = {k: row[k] for k in ("key", "input_shapes", "stack") if k in row}
                    value = nanoseconds(row[column]) if "time" in column else row[column]
                    cell = {"column": column, "torch": value, "here": mine, "reason": reason}
                    wrong.append(place_of | group | cell)
        extra = len(ours[""].keys() - {identity(row, annotations) for row in theirs})
        if extra:
            wrong.append({"trace": trace.name, "table": name, "reason": f"{extra} rows too many"})
    return cells, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("trace", type=Path, nargs="?")
    parser.add_argument("--by", choices=["", "shape", "stack"], default="")
    parser.add_argument("--torch", help="follow that version where it differs from fathom")
    parser.add_argument("--check", type=Path, metavar="FOLDER")
    parser.add_argument("--write-exceptions", type=Path, metavar="FILE")
    args = parser.parse_args()
    if not args.check:
        rules = Rules.of_torch(args.torch, []) if args.torch else Rules()
        json.dump(averages(load(args.trace), args.by, rules=rules), sys.stdout, indent=1)
        return 0
    total, exceptions = 0, []
    for expected in sorted(args.check.rglob("*.expected.json.gz")):
        stem = str(expected).removesuffix(".expected.json.gz")
        for trace in (Path(stem + ".trace.json.gz"), Path(stem + "_ns.kinetolike.json.gz")):
            if trace.exists():
                cells, wrong = check(trace, expected)
                reasons = dict(collections.Counter(e["reason"] for e in wrong))
                name = trace.relative_to(args.check)
                print(f"{name}: {cells - len(wrong)} of {cells} cells equal {reasons or ''}")
                total += cells
                exceptions += [e | {"trace": str(name)} for e in wrong]
    print(f"all: {total - len(exceptions)} of {total} cells equal")
    if args.write_exceptions:
        out = {"cells": total, "reasons": REASONS, "exceptions": exceptions}
        args.write_exceptions.write_text(json.dumps(out, indent=0) + "\n")
    return 1 if any(e["reason"] not in REASONS for e in exceptions) else 0


if __name__ == "__main__":
    sys.exit(main())
