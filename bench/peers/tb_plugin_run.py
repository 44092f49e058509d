#!/usr/bin/env python3
"""A peer for the benchmarks: what the TensorBoard plugin for PyTorch computes when it opens a run.

Needs the Python package torch-tb-profiler of that interpreter.
"""

import sys
import tempfile
from pathlib import Path

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator


def main() -> int:
    path = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        # The plugin reads a file by the name that torch gives it.
        name = "worker0.1.pt.trace.json" + (".gz" if path.suffix == ".gz" else "")
        (Path(folder) / name).symlink_to(path)
        data = RunProfileData.parse("worker0", None, str(Path(folder) / name), folder)
        data.process()
        data.analyze()
        profile = RunGenerator("worker0", None, data).generate_run_profile()
    print(profile.overview)
    return 0


if __name__ == "__main__":
    sys.exit(main())
