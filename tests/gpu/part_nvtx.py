"""NVTX: ranges of C and of Python's package, with their domains and with registered strings."""

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


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("ranges",)).get("ranges")
    if program is not None:
        with Recording(context, report, "ranges") as recording:
            recording.run(program)
            counts = check.ranges_by_domain(recording.rows("ranges"))
            for each in recording.expected["ranges"]:
                key = each["name"], each.get("domain", "")
                report.compare(f"C: {described(*key)}", each["calls"], counts[key])
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
            report.compare(f"Python: {described(*key)}", 5, counts[key])


def described(name: str, domain: str) -> str:
    return f"{name} of {domain}" if domain else name
