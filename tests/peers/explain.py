"""Recomputes the cells on the exceptions list from the trace itself: what the other tool means, and what we mean.

Each function takes nothing and returns {cell id: (their value under their meaning, our value under ours)}; a value
that needs no recomputing is None. Independent of fathom: it only uses raw.py."""
from __future__ import annotations

import bisect
import gzip
import json
import pathlib
from collections.abc import Callable

import raw
import tb_plugin_cells
from cells import trace_file

Pairs = dict[str, tuple[float | None, float | None]]


def trace_of(name: str) -> pathlib.Path:
    path = trace_file(name)
    if path is None:
        raise FileNotFoundError(name)
    return path


def tracelens_launched_only() -> Pairs:
    """TraceLens leaves activities without a launch out of its timeline."""
    pairs: Pairs = {}
    for name in ("tl_h100_qwen1.5_0.5b", "tl_mi300_qwen1.5_0.5b"):
        if trace_file(name) is None:
            continue
        activities = raw.load(trace_of(name)).activities
        theirs = raw.timeline([a for a in activities if a.launch is not None])
        ours = raw.timeline(activities)
        for quantity, key in (("computation_time", "compute"), ("busy_time", "busy"), ("idle_time", "idle"),
                              ("total_time", "window")):
            values = [side[key] + (side["memset"] if key == "compute" else 0) for side in (theirs, ours)]
            place = f"tracelens/{name}/gpu_timeline/{quantity}"
            pairs[f"{place}/ns"] = (values[0], values[1])
            pairs[f"{place}/percent"] = (100 * values[0] / theirs["window"], 100 * values[1] / ours["window"])
    return pairs


def tb_plugin_whole_trace() -> Pairs:
    """Without steps the plugin's window runs from the first operator to the last kernel; ours takes runtime calls
    too, and begins with the annotation that is around the first operator."""
    path = trace_of("hta_alexnet")
    with gzip.open(path) as file:
        slices = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]

    def window(categories: set[str]) -> tuple[int, int]:
        chosen = [event for event in slices if event["cat"] in categories]
        return min(e["ts"] for e in chosen) * 1000, max(e["ts"] + e["dur"] for e in chosen) * 1000

    device = {"kernel", "gpu_memcpy", "gpu_memset"}
    theirs, ours = window({"cpu_op"} | device), window({"cpu_op", "cuda_runtime"} | device)
    first = min((event for event in slices if event["cat"] == "cpu_op"), key=lambda event: event["ts"])
    around = [
        event["ts"] * 1000
        for event in slices
        if event["cat"] == "user_annotation"
        and event["tid"] == first["tid"]
        and event["ts"] <= first["ts"] < event["ts"] + event["dur"]
    ]
    ours = min([ours[0], *around]), ours[1]
    kernels = raw.timeline(raw.load(path).activities)["compute_or_communication"]
    lengths = theirs[1] - theirs[0], ours[1] - ours[0]
    return {
        "tb_plugin/hta_alexnet/steps/0/Total": lengths,
        "tb_plugin/hta_alexnet/device 0/gpu_utilization/percent": (100 * kernels / lengths[0], 100 * kernels / lengths[1]),
        "tb_plugin/hta_alexnet/device 0/est_sm_efficiency/percent": (None, None),
    }


def tb_plugin_first_step() -> Pairs:
    """The plugin starts the first step when the work launched before it has ended; ours at its host start, and marks
    it as an edge step."""
    name = "hta_negative_queue_length_rank0_of_16"
    trace = raw.load(trace_of(name))
    ours = raw.windows(trace)
    first_start = trace.steps[0][1]
    launched_in = [a for a in trace.activities if a.launch is not None and first_start <= a.launch < trace.steps[0][2]]
    first_device = min(a.start for a in launched_in)
    in_steps = [(start, end) for _, start, end in trace.steps]
    strangers = [a.end for a in trace.activities if a.start < first_device and
                 not any(a.launch is not None and start <= a.launch < end for start, end in in_steps)]
    begin = max([first_start, *strangers])
    theirs_first = (begin, ours[0][1])
    whole = (begin, ours[-1][1]), (first_start, ours[-1][1])
    share = [100 * raw.timeline(trace.activities, w)["compute_or_communication"] / (w[1] - w[0]) for w in whole]
    return {
        f"tb_plugin/{name}/steps/550/Total": (theirs_first[1] - begin, ours[0][1] - first_start),
        f"tb_plugin/{name}/steps/550/Memset": (raw.timeline(trace.activities, theirs_first)["memset"],
                                               raw.timeline(trace.activities, ours[0])["memset"]),
        f"tb_plugin/{name}/device 0/gpu_utilization/percent": (share[0], share[1]),
        f"tb_plugin/{name}/device 0/est_sm_efficiency/percent": (None, None),
    }


def hta_launched_only() -> Pairs:
    """HTA leaves out activities without a launch."""
    name = "hta_negative_queue_length_rank0_of_16"
    activities = raw.load(trace_of(name)).activities
    launched = [a for a in activities if a.launch is not None]
    return {f"hta/{name}/temporal_breakdown/compute_time": (raw.timeline(launched)["total_compute"],
                                                            raw.timeline(activities)["total_compute"])}


def hta_queue_without_graphs() -> Pairs:
    """HTA counts what kernel launches, copies and fills queue, not what graph launches do."""
    name = "hta_negative_queue_length_rank0_of_16"

    def deepest(activities: list[raw.Activity]) -> int:
        launches = sorted(a.launch for a in activities)
        starts = sorted(a.start for a in activities)
        return max(bisect.bisect_right(launches, at) - bisect.bisect_left(starts, at) for at in launches)

    queued = [a for a in raw.load(trace_of(name)).activities if a.launch is not None and a.stream == "7"]
    single = [a for a in queued if "Graph" not in a.call]
    return {f"hta/{name}/queue_length_summary/stream 7/max": (deepest(single), deepest(queued))}


def tb_plugin_lost_kernel() -> Pairs:
    """The kernels of that name in the trace, all launched by aten::mul; the plugin's table has one less."""
    name = "hta_ns_resolution_ddp_v100"
    pairs: Pairs = {}
    for cell in tb_plugin_cells.cells():
        if not cell.id.startswith(f"tb_plugin/{name}/kernels_by_name_op/") or not cell.id.endswith("@ aten::mul/calls"):
            continue
        kernel = cell.id.split("/", 3)[3].removesuffix(" @ aten::mul/calls")
        pairs[cell.id] = (None, sum(a.name == kernel for a in raw.load(trace_of(name)).activities))
    return pairs


EXPLANATIONS: dict[str, Callable[[], Pairs]] = {
    function.__name__: function
    for function in (tracelens_launched_only, tb_plugin_whole_trace, tb_plugin_first_step, tb_plugin_lost_kernel,
                     hta_launched_only, hta_queue_without_graphs)
}
