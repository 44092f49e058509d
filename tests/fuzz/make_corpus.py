#!/usr/bin/env python3
"""Cuts real traces to a few kB each: seeds of the fuzzer. Usage: make_corpus.py OUT TRACE...

Keeps the document's own keys (deviceProperties cut to one device) and, of each kind of event (phase, category),
the first few, written again by Python's json.
"""
from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

PER_KIND = 3
MAX_EVENT_BYTES = 1200


def seed(path: Path) -> bytes:
    text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
    document = json.loads(text, strict=False)
    listed = isinstance(document, list)
    events = document if listed else document["traceEvents"]
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for event in events:
        kind = (str(event.get("ph")), str(event.get("cat")))
        if seen[kind] >= PER_KIND or len(json.dumps(event)) > MAX_EVENT_BYTES:
            continue
        seen[kind] += 1
        kept.append(event)
    if listed:
        return json.dumps(kept, indent=0).encode()
    document["traceEvents"] = kept
    if document.get("deviceProperties"):
        document["deviceProperties"] = document["deviceProperties"][:1]
    return json.dumps(document).encode()


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = Path(name)
        (out / (path.name.removesuffix(".json.gz").removesuffix(".pt.trace") + ".json")).write_bytes(seed(path))


if __name__ == "__main__":
    main()
