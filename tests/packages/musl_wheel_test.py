#!/usr/bin/env python3
"""Where Python is made for musl, pip picks a wheel that says what is wrong and what to do, in one sentence."""
import base64
import csv
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
SENTENCE = ("Fathom needs glibc 2.28 or newer, and this Python is made for musl (Alpine): "
            "use an image with glibc, such as debian:stable-slim")
BUILD_PYTHON = SOURCE / "build" / "python" / "bin" / "python"


def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", **variables})


def has_pip(python: object) -> bool:
    return pathlib.Path(str(python)).exists() and run(python, "-m", "pip", "--version").returncode == 0


PIP = next((python for python in (BUILD_PYTHON, sys.executable) if has_pip(python)), None)


class MuslWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.made = cls.folder / "made"
        done = run(SOURCE / "tools" / "musl_wheel", cls.made)
        assert done.returncode == 0, done.stderr
        cls.wheels = sorted(cls.made.iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def pip(self, target: str, tag: str, python: str = "3.11", folder: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
        """What pip of such a machine chooses and unpacks."""
        return run(PIP, "-m", "pip", "--disable-pip-version-check", "install", "--target", self.folder / target, "--no-index",
                   "--no-deps", "--find-links", folder or self.made, "--only-binary", ":all:", "--implementation", "cp",
                   "--python-version", python, "--platform", tag, "fathom")

    def refuses(self, site: pathlib.Path) -> None:
        """The module does, `python -m` does, and the program that pip makes of the entry point."""
        imported = run(sys.executable, "-c", "import fathom", PYTHONPATH=str(site))
        self.assertEqual(imported.returncode, 1)
        self.assertEqual(imported.stderr.splitlines()[-1], f"ImportError: {SENTENCE}")
        as_program = run(sys.executable, "-m", "fathom", "run", PYTHONPATH=str(site))
        self.assertEqual(as_program.returncode, 1)
        self.assertIn(SENTENCE, as_program.stderr)
        started = run(sys.executable, "-c", "import fathom_needs_glibc; fathom_needs_glibc.main()", PYTHONPATH=str(site))
        self.assertEqual((started.returncode, started.stdout, started.stderr), (1, "", f"fathom: error: {SENTENCE}\n"))

    def test_there_is_one_for_each_processor_and_each_refuses(self):
        self.assertEqual([wheel.name.split("-py3-none-")[1] for wheel in self.wheels],
                         ["musllinux_1_2_aarch64.whl", "musllinux_1_2_x86_64.whl"])
        for wheel in self.wheels:
            with self.subTest(wheel.name):
                site = self.folder / "unpacked" / wheel.stem
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(site)
                self.refuses(site)

    def test_its_files_are_those_of_its_list(self):
        for wheel in self.wheels:
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                (record,) = [name for name in names if name.endswith(".dist-info/RECORD")]
                rows = {name: (digest, size) for name, digest, size in csv.reader(archive.read(record).decode().splitlines())}
                self.assertEqual(set(rows), set(names))
                for name in set(names) - {record}:
                    data = archive.read(name)
                    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual(rows[name], (f"sha256={digest}", str(len(data))), name)
                self.assertEqual(rows[record], ("", ""))
                metadata = archive.read(record.replace("RECORD", "WHEEL")).decode()
                self.assertIn(f"Tag: {wheel.stem.split('-', 2)[2]}\n", metadata)

    def test_the_same_commit_gives_the_same_bytes(self):
        again = self.folder / "again"
        self.assertEqual(run(SOURCE / "tools" / "musl_wheel", again, TZ="Asia/Tokyo").returncode, 0)
        for wheel in self.wheels:
            self.assertEqual(wheel.read_bytes(), (again / wheel.name).read_bytes())
        later = self.folder / "later"
        run(SOURCE / "tools" / "musl_wheel", later, "x86_64", SOURCE_DATE_EPOCH="1800000000")
        (one,) = later.iterdir()
        self.assertNotEqual(one.read_bytes(), (self.made / one.name).read_bytes())

    def test_times_before_those_of_archives_are_the_first_of_these(self):
        done = run(SOURCE / "tools" / "musl_wheel", self.folder / "first", "x86_64", SOURCE_DATE_EPOCH="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        (wheel,) = (self.folder / "first").iterdir()
        with zipfile.ZipFile(wheel) as archive:
            self.assertEqual({entry.date_time for entry in archive.infolist()}, {(1980, 1, 1, 0, 0, 0)})

    @unittest.skipUnless(PIP, "no pip here: tools/setup python")
    def test_pip_picks_it_where_there_is_musl_and_nowhere_else(self):
        for number, (tag, python) in enumerate((("musllinux_1_2_x86_64", "3.11"), ("musllinux_1_2_aarch64", "3.13"))):
            taken = self.pip(f"taken{number}", tag, python)
            self.assertEqual(taken.returncode, 0, taken.stderr)
            self.refuses(self.folder / f"taken{number}")
            program = self.folder / f"taken{number}" / "bin" / "fathom"
            done = run(sys.executable, program, "run", "--", "true", PYTHONPATH=str(program.parents[1]))
            self.assertEqual((done.returncode, done.stderr), (1, f"fathom: error: {SENTENCE}\n"))
        for tag in ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_aarch64", "linux_x86_64"):
            refused = self.pip("nowhere", tag)
            self.assertNotEqual(refused.returncode, 0, tag)
            self.assertIn("No matching distribution found for fathom", refused.stderr)

    def test_another_processor_is_refused(self):
        done = run(SOURCE / "tools" / "musl_wheel", self.folder / "none", "riscv64")
        self.assertEqual(done.returncode, 2)
        self.assertIn("riscv64 is none of x86_64, aarch64", done.stderr)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main()
