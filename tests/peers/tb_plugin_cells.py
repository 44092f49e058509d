"""The former TensorBoard plugin: step costs, device metrics, and kernel tables."""
from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import raw
from cells import Cell, clock_grain, expected_folders, half_last_digit, overview, read_csv, table, trace_file

TOOL = "tb_plugin"


def grain_of(trace: pathlib.Path) -> float:
    """0 for whole microseconds, else what the plugin's doubles cannot tell apart, in ns."""
    loaded = raw.load(trace)
    whole = all(a.start % 1000 == 0 and a.end % 1000 == 0 for a in loaded.activities)
    return 0.0 if whole else clock_grain(loaded.first_us)


def step_cells(name: str, trace: pathlib.Path, published: dict) -> Iterator[Cell]:
    grain = grain_of(trace)
    rows = table("steps", trace)
    for row, number, costs in zip(rows, published["steps_names"], published["steps_costs"], strict=True):
        ends = grain * (2 * row["kernels"] + 100)
        ours = {
            # The plugin's kernels include those of communication.
            "Kernel": row["compute_ns"] + row["exposed_communication_ns"],
            "Memcpy": row["exposed_memcpy_ns"],
            "Memset": row["exposed_memset_ns"],
            "Total": row["window_ns"],
        }
        for part, value in ours.items():
            tolerance = 2 * grain if part == "Total" else ends
            yield Cell(f"{TOOL}/{name}/steps/{number}/{part}", costs[part] * 1000, value, tolerance)


def device_cells(name: str, trace: pathlib.Path, published: dict) -> Iterator[Cell]:
    values = overview(trace)
    for gpu in published["gpu_ids"]:
        section = f"device {gpu}"
        # Doubles round each end of each kernel: relative to a kernel of 10 µs.
        relative = grain_of(trace) / 1e4
        for column, metric, scale in (("gpu_utilization", "kernel utilisation", 100),
                                      ("est_sm_efficiency", "SM efficiency, estimated", 100),
                                      ("est_occupancy", "achieved occupancy, estimated", 1)):
            theirs = published[column][str(gpu)] * scale
            yield Cell(f"{TOOL}/{name}/device {gpu}/{column}/percent", theirs, values.get((section, metric)),
                       theirs * relative)


def kernel_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    ours = {row["name"]: row for row in table("kernels", trace)}
    for row in read_csv(path):
        mine = ours.get(row["name"], {})
        place = f"{TOOL}/{name}/kernel_stat/{row['name']}"
        calls = int(row["count"])
        yield Cell(f"{place}/calls", calls, mine.get("calls"))
        yield Cell(f"{place}/sum_ns", float(row["sum"]) * 1000, mine.get("total_ns"), 0 if grain_of(trace) == 0 else calls)
        yield Cell(f"{place}/min_ns", float(row["min"]) * 1000, mine.get("min_ns"), 1)
        yield Cell(f"{place}/max_ns", float(row["max"]) * 1000, mine.get("max_ns"), 1)
        yield Cell(f"{place}/tensor_cores", row["tc_used"] == "True", mine.get("tensor_cores"))
        weights = 0 if grain_of(trace) == 0 else 1e-3  # ours are weighted by durations between rounded ends
        for column, metric in (("blocks_per_sm", "blocks_per_sm"), ("occupancy", "achieved_occupancy_percent")):
            value = float(row[column])
            yield Cell(f"{place}/{column}", value, mine.get(metric), weights * value)


def operator_kernel_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    """Kernels by the operator that launched them. On two of the traces the plugin's tree of operators fell apart
    (1 of 79 and 705 of 6080 kernels found their way into it): there is nothing to compare with."""
    if sum(int(row["calls"]) for row in read_csv(path)) < 0.9 * sum(row["calls"] for row in table("kernels", trace)):
        return
    ours = {(row["name"], row["ops"]): row for row in table("kernels", trace, "--group-by", "op")}
    theirs: dict[tuple[str, str], list[float]] = {}
    for row in read_csv(path):
        sums = theirs.setdefault((row["name"], row["op_name"]), [0, 0])
        sums[0] += int(row["calls"])
        sums[1] += float(row["total_duration"]) * 1000
    for (kernel, operator), (calls, total) in theirs.items():
        mine = ours.get((kernel, operator), {})
        place = f"{TOOL}/{name}/kernels_by_name_op/{kernel} @ {operator}"
        yield Cell(f"{place}/calls", calls, mine.get("calls"))
        # Here the plugin subtracts start from end, both rounded.
        yield Cell(f"{place}/total_ns", total, mine.get("total_ns"), 2 * calls * grain_of(trace))


def golden_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    """The kernel table of the plugin's own tests, rounded for the page."""
    ours = {row["name"]: row for row in table("kernels", trace)}
    for row in json.loads(path.read_text(encoding="utf-8"))["data"]["rows"]:
        kernel, _, calls, total, mean, longest, shortest, blocks, occupancy = row
        mine = ours.get(kernel, {})
        place = f"{TOOL}/{name}/kernel_table/{kernel}"
        yield Cell(f"{place}/calls", calls, mine.get("calls"))
        for column, value in (("total_ns", total), ("mean_ns", mean), ("max_ns", longest), ("min_ns", shortest)):
            yield Cell(f"{place}/{column}", value * 1000, mine.get(column), 500)
        yield Cell(f"{place}/blocks_per_sm", blocks, mine.get("blocks_per_sm"), half_last_digit(str(blocks)))
        yield Cell(f"{place}/occupancy", occupancy, mine.get("achieved_occupancy_percent"), half_last_digit(str(occupancy)))


def cells() -> Iterator[Cell]:
    for name, folder in expected_folders(TOOL).items():
        trace = trace_file(name)
        if trace is None:
            continue
        published = json.loads((folder / "overview.json").read_text(encoding="utf-8"))
        yield from step_cells(name, trace, published)
        yield from device_cells(name, trace, published)
        yield from kernel_cells(name, trace, folder / "kernel_stat.csv")
        yield from operator_kernel_cells(name, trace, folder / "kernels_by_name_op.csv")
        golden = folder.parent / f"{name.removeprefix('kineto_tb_')}.kernel_table.json"
        if golden.exists():
            yield from golden_cells(name, trace, golden)
