#!/usr/bin/env python3
"""Programs that are made for musl (Alpine): refused where they cannot start; what of them is not recorded is reported."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FATHOM = pathlib.Path(os.environ["FATHOM"])
PROGRAM = '#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n'
# What NVTX's header does at its first call.
LOADS = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void* library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
  puts(library ? "loaded" : dlerror());
  return 0;
}
"""


class Musl(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-musl-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def compiled(self, source: str, *options: str, compiler: str = "cc") -> pathlib.Path:
        program = self.folder / "program"
        subprocess.run([compiler, "-x", "c", "-", *options, "-o", program], input=source, text=True, check=True)
        return program

    def record(self, program: pathlib.Path) -> subprocess.CompletedProcess:
        return subprocess.run([FATHOM, "run", "-o", self.folder / "session", "--", program], capture_output=True, text=True,
                              check=False, timeout=120)

    def not_recorded(self) -> list[dict]:
        return json.loads((self.folder / "session" / "manifest.json").read_text())["not_recorded"]

    def test_a_program_whose_loader_is_not_here_is_refused_with_a_sentence(self):
        program = self.compiled(PROGRAM, f"-Wl,--dynamic-linker={self.folder}/lib/ld-musl-x86_64.so.1")
        done = self.record(program)
        self.assertEqual(done.returncode, 127)
        self.assertIn(f"{program}: its loader {self.folder}/lib/ld-musl-x86_64.so.1 is not there: it is made for musl (Alpine)",
                      done.stderr)
        shutil.rmtree(self.folder / "session", ignore_errors=True)
        program = self.compiled(PROGRAM, f"-Wl,--dynamic-linker={self.folder}/lib/ld-other.so.1")
        self.assertIn("/lib/ld-other.so.1 is not there\n", self.record(program).stderr)

    def test_one_that_runs_is_recorded_and_told_of(self):
        """What counts is the name of the loader; here it is another name of this machine's."""
        machines = subprocess.run(["readelf", "--program-headers", "--wide", self.compiled(PROGRAM)], capture_output=True,
                                  text=True, check=True).stdout
        loader = machines.split("interpreter: ")[1].split("]")[0]
        (self.folder / "ld-musl-here.so.1").symlink_to(loader)
        program = self.compiled(PROGRAM, f"-Wl,--dynamic-linker={self.folder}/ld-musl-here.so.1")
        done = self.record(program)
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "ran"), done.stderr)
        told = [limit for limit in self.not_recorded() if "made for musl" in limit["why"]]
        self.assertEqual(len(told), 1)
        self.assertIn(str(program), told[0]["why"])
        self.assertIn("image with glibc", told[0]["remedy"])

    def test_nothing_is_said_of_a_program_for_glibc(self):
        self.assertEqual(self.record(self.compiled(PROGRAM)).returncode, 0)
        self.assertFalse([limit for limit in self.not_recorded() if "musl" in limit["why"]])

    @unittest.skipUnless(shutil.which("musl-gcc"), "no compiler for musl here: tools/setup musl")
    def test_a_real_one_does_not_load_our_library_and_goes_on(self):
        done = self.record(self.compiled(LOADS, compiler="musl-gcc"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("loaded", done.stdout.splitlines()[0])
        self.assertTrue([limit for limit in self.not_recorded() if "made for musl" in limit["why"]])


if __name__ == "__main__":
    unittest.main()
