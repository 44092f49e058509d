#!/usr/bin/env python3
"""Seeds for the fuzzer of sampled stacks: beginnings of our recordings.   tests/fuzz/make_stacks_corpus.py"""

from __future__ import annotations

import gzip
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent
PROFILES = FOLDER.parent / "data/profiles"
CORPUS = FOLDER / "corpus/sampled_stacks"
# The first byte of a seed says which format is meant.
FOLDED, PERF, PPROF, SPEEDSCOPE = (bytes([number]) for number in range(4))


def short_speedscope() -> bytes:
    document = json.loads((PROFILES / "pyspy.speedscope.json").read_text())
    for profile in document["profiles"]:
        profile["samples"] = profile["samples"][:4]
        profile["weights"] = profile["weights"][:4]
    return json.dumps(document, separators=(",", ":")).encode()


def evented() -> bytes:
    events = [{"type": kind, "frame": frame, "at": at} for kind, frame, at in [("O", 0, 1), ("O", 1, 2.5), ("C", 1, 4), ("C", 0, 5)]]
    profile = {"type": "evented", "name": "main", "unit": "milliseconds", "startValue": 0, "endValue": 5, "events": events}
    frames = [{"name": "main"}, {"name": "work", "file": "app.py", "line": 7}]
    return json.dumps({"shared": {"frames": frames}, "profiles": [profile]}).encode()


def main() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    perf = gzip.open(PROFILES / "perf_script.txt.gz").read()
    seeds = {
        "folded": FOLDED + b"".join((PROFILES / "pyspy.folded").read_bytes().splitlines(keepends=True)[4:]),
        "folded_odd": FOLDED + b"# a comment\n\na;b (x.py:3) 1.5\nno weight\na;b 0\nc 7\n",
        "perf": PERF + perf[: perf.index(b"\n\n", 2500) + 2],
        "perf_names": PERF + b"my prog 12/13 [001] 7.5: cycles:u: \n\t 55d1 py::work:/a.py (/tmp/perf-12.map)\n\t 1 f+0x2 (x)\n\n",
        "pprof": PPROF + gzip.open(PROFILES / "pyspy.pb.gz").read(),
        "speedscope": SPEEDSCOPE + short_speedscope(),
        "speedscope_evented": SPEEDSCOPE + evented(),
    }
    for name, seed in seeds.items():
        (CORPUS / name).write_bytes(seed)


if __name__ == "__main__":
    main()
