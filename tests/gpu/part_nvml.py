"""Telemetry beside nvidia-smi, what `fathom doctor` says, and with what rights it ran."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import threading
import time
from pathlib import Path

import check
from common import HERE, Context, copy_session
from outcome import Report

# nvidia-smi's name, our counter, and how far they may be apart: as a part, and in the unit of ours.
# Taken at other moments of the same load, so that what varies with it may differ.
COMPARED = (
    ("memory.total", "gpu.memory_total", 2**20, 0.0, 2.0**21),
    ("memory.used", "gpu.memory_used", 2**20, 0.05, 2.0**30),
    ("power.limit", "gpu.power_limit", 1, 0.0, 0.5),
    ("power.draw", "gpu.power", 1, 0.25, 30.0),
    ("temperature.gpu", "gpu.temperature", 1, 0.0, 6.0),
    ("clocks.sm", "gpu.sm_clock", 1, 0.1, 60.0),
    ("clocks.mem", "gpu.memory_clock", 1, 0.02, 10.0),
    ("clocks.max.sm", "gpu.sm_clock_max", 1, 0.0, 1.0),
    ("clocks.max.mem", "gpu.memory_clock_max", 1, 0.0, 1.0),
    ("utilization.gpu", "gpu.utilization", 1, 0.3, 20.0),
    ("pcie.link.gen.current", "gpu.pcie_generation", 1, 0.0, 0.0),
    ("pcie.link.width.current", "gpu.pcie_width", 1, 0.0, 0.0),
)
# Idle before: what is asked in the first of two such stretches is not compared.
LOAD_S = 7
NEVER = "skip_first=1000000"


def run(context: Context, report: Report) -> None:
    doctor(context, report)
    permissions(report)
    smi = shutil.which("nvidia-smi")
    if not context.gpu or smi is None:
        report.not_possible(
            "beside nvidia-smi", "no GPU" if not context.gpu else "nvidia-smi is not there"
        )
        return
    if not context.python:
        report.not_possible("beside nvidia-smi", "no Python with torch to load the GPU")
        return
    session = context.work / "session"
    theirs = loaded(context, smi, session)
    rows = context.rows("telemetry", session, "--limit", "0")
    ours = {row["counter"]: row["p50"] for row in rows if row["device"] in (0, None)}
    for name, counter, unit, part, absolute in COMPARED:
        value = theirs.get(name)
        report.checks.append(
            check.close(
                counter, ours.get(counter), None if value is None else value * unit, part, absolute
            )
        )
    report.checks += check.sane_levels(rows)
    report.number(
        "counters", sorted({row["counter"] for row in rows if row["counter"].startswith("gpu.")})
    )
    manifest(context, report, smi, session)
    copy_session(session, context.keep / "telemetry")


def loaded(context: Context, smi: str, session: Path) -> dict[str, float]:
    """Trains under `fathom run` while nvidia-smi is asked: the median of each of its values."""
    names = [name for name, *_ in COMPARED]
    asking = [smi, f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", "-i", "0"]
    columns: dict[str, list[float]] = {name: [] for name in names}
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(0.2):
            done = subprocess.run(asking, capture_output=True, text=True, check=False)
            # While the program starts the device is idle still.
            if not (session / "manifest.json").exists() or time.monotonic() - begin < LOAD_S:
                continue
            for name, value in zip(names, done.stdout.strip().split(","), strict=False):
                if re.fullmatch(r"\s*-?[0-9.]+\s*", value):
                    columns[name].append(float(value))

    begin = time.monotonic()
    asker = threading.Thread(target=ask)
    asker.start()
    try:
        words = [
            context.fathom,
            "run",
            "-q",
            "--no-diagnose",
            "--steps",
            NEVER,
            "-o",
            session,
            "--",
        ]
        train = [context.python, HERE / "train.py", "--seconds", 2 * LOAD_S]
        context.run(*words, *train, seconds=90)
    finally:
        ended.set()
        asker.join()
    # The last one may have been asked after the end.
    return {name: statistics.median(values[:-1]) for name, values in columns.items() if values[:-1]}


def manifest(context: Context, report: Report, smi: str, session: Path) -> None:
    gpus = json.loads((session / "manifest.json").read_text()).get("gpus", [])
    text = (
        context.run(smi, "--query-gpu=name,driver_version", "--format=csv,noheader")
        .strip()
        .splitlines()
    )
    report.compare("the manifest lists the GPUs", len(text), len(gpus), nvidia_smi="; ".join(text))
    if gpus:
        name, driver = (part.strip() for part in text[0].split(","))
        report.compare("name and driver", f"{name}, {driver}", f"{gpus[0].get('name')}, {gpus[0].get('driver')}")


def doctor(context: Context, report: Report) -> None:
    more = (
        {"PATH": f"{Path(context.python).parent}{os.pathsep}{os.environ['PATH']}"}
        if context.python
        else {}
    )
    checks = json.loads(context.run(context.fathom, "doctor", "--json", env=more))["checks"]
    report.number("doctor", checks)
    remedies = [
        each["what"] for each in checks if each["state"] == "missing" and not each["remedy"]
    ]
    report.compare("doctor has a remedy for what is missing", "for all", ", ".join(remedies) or "for all")
    if context.gpu:
        gpu = {each["what"]: each for each in checks if each["section"] == "GPU"}
        state = gpu.get("driver", {}).get("state", "not named")
        report.compare("doctor sees the driver", "ok", state, detail=gpu.get("driver", {}).get("detail", ""))


def permissions(report: Report) -> None:
    """Facts beside the outcome: with what rights it ran."""
    parameters = Path("/proc/driver/nvidia/params")
    only_root = None
    if parameters.exists():
        match = re.search(r"RmProfilingAdminOnly: (\d)", parameters.read_text())
        only_root = bool(int(match.group(1))) if match else None
    report.number(
        "rights", {"root": os.geteuid() == 0, "counters for administrators only": only_root}
    )
