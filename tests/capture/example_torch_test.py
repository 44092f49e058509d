"""The example with PyTorch, run as README.md says: the answer at the head of that page is the one that comes."""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
PYTHON = os.environ.get("FATHOM_TORCH_PYTHON", str(ROOT / "build/torch/bin/python"))
ANSWER = (r"^Verdict +([\w/-]+)\.", r"^1\. (.+?):")


@unittest.skipUnless(os.environ.get("FATHOM_TEST_TORCH"), "needs PyTorch: make test-torch")
class Example(unittest.TestCase):
    def test_the_answer_is_the_one_that_the_readme_shows(self) -> None:
        shown = re.search(r"<!-- recorded: run -->(.*?)<!-- end: run -->", (ROOT / "README.md").read_text(), re.S)
        assert shown is not None
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([FATHOM, "run", "--", PYTHON, str(ROOT / "examples/train.py")], cwd=folder,
                                  env={**os.environ, "COLUMNS": "100"}, capture_output=True, text=True, timeout=600,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for pattern in ANSWER:
            expected, found = re.search(pattern, shown[1], re.M), re.search(pattern, done.stderr, re.M)
            assert expected is not None, pattern
            assert found is not None, done.stderr
            self.assertEqual(found[1], expected[1], done.stderr)


if __name__ == "__main__":
    unittest.main()
