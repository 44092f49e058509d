#!/usr/bin/env python3
"""What is shipped starts on an older glibc: the program, its libraries, and what supplies what that glibc lacks.

The loader and libraries of Debian 11 (glibc 2.31; tools/fetch_glibc) are asked directly, so that nothing is installed.
FATHOM_OLD_GLIBC names a folder with those of another one instead, such as 2.28: ld-linux-*.so.*, libc.so.6 and its kin.
That nothing newer than 2.28 is needed, by name and version, is what tools/check_binary looks at.
"""
import json
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import unittest

FATHOM = pathlib.Path(os.environ["FATHOM"])
SOURCE = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"])
PROCESSOR = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), "none")
NAMED = os.environ.get("FATHOM_OLD_GLIBC")
GLIBC = pathlib.Path(NAMED) if NAMED else SOURCE / "build" / "glibc" / PROCESSOR
TRACE = SOURCE / "examples" / "resnet50_v100.pt.trace.json.gz"


def newest_glibc(path: pathlib.Path) -> tuple[int, ...]:
    """The newest version of glibc's names that a program needs, or that glibc itself has."""
    text = subprocess.run(["readelf", "--version-info", "--wide", path], capture_output=True, text=True, check=True).stdout
    return max(tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([0-9.]+)", text))


@unittest.skipUnless(NAMED or (GLIBC / ".complete").exists(), "no older glibc is there: tools/setup oldglibc")
class OlderGlibc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if newest_glibc(FATHOM) > (2, 28):
            raise unittest.SkipTest(f"this build is for glibc {'.'.join(map(str, newest_glibc(FATHOM)))}")
        (loader,) = GLIBC.glob("ld-linux-*.so.*")
        cls.command = [loader, "--library-path", GLIBC]

    def start(self, program: pathlib.Path, *words: object, preload: pathlib.Path | None = None, status: int = 0) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
        if preload:
            # 2.28's loader has no --preload.
            environment["LD_PRELOAD"] = str(preload)
        done = subprocess.run([*self.command, program, *map(str, words)], capture_output=True, text=True,
                              env=environment, check=False, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_it_is_really_older(self):
        # 2.31 itself brought no name.
        offered = newest_glibc(GLIBC / "libc.so.6")
        self.assertLessEqual(offered, (2, 30))
        if not NAMED:
            self.assertEqual(offered, (2, 30))
        # What the machine's own compiler makes does not start.
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            subprocess.run(["cc", "-x", "c", "-", "-o", program], input="int main() {}", text=True, check=True)
            if newest_glibc(program) > offered:
                self.start(program, status=1)

    def test_the_program_starts(self):
        self.assertRegex(self.start(FATHOM, "--version"), r"^fathom \d+\.\d+\.\d+")

    def test_it_says_the_same_as_on_this_machine(self):
        for words in (("diagnose", TRACE), ("ops", TRACE, "--json"), ("steps", TRACE, "--csv")):
            here = subprocess.run([FATHOM, *words], capture_output=True, text=True, check=True).stdout
            self.assertEqual(self.start(FATHOM, *words), here)

    def test_it_records_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.start(FATHOM, "run", "--no-diagnose", "-o", f"{folder}/run", "--", "true")
            manifest = json.loads((pathlib.Path(folder) / "run" / "manifest.json").read_text())
        self.assertEqual(manifest["command"][0], "true")

    def test_a_mistake_is_told_as_ever(self):
        """Exceptions and errors of files, through what is supplied."""
        self.start(FATHOM, "ops", SOURCE / "nothing.json", status=3)
        self.start(FATHOM, "ops", SOURCE / "README.md", status=3)

    def test_libraries_that_programs_load_are_loaded(self):
        libraries = sorted(FATHOM.parent.glob("libfathom_*.so"))
        if not libraries:
            self.skipTest("no headers of NVTX and CUPTI were there")
        for library in libraries:
            with self.subTest(library.name):
                if library.name == "libfathom_python.so":
                    # An interpreter supplies its names, and loads it.
                    self.assertLessEqual(newest_glibc(library), newest_glibc(GLIBC / "libc.so.6"))
                    continue
                # Every name in them is looked up at the start.
                self.start(FATHOM, "--version", preload=library)

    def test_what_that_glibc_lacks_is_supplied(self):
        program = FATHOM.parent / "tests" / "glibc_compat_test"
        self.assertIn("ConstructorsRunOnceAndGetTheArguments", self.start(program, "--gtest_list_tests"))
        self.start(program, "--gtest_brief=1")


class BuiltFromSources(unittest.TestCase):
    """What tools/build_glibc takes for the sources of glibc 2.28, which `make nightly` compiles."""

    def build(self, folder: str, sources: pathlib.Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([SOURCE / "tools" / "build_glibc", f"{folder}/made"], capture_output=True, text=True, check=False,
                              env={**os.environ, "FATHOM_GLIBC_SOURCES": str(sources)})

    def test_sources_that_are_not_there_are_told_apart_from_others_than_the_published(self):
        with tempfile.TemporaryDirectory() as folder:
            sources = pathlib.Path(folder) / "glibc-2.28.tar.xz"
            done = self.build(folder, sources)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"{sources} is not there", done.stderr)
            sources.write_bytes(b"something else")
            done = self.build(folder, sources)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is not glibc 2.28 as it was published", done.stderr)
            repository = pathlib.Path(folder) / "repository"
            subprocess.run(["git", "init", "-q", repository], check=True)
            done = self.build(folder, repository)
            self.assertEqual(done.returncode, 3)
            self.assertIn("is no repository with glibc 2.28", done.stderr)
            self.assertFalse((pathlib.Path(folder) / "made").exists())


if __name__ == "__main__":
    unittest.main()
