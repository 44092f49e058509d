"""CUDA programs of known work, recorded by `fathom run` and held to what they did."""

from __future__ import annotations

import concurrent.futures
import functools
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import check
from common import HERE, CommandFailed, Context, copy_session, last_json, option_named
from outcome import FAILED, NOT_POSSIBLE, PASSED, Check, Report, compared

LIBRARY = "libfathom_cuda.so"
NOBODY = 65534
TABLES = ("kernels", "copies", "launches", "ranges", "overview")
PROGRAMS = (
    "kernels",
    "copies",
    "streams",
    "graphs",
    "launches",
    "syncs",
    "memory",
    "ranges",
    "ends",
    "many",
)
# Sections of health about what only PyTorch's profiler records.
BY_TORCH = ("steps", "recording")
# Where a note already shows that a record is missing; elsewhere it may be about the device.
LOSSES = ("reading", "links")
# Recorded: program, its arguments, exit code.
RUNS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("kernels", (), 0),
    ("copies", (), 0),
    ("streams", (), 0),
    ("graphs", (), 0),
    ("launches", (), 0),
    ("syncs", (), 0),
    ("memory", (), 0),
    ("ranges", (), 0),
    ("ends", ("return",), 0),
    ("ends", ("_exit",), 0),
    ("ends", ("fork",), 0),
    ("ends", ("abort",), 134),
    ("many", ("20000",), 0),
)


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("CUDA programs", "no GPU")
        return
    programs = compiled(context, report)
    if not programs:
        return
    recorded = records_cuda(context)
    if not recorded:
        report.not_possible("recording CUDA programs", f"this Fathom brings no {LIBRARY}")
    for name, arguments, code in RUNS:
        if name not in programs:
            continue
        try:
            if recorded:
                held(context, report, programs[name], arguments, code)
            else:
                plain(context, report, programs[name], arguments, code)
        except (CommandFailed, KeyError, ValueError) as error:
            report.failed(" ".join([name, *arguments]), f"{type(error).__name__}: {error}")
    if recorded:
        with_options(context, report, programs)
        as_another_user(context, report, programs)
        facts(context, report)


def compiled(
    context: Context, report: Report, names: Sequence[str] | None = None
) -> dict[str, Path]:
    nvcc = shutil.which("nvcc") or next(
        (path for path in ("/usr/local/cuda/bin/nvcc",) if Path(path).exists()), None
    )
    if nvcc is None:
        report.not_possible("CUDA programs", "nvcc is not there")
        return {}
    # Parts of one check share them.
    folder = context.work.parent / "programs"
    folder.mkdir(exist_ok=True)
    built = {name: folder / name for name in names or PROGRAMS if (folder / name).exists()}
    missing = [name for name in names or PROGRAMS if name not in built]
    if not missing:
        return built
    includes = nvtx_folder(context)
    target = architecture(context)

    def build(name: str) -> tuple[str, str]:
        words = [nvcc, "-std=c++17", "-O2", target, *includes]
        scratch = folder / f"{name}.new"
        try:
            context.run(*words, "-o", scratch, HERE / f"programs/{name}.cu", seconds=90)
            scratch.replace(folder / name)
        except CommandFailed as error:
            return name, str(error)
        return name, ""

    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for name, failure in pool.map(build, missing):
            report.compare(f"{name}.cu compiles", "it does", failure or "it does", target=target)
            if not failure:
                built[name] = folder / name
    return built


def architecture(context: Context) -> str:
    """nvcc's option for this GPU: where nvcc cannot ask the driver, its `native` is an old GPU's."""
    words = ("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader")
    try:
        number = context.run(*words, seconds=20).split()[0].replace(".", "")
    except (CommandFailed, OSError, IndexError):
        return "-arch=native"
    return f"-arch=sm_{number}" if number.isdigit() else "-arch=native"


def nvtx_folder(context: Context) -> list[str]:
    """A folder with nothing but NVTX's headers of a Python package, for toolkits that lack them."""
    found = packages(context, "include/nvtx3") if context.python else []
    folder = context.work / "include"
    folder.mkdir(exist_ok=True)
    if found and not (folder / "nvtx3").exists():
        (folder / "nvtx3").symlink_to(found[0])
    return [f"-I{folder}"] if found else []


def records_cuda(context: Context) -> bool:
    """Whether this Fathom brings the library that records CUDA, or it lies beside the binary."""
    session = context.work / "brings"
    options = ["-q", "--no-diagnose", "--telemetry", "0", "-o", session]
    context.run(context.fathom, "run", *options, "--", "true")
    return (session / "lib" / LIBRARY).exists() or (context.fathom.parent / LIBRARY).exists()


@functools.cache
def environment(context: Context) -> dict[str, str]:
    """What lets a program find the library and CUPTI where neither is where it is looked for."""
    found = {}
    if not (context.work / "brings/lib" / LIBRARY).exists():
        found["CUDA_INJECTION64_PATH"] = str(context.fathom.parent / LIBRARY)
    if not list(Path("/usr/local").glob("cuda*/**/libcupti.so*")) and context.python:
        places = packages(context, "lib/libcupti.so*")
        found |= {"FATHOM_CUPTI": places[0]} if places else {}
    return found


@functools.cache
def packages(context: Context, what: str) -> list[str]:
    """Files or folders of NVIDIA's Python packages."""
    code = (
        "import glob, site\n"
        f"for folder in site.getsitepackages(): print(*glob.glob(folder + '/nvidia/*/{what}'))"
    )
    return sorted(context.run(context.python, "-c", code, check=False).split())


def plain(
    context: Context, report: Report, program: Path, arguments: tuple[str, ...], code: int
) -> None:
    """Unrecorded: the program itself works."""
    name = " ".join([program.name, *arguments])
    document = last_json(context.run(program, *arguments, check=code == 0))
    report.compare(f"{name} runs by itself", "fathom-gpu-program/1", document["schema"])


def record(
    context: Context,
    session: Path,
    program: Path,
    arguments: tuple[str, ...],
    code: int,
    options: tuple[str, ...] = (),
) -> dict[str, object]:
    more = environment(context)
    words = [
        context.fathom,
        "run",
        "-q",
        "--no-diagnose",
        "--telemetry",
        "0",
        *options,
        "-o",
        session,
    ]
    out, ended = context.ended(*words, "--", program, *arguments, env=more)
    if ended != code:
        raise CommandFailed(f"{program.name}: exit code {ended} instead of {code} while it was recorded")
    return last_json(out)


def tables(context: Context, session: Path) -> Mapping[str, check.Rows]:
    return {table: context.rows(table, session, "--limit", "0") for table in TABLES}


def held(
    context: Context,
    report: Report,
    program: Path,
    arguments: tuple[str, ...],
    code: int,
    options: tuple[str, ...] = (),
    name: str = "",
    graph_nodes: bool = False,
) -> None:
    name = name or "_".join([program.name, *arguments])
    session = context.work / f"session_{name}"
    expected = record(context, session, program, arguments, code, options)
    if not expected["possible"]:
        report.not_possible(name, str(expected["reason"]))
        return
    found = tables(context, session)
    lost = check.lost_by_cupti(context.rows("health", session))
    checks = check.compare(expected, found, graph_nodes, lost)
    if program.name == "ranges" and not expected["ranges"]:
        report.not_possible(f"{name}: NVTX", "its headers are not there")
    checks += health(context, session)
    explains = told(context, session)
    for each in checks:
        each.name = f"{name}: {each.name}"
        # One line for what is right, so that what is wrong is seen.
        if each.state != PASSED:
            each.facts = {**explains, **each.facts}
            report.checks.append(each)
    wrong = sum(each.state == FAILED for each in checks)
    right = sum(each.state == PASSED for each in checks)
    if not wrong:
        possible = sum(each.state != NOT_POSSIBLE for each in checks)
        report.compare(name, f"{possible} checks passed", f"{right} checks passed", **explains)
    report.save()
    kept = context.keep / name
    copy_session(session, kept)
    (kept / "program.json").write_text(json.dumps(expected) + "\n")
    (kept / "checks.json").write_text(json.dumps([asdict(each) for each in checks], indent=1) + "\n")


def health(context: Context, session: Path) -> list[Check]:
    """The recording thinks well of itself: nothing dropped, no launch without its kernel."""
    every = context.rows("health", session)
    known = {check.WITHOUT_KERNEL: check.lost_by_cupti(every)}
    rows = [row for row in every if row["section"] not in BY_TORCH and row["count"] != known.get(row["check"])]
    bad = [
        f"{row['check']}: {row['finding']}"
        for row in rows
        if row["status"] in ("warning", "bad") or (row["status"] == "note" and row["section"] in LOSSES)
    ]
    return [compared("health", not bad, "nothing", "; ".join(bad)[:400])]


def told(context: Context, session: Path) -> dict[str, Any]:
    """Facts of the recording, but those of single streams and contexts, which are too many."""
    rows = context.rows("info", session)
    found = {str(row["name"]): row["value"] for row in rows}
    return {
        name: value
        for name, value in found.items()
        if name.startswith(("cuda.", "not_recorded.")) and not name.startswith(("cuda.stream.", "cuda.context."))
    }


def with_options(context: Context, report: Report, programs: dict[str, Path]) -> None:
    text = context.run_help()
    nodes = option_named(text, "graph-nodes")
    if nodes is None:
        report.not_possible("graphs, node by node", "run has no option for it")
    elif "graphs" in programs:
        attempt(context, report, programs["graphs"], (), nodes, "graphs_by_node", True)
        node_cost(context, report, programs["graphs"], nodes)
    if "cuda-profiler" not in text:
        report.not_possible(
            "between cudaProfilerStart and Stop", "run has no --range cuda-profiler"
        )
    elif "ranges" in programs:
        attempt(
            context,
            report,
            programs["ranges"],
            ("window",),
            ("--range", "cuda-profiler"),
            "ranges_window",
        )


def attempt(
    context: Context,
    report: Report,
    program: Path,
    arguments: tuple[str, ...],
    options: tuple[str, ...],
    name: str,
    graph_nodes: bool = False,
) -> None:
    try:
        held(context, report, program, arguments, 0, options, name, graph_nodes)
    except (CommandFailed, KeyError, ValueError) as error:
        report.failed(name, f"{type(error).__name__}: {error}")


def node_cost(context: Context, report: Report, program: Path, nodes: tuple[str, ...]) -> None:
    walls = {}
    for label, options in (("whole", ()), ("by node", nodes)):
        session = context.work / f"cost_{label.replace(' ', '_')}"
        walls[label] = record(context, session, program, (), 0, options)["wall_ns"]
    walls["unrecorded"] = last_json(context.run(program))["wall_ns"]
    report.number("graphs: wall_ns of the program", walls)


def facts(context: Context, report: Report) -> None:
    """Numbers of which nothing is expected: how good the clock was, what a quick end loses."""
    session = context.work / "session_kernels"
    if session.exists():
        report.number("facts of the recording", told(context, session))
    program = context.work.parent / "programs/ends"
    if program.exists():
        quick = context.work / "quick"
        record(context, quick, program, ("_exit_now",), 0)
        found = sum(row["calls"] for row in context.rows("kernels", quick, "--limit", "0"))
        report.number("kernels recorded of 30, before _exit at once", found)


def as_another_user(context: Context, report: Report, programs: dict[str, Path]) -> None:
    """Without root's rights: kernels and copies need none."""
    name = "without root's rights"
    tool = shutil.which("setpriv")
    if os.geteuid() != 0 or tool is None or "copies" not in programs:
        report.not_possible(name, "this user has none already" if os.geteuid() else "no setpriv")
        return
    folder = context.work / "other"
    folder.mkdir()
    for file in (context.fathom, programs["copies"]):
        shutil.copy(file, folder)
    (folder / "out").mkdir()
    os.chown(folder / "out", NOBODY, NOBODY)
    # Ours are below a folder that only we may enter.
    for parent in [folder, *folder.parents][:4]:
        if parent.stat().st_uid == 0 and parent != parent.parent:
            parent.chmod(parent.stat().st_mode | 0o111)
    user = [tool, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    session = folder / "out/session"
    words = [folder / context.fathom.name, "run", "-q", "--no-diagnose", "-o", session, "--"]
    try:
        out = context.run(*user, *words, folder / "copies", env={"HOME": str(folder / "out")})
        lost = check.lost_by_cupti(context.rows("health", session))
        checks = check.compare(last_json(out), tables(context, session), lost=lost)
    except (CommandFailed, KeyError, ValueError) as error:
        report.failed(name, f"{type(error).__name__}: {error}")
        return
    wrong = [f"{each.name}: {each.detail}" for each in checks if each.state == FAILED]
    report.compare(name, "no check fails", "; ".join(wrong)[:400] or "no check fails", **told(context, session))
