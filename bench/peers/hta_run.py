#!/usr/bin/env python3
"""A peer for the benchmarks: the four basic analyses of Holistic Trace Analysis on one trace.

Needs the Python package HolisticTraceAnalysis (also called traceinsight) of that interpreter.
"""

import sys
from pathlib import Path

from hta.trace_analysis import TraceAnalysis


def main() -> int:
    path = Path(sys.argv[1]).resolve()
    analysis = TraceAnalysis(
        trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True
    )
    print(analysis.get_temporal_breakdown(visualize=False))
    kernel_types, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    print(kernel_types)
    print(len(kernels), "kernel rows")
    print(analysis.get_comm_comp_overlap(visualize=False))
    print(analysis.get_idle_time_breakdown(visualize=False)[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
