#!/usr/bin/env python3
"""Runs the parts of the GPU check, each in a process with its own budget, and writes the result.

Called by tools/gpu_check.sh; docs/gpu.md says what each part checks. Exit codes: 0 every part
passed; 1 a part failed; 3 none failed, but a part was not possible; 2 the command line makes no
sense.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import keep
import machine
import result
from common import ROOT, CommandFailed, Context, end_with_commands
from outcome import EXIT_OF, NOT_POSSIBLE, Report, state_of_parts

# Seconds, compiling included; each below eight minutes. In the order in which they tell most.
BUDGETS = {
    "layers": 90,
    "truth": 75,
    "ends": 120,
    "cuda": 80,
    "windows": 150,
    "metrics": 75,
    # Five trainings in processes of their own, each of which imports torch.
    "torch": 180,
    "nvml": 40,
    "threads": 280,
    "sessions": 400,
    "graphs": 300,
    "cost": 150,
    "edges": 120,
    "overhead": 100,
    "pairs": 130,
    # It imports torch twice.
    "nvtx": 80,
    "refused": 240,
    "others": 420,
    "ncu": 240,
    "libtorch": 300,
    "lines": 60,
    # Five minutes of them are the check.
    "clock": 400,
}
# Of `truth`, whose program watches the clock for so long.
CLOCK_S = 5
CLOCK_MOST_S = 300
# The first import of torch on a machine reads gigabytes.
IMPORT_S = 90
# Without a GPU each only shows that it runs, on processors that may be busy.
DRY_FACTOR = 3


def main() -> int:
    begin = time.monotonic()
    args = arguments()
    if args.part:
        return one_part(args)
    if args.keep is not None:
        return keep_result(args.keep)
    if args.output is None:
        print("gpu_check: -o FOLDER is needed", file=sys.stderr)
        return 2
    folder: Path = args.output.resolve()
    if folder.exists() and any(folder.iterdir()):
        print(f"gpu_check: {folder} is not empty", file=sys.stderr)
        return 2
    if not args.fathom.is_file():
        print(f"gpu_check: {args.fathom} is not there; --fathom names the binary", file=sys.stderr)
        return 2
    names = args.parts.split(",") if args.parts else list(BUDGETS)
    if unknown := [name for name in names if name not in BUDGETS]:
        print(f"gpu_check: no part {unknown[0]!r}; there are {', '.join(BUDGETS)}", file=sys.stderr)
        return 2
    if not 1 <= args.clock_seconds <= CLOCK_MOST_S:
        print(f"gpu_check: --clock-seconds is from 1 to {CLOCK_MOST_S}", file=sys.stderr)
        return 2
    args.fathom = args.fathom.resolve()
    args.python = python_with_torch(args.python)
    described = machine.describe(args.fathom, args.python)
    words = result.private_words(args.python)
    reports: list[Report] = []
    packed: dict[str, list[str]] = {}
    later: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gpu_check_") as scratch:
        kept = Path(scratch, "keep")
        # After each part: whoever stops us has what was found so far.
        for name in names:
            if args.minutes and time.monotonic() - begin + budget_of(name, args) > 60 * args.minutes:
                later.append(name)
                continue
            reports.append(run_part(name, args, Path(scratch)))
            document = result.write(folder, reports, described, kept, words, args.dry_run, packed)
            if args.pack is not None:
                keep.pack(folder, args.pack)
    if not reports:
        print(f"gpu_check: no part fits into {args.minutes:g} minutes", file=sys.stderr)
        return 2
    print(result.summary_text(document).split("\n## ", 1)[0])
    if later:
        print(f"For lack of time not begun: --parts {','.join(later)}")
    broken = result.problems(folder)
    for problem in broken:
        print(f"gpu_check: the result breaks its rules: {problem}", file=sys.stderr)
    states = [report.state for report in reports] + ([NOT_POSSIBLE] if later else [])
    return 1 if broken else EXIT_OF[state_of_parts(states)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gpu_check.sh", description="Checks Fathom on a machine with an NVIDIA GPU."
    )
    parser.add_argument("-o", "--output", type=Path, help="the result folder, new or empty")
    parser.add_argument(
        "--fathom", type=Path, default=ROOT / "build/release/fathom", help="the binary"
    )
    parser.add_argument(
        "--python", default="", help="an interpreter with PyTorch (default: the first that has it)"
    )
    parser.add_argument("--parts", default="", help=f"some of {','.join(BUDGETS)} (default: all)")
    parser.add_argument(
        "--clock-seconds",
        type=int,
        default=CLOCK_S,
        help="how long `truth` watches the device's clock (default 5); the part `clock` does it for 300",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="use no GPU: what needs one is not possible"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=0,
        help="begin no part whose budget goes beyond so many minutes; what is left is named, for another command",
    )
    parser.add_argument("--pack", type=Path, help="the result as one file, below 8 MiB, too")
    parser.add_argument(
        "--keep",
        type=Path,
        nargs="+",
        help="nothing is run: this result, packed or not, or those of several commands as one, goes into the repository",
    )
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def keep_result(sources: list[Path]) -> int:
    try:
        made = keep.keep(sources, ROOT)
    except (OSError, ValueError, tarfile.TarError) as error:
        names = ", ".join(str(source) for source in sources)
        print(f"gpu_check: {names} cannot be kept: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(path.relative_to(ROOT))
    if made and made[-1].name != Path(keep.PAGE).name:
        print(f"{keep.PAGE} has no place for it", file=sys.stderr)
        return 1
    return 0


def python_with_torch(named: str) -> str:
    """ "" where there is none."""
    for candidate in [named] if named else ["python3", "python", sys.executable]:
        path = shutil.which(candidate)
        if path is None:
            continue
        try:
            done = subprocess.run(
                [path, "-c", "import torch"], capture_output=True, timeout=IMPORT_S, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            return path
    return ""


def run_part(name: str, args: argparse.Namespace, scratch: Path) -> Report:
    """In a process group of its own, which is ended with its budget."""
    budget = budget_of(name, args)
    words = [
        sys.executable,
        str(Path(__file__).resolve()),
        "--part",
        name,
        "--scratch",
        str(scratch),
    ]
    words += ["--clock-seconds", str(args.clock_seconds)]
    words += ["--fathom", str(args.fathom), "--python", args.python] + (
        ["--dry-run"] if args.dry_run else []
    )
    file = report_file(scratch, name)
    print(f"gpu_check: {name}, at most {budget} s", file=sys.stderr, flush=True)
    begin = time.monotonic()
    failure = ""
    with (scratch / f"{name}.log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        try:
            code = process.wait(budget)
            failure = f"ended with {code}: {last_line(scratch / f'{name}.log')}" if code else ""
        except subprocess.TimeoutExpired:
            failure = f"took longer than its {budget} s"
            # Its commands have groups of their own, which it ends.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    report = Report.load(name, file)
    if failure:
        report.failed("the part itself", failure)
    report.seconds = time.monotonic() - begin
    return report


def budget_of(name: str, args: argparse.Namespace) -> int:
    longer = args.clock_seconds - CLOCK_S if name == "truth" else 0
    return (BUDGETS[name] + longer) * (DRY_FACTOR if args.dry_run else 1)


def last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:400] if lines else ""


def report_file(scratch: Path, name: str) -> Path:
    return scratch / f"{name}.json"


def one_part(args: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, end_with_commands)
    work, keep = args.scratch / "work" / args.part, args.scratch / "keep" / args.part
    for folder in (work, keep):
        folder.mkdir(parents=True, exist_ok=True)
    # What stops a command for lack of time is reported by the part, not by its end.
    budget = budget_of(args.part, args) - 3
    context = Context(
        args.fathom, args.python, work, keep, args.dry_run, budget, clock_seconds=args.clock_seconds
    )
    report = Report(args.part, report_file(args.scratch, args.part))
    try:
        importlib.import_module(f"part_{args.part}").run(context, report)
    except CommandFailed as error:
        report.failed("a command", str(error))
    report.save()
    return 0


if __name__ == "__main__":
    sys.exit(main())
