"""NVTX: ranges of C, of Python's package and of PyTorch, with their domains and with registered strings."""

from __future__ import annotations

import check
from common import CommandFailed, Context
from outcome import Report
from programs_of import Recording, ready

PROGRAM = """
import nvtx
for _ in range(5):
    with nvtx.annotate("outer"):
        with nvtx.annotate("inner", domain="library"):
            pass
"""

# A kernel in two ranges, one by each way in.
BY_TORCH = """
import torch
values = torch.zeros(1000, device="cuda")
for _ in range(5):
    with torch.cuda.nvtx.range("of torch"):
        torch.cuda.nvtx.range_push("pushed")
        values.add_(1)
        torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
assert float(values[0]) == 5
"""


def run(context: Context, report: Report) -> None:
    by_c(context, report)
    by_python(context, report)
    by_torch(context, report)


def by_c(context: Context, report: Report) -> None:
    program = ready(context, report, ("ranges",)).get("ranges")
    if program is not None:
        with Recording(context, report, "ranges") as recording:
            recording.run(program)
            counts = check.ranges_by_domain(recording.rows("ranges"))
            for each in recording.expected["ranges"]:
                key = each["name"], each.get("domain", "")
                report.compare(f"C: {described(*key)}", each["calls"], counts[key], **recording.facts())


def by_python(context: Context, report: Report) -> None:
    try:
        context.run(context.python or "python3", "-c", "import nvtx")
    except (CommandFailed, OSError):
        report.not_possible("Python's nvtx", "it is not installed")
        return
    with Recording(context, report, "nvtx.py") as recording:
        file = context.work / "with_nvtx.py"
        file.write_text(PROGRAM)
        recording.run(context.python or "python3", file)
        counts = check.ranges_by_domain(recording.rows("ranges"))
        for key in (("outer", ""), ("inner", "library")):
            report.compare(f"Python: {described(*key)}", 5, counts[key], **recording.facts())


def by_torch(context: Context, report: Report) -> None:
    """Of the recording of NVTX; that of torch.profiler has ranges of its own."""
    name = "torch.cuda.nvtx"
    file = context.work / "with_torch_nvtx.py"
    file.write_text(BY_TORCH)
    if not context.gpu or not context.python:
        report.not_possible(name, "no GPU" if context.python else "no Python with torch")
        return
    try:
        context.run(context.python, file, seconds=60)
    except CommandFailed as error:
        report.not_possible(name, f"without Fathom it does not run either: {error}")
        return
    with Recording(context, report, name) as recording:
        recording.run(context.python, file, seconds=90)
        counts = check.ranges_by_domain(recording.rows("ranges"))
        for key in (("of torch", ""), ("pushed", "")):
            report.compare(f"{name}: {described(*key)}", 5, counts[key], **recording.facts())


def described(name: str, domain: str) -> str:
    return f"{name} of {domain}" if domain else name
