#!/usr/bin/env python3
"""What the recorder of functions and lines leaves alone: interpreters without a global lock, and
sources beyond its limits."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(__file__))
from captured import HOOK, PYTHON_LIBRARY

sys.path.insert(0, str(HOOK))
from fathom_recorder import failures, lines, native, sources  # noqa: E402


class FreeThreaded(unittest.TestCase):
    """Their objects have other heads: the library must not even be loaded."""

    def session(self) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        if PYTHON_LIBRARY.exists():
            (pathlib.Path(folder.name) / "lib").mkdir()
            (pathlib.Path(folder.name) / "lib" / native.LIBRARY).symlink_to(PYTHON_LIBRARY)
        return folder.name

    def setUp(self) -> None:
        failures.clear()
        self.addCleanup(failures.clear)

    def test_the_native_recorder_abstains(self) -> None:
        session = self.session()
        with mock.patch.object(sys, "abiflags", "t", create=True), mock.patch("_imp.create_dynamic") as create:
            answer = native.load(session)
        self.assertEqual(answer, "this interpreter's objects are not those of a usual CPython")
        create.assert_not_called()

    def test_a_usual_interpreter_is_not_taken_for_one(self) -> None:
        if not PYTHON_LIBRARY.exists() or "t" in getattr(sys, "abiflags", ""):
            self.skipTest("no library for this interpreter")
        self.assertNotIsInstance(native.load(self.session()), str)

    def test_lines_have_a_note_instead(self) -> None:
        recorder = mock.Mock(session=self.session())
        with mock.patch.object(sys, "abiflags", "t", create=True):
            self.assertIsNone(lines.start(recorder))
        (note,) = failures.notes()
        self.assertEqual(note["what"], "lines")
        self.assertIn("not those of a usual CPython", note["why"])


class Sources(unittest.TestCase):
    def setUp(self) -> None:
        failures.clear()
        self.addCleanup(failures.clear)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.session = self.folder / "session"
        self.session.mkdir()
        self.sources = sources.Sources(str(self.session), "on")

    def keep(self, name: str, size: int) -> bool:
        """Whether the text of a file of that size is in the session afterwards."""
        path = self.folder / name
        path.write_bytes(b"#" * (size - 1) + b"\n")
        source = sources.read(str(path))
        assert source is not None
        self.sources.keep(str(path), source)
        return pathlib.Path(f"{self.session}/sources{path}").exists()

    def noted(self) -> list[str]:
        return [each["what"] for each in failures.notes()]

    def test_a_file_above_a_mebibyte_is_left_out_and_noted(self) -> None:
        self.assertTrue(self.keep("fits.py", sources.MOST_OF_ONE))
        self.assertEqual(self.noted(), [])
        self.assertFalse(self.keep("large.py", sources.MOST_OF_ONE + 1))
        self.assertEqual(self.noted(), ["the text of some source files"])

    def test_no_more_is_read_of_a_file_than_shows_that_it_is_too_large(self) -> None:
        path = self.folder / "huge.py"
        with path.open("wb") as file:
            file.truncate(1 << 30)
        source = sources.read(str(path))
        self.assertEqual(len(source or b""), sources.MOST_OF_ONE + 1)

    def test_files_of_a_process_are_kept_up_to_a_sum(self) -> None:
        self.assertEqual(sources.MOST_OF_ALL, 32 << 20)
        with mock.patch.object(sources, "MOST_OF_ALL", 3000):  # looking for secrets takes its time
            kept = [self.keep(f"f{number}.py", 1000) for number in range(3)]
            self.assertEqual((kept, self.noted()), ([True, True, True], []))
            self.assertFalse(self.keep("one_more.py", 10))
        self.assertEqual(self.noted(), ["the text of some source files"])


if __name__ == "__main__":
    unittest.main()
