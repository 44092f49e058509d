"""CUPTI is held, missing or refused: the program is unhurt, and what is not recorded has its reason."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from common import CommandFailed, Context
from outcome import Report
from part_cuda import packages
from programs_of import Recording, ready

# What is set, and what then must be named as not recorded.
SETTINGS = {
    "no such libcupti": ({"FATHOM_CUPTI": "/nowhere/libcupti.so"}, "GPU activity"),
    "a libcupti that is none": ({"FATHOM_CUPTI": "/lib/x86_64-linux-gnu/libm.so.6"}, "GPU activity"),
}
# One of these is named where kernels are missing.
LOST = ("GPU activity", "kernels")
# With a tool, each of two runs of the program.
SECONDS = 45
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
    other_major(context, report, program)
    with Recording(context, report, "no GPU is visible") as recording:
        out = recording.run(program, env={"CUDA_VISIBLE_DEVICES": ""}, fails=True)
        report.compare("no GPU is visible: it ends as it would", "no document", out[-80:], not recording.expected)
    for tool, options in TOOLS.items():
        path = shutil.which(tool)
        if path is None:
            report.not_possible(tool, "it is not installed")
            continue
        with Recording(context, report, tool) as recording:
            words = (path, *options, program)
            out, bare = context.ended(*words, seconds=SECONDS)
            if '"fathom-gpu-program/1"' not in out:
                report.not_possible(tool, f"without Fathom it ends with {bare}, and the program did not run")
                continue
            recording.run(*words, seconds=SECONDS, fails=True)
            report.compare(f"{tool}: the program runs", True, bool(recording.expected))
            report.compare(f"{tool}: exit code", f"{bare}, as without Fathom", recording.code, bare == recording.code)
            if not recording.expected:
                continue
            said = not_recorded(recording.session)
            launched, kernels = recording.launched(), recording.kernels()
            named = any(word in said for word in LOST)
            got = f"{kernels} kernels; named: {said[:300]}"
            right = kernels == launched or (kernels < launched and named)
            report.compare(f"{tool}: recorded or named", f"{launched} kernels, or why they are not", got, right, **recording.facts())


def other_major(context: Context, report: Report, program: Path) -> None:
    """FATHOM_CUPTI names a libcupti of CUDA 12 where the driver runs 13, or the other way round."""
    name = "a libcupti of another major version"
    newest = driver_major(context)
    files = {major: file for file in libraries(context) if (major := major_of(file)) not in (0, newest)}
    if not newest or not files:
        report.not_possible(name, "there is none" if newest else "nvidia-smi does not tell the driver's")
        return
    for major, file in sorted(files.items()):
        each = f"{name}: {major} for {newest}"
        with Recording(context, report, each) as recording:
            recording.run(program, env={"FATHOM_CUPTI": file})
            report.compare(f"{each}: the program runs", True, bool(recording.expected))
            said = not_recorded(recording.session)
            facts = recording.facts()
            report.compare(f"{each}: it is named", "FATHOM_CUPTI, and how to set it", said[:300], "FATHOM_CUPTI" in said, **facts)
            report.number(f"{each}: kernels of {recording.launched()}", recording.kernels())


def driver_major(context: Context) -> int:
    """Of the newest CUDA that the driver runs; 0 where that is not said."""
    try:
        text = context.run("nvidia-smi", seconds=20)
    except (CommandFailed, OSError):
        return 0
    found = re.search(r"CUDA[\w ]*Version:\s*(\d+)\.", text)
    return int(found.group(1)) if found else 0


def libraries(context: Context) -> list[str]:
    """Of toolkits and of Python's packages, in a stable order."""
    places = [str(file) for file in Path("/usr/local").glob("cuda*/**/libcupti.so.1[0-9]")]
    return sorted([*places, *(packages(context, "lib/libcupti.so*") if context.python else [])])


def major_of(file: str) -> int:
    """By its name, as the loader knows it; 0 where that has none."""
    found = re.search(r"libcupti\.so\.(\d+)", file)
    return int(found.group(1)) if found else 0


def not_recorded(session: Path) -> str:
    manifest = json.loads((session / "manifest.json").read_text())
    return json.dumps(manifest.get("not_recorded", []))
