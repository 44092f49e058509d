"""Where the time of a PyTorch or CUDA program goes, and what to change first."""

from fathom._annotate import annotate
from fathom._bench import bench, crossover
from fathom._bench_operations import BenchOperations, operations_crossover
from fathom._bench_result import BenchMetric, BenchResult, BenchSide
from fathom._bench_sweep import BenchCrossover, BenchSweep
from fathom._core import Check, Column, ColumnSpec, Report, Table
from fathom._core import version as __version__
from fathom._diagnosis import (
    Diagnosis,
    Estimate,
    Evidence,
    Finding,
    Fix,
    Rank,
    Ranks,
    Together,
    Verdict,
)
from fathom._errors import FathomError
from fathom._lines import lines
from fathom._page import Page
from fathom._profile import profile, start, step, stop, trace_handler
from fathom._record import Recorded, attach, doctor, run
from fathom._schedule import Schedule, schedule
from fathom._session import Session, open, open_all, reports

__all__ = [
    "BenchCrossover",
    "BenchMetric",
    "BenchOperations",
    "BenchResult",
    "BenchSide",
    "BenchSweep",
    "Check",
    "Column",
    "ColumnSpec",
    "Diagnosis",
    "Estimate",
    "Evidence",
    "FathomError",
    "Finding",
    "Fix",
    "Page",
    "Rank",
    "Ranks",
    "Recorded",
    "Report",
    "Schedule",
    "Session",
    "Table",
    "Together",
    "Verdict",
    "__version__",
    "annotate",
    "attach",
    "bench",
    "crossover",
    "doctor",
    "lines",
    "open",
    "open_all",
    "operations_crossover",
    "profile",
    "reports",
    "run",
    "schedule",
    "start",
    "step",
    "stop",
    "trace_handler",
]
