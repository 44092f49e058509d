"""Describes the machine of a GPU check, without what would tell whose it is."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

FIELDS = (
    "name",
    "driver_version",
    "vbios_version",
    "memory.total",
    "power.limit",
    "clocks.max.sm",
    "clocks.max.mem",
)
FIELDS_MORE = (
    "compute_cap",
    "pcie.link.gen.max",
    "pcie.link.width.max",
    "mig.mode.current",
    "persistence_mode",
    "ecc.mode.current",
)


def output(*words: str) -> str:
    """ "" where the program is not there or fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def describe(fathom: Path, python: str) -> dict[str, Any]:
    return {
        "schema": "fathom-gpu-machine/1",
        "gpus": gpus(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "distribution": distribution(),
        "glibc": platform.libc_ver()[1],
        "nvcc": next(iter(re.findall(r"release [^\n]*", output(nvcc(), "--version"))), "")
        if nvcc()
        else "",
        "torch": torch(python),
        "fathom": output(str(fathom), "--version").splitlines()[:1],
        "python": platform.python_version(),
    }


def nvcc() -> str:
    return shutil.which("nvcc") or next(
        (path for path in ("/usr/local/cuda/bin/nvcc",) if Path(path).exists()), ""
    )


def gpus() -> list[dict[str, str]]:
    fields = [*FIELDS, *FIELDS_MORE]
    text = output("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader")
    if not text:
        fields = list(FIELDS)
        text = output("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader")
    return [
        dict(zip(fields, (part.strip() for part in line.split(",")), strict=False))
        for line in text.splitlines()
    ]


def processor() -> str:
    try:
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        names = []
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def torch(python: str) -> dict[str, str]:
    if not python:
        return {}
    code = (
        "import torch; print(torch.__version__); print(torch.version.cuda);"
        "print(torch.backends.cudnn.version());"
        "print(torch.cuda.get_device_capability() if torch.cuda.is_available() else '')"
    )
    words = output(python, "-c", code).splitlines()
    return dict(zip(("version", "cuda", "cudnn", "capability"), words, strict=False))
