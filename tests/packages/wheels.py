#!/usr/bin/env python3
"""The wheels as people meet them: installed into bare environments of every interpreter at hand, and used there without
a compiler and without a network. FATHOM_WHEELS names their folder; `make test-wheel` builds them and runs this."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(__file__))
import counted

SOURCE = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
WHEELS = pathlib.Path(os.environ.get("FATHOM_WHEELS", SOURCE / "build/wheels/made"))
TRACE = SOURCE / "examples" / "resnet50_v100.pt.trace.json.gz"
MOST_BYTES = 20_000_000

PROGRAM = """
import sys, time
for _ in range(3):
    time.sleep(0.01)
print("of Python", sys.version_info[0], sys.version_info[1])
"""
RECORDS_ITSELF = """
import fathom
with fathom.profile(output="run") as p:
    for _ in range(3):
        sum(range(9999))
        p.step()
print(len(p.open().report("steps")))
"""


def run(*words: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


@functools.cache
def without_network() -> list[str]:
    """A command in front, where the kernel allows it."""
    unshare = shutil.which("unshare")
    for words in (["--net"], ["--map-root-user", "--net"]):
        if unshare and run(unshare, *words, "true").returncode == 0:
            return [unshare, *words]
    return []


@functools.cache
def interpreters() -> dict[tuple[int, int], pathlib.Path]:
    """One of each version: in PATH, and pyenv's."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    named = [shutil.which(f"python3.{minor}") for minor in range(8, 20)]
    found: dict[tuple[int, int], pathlib.Path] = {}
    for path in [*sorted(pyenv.glob("3.*/bin/python")), *(pathlib.Path(name) for name in named if name)]:
        said = run(path, "-I", "-c", "import sys, venv; print(sys.version_info[0], sys.version_info[1])")
        if said.returncode == 0:
            major, minor = map(int, said.stdout.split())
            found.setdefault((major, minor), path)
    return found


def wheel_of(version: tuple[int, int]) -> pathlib.Path | None:
    pattern = "cp312-abi3" if version >= (3, 12) else f"cp3{version[1]}-cp3{version[1]}"
    return next(iter(WHEELS.glob(f"fathom-*-{pattern}-manylinux_2_28_{platform.machine()}.whl")), None)


class Network(unittest.TestCase):
    def test_it_can_be_cut(self):
        if not without_network():
            self.skipTest("this kernel lets nobody go without a network (unshare): the other tests have one")


class Wheels(unittest.TestCase):
    def test_they_are_named_for_what_they_run_on_and_hold_everything(self):
        # Those for musl hold a sentence: musl_wheel_test.py.
        wheels = sorted(set(WHEELS.glob("*.whl")) - set(WHEELS.glob("*-py3-none-musllinux_*.whl")))
        self.assertTrue(wheels, f"no wheel in {WHEELS}: make wheel")
        for wheel in wheels:
            with self.subTest(wheel.name):
                self.assertRegex(wheel.name, r"^fathom-[\d.]+-(cp310-cp310|cp311-cp311|cp312-abi3)-manylinux_2_28_\w+\.whl$")
                self.assertLess(wheel.stat().st_size, MOST_BYTES)
                with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
                    names = archive.namelist()
                    for needed in ("fathom/bin/fathom", "fathom/__init__.py", "fathom/py.typed", "fathom_recorder/__init__.py"):
                        self.assertIn(needed, names)
                    self.assertFalse([name for name in names if ".libs/" in name], "a library was grafted")
                    self.licences_and_bill(archive)
                    program = archive.read("fathom/bin/fathom")
                    for carried in (b"libfathom_cuda.so", b"libfathom_nvtx.so", b"libfathom_python.so", b"PyInit_fathom_python"):
                        self.assertIn(carried, program)
                    (module,) = [name for name in names if re.match(r"fathom/_core.*\.so$", name)]
                    self.assertEqual(module == "fathom/_core.abi3.so", "abi3" in wheel.name)
                    for name, options in (("fathom/bin/fathom", ()), (module, ("--python",))):
                        path = archive.extract(name, folder)
                        checked = run(sys.executable, SOURCE / "tools/check_binary", "--stripped", *options, path)
                        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


    def licences_and_bill(self, archive: zipfile.ZipFile) -> None:
        """Of each library in it, the page's and the module's among them, the licence, and a line in the bill of materials."""
        kept = {name.split(".dist-info/")[1]: name for name in archive.namelist() if ".dist-info/" in name}
        texts = archive.read(kept["licenses/THIRD-PARTY-NOTICES.txt"]).decode()
        bill = json.loads(archive.read(kept["sboms/fathom.spdx.json"]))
        versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
        page = json.loads((SOURCE / "ui/package.json").read_text())["dependencies"]
        self.assertEqual({name: versions.get(name) for name in page}, page)
        self.assertLessEqual({"fathom", "simdjson", "isa-l", "zstd", "nanobind", "robin-map", "NVTX"}, set(versions))
        for name in set(versions) - {"fathom"}:
            self.assertIn(f"\n{name} {versions[name]}\n", texts)
        self.assertEqual([sum_of["checksumValue"] for sum_of in bill["packages"][0]["checksums"]],
                         [hashlib.sha256(archive.read("fathom/bin/fathom")).hexdigest()])
        # The checker that tools/setup python installs.
        with tempfile.TemporaryDirectory() as folder:
            done = run(sys.executable, "-m", "spdx_tools.spdx.clitools.pyspdxtools", "--infile",
                       archive.extract(kept["sboms/fathom.spdx.json"], folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Elsewhere(unittest.TestCase):
    def pip(self, platform_tag: str, use: Callable[[pathlib.Path], None] | None = None) -> subprocess.CompletedProcess[str]:
        """What pip says that a machine of that kind, with Python 3.11, asks to install the wheels. `use`, if any, gets what it unpacked."""
        with tempfile.TemporaryDirectory() as folder:
            done = run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--target", folder,
                       "--no-index", "--no-deps", "--find-links", WHEELS, "--only-binary", ":all:",
                       "--implementation", "cp", "--python-version", "3.11", "--platform", platform_tag, "fathom")
            if use:
                self.assertEqual(done.returncode, 0, done.stderr)
                use(pathlib.Path(folder))
            return done

    def test_older_glibc_is_refused_and_this_one_gets_the_program(self):
        done = self.pip("manylinux_2_17_x86_64")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No matching distribution found for fathom", done.stderr)
        self.pip(f"manylinux_2_28_{platform.machine()}", lambda site: self.assertTrue((site / "fathom/bin/fathom").exists()))

    def test_musl_is_refused_with_a_sentence(self):
        """By the module and by the program of the wheel that pip picks there: it lies beside those for glibc."""
        made = {wheel.name.rsplit("manylinux_2_28_")[1] for wheel in WHEELS.glob("*-manylinux_2_28_*.whl")}
        self.assertTrue(made)
        for processor in (name.removesuffix(".whl") for name in made):
            with self.subTest(processor):
                self.pip(f"musllinux_1_2_{processor}", self.says_musl)

    def says_musl(self, site: pathlib.Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(site)}
        for words in ((sys.executable, "-c", "import fathom"), (sys.executable, site / "bin/fathom", "run", "--", "true")):
            done = run(*words, env=environment)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            last = done.stderr.splitlines()[-1]
            for word in ("glibc 2.28", "musl (Alpine)", "debian:stable-slim"):
                self.assertIn(word, last)


class Installed(unittest.TestCase):
    """In a bare environment of each interpreter, with no program but the environment's in PATH."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "program.py").write_text(PROGRAM)
        (self.folder / "counted.py").write_text(counted.PROGRAM)

    def install(self, version: tuple[int, int], wheel: pathlib.Path) -> pathlib.Path:
        """The environment's folder of programs."""
        bare = self.folder / "bare"
        made = run(interpreters()[version], "-m", "venv", "--without-pip", bare)
        self.assertEqual(made.returncode, 0, made.stderr)
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", bare / "bin/python")
        begin = time.monotonic()
        done = run(*without_network(), *pip, "install", "--no-index", "--no-deps", wheel)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print(f"pip install {wheel.name}: {time.monotonic() - begin:.1f} s, {wheel.stat().st_size:,} bytes", file=sys.stderr)
        return bare / "bin"

    def use(self, programs: pathlib.Path, *words: object) -> str:
        environment = {"PATH": str(programs), "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        done = run(*without_network(), *words, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def counts(self, programs: pathlib.Path, python: object) -> None:
        """Calls of Python functions are recorded by native code, as many as there were."""
        session = self.folder / "counts"
        self.use(programs, programs / "fathom", "run", "--no-diagnose", "--with", "functions", "-o", session, "--",
                 python, "counted.py")
        self.assertEqual(counted.recorded_by(session), {"by": "native"})
        table = self.use(programs, programs / "fathom", "functions", session, "--csv")
        self.assertEqual(counted.calls_in(table), counted.CALLS)
        shutil.rmtree(session)

    def test_every_interpreter_records_opens_and_reports(self):
        tested = 0
        for version in sorted(interpreters()):
            wheel = wheel_of(version)
            if version < (3, 10) or wheel is None:
                continue
            with self.subTest(version=version):
                programs = self.install(version, wheel)
                python, fathom = programs / "python", programs / "fathom"
                self.assertRegex(self.use(programs, fathom, "--version"), r"^fathom \d")
                # What the wheel has not as files.
                self.assertIn("\n.SH NAME\n", self.use(programs, fathom, "man"))
                self.assertIn("complete -", self.use(programs, fathom, "completion", "bash"))
                printed = self.use(programs, fathom, "run", "-o", "session", "--", "python", "program.py")
                self.assertIn(f"of Python 3 {version[1]}", printed)
                self.assertIn("Verdict", self.use(programs, fathom, "diagnose", "session"))
                self.counts(programs, "python")
                code = f"import fathom; print(fathom.open({str(TRACE)!r}).report('ops', limit=1)['name'][0])"
                self.assertIn("aten::", self.use(programs, python, "-c", code))
                self.assertEqual(self.use(programs, python, "-c", RECORDS_ITSELF).strip(), "3")
                tested += 1
                for name in ("bare", "session", "run"):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
        self.assertGreater(tested, 0, "no interpreter for which there is a wheel")

    def test_programs_of_older_interpreters_are_recorded(self):
        newest = max((version for version in interpreters() if wheel_of(version)), default=None)
        older = [path for version, path in interpreters().items() if version in ((3, 8), (3, 9))]
        if newest is None or not older:
            self.skipTest("neither Python 3.8 nor 3.9 is here")
        wheel = wheel_of(newest)
        assert wheel is not None
        programs = self.install(newest, wheel)
        for number, path in enumerate(older):
            with self.subTest(path=path):
                session = f"session{number}"
                printed = self.use(programs, programs / "fathom", "run", "-o", session, "--", path, "program.py")
                self.assertIn("of Python 3", printed)
                recorded = [file.name for file in (self.folder / session).glob("process-*.fathom")]
                self.assertTrue(recorded, "the hook recorded nothing")
                self.counts(programs, path)


if __name__ == "__main__":
    unittest.main()
