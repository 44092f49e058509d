"""tools/scale_trace: copies follow each other in time and never refer to each other."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])

TRACE = r"""{
  "schemaVersion": 1,
  "traceEvents": [
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1,
    "ts": 1712195495406752.797, "dur": 100.250,
    "args": {"External id": 1, "Ev Idx": 0}
  },
  {
    "ph": "X", "cat": "cpu_op", "name": "say \"ts\": 5", "pid": 1, "tid": 1,
    "ts": 1712195495406760.001, "dur": 10,
    "args": {"External id": 2, "Ev Idx": 1, "Sequence number": -1}
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
    "ts": 1712195495406762.500, "dur": 3.125, "args": {"correlation": 9, "External id": 0}
  },
  {"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 1712195495406762.500, "cat": "ac2g", "name": "g"},
  {
    "ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
    "ts": 1712195495406790.000, "dur": 80.000, "args": {"correlation": 9, "bytes": 9}
  },
  {"ph": "M", "name": "process_name", "ts": 0, "pid": 1, "tid": 0, "args": {"name": "python"}},
  {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "p",
   "ts": 1712195495406752.000, "dur": 120.000}
  ],
  "displayTimeUnit": "ms"
}
"""


class ScaleTraceTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.input = self.folder / "in.json"
        self.input.write_text(TRACE)

    def scale(self, copies: int, *flags: str) -> str:
        output = self.folder / "out"
        # A size in whole copies: the events that are repeated make three quarters of the input.
        size = "1" if copies == 1 else str(int(len(TRACE) * 0.75 * copies) + 300)
        subprocess.run(
            [str(ROOT / "tools/scale_trace"), str(self.input), str(output), "--size", size, *flags],
            check=True,
            capture_output=True,
        )
        data = output.read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()

    def events(self, text: str) -> list[dict[str, Any]]:
        events = json.loads(text)["traceEvents"]
        assert isinstance(events, list)
        return events

    def test_one_copy_is_the_input(self) -> None:
        self.assertEqual(self.scale(1), TRACE)

    def test_ids_and_steps_count_on_and_the_rest_stays(self) -> None:
        events = self.events(self.scale(3))
        self.assertEqual(len(events), 5 * 3 + 2)
        kernels = [e for e in events if e.get("cat") == "kernel"]
        launches = [e for e in events if e.get("cat") == "cuda_runtime"]
        flows = [e["id"] for e in events if e["ph"] == "s"]
        correlations = [e["args"]["correlation"] for e in kernels]
        self.assertEqual(len(set(correlations)), 3)
        self.assertEqual(correlations, [e["args"]["correlation"] for e in launches])
        self.assertEqual(correlations, flows)
        self.assertEqual([e["args"]["bytes"] for e in kernels], [9, 9, 9])
        self.assertEqual([e["args"]["External id"] for e in launches], [0, 0, 0])
        ops = [e for e in events if e.get("cat") == "cpu_op"]
        self.assertEqual({e["name"] for e in ops}, {'say "ts": 5'})
        self.assertEqual({e["args"]["Sequence number"] for e in ops}, {-1})
        steps = [e["name"] for e in events if e.get("cat") == "user_annotation"]
        self.assertEqual(steps, ["ProfilerStep#7", "ProfilerStep#8", "ProfilerStep#9"])

    def test_copies_follow_each_other_in_time_and_the_span_covers_them(self) -> None:
        text = self.scale(3)
        # The whole recording lasts 117.203 us, so that a copy begins every 118.
        for ts in ("1712195495406752.797", "1712195495406870.797", "1712195495406988.797"):
            self.assertIn(f'"ts": {ts}, "dur": 100.250', text)
        span = [e for e in self.events(text) if e.get("cat") == "Trace"]
        self.assertEqual([e["dur"] for e in span], [120 + 2 * 118])

    def test_variants_have_the_same_events(self) -> None:
        expected = sorted(json.dumps(e, sort_keys=True) for e in self.events(TRACE))
        for variant in ("pretty", "shuffled"):
            text = self.scale(1, "--variant", variant)
            found = sorted(json.dumps(e, sort_keys=True) for e in self.events(text))
            self.assertEqual(found, expected)
            self.assertIn("1712195495406752.797", text)
        self.assertIn('\n            "ph": "X",\n', self.scale(1, "--variant", "pretty"))

    def test_names_are_unique_where_that_is_asked_for(self) -> None:
        events = [e for e in self.events(self.scale(3, "--variant", "unique")) if e["ph"] != "M"]
        self.assertEqual(len({e["name"] for e in events}), len(events))

    def test_compresses(self) -> None:
        self.assertEqual(self.scale(3, "--gzip"), self.scale(3))

    def test_says_what_is_wrong(self) -> None:
        for text in ("", "{", '{"traceEvents": [', "[]", "7", '{"a": 1}'):
            self.input.write_text(text)
            done = subprocess.run(
                [str(ROOT / "tools/scale_trace"), str(self.input), "/dev/null", "--size", "1MB"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 3, text)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
