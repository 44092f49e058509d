"""PyTorch's profiler beside ours: two processes, several profiles in a process, one of the CPU first, another CUDA library
first."""

from __future__ import annotations

import json
import shlex
from typing import Any

from common import HERE, CommandFailed, Context, last_json
from outcome import Report
from part_torch import FIRST, LAST, SCHEDULE, STEPS
from programs_of import Recording

WAYS = ("ten", "cpu first", "cupy first", "numba first")
# Versions of CUDA, as PyTorch has them, whose CUPTI loses the first kernels of a profile.
FIRST_LOST = ("12.6", "12.8", "12.9", "13.0")


def run(context: Context, report: Report) -> None:
    if not context.gpu or not context.python:
        report.not_possible("PyTorch's profiles", "no GPU" if not context.gpu else "no Python with torch")
        return
    two_processes(context, report)
    for way in WAYS:
        try:
            alone = last_json(context.run(context.python, HERE / "sessions.py", way, seconds=60))
        except CommandFailed as error:
            # Nothing of ours was in it.
            report.not_possible(way, f"it does not run by itself: {error}")
            continue
        if not alone["possible"]:
            report.not_possible(way, alone["reason"])
            continue
        # What this CUPTI does without us.
        report.number(f"{way}: kernels of each profile, without Fathom", alone)
        for cuda in ("auto", "always"):
            with Recording(context, report, f"{way} {cuda}") as recording:
                options = ("--cuda", cuda) if cuda != "auto" else ()
                under = last_json(
                    recording.run(context.python, HERE / "sessions.py", way, options=options, seconds=90)
                )
                facts = recording.facts()
                report.number(f"{way}, --cuda {cuda}", {"own": under["kernels"], "ours": recording.kernels()})
                if cuda == "auto":
                    report.compare(
                        f"{way}: kernels of each profile under fathom run",
                        f"at least {least(alone)}",
                        under["kernels"],
                        all(found >= few for found, few in zip(under["kernels"], least(alone), strict=True)),
                        **facts,
                    )
                else:
                    lost = json.dumps(facts)
                    said = "took CUPTI" in lost or recording.kernels() > 0
                    report.compare(f"{way}, --cuda always", "recorded, or it is named who took CUPTI", lost[:200], said)


def least(alone: dict[str, Any]) -> list[int]:
    """Of each profile, as many as without Fathom. CUPTI of CUDA 12.6 update 2 to 13.0 loses the first k kernels of the k-th
    profile of a process; the hook's own first one, which is empty, counts as one (docs/cuda.md)."""
    kernels: list[int] = alone["kernels"]
    if str(alone["cuda"]) not in FIRST_LOST:
        return kernels
    return [min(found, alone["launches"] - number - 2) for number, found in enumerate(kernels)]


def two_processes(context: Context, report: Report) -> None:
    """Each of two trainings on one GPU has in its recording what one alone has by its own profiler."""
    name = "two processes"
    train: list[object] = [context.python, HERE / "train.py", "--device", "cuda", "--steps", STEPS]
    try:
        profiling = ["--profile", f"{FIRST}-{LAST}"]
        own = last_json(context.run(*train, *profiling, seconds=90))["profiler"]["kernels"]
    except CommandFailed as error:
        report.failed(name, str(error))
        return
    words = shlex.join(str(word) for word in train)
    with Recording(context, report, name) as recording:
        options = ("--steps", SCHEDULE, "--no-overhead")
        recording.run("sh", "-c", f"{words} & {words} & wait", options=options, seconds=120)
        rows = recording.rows("kernels")
        report.number(f"{name}: rows of kernels", len(rows))
        found: dict[str, int] = {}
        for row in rows:
            found[row["name"]] = found.get(row["name"], 0) + row["calls"]
        twice = {kernel: 2 * calls for kernel, calls in own.items()}
        wrong = [each for each in {*found, *twice} if found.get(each) != twice.get(each)]
        report.compare(
            f"{name}: kernels", sum(twice.values()), sum(found.values()), not wrong and bool(own), wrong=wrong[:5], **recording.facts()
        )
