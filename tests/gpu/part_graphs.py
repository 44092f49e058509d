"""Graphs: all nodes while CUPTI may take little of the device's memory, and graphs that torch.compile makes."""

from __future__ import annotations

import math
from pathlib import Path

import check
import timeline
from common import HERE, CommandFailed, Context, last_json
from outcome import Report
from programs_of import Recording, ready

LAUNCHES = 1000
POOL_LIMIT = 8  # buffers


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("nodes",)).get("nodes")
    if program is not None:
        nodes(context, report, program)
    if not context.gpu or not context.python:
        reason = "no GPU" if not context.gpu else "no Python with torch"
        report.not_possible("torch.compile, reduce-overhead", reason)
        return
    compiled_graphs(context, report)


def nodes(context: Context, report: Report, program: Path) -> None:
    name = f"nodes with {POOL_LIMIT} buffers of the device"
    with Recording(context, report, name) as recording:
        options = ("--graph-nodes",)
        recording.run(program, LAUNCHES, POOL_LIMIT, options=options, seconds=120)
        limit = recording.expected["pool_limit"]
        report.compare(f"{name}: the limit", "set", limit)
        found, made, facts = recording.kernels(), recording.launched(), recording.facts()
        report.compare(
            f"{name}: recorded or counted as dropped",
            f"{made} kernels",
            found,
            found <= made <= found + facts["dropped"] + recording.lost(),
            **facts,
        )


def compiled_graphs(context: Context, report: Report) -> None:
    name = "torch.compile, reduce-overhead"
    program = HERE / "compiled.py"
    try:
        alone = last_json(context.run(context.python, program, seconds=120))
    except CommandFailed as error:
        report.failed(name, str(error))
        return
    if not alone["possible"]:
        report.not_possible(name, alone["reason"])
        return
    with Recording(context, report, f"{name}, by torch.profiler") as recording:
        steps = ("--steps", "wait=9,warmup=1,active=5,repeat=1", "--no-overhead")
        out = recording.run(context.python, program, options=steps, seconds=120)
        same = math.isclose(alone["sum"], last_json(out)["sum"], rel_tol=0.01)
        report.compare(f"{name}: computes the same", alone["sum"], last_json(out)["sum"], same)
        found = by_name(recording.rows("kernels"))
        report.checks += check.same_counts(f"{name}: kernels of five steps", found, alone["kernels"])
    with Recording(context, report, f"{name}, by the injection") as recording:
        out = recording.run(context.python, program, options=("--cuda", "always"), seconds=120)
        events = timeline.load(context, recording.session)
        wholes = sum(each["ph"] == "X" and each["name"].startswith("CUDA graph ") for each in events)
        launches = len(timeline.spans(events, "cuda_runtime", "cudaGraphLaunch"))
        report.compare(f"{name}: launches of graphs", "some", launches, launches > 0, **recording.facts())
        report.compare(f"{name}: graphs as wholes", launches, wholes, **recording.facts())


def by_name(rows: check.Rows) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row["name"]] = found.get(row["name"], 0) + row["calls"]
    return found
