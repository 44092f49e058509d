#!/usr/bin/env python3
"""A peer for the reader's benchmarks: Python's json.load, and nothing after it."""

import gzip
import json
import sys
from pathlib import Path


def main() -> int:
    path = Path(sys.argv[1])
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    with opened as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    print(len(events), "events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
