"""tools/proofs.py believes of a file what was shown of the same content, and of no other."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import proofs  # noqa: E402


class Clone:
    """A small repository with one source and the header that it reaches through another."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("src/a.cc", '#include "one.h"\n')
        self.write("src/one.h", '#include "two.h"\n')
        self.write("src/two.h", "int two;\n")
        self.compile_with("-O1")

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def compile_with(self, options: str) -> None:
        file = str(self.root / "src/a.cc")
        command = f"env X=y /usr/bin/ccache /usr/bin/c++ {options} -I{self.root}/src -o a.o -c {file}"
        self.write("build/compile_commands.json", json.dumps([{"file": file, "directory": "/", "command": command}]))

    def __enter__(self) -> Clone:
        self.patch = mock.patch.object(proofs, "ROOT", self.root)
        self.patch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.patch.stop()

    @property
    def source(self) -> proofs.Source:
        return proofs.sources_of(self.root / "build")[0]

    def key(self, checker: bytes = b"tidy 14") -> str:
        return proofs.Proofs("tidy", checker).key(self.source)


class ProofsOfFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.first = Clone(Path(self.folder.name).resolve() / "first")

    def test_a_command_is_told_without_launcher_output_and_file(self):
        with self.first:
            self.assertEqual(self.first.source.flags, f"-O1 -I{self.first.root}/src")

    def test_whatever_a_file_reaches_is_in_its_key(self):
        with self.first as clone:
            keys = {clone.key()}
            for change in (
                lambda: clone.write("src/a.cc", '#include "one.h"\nint a;\n'),
                lambda: clone.write("src/two.h", "int three;\n"),
                lambda: clone.compile_with("-O2"),
            ):
                change()
                keys.add(clone.key())
            keys.add(clone.key(b"tidy 15"))
            self.assertEqual(len(keys), 5)

    def test_what_a_file_does_not_reach_is_not(self):
        with self.first as clone:
            before = clone.key()
            clone.write("src/other.h", "int other;\n")
            self.assertEqual(clone.key(), before)

    def test_a_committed_proof_holds_in_another_clone(self):
        second = Clone(Path(self.folder.name).resolve() / "elsewhere/second")
        with self.first as clone:
            known = proofs.Proofs("tidy", b"")
            self.assertFalse(known.holds(clone.source))
            known.add(clone.source)
            known.write([clone.source])
            second.write("tools/proofs/tidy.txt", known.committed.read_text())
            # In the tree where it was shown it holds without being committed.
            known.committed.unlink()
            self.assertTrue(proofs.Proofs("tidy", b"").holds(clone.source))
        with second as clone:
            self.assertTrue(proofs.Proofs("tidy", b"").holds(clone.source))
            self.assertFalse(proofs.Proofs("tidy", b"", believe=False).holds(clone.source))
            clone.write("src/two.h", "int three;\n")
            self.assertFalse(proofs.Proofs("tidy", b"").holds(clone.source))

    def test_what_was_not_shown_is_not_written(self):
        with self.first as clone:
            known = proofs.Proofs("tidy", b"")
            known.write([clone.source])
            self.assertEqual(known.committed.read_text(), "")

    def test_some_of_the_proven_are_read_again(self):
        with self.first as clone:
            known = proofs.Proofs("tidy", b"")
            self.assertEqual(proofs.unproven(known, [clone.source], 0), [clone.source])
            known.add(clone.source)
            self.assertEqual(proofs.unproven(known, [clone.source], 0), [])
            self.assertEqual(proofs.unproven(known, [clone.source], 1), [clone.source])


if __name__ == "__main__":
    unittest.main()
