#!/usr/bin/env python3
"""The wheels for aarch64, on another processor: under qemu-user, with the interpreters that tools/fetch_pythons unpacked.
FATHOM_WHEELS names their folder; `make test-wheel` builds them and runs this.

What the emulator cannot show: it starts no program for aarch64 by itself, so that whatever `fathom run` starts is a script
that names the emulator, and `python -m fathom`, which becomes the program, is left out. Nothing runs on a GPU, and no
time that is measured there means anything. No distribution at hand has CPython 3.10 for aarch64: the names that its module
asks the interpreter for are compared with those of the module for x86-64, which runs.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(__file__))
import counted

SOURCE = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
WHEELS = pathlib.Path(os.environ.get("FATHOM_WHEELS", SOURCE / "build/wheels/made"))
PYTHONS = SOURCE / "build/pythons"
TRACE = SOURCE / "examples" / "resnet50_v100.pt.trace.json.gz"
# Release of Debian: its Python, its glibc.
ROOTS = {"bullseye": ("3.9", "2.31"), "bookworm": ("3.11", "2.36"), "trixie": ("3.13", "2.41")}
TAGS = ("cp310-cp310", "cp311-cp311", "cp312-abi3")
# How a distribution made its interpreter, and nothing about a processor.
BUILD_OPTIONS = {"HAVE_USABLE_WCHAR_T", "Py_ENABLE_SHARED", "WITH_DTRACE"}

PROGRAM = """
import platform, sys, time
for _ in range(3):
    time.sleep(0.01)
print("of Python", sys.version_info[0], sys.version_info[1], platform.machine())
"""
RECORDS_ITSELF = """
import fathom
with fathom.profile(output="run") as p:
    for _ in range(3):
        sum(range(9999))
        p.step()
print(len(p.open().report("steps")))
"""
LOADS = """
import ctypes, os
library = os.environ["NVTX_INJECTION64_PATH"]
ctypes.CDLL(library, mode=os.RTLD_NOW).InitializeInjectionNvtx2
print("loaded", os.path.basename(library))
# What the CUDA driver calls at its first use: 1, also where there is no CUPTI.
library = os.environ["CUDA_INJECTION64_PATH"]
print("loaded", os.path.basename(library), ctypes.CDLL(library, mode=os.RTLD_NOW).InitializeInjection())
"""


def run(*words: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def wheel_of(tag: str, processor: str) -> pathlib.Path:
    found = list(WHEELS.glob(f"fathom-*-{tag}-manylinux_2_28_{processor}.whl"))
    assert len(found) == 1, f"{len(found)} wheels {tag} for {processor} in {WHEELS}: make wheel"
    return found[0]


def asked_of_python(wheel: pathlib.Path, folder: pathlib.Path) -> set[str]:
    """Names that the module in a wheel needs and no library of glibc has."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if re.match(r"fathom/_core.*\.so$", name)]
        module = archive.extract(name, folder)
    symbols = run("readelf", "--dyn-syms", "--wide", module).stdout
    return set(re.findall(r"\bUND\s+(_?Py\w+)$", symbols, re.MULTILINE))


class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.sites = {}
        for suite, (version, _) in ROOTS.items():
            if version == "3.9":  # its programs are recorded; the package needs 3.10
                continue
            cls.sites[suite] = cls.installed(suite, version, "aarch64")
        cls.program = cls.sites["bookworm"] / "fathom" / "bin" / "fathom"
        cls.here = cls.installed("here", "3.11", "x86_64") / "fathom" / "bin" / "fathom"
        for suite, (version, _) in ROOTS.items():
            script = cls.folder / suite / "python"
            script.parent.mkdir(exist_ok=True)
            interpreter = PYTHONS / suite / "usr" / "bin" / f"python{version}"
            script.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L "{PYTHONS / suite}" "{interpreter}" "$@"\n')
            script.chmod(0o755)
        (cls.folder / "program.py").write_text(PROGRAM)
        (cls.folder / "loads.py").write_text(LOADS)
        (cls.folder / "counted.py").write_text(counted.PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def installed(cls, name: str, version: str, processor: str) -> pathlib.Path:
        """The package as pip of such a machine would choose and unpack it."""
        site = cls.folder / name / "site"
        done = run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--target", site, "--no-index",
                   "--no-deps", "--find-links", WHEELS, "--only-binary", ":all:", "--implementation", "cp",
                   "--python-version", version, "--platform", f"manylinux_2_28_{processor}", "fathom")
        assert done.returncode == 0, done.stdout + done.stderr
        return site

    def use(self, *words: object, **variables: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **variables}
        done = run(*words, cwd=self.folder, env=environment, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def fathom(self, *words: object, suite: str = "bookworm") -> str:
        return self.use("qemu-aarch64", "-L", PYTHONS / suite, self.program, *words)

    def test_there_is_a_wheel_for_each_python(self):
        for tag in TAGS:
            with self.subTest(tag), zipfile.ZipFile(wheel_of(tag, "aarch64")) as archive:
                of_here = zipfile.ZipFile(wheel_of(tag, "x86_64"))
                self.assertEqual({name.replace("aarch64", "x86_64") for name in archive.namelist()}, set(of_here.namelist()))

    def test_the_program_starts_on_older_and_newer_glibc(self):
        for suite, (_, glibc) in ROOTS.items():
            with self.subTest(suite):
                printed = self.fathom("--version", suite=suite)
                self.assertRegex(printed, rf"\Afathom \d+\.\d+\.\d+( \(\S+\))?\naarch64, .*\b2\.28\b.*, on glibc {glibc}\n\Z")
        here = self.use(self.here, "--version")
        self.assertEqual(here.splitlines()[0], printed.splitlines()[0])
        self.assertRegex(here, r"\nx86-64.*\b2\.28\b.*, on glibc 2\.\d+\n\Z")

    def test_it_says_of_a_trace_what_it_says_on_this_processor(self):
        for words in (("info", TRACE), ("diagnose", TRACE), ("ops", TRACE, "--csv"), ("kernels", TRACE, "--csv")):
            with self.subTest(words[0]):
                self.assertEqual(self.fathom(*words), self.use(self.here, *words))

    def test_it_records_programs_of_each_python(self):
        for suite, (version, _) in ROOTS.items():
            with self.subTest(suite):
                session = self.folder / f"session-{suite}"
                python = self.folder / suite / "python"
                printed = self.fathom("run", "--no-diagnose", "-o", session, "--", python, "program.py")
                self.assertIn(f"of Python {version.replace('.', ' ')} aarch64", printed)
                self.assertTrue(list(session.glob("process-*.fathom")), "the hook recorded nothing")
                manifest = json.loads((session / "manifest.json").read_text())
                self.assertEqual(manifest["exit"]["code"], 0)
                self.assertIn("Verdict", self.fathom("diagnose", session))
                # The other processor reads the same of it.
                self.assertEqual(self.fathom("info", session), self.use(self.here, "info", session))

    def test_functions_are_counted_by_native_code_in_each_python(self):
        for suite in ROOTS:
            with self.subTest(suite):
                session = self.folder / f"session-counts-{suite}"
                python = self.folder / suite / "python"
                self.fathom("run", "--no-diagnose", "--with", "functions", "-o", session, "--", python, "counted.py")
                self.assertEqual(counted.recorded_by(session), {"by": "native"})
                self.assertEqual(counted.calls_in(self.fathom("functions", session, "--csv")), counted.CALLS)

    def test_the_libraries_that_programs_load_are_loaded(self):
        python = self.folder / "bookworm" / "python"
        printed = self.fathom("run", "--no-diagnose", "--cuda", "always", "-o", "session-loads", "--", python, "loads.py")
        self.assertIn("loaded libfathom_nvtx.so\n", printed)
        self.assertIn("loaded libfathom_cuda.so 1\n", printed)

    def test_the_module_reads_and_records(self):
        for suite, site in self.sites.items():
            with self.subTest(suite):
                python = self.folder / suite / "python"
                code = f"import fathom; print(fathom.open({str(TRACE)!r}).report('ops', limit=1)['name'][0])"
                self.assertIn("aten::", self.use(python, "-c", code, PYTHONPATH=str(site)))
                self.assertEqual(self.use(python, "-c", RECORDS_ITSELF, PYTHONPATH=str(site)).strip(), "3")
                for path in sorted((self.folder / "run").rglob("*"), reverse=True):
                    path.unlink() if path.is_file() else path.rmdir()

    def test_each_module_asks_the_interpreter_for_what_the_one_for_this_processor_does(self):
        for tag in TAGS:
            with self.subTest(tag):
                there = asked_of_python(wheel_of(tag, "aarch64"), self.folder / "there")
                here = asked_of_python(wheel_of(tag, "x86_64"), self.folder / "here_too")
                self.assertGreater(len(here), 50)
                self.assertEqual(there, here)

    def test_the_headers_that_were_made_are_those_of_the_processor(self):
        made = SOURCE / "build/wheels/3.11/headers"
        real = PYTHONS / "bookworm/usr/include/aarch64-linux-gnu/python3.11"
        differing = run(sys.executable, SOURCE / "tools/python_headers", "--compare", made, real).stdout.split()
        self.assertLessEqual(set(differing), BUILD_OPTIONS)


if __name__ == "__main__":
    unittest.main()
