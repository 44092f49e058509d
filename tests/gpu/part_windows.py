"""Recording that begins and ends while the program launches: by time, by signal, by range; and beside a capture."""

from __future__ import annotations

from common import Context
from outcome import Report
from programs_of import Recording, ready

SIGNALS = 100
# The program goes on for longer than CUDA may take to begin.
ROUNDS, DELAY, DURATION = 400, "4s", "2s"


def run(context: Context, report: Report) -> None:
    programs = ready(context, report, ("windows", "ranges"))
    if "windows" in programs:
        windows(context, report, programs["windows"])
    if "ranges" in programs:
        with Recording(context, report, "range") as recording:
            recording.run(programs["ranges"], "window", options=("--range", "cuda-profiler"))
            recording.compare_kernels("range: kernels", recording.launched())
            report.compare("range: devices", 1, devices(recording))


def windows(context: Context, report: Report, program: object) -> None:
    # A hang is ended by the time of the command, and is a failure.
    with Recording(context, report, "signals") as recording:
        recording.run(program, SIGNALS, options=("--on-signal", "SIGUSR2"), seconds=60)
        found, made = recording.kernels(), recording.launched()
        report.compare("signals: kernels", f"some of {made}", found, 0 < found < made, **recording.facts())
        report.compare("signals: devices", 1, devices(recording))
    with Recording(context, report, "delay") as recording:
        recording.run(program, ROUNDS, options=("--delay", DELAY, "--duration", DURATION), seconds=60)
        found, made = recording.kernels(), recording.launched()
        report.compare("delay: kernels", f"some of {made}", found, 0 < found < made, **recording.facts())
        report.compare("delay: devices", 1, devices(recording))
    with Recording(context, report, "capture") as recording:
        out = recording.run(program, 0, "capture", seconds=60)
        report.compare("capture: the program's graphs are not disturbed", "a document", out[-60:], bool(recording.expected))
        recording.compare_kernels("capture: kernels", recording.launched(), "fathom_window")


def devices(recording: Recording) -> int:
    """Whose SMs are known."""
    rows = recording.rows("health")
    known = [row for row in rows if row["check"] == "device_properties" and row["status"] == "ok"]
    return len(known)
