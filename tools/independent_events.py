"""Reads the events of a Chrome trace: host slices, device activity, who launched what, idle time.

Plain Python over the JSON, for sums that know nothing of Fathom. Times are integers in ns. Used by independent_sums.py.
"""

from __future__ import annotations

import bisect
import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Interval = tuple[int, int]

DEVICE = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
DEVICE |= {"Kernel": "kernel", "Memcpy": "memcpy", "Memset": "memset"}
CALLS = ("cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "hip_driver")
COMMUNICATION = re.compile(
    r"nccl|rccl|hccl|nvshmem|msccl|deep_?ep|::int(er|ra)node::|cross_device_reduce|all_?to_?all|all_?reduce|all_?gather|reduce_?scatter", re.IGNORECASE
)
FETCH = re.compile(r"enumerate\(DataLoader\)|_(Single|MultiProcessing\w*)DataLoaderIter\.__next__")


def ns(text: object) -> int:
    """Microseconds, as written, in ns."""
    whole, _, part = str(text).partition(".")
    if "e" in str(text).lower():
        return round(float(str(text)) * 1000)
    sign = -1 if whole.startswith("-") else 1
    return int(whole) * 1000 + sign * int((part + "000")[:3] or 0) + sign * (int((part + "0000")[3]) >= 5)


@dataclass(eq=False)
class Slice:
    name: str
    category: str
    begin: int
    end: int
    thread: tuple[str, str]
    arguments: dict[str, Any]
    parent: Slice | None = None  # of operators, annotations and calls of one thread

    @property
    def length(self) -> int:
        return self.end - self.begin

    def ancestors(self) -> list[Slice]:
        """Itself and what it lies in, from the inside."""
        found, at = [], self
        while at is not None:
            found.append(at)
            at = at.parent  # type: ignore[assignment]
        return found


@dataclass(eq=False)
class Activity(Slice):
    kind: str = ""
    device: int = 0
    launch: Slice | None = None
    credited: int = 0  # its time, where what runs at once is counted once

    @property
    def priority(self) -> int:
        if self.kind == "kernel":
            return 1 if COMMUNICATION.search(self.name) else 0
        return 2 if self.kind == "memcpy" else 3

    def around(self) -> list[Slice]:
        """Operators and annotations that it was launched from, from the inside."""
        return [] if self.launch is None else self.launch.ancestors()[1:]


@dataclass
class Events:
    work: list[Slice] = field(default_factory=list)  # operators, annotations and calls, by time
    frames: list[Slice] = field(default_factory=list)
    other: list[Slice] = field(default_factory=list)  # whatever else has a duration
    activities: list[Activity] = field(default_factory=list)
    properties: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start(self) -> int:
        return min(each.begin for each in [*self.work, *self.frames, *self.other, *self.activities])


def read(path: Path) -> Events:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as file:
        document = json.load(file, parse_float=str, strict=False)
    rows = document["traceEvents"] if isinstance(document, dict) else document
    events = Events()
    if isinstance(document, dict):
        events.properties = document.get("deviceProperties") or []
    launches: dict[Any, Slice] = {}
    for row in rows:
        if row.get("ph") == "X":
            add(events, row, launches)
    for activity in events.activities:
        activity.launch = launches.get(activity.arguments.get("correlation"))
    nest(events.work)
    credit(events.activities)
    return events


def add(events: Events, row: dict[str, Any], launches: dict[Any, Slice]) -> None:
    category, arguments = row.get("cat", ""), row.get("args") or {}
    begin = ns(row["ts"])
    end = begin + ns(row.get("dur", 0))
    thread = (str(row.get("pid")), str(row.get("tid")))
    plain = (row.get("name", ""), category, begin, end, thread, arguments)
    if category in DEVICE:
        device = int(arguments.get("device", row.get("pid", 0)))
        events.activities.append(Activity(*plain, kind=DEVICE[category], device=device))
    elif category in CALLS:
        made = Slice(*plain)
        events.work.append(made)
        launches[arguments.get("correlation")] = made
    elif category in ("", "cpu_op", "Operator", "operator", "user_annotation", "user_defined"):
        events.work.append(Slice(*plain))
    elif category == "python_function":
        events.frames.append(Slice(*plain))
    else:
        events.other.append(Slice(*plain))


def nest(slices: list[Slice]) -> None:
    """Gives each slice what it lies in."""
    slices.sort(key=lambda each: (each.begin, -each.end))
    stacks: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    for each in slices:
        stack = stacks[each.thread]
        while stack and (each.begin >= stack[-1].end or each.end > stack[-1].end):
            stack.pop()
        each.parent = stack[-1] if stack else None
        stack.append(each)


def credit(activities: list[Activity]) -> None:
    """At each busy instant of a device one activity is credited: computing first, then the one that began first."""
    by_device: dict[int, list[Activity]] = defaultdict(list)
    for each in activities:
        by_device[each.device].append(each)
    for run in by_device.values():
        run.sort(key=lambda each: each.begin)
        covered: list[list[int]] = [[-1, -1]]  # what those before, of the same or a higher priority, cover
        for priority in range(4):
            mine = [each for each in run if each.priority == priority]
            for each in mine:
                each.credited = each.length - overlap((each.begin, each.end), covered)
                insert(covered, each.begin, each.end)


def insert(covered: list[list[int]], begin: int, end: int) -> None:
    if end <= begin:
        return
    at = bisect.bisect_left(covered, [begin, begin])
    if at > 0 and covered[at - 1][1] >= begin:
        at -= 1
        begin = covered[at][0]
    until = at
    while until < len(covered) and covered[until][0] <= end:
        end = max(end, covered[until][1])
        until += 1
    covered[at:until] = [[begin, end]]


def overlap(interval: Interval, covered: list[list[int]]) -> int:
    """How much of an interval disjoint, ordered ones cover."""
    begin, end = interval
    at = max(0, bisect.bisect_right(covered, [begin, begin]) - 1)
    found = 0
    while at < len(covered) and covered[at][0] < end:
        found += max(0, min(end, covered[at][1]) - max(begin, covered[at][0]))
        at += 1
    return found


def union(intervals: list[Interval]) -> list[Interval]:
    merged: list[list[int]] = []
    for begin, end in sorted(intervals):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return [(begin, end) for begin, end in merged]


def without(intervals: list[Interval], taken: list[Interval]) -> list[Interval]:
    """What is left of disjoint, ordered intervals."""
    left = []
    for begin, end in intervals:
        at = max(0, bisect.bisect_right(taken, (begin, begin)) - 1)
        while at < len(taken) and taken[at][0] < end:
            if taken[at][1] > begin:
                if taken[at][0] > begin:
                    left.append((begin, taken[at][0]))
                begin = max(begin, taken[at][1])
            at += 1
        if begin < end:
            left.append((begin, end))
    return left


def both(one: list[Interval], other: list[Interval]) -> list[Interval]:
    """What lies in both of two lists of disjoint, ordered intervals."""
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        begin, end = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if begin < end:
            found.append((begin, end))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return found


def length(intervals: list[Interval]) -> int:
    return sum(end - begin for begin, end in intervals)
