#!/usr/bin/env python3
"""A peer for the benchmarks: TraceLens' performance report of one PyTorch trace, tables as CSV.

Needs the Python package TraceLens of that interpreter. Reading alone: --read.
"""

import sys
import tempfile
from pathlib import Path

from TraceLens import TreePerfAnalyzer
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch


def main() -> int:
    path = Path(sys.argv[-1]).resolve()
    if "--read" in sys.argv[1:-1]:
        TreePerfAnalyzer.from_file(str(path))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tables = generate_perf_report_pytorch(str(path), output_csvs_dir=folder)
        for name, table in (tables or {}).items():
            print(name, len(table), "rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
