"""HTA (Holistic Trace Analysis): temporal breakdown, kernel breakdown, overlap, copies, queue lengths.

HTA keeps only activities whose launch is in the trace, and rounds fractional times inwards (start up, end down, to
whole microseconds): there a duration may shrink by up to 2 µs, never grow."""
from __future__ import annotations

import pathlib
from collections.abc import Iterator

import raw
from cells import Cell, clock_grain, expected_folders, overview, read_csv, table, trace_file

TOOL = "hta"
SUFFIX = "__incl_last_step"  # without it, HTA leaves out the last step
MEMORY = {"HtoD": "Memcpy HtoD", "DtoH": "Memcpy DtoH", "DtoD": "Memcpy DtoD", "PtoP": "Memcpy PtoP",
          "memset": "Memset"}


def fractional(trace: pathlib.Path) -> bool:
    return any(a.start % 1000 or a.end % 1000 for a in raw.load(trace).activities)


def shrunk(cell_id: str, theirs_us: float, ours_ns: int | None, activities: int, trace: pathlib.Path) -> Cell:
    """Equal; on fractional times shorter by up to 2 µs per activity, and both ends off by half of a double's grain."""
    if not fractional(trace):
        return Cell(cell_id, theirs_us * 1000, ours_ns)
    grain = clock_grain(raw.load(trace).first_us)
    return Cell(cell_id, theirs_us * 1000 + 1000.0 * activities, ours_ns, (1000.0 + grain) * activities)


def breakdown_cells(name: str, trace: pathlib.Path, folder: pathlib.Path) -> Iterator[Cell]:
    values = overview(trace, "--window", "0ns:")  # not only the steps
    device = next((section for section, _ in values if section.startswith("device")), None)
    count = sum(row["calls"] for row in table("kernels", trace)) + sum(row["count"] for row in table("copies", trace))
    compute = values[device, "compute"]
    for row in read_csv(folder / "temporal_breakdown.csv"):
        yield shrunk(f"{TOOL}/{name}/temporal_breakdown/compute_time", float(row["compute_time(us)"]), compute, count,
                     trace)
    types = {row["kernel_type"]: float(row["sum"]) for row in read_csv(folder / "kernel_type_breakdown.csv")}
    if any("overlapping" in kind for kind in types):
        return  # exclusive of each other in another way than our priorities; all of them are unions of launched work
    memory = values[device, "memcpy exposed"] + values[device, "memset exposed"]
    for kind, ours in (("COMPUTATION", compute), ("MEMORY", memory)):
        if kind in types:
            yield shrunk(f"{TOOL}/{name}/kernel_type_breakdown/{kind}", types[kind], ours, count, trace)


def launched_kernels(trace: pathlib.Path) -> dict[str, dict[str, int]]:
    sums: dict[str, dict[str, int]] = {}
    for row in table("kernels", trace, "--group-by", "op"):
        if row["ops"] == "(unattributed)":
            continue
        mine = sums.setdefault(row["name"], {"calls": 0, "total_ns": 0, "min_ns": row["min_ns"], "max_ns": 0})
        mine["calls"] += row["calls"]
        mine["total_ns"] += row["total_ns"]
        mine["min_ns"] = min(mine["min_ns"], row["min_ns"])
        mine["max_ns"] = max(mine["max_ns"], row["max_ns"])
    return sums


def kernel_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    launched = launched_kernels(trace)
    spread = {row["name"]: row for row in table("kernels", trace)}
    for row in read_csv(path):
        if row["kernel_type"] == "MEMORY":
            continue
        mine = launched.get(row["name"], {"calls": 1})
        place = f"{TOOL}/{name}/kernel_breakdown/{row['name']}"
        yield shrunk(f"{place}/sum", float(row["sum (us)"]), mine.get("total_ns"), mine["calls"], trace)
        yield shrunk(f"{place}/max", float(row["max (us)"]), mine.get("max_ns"), 1, trace)
        yield shrunk(f"{place}/min", float(row["min (us)"]), mine.get("min_ns"), 1, trace)
        whole = mine["calls"] == spread.get(row["name"], {}).get("calls")
        if whole and not fractional(trace):
            yield Cell(f"{place}/stddev", float(row["stddev"]) * 1000, spread[row["name"]]["stddev_ns"], 0.5)
            yield Cell(f"{place}/mean", float(row["mean (us)"]) * 1000, spread[row["name"]]["mean_ns"], 0.5)


def copy_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    """How many copies of each kind; HTA leaves out those it gives no duration."""
    if fractional(trace):
        return
    ours: dict[str, int] = {}
    for row in table("copies", trace, "--group-by", "op"):
        if row["ops"] != "(unattributed)":
            kind = MEMORY.get(row["kind"], row["kind"])
            ours[kind] = ours.get(kind, 0) + row["count"]
    for line in path.read_text(encoding="utf-8").splitlines()[2:]:  # two lines of heading
        _, kind, count, *_ = line.split(",")
        yield Cell(f"{TOOL}/{name}/memory_bw_summary/{kind}/count", float(count), ours.get(kind))


def queue_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    ours: dict[str, int] = {}
    for row in table("launches", trace, "--group-by", "stream"):
        if row["queue_depth_max"] is not None:
            ours[str(row["stream"])] = max(ours.get(str(row["stream"]), 0), row["queue_depth_max"])
    lines = path.read_text(encoding="utf-8").splitlines()[2:]
    for line in lines:
        _, stream, *numbers = line.split(",")
        yield Cell(f"{TOOL}/{name}/queue_length_summary/stream {stream}/max", float(numbers[-1]), ours.get(stream))


def cells() -> Iterator[Cell]:
    for folder_name, folder in expected_folders(TOOL).items():
        name = folder_name.removesuffix(SUFFIX)
        trace = trace_file(name)
        if trace is None or not folder_name.endswith(SUFFIX):
            continue
        if (folder / "temporal_breakdown.csv").exists():
            yield from breakdown_cells(name, trace, folder)
        yield from kernel_cells(name, trace, folder / "kernel_breakdown_all.csv")
        if (folder / "memory_bw_summary.csv").exists():
            yield from copy_cells(name, trace, folder / "memory_bw_summary.csv")
        if (folder / "queue_length_summary.csv").exists():
            yield from queue_cells(name, trace, folder / "queue_length_summary.csv")
