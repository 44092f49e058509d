"""Holds a recording to what a program did: counts and bytes exactly, durations within an error.

`expected` is the document that a program of tests/gpu/programs prints; `found` are rows of Fathom's
tables, by name of the table. Pure: the tests need no GPU.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from outcome import FAILED, NOT_POSSIBLE, Check, compared

Rows = list[dict[str, Any]]
# Beyond the tick of the device's clock: a kernel's recorded length is taken from another clock.
SLACK_NS = 2_000
SLACK_PART = 0.002
# A blocked call lasts, as recorded, at least this part of what the program measured around it.
BLOCKED_PART = 0.9
OURS = "fathom_"
TICK = "fathom_tick"


# What `fathom health` calls launches without a kernel, and those of them that a known fault of CUPTI explains.
WITHOUT_KERNEL = "launches_without_activity"
KNOWN_FAULTS = ("cupti_first_kernels_lost",)


def lost_by_cupti(health: Rows) -> int:
    return sum(int(row["count"]) for row in health if row["check"] in KNOWN_FAULTS)


def compare(
    expected: dict[str, Any], found: Mapping[str, Rows], graph_nodes: bool = False, lost: int = 0
) -> list[Check]:
    """`graph_nodes`: of CUDA graphs each node was asked for, else a graph is one activity. `lost`: so many kernels are
    missing by a fault of CUPTI that is known and named."""
    if "graph" in expected and not graph_nodes:
        return [*calls(expected, found["launches"]), *graph_as_whole(expected, found["kernels"])]
    return [
        *kernels(expected, found["kernels"], lost),
        *copies(expected, found["copies"]),
        *calls(expected, found["launches"]),
        *ranges(expected, found.get("ranges", [])),
        *overlap(expected, found),
    ]


def kernels(expected: dict[str, Any], rows: Rows, lost: int = 0) -> list[Check]:
    checks = []
    by_name = {plain_name(row["name"]): row for row in rows}
    wanted: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for kernel in expected["kernels"]:
        wanted[kernel["name"]].append(kernel)
    for name, shapes in wanted.items():
        row = by_name.get(name)
        calls_made = sum(shape["calls"] for shape in shapes)
        calls_found = row["calls"] if row is not None else 0
        known = max(0, min(lost, calls_made - calls_found))
        lost -= known
        if calls_found + known == 0:
            checks.append(Check(f"kernel {name}", FAILED, "not recorded", f"{calls_made}", "not recorded"))
            continue
        told = {"lost by a fault of this CUPTI": known} if known else {}
        checks.append(compared(f"{name}: count", calls_found + known == calls_made, calls_made, calls_found, **told))
        if row is None:
            continue
        checks += lengths(name, shapes, row, expected["tick_ns"])
        if len(shapes) == 1:
            checks += shape_checks(name, shapes[0], row)
    strangers = [name for name in by_name if name not in wanted and name.startswith(OURS)]
    checks.append(compared("no kernel that was not launched", not strangers, "none", ", ".join(strangers) or "none"))
    return checks


def lengths(
    name: str, shapes: list[dict[str, Any]], row: dict[str, Any], tick_ns: int
) -> list[Check]:
    error = tick_ns + SLACK_NS
    least = min(shape["least_ns"] for shape in shapes)
    most = max(shape["most_ns"] for shape in shapes)
    checks = []
    if least:
        low = least - error - SLACK_PART * least
        wanted = f"at least {least} ns, which were spent"
        checks.append(compared(f"{name}: least duration", row["min_ns"] >= low, wanted, f"{row['min_ns']} ns", error_ns=error))
    if most:
        high = most + error + SLACK_PART * most
        wanted = f"at most {most} ns, by the events around it"
        checks.append(compared(f"{name}: greatest duration", row["max_ns"] <= high, wanted, f"{row['max_ns']} ns", error_ns=error))
    return checks


def shape_checks(name: str, shape: dict[str, Any], row: dict[str, Any]) -> list[Check]:
    checks = []
    for key in ("grid", "block"):
        value = row[key]
        got = json.loads(value) if isinstance(value, str) else value
        checks.append(compared(f"{name}: {key}", got == shape[key], shape[key], got))
    if shape["shared_bytes"]:
        bytes_found = row["shared_memory_bytes"]
        enough = bytes_found is not None and bytes_found >= shape["shared_bytes"]
        wanted = f"at least {shape['shared_bytes']} bytes"
        checks.append(compared(f"{name}: shared memory", enough, wanted, bytes_found))
    return checks


def copies(expected: dict[str, Any], rows: Rows) -> list[Check]:
    got: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        key = (row["kind"], row["source"] or "", row["destination"] or "")
        got[key].update({"count": row["count"], "bytes": row["bytes"] or 0})
    checks = []
    for copy in expected["copies"]:
        key = (copy["kind"], copy["source"], copy["destination"])
        name = " ".join(part for part in key if part)
        found = got.pop(key, Counter())
        for what in ("count", "bytes"):
            checks.append(compared(f"{name}: {what}", found[what] == copy[what], copy[what], found[what]))
    strangers = ", ".join(f"{' '.join(key)} ×{value['count']}" for key, value in got.items())
    checks.append(compared("no copy that was not made", not got, "none", strangers or "none"))
    return checks


def calls(expected: dict[str, Any], rows: Rows) -> list[Check]:
    got: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        got[plain_call(row["name"])].update(
            {"calls": row["calls"], "host_total_ns": row["host_total_ns"]}
        )
    checks = []
    for call in expected["calls"]:
        name, made = call["name"], call["calls"]
        found = got.get(name, Counter())
        checks.append(compared(f"{name}: calls", found["calls"] == made, made, found["calls"]))
        if call["blocked_ns"]:
            wanted = f"{BLOCKED_PART:g} of {call['blocked_ns']} ns around the calls"
            enough = found["host_total_ns"] >= BLOCKED_PART * call["blocked_ns"]
            checks.append(compared(f"{name}: blocked", enough, wanted, f"{found['host_total_ns']} ns"))
    launched = sum(kernel["calls"] for kernel in expected["kernels"])
    # The runtime calls the driver, which may be recorded too.
    kind = "cudaLaunch" if any(name.startswith("cudaLaunch") for name in got) else "cuLaunch"
    if launched and "graph" not in expected:
        starts = sum(value["calls"] for name, value in got.items() if name.startswith(kind))
        checks.append(compared("launch calls", starts == launched, launched, starts))
    return checks


def ranges(expected: dict[str, Any], rows: Rows) -> list[Check]:
    got = ranges_by_domain(rows)
    checks = []
    for each in expected["ranges"]:
        name, domain = each["name"], each.get("domain", "")
        told = {"domain": domain} if domain else {}
        checks.append(compared(f"{name}: count", got[name, domain] == each["calls"], each["calls"], got[name, domain], **told))
    return checks


def ranges_by_domain(rows: Rows) -> Counter[tuple[str, str]]:
    """How many there are by name and NVTX's domain, which is empty for the default one."""
    got: Counter[tuple[str, str]] = Counter()
    for row in rows:
        got[row["name"], row.get("domain") or ""] += row["calls"]
    return got


def overlap(expected: dict[str, Any], found: Mapping[str, Rows]) -> list[Check]:
    """Kernels of several streams ran beside each other: the device was busy less than their sum."""
    if "overlap" not in expected:
        return []
    name, together = expected["overlap"]["kernel"], expected["overlap"]["together_ns"]
    total = next(
        (row["total_ns"] for row in found["kernels"] if plain_name(row["name"]) == name), 0
    )
    busy = next((row["value"] for row in found["overview"] if row["metric"] == "busy"), None)
    if busy is None:
        return [Check("streams overlap", NOT_POSSIBLE, "overview has no busy time")]
    wanted = f"at most {together} ns, as between events, and 0.7 of {total} ns, the sum of the kernels"
    right = 0 < busy <= together * 1.05 + 1e6 and busy < 0.7 * total
    return [compared("streams overlap", right, wanted, f"busy for {busy} ns")]


def graph_as_whole(expected: dict[str, Any], rows: Rows) -> list[Check]:
    """Without nodes, each launch is one activity, and no kernel of the graph is recorded by name."""
    launches = expected["graph"]["launches"]
    names = {kernel["name"] for kernel in expected["kernels"]} - {TICK}
    nodes = sum(row["calls"] for row in rows if plain_name(row["name"]) in names)
    wholes = sum(row["calls"] for row in rows if row["name"].startswith("CUDA graph "))
    return [
        compared("no kernel of the graph", nodes == 0, 0, nodes),
        compared("launches of the graph", wholes == launches, launches, wholes),
    ]


def plain_name(name: str) -> str:
    """A kernel's name without parameters."""
    return name.split("(", 1)[0].strip()


def plain_call(name: str) -> str:
    """A call's name without the version that CUPTI gives it."""
    return re.sub(r"(_ptsz|_ptds)?(_v\d+)?$", "", name).removeprefix("__")


def same_counts(what: str, ours: Mapping[str, int], theirs: Mapping[str, int], **facts: Any) -> list[Check]:
    """Two countings of the same things, name by name. Facts are what explains a difference."""
    differing = [
        f"{name[:80]}: {ours.get(name, 0)}, not {theirs.get(name, 0)}"
        for name in sorted({*ours, *theirs})
        if ours.get(name, 0) != theirs.get(name, 0)
    ]
    wanted = f"{sum(theirs.values())} of {len(theirs)} names"
    if not theirs:
        return [compared(what, False, "some", "nothing was counted", **facts)]
    got = "; ".join([f"{sum(ours.values())} of {len(ours)} names", *differing[:5]])
    return [compared(what, not differing, wanted, got, **facts)]


def sane_levels(rows: Rows) -> list[Check]:
    """Values of NVML's counters that a GPU at work can have."""
    seen = {row["counter"]: row for row in rows if row["counter"].startswith("gpu.")}

    def most(name: str) -> float | None:
        return seen[name]["max"] if name in seen else None

    limits = {
        "gpu.utilization": (0, 100),
        "gpu.memory_utilization": (0, 100),
        "gpu.memory_used": (1, most("gpu.memory_total")),
        "gpu.power": (5, 1.3 * (most("gpu.power_limit") or 2000)),
        "gpu.temperature": (5, 110),
        "gpu.sm_clock": (100, most("gpu.sm_clock_max")),
        "gpu.memory_clock": (100, most("gpu.memory_clock_max")),
        "gpu.performance_state": (0, 15),
        "gpu.ecc_uncorrected": (0, 0),
    }
    checks = []
    for name, (low, high) in limits.items():
        row = seen.get(name)
        if row is None:
            checks.append(Check(name, NOT_POSSIBLE, "no samples"))
            continue
        right = row["min"] >= low and (high is None or row["max"] <= high)
        seen_text = f"{row['min']:g} … {row['max']:g} {row['unit']} in {row['samples']} samples"
        checks.append(compared(name, right, f"from {low} to {high}", seen_text))
    if "gpu.energy" in seen:
        row = seen["gpu.energy"]
        checks.append(compared("gpu.energy grows", row["max"] > row["min"], "by more than 0 J", f"by {row['max'] - row['min']:g} J"))
    return checks


def close(
    name: str, ours: float | None, theirs: float | None, part: float, absolute: float
) -> Check:
    """Two tools' values of one quantity, at most `part` of theirs or `absolute` apart."""
    if ours is None or theirs is None:
        missing = "Fathom" if ours is None else "nvidia-smi"
        return Check(name, NOT_POSSIBLE, f"{missing} does not tell it")
    right = abs(ours - theirs) <= max(part * abs(theirs), absolute)
    allowed = max(part * abs(theirs), absolute)
    return compared(name, right, f"{theirs:g} of nvidia-smi", f"{ours:g}", may_differ_by=allowed)
