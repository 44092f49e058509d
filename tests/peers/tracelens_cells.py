"""TraceLens: gpu_timeline.csv (exclusive times of the device) and kernel_summary.csv (kernels by operator)."""
from __future__ import annotations

import pathlib
from collections.abc import Iterator

import raw
from cells import Cell, clock_grain, expected_folders, overview, read_csv, table, trace_file

TOOL = "tracelens"


def timeline_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    values = overview(trace, "--window", "0ns:")  # not only the steps
    device = next(section for section, _ in values if section.startswith("device"))
    busy, span = values[device, "busy"], values[device, "first to last activity"]
    ours = {
        # TraceLens counts fills as computation.
        "computation_time": values[device, "compute"] + values[device, "memset exposed"],
        "exposed_comm_time": values[device, "communication exposed"],
        "exposed_memcpy_time": values[device, "memcpy exposed"],
        "busy_time": busy,
        "idle_time": span - busy,
        "total_time": span,
        "total_comm_time": values[device, "communication total"],
        "total_memcpy_time": values[device, "memcpy total"],
    }
    # It sums doubles in microseconds since boot or 1970: each end of each interval is off by half a grain.
    ends = 2 * (sum(row["calls"] for row in table("kernels", trace)) + sum(row["count"] for row in table("copies", trace)))
    grain = clock_grain(raw.load(trace).first_us) / 2
    total = float(next(row["time ms"] for row in read_csv(path) if row["type"] == "total_time")) * 1e6
    for row in read_csv(path):
        quantity = row["type"]
        theirs = float(row["time ms"]) * 1e6
        tolerance = grain * (2 if quantity == "total_time" else ends)
        yield Cell(f"{TOOL}/{name}/gpu_timeline/{quantity}/ns", theirs, ours[quantity], tolerance)
        yield Cell(f"{TOOL}/{name}/gpu_timeline/{quantity}/percent", float(row["percent"]), 100 * ours[quantity] / span,
                   100 * 2 * tolerance / total)


def kernel_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    """By kernel and operator; TraceLens splits by stream too, which these traces do not need."""
    ours: dict[tuple[str, str], dict] = {}
    for row in table("kernels", trace, "--group-by", "op"):
        ours[row["name"], row["ops"]] = row
    theirs: dict[tuple[str, str], dict[str, float]] = {}
    for row in read_csv(path):
        operator = row.get("Parent cpu_op", "")
        if operator == "":  # no operator: with or without a launch
            found = [op for op in ("(unattributed)", "(no operator)") if (row["Kernel name"], op) in ours]
            operator = found[0] if found else "(unattributed)"
        sums = theirs.setdefault((row["Kernel name"], operator), {"sum": 0, "count": 0, "min": 1e99, "max": 0})
        sums["sum"] += float(row["Kernel duration (µs)_sum"]) * 1000
        sums["count"] += int(row["Kernel duration (µs)_count"])
        sums["min"] = min(sums["min"], float(row["Kernel duration (µs)_min"]) * 1000)
        sums["max"] = max(sums["max"], float(row["Kernel duration (µs)_max"]) * 1000)
    # Durations as recorded, against ours between rounded ends: 1 ns each at most.
    for (kernel, operator), sums in theirs.items():
        row = ours.get((kernel, operator), {})
        place = f"{TOOL}/{name}/kernel_summary/{kernel} @ {operator}"
        yield Cell(f"{place}/count", sums["count"], row.get("calls"))
        yield Cell(f"{place}/sum_ns", sums["sum"], row.get("total_ns"), sums["count"])
        yield Cell(f"{place}/min_ns", sums["min"], row.get("min_ns"), 1)
        yield Cell(f"{place}/max_ns", sums["max"], row.get("max_ns"), 1)


def cells() -> Iterator[Cell]:
    for name, folder in expected_folders(TOOL).items():
        trace = trace_file(name)
        if trace is None:
            continue
        if (folder / "gpu_timeline.csv").exists():
            yield from timeline_cells(name, trace, folder / "gpu_timeline.csv")
        if (folder / "kernel_summary.csv").exists():
            yield from kernel_cells(name, trace, folder / "kernel_summary.csv")
