"""NVTX: ranges of C and of Python's package, with domains."""

from __future__ import annotations

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
            rows = {row["name"]: row["calls"] for row in recording.rows("ranges")}
            for each in recording.expected["ranges"]:
                report.compare(f"C: {each['name']}", each["calls"], rows.get(each["name"], 0))
    try:
        context.run(context.python or "python3", "-c", "import nvtx")
    except (CommandFailed, OSError):
        report.not_possible("Python's nvtx", "it is not installed")
        return
    with Recording(context, report, "nvtx.py") as recording:
        file = context.work / "with_nvtx.py"
        file.write_text(PROGRAM)
        recording.run(context.python or "python3", file)
        rows = {row["name"]: row["calls"] for row in recording.rows("ranges")}
        for name in ("outer", "inner"):
            report.compare(f"Python: {name}", 5, rows.get(name, 0))
