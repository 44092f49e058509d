"""CUPTI is held, missing or refused: the program is unhurt, and what is not recorded has its reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from common import Context, last_json
from outcome import Report
from programs_of import Recording, ready

# What is set, and what then must be named as not recorded.
SETTINGS = {
    "no such libcupti": ({"FATHOM_CUPTI": "/nowhere/libcupti.so"}, "GPU activity"),
    "a libcupti that is none": ({"FATHOM_CUPTI": "/lib/x86_64-linux-gnu/libm.so.6"}, "GPU activity"),
}
# They hold CUPTI, or the debugger's interface, themselves.
TOOLS = {
    "compute-sanitizer": ("--tool", "memcheck"),
    "ncu": ("--launch-count", "1", "--set", "none", "--metrics", "sm__cycles_active.avg"),
}


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("kernels",)).get("kernels")
    if program is None:
        return
    for name, (env, lost) in SETTINGS.items():
        with Recording(context, report, name) as recording:
            recording.run(program, env=env)
            report.compare(f"{name}: the program runs", True, bool(recording.expected))
            said = not_recorded(recording.session)
            report.compare(f"{name}: what is named", lost, said[:300], lost in said)
    with Recording(context, report, "no GPU is visible") as recording:
        out = recording.run(program, env={"CUDA_VISIBLE_DEVICES": ""}, fails=True)
        report.compare("no GPU is visible: it ends as it would", "no document", out[-80:], not recording.expected)
    for tool, options in TOOLS.items():
        path = shutil.which(tool)
        if path is None:
            report.not_possible(tool, "it is not installed")
            continue
        with Recording(context, report, tool) as recording:
            out = recording.run(path, *options, program, seconds=90, fails=True)
            document = last_json(out)
            report.compare(f"{tool}: the program runs", "fathom-gpu-program/1", document["schema"])
            report.number(f"{tool}: not recorded", not_recorded(recording.session)[:400])


def not_recorded(session: Path) -> str:
    manifest = json.loads((session / "manifest.json").read_text())
    return json.dumps(manifest.get("not_recorded", []))
