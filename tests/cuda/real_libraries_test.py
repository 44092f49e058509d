#!/usr/bin/env python3
"""The recorder with real libraries of CUPTI, those of `make test-cupti` in build/cupti, on a machine without a GPU: whatever
each does there, the program goes on and ends as it would, and what is lost is named with the reason."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("FATHOM", ROOT / "build/release/fathom")).parent
PROGRAM, RECORDER, FAKE = (BUILD / name for name in ("cuda_program", "libfathom_cuda.so", "libfake_cupti.so"))
LIBRARIES = sorted((ROOT / "build/cupti").glob("*/**/libcupti.so.*"))
# What is reported of a library whose folder is called so.
SAID = (
    (r"11\.", "is of CUDA 11, whose records are not read: CUDA 12.0 is the oldest"),
    (r"13\.2\.", "does not fit this driver: it is of CUDA 13.2, which would end the program"),
    (r"13\.[3-9]\.", "does not fit this driver (cuptiGetVersion: CUPTI error 999)"),
    # Those say their version without a driver, and miss it when they are asked to record.
    (r"12\.", "this CUPTI does not start with the driver that is installed (CUPTI_ERROR_NOT_INITIALIZED)"),
    (r"", "is of CUDA 13, and the driver runs CUDA 12 at most (CUPTI refused: CUPTI_ERROR_UNKNOWN)"),
)
# What the doctor says of it without a driver.
DOCTOR = (
    (r"11\.", " is of CUDA 11, whose records are not read: CUDA 12.0 is the oldest$"),
    (r"13\.2\.", " is of CUDA 13.2, which does not start without a driver$"),
    (r"13\.[3-9]\.", r" does not start without a driver \(cuptiGetVersion: CUPTI error 999\)$"),
    (r"", r", API version \d+$"),
)
# A folder with libcuda.so.1 of a driver, as distributions have it: without a GPU, too.
DRIVER = os.environ.get("FATHOM_REAL_DRIVER", "")


def make_no_device_files() -> None:
    """As root cuInit() makes /dev/nvidiactl where there is no GPU, too: others would take that for a driver."""
    drop, make_nodes = 24, 27  # PR_CAPBSET_DROP, CAP_MKNOD
    ctypes.CDLL(None).prctl(drop, make_nodes, 0, 0, 0)


def version_of(library: pathlib.Path) -> str:
    return library.relative_to(ROOT / "build/cupti").parts[0]


@unittest.skipUnless(LIBRARIES, "no real libraries of CUPTI: make test-cupti")
@unittest.skipUnless(PROGRAM.exists() and RECORDER.exists(), "built without headers of CUPTI")
class RealLibraries(unittest.TestCase):
    def not_recorded(self, **more: str) -> str:
        """The program's end is its own; the words of what it lost. Its driver is the fake, as one of CUDA 12.8 where that is not installed."""
        with tempfile.TemporaryDirectory() as session:
            environment = {name: value for name, value in os.environ.items() if name not in ("FATHOM_CUPTI", "CUDA_PATH")}
            environment |= {"FATHOM_SESSION": session, "FAKE_GPU": str(FAKE), "CUPTI_FAKE_STUB": "1"}
            environment["CUPTI_FAKE_DRIVER"] = "12080"
            environment |= {"CUDA_INJECTION64_PATH": str(RECORDER), **more}
            done = subprocess.run([PROGRAM, "work"], env=environment, capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, f"{more}: {done.stderr}")
            files = list(pathlib.Path(session).glob("cuda-*.fathom"))
            self.assertEqual(len(files), 1, more)
            return files[0].read_bytes().decode("utf-8", "replace")

    def test_each_leaves_the_program_alone_and_is_refused_with_its_reason(self) -> None:
        for library in LIBRARIES:
            version = version_of(library)
            with self.subTest(version):
                said = self.not_recorded(FATHOM_CUPTI=str(library))
                wanted = next(text for pattern, text in SAID if re.match(pattern, version))
                self.assertIn("not_recorded.cuda.0.what", said)
                self.assertIn(wanted, said)

    def test_that_of_cuda_11_is_refused_where_it_is_the_only_one_that_is_found(self) -> None:
        old = [library for library in LIBRARIES if version_of(library).startswith("11.")]
        if not old:
            self.skipTest("that of CUDA 11.8 is not there")
        with tempfile.TemporaryDirectory() as home:
            folder = pathlib.Path(home, "lib64")
            folder.mkdir()
            (folder / "libcupti.so").symlink_to(old[0])
            said = self.not_recorded(CUDA_HOME=home)
        self.assertIn("lib64/libcupti.so is of CUDA 11, whose records are not read: CUDA 12.0 is the oldest", said)
        self.assertIn("install CUPTI (the CUDA toolkit, or pip install nvidia-cuda-cupti)", said)

    def test_each_starts_with_the_table_that_the_recorder_asks_the_driver_for(self) -> None:
        text = (ROOT / "src/base/cupti_start.h").read_text()
        first = bytes(int(byte, 16) for byte in re.findall(r"0x([0-9a-f]{2})\b", text))
        self.assertEqual(len(first), 16)
        for library in LIBRARIES:
            with self.subTest(version_of(library)):
                self.assertIn(first, library.read_bytes())

    def test_the_doctor_says_of_each_what_the_recorder_does(self) -> None:
        for library in LIBRARIES:
            version = version_of(library)
            with self.subTest(version):
                done = subprocess.run(
                    [BUILD / "fathom", "doctor", "--json"],
                    env={**os.environ, "FATHOM_CUPTI": str(library)},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                checks = json.loads(done.stdout)["checks"]
                said = next(each["detail"] for each in checks if each["what"] == "CUPTI")
                wanted = next(text for pattern, text in DOCTOR if re.match(pattern, version))
                self.assertRegex(said, f"^{re.escape(str(library))}{wanted}")


@unittest.skipUnless(LIBRARIES, "no real libraries of CUPTI: make test-cupti")
@unittest.skipUnless(RECORDER.exists(), "built without headers of CUPTI")
@unittest.skipUnless(DRIVER, "FATHOM_REAL_DRIVER names no folder with a driver's libcuda.so.1")
class RealDriver(unittest.TestCase):
    """A driver calls the recorder in cuInit() where there is no GPU, too."""

    def test_the_newest_library_has_the_counters_of_each_chip(self) -> None:
        program = BUILD / "cuda13_test"
        if not program.exists():
            self.skipTest("built without unit tests")
        environment = {**os.environ, "LD_LIBRARY_PATH": DRIVER}
        words = [program, "--gtest_filter=RealHost.*"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("SKIPPED", done.stdout)

    def test_its_cuinit_comes_back_and_each_library_is_called(self) -> None:
        for library in LIBRARIES:
            version = version_of(library)
            with self.subTest(version), tempfile.TemporaryDirectory() as session:
                words = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"]
                environment = {**os.environ, "LD_LIBRARY_PATH": DRIVER, "FATHOM_SESSION": session}
                environment |= {"FATHOM_CUPTI": str(library), "CUDA_INJECTION64_PATH": str(RECORDER)}
                before = set(pathlib.Path("/dev").glob("nvidia*"))
                done = subprocess.run(
                    words,
                    env=environment,
                    preexec_fn=make_no_device_files,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=120,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(set(pathlib.Path("/dev").glob("nvidia*")), before)
                (file,) = pathlib.Path(session).glob("cuda-*.fathom")
                said = file.read_bytes().decode("utf-8", "replace")
                self.assertNotIn("would end the program", said)
                self.assertNotIn("cuptiGetVersion", said)
                if "(CUPTI_ERROR_NOT_INITIALIZED)" in said:
                    self.assertIn("no GPU is shown to this process (/dev has no nvidia0), and this CUPTI does not start", said)


if __name__ == "__main__":
    unittest.main()
