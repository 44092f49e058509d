"""tools/measure_lines.py measures what it says, or fails: a recorder that noted a failure cost nothing real."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
FATHOM = os.environ.get("FATHOM") or str(ROOT / "build/release/fathom")
LIBRARY = Path(FATHOM).parent / "libfathom_python.so"
TOOL = ROOT / "tools/measure_lines.py"


def run(tool: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(tool), "--library", str(LIBRARY), "--rounds", "2"]
    # What it imports lies beside it, and not beside a copy.
    environment = {**os.environ, "PYTHONPATH": str(TOOL.parent)}
    return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)


class MeasureLines(unittest.TestCase):
    def setUp(self) -> None:
        if not LIBRARY.exists():
            self.skipTest(f"no {LIBRARY.name} beside the program")

    def test_all_rounds_run_without_a_note_of_the_recorder(self) -> None:
        done = run(TOOL)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("| Fathom |", done.stdout)
        self.assertIn("| Fathom, with the timeline |", done.stdout)

    def test_a_note_of_the_recorder_fails_it(self) -> None:
        text = TOOL.read_text()
        right = "self._way.window_ends(False)"
        self.assertEqual(text.count(right), 1)
        text = text.replace(right, "self._way.window_ends(None, False)")
        text = text.replace("pathlib.Path(__file__).resolve().parents[1]", f"pathlib.Path({str(ROOT)!r})")
        with tempfile.TemporaryDirectory() as folder:
            wrong = Path(folder, "wrong.py")
            wrong.write_text(text)
            done = run(wrong)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("Timeline: the recorder has a note", done.stderr)
        self.assertIn("window_ends", done.stderr)


if __name__ == "__main__":
    unittest.main()
