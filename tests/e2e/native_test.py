"""fathom dump --native, fathom sample --native: the calls of a C++ program, and Python's functions among native ones."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from check_test import schema_problems
from program import FATHOM, ROOT, SANITIZED, fathom, started

CHAIN = ROOT / "tests/programs/stacks/chain.cc"
WORK = ROOT / "tests/programs/stacks/work.py"
WAITING = ROOT / "tests/programs/stacks/waiting.py"
DUMP = json.loads((ROOT / "docs/dump.schema.json").read_text())
SAMPLES = json.loads((ROOT / "docs/samples.schema.json").read_text())
# Unwinding takes so long then that sampling leaves it out, to cost no more than it may.
# Its first thread computes until another one, told so, begins the program anew.
BECOMING = """
#include <cstdio>
#include <thread>
#include <unistd.h>
static volatile unsigned long sink;
[[gnu::noipa]] void before() { while (true) sink = sink + 1; }
[[gnu::noipa]] void after() { while (true) sink = sink + 2; }
int main(int count, char** values) {
  if (count > 1) after();
  std::thread([values] {
    char c = 0;
    if (read(0, &c, 1) == 1) execl("/proc/self/exe", values[0], "again", static_cast<char*>(nullptr));
  }).detach();
  std::puts("");
  std::fflush(stdout);
  before();
}
"""
# A library, and a program that calls it for as long as it has not used three seconds of a processor.
LIBRARY = """
static volatile unsigned long sink;
extern "C" __attribute__((noinline)) void inner_spin(unsigned long n) { while (n--) sink = sink + n; }
extern "C" __attribute__((noinline)) void outer_spin(unsigned long n) { inner_spin(n); sink = sink + 1; }
"""
CALLING = """
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
def compute():
    while time.process_time() < 3:
        library.outer_spin(ctypes.c_ulong(2_000_000))
compute()
"""
# A library that waits, and a program that calls it from one thread, another waits in Python alone.
WAITING_LIBRARY = """
#include <unistd.h>
extern "C" __attribute__((noinline)) int inner_read(int file) { char c; return static_cast<int>(read(file, &c, 1)) + 1; }
extern "C" __attribute__((noinline)) int outer_read(int file) { return inner_read(file) + 1; }
"""
WAITS_IN_LIBRARY = """
import ctypes, os, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
reading, writing = os.pipe()
def receives():
    for _ in range(10):
        library.outer_read(reading)
def sleeps():
    time.sleep(4)
threading.Thread(target=receives).start()
threading.Thread(target=sleeps).start()
for _ in range(10):
    time.sleep(0.4)
    os.write(writing, b"x")
"""
COMPUTES = ["Worker::spin()", *["Worker::compute(int)"] * 4]
WAITS = ["inner_wait()", "outer_wait()", "main"]


def dumped(pid):
    done = fathom("dump", str(pid), "--native", "--json")
    assert done.returncode == 0, done.stderr
    dump = json.loads(done.stdout)
    assert schema_problems(dump, DUMP) == [], schema_problems(dump, DUMP)
    return {thread["tid"]: thread for thread in dump["processes"][0]["threads"]}


def functions(frames):
    return [frame["function"] for frame in frames]


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        compiler = shutil.which("g++")
        if compiler is None:
            raise unittest.SkipTest("no g++ is here")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.program = str(pathlib.Path(cls.folder.name) / "chain")
        cls.with_frames = str(pathlib.Path(cls.folder.name) / "with_frames")
        for program, options in ((cls.program, ["-O2", "-fomit-frame-pointer"]), (cls.with_frames, ["-O0"])):
            subprocess.run([compiler, "-std=c++17", *options, "-fno-optimize-sibling-calls", "-pthread", str(CHAIN),
                            "-o", program], check=True)

    def needs_perf(self, said):
        if "perf_event_open" in said:
            self.skipTest(said)

    def test_a_thread_that_waits_shows_its_calls(self):
        self.shows_its_waits(self.program)

    def test_a_frame_pointer_that_is_not_known_is_found(self):
        self.shows_its_waits(self.with_frames)

    def shows_its_waits(self, program):
        with started(program) as process:
            while True:  # It is still on its way to the call.
                thread = dumped(process.pid)[process.numbers["waits"]]
                if thread["waits"]:
                    break
            native = thread["native"]
            names = functions(native["frames"])
            self.assertEqual(native["join"], "native")
            self.assertIsNone(native["reason"], native)
            at = names.index(WAITS[0])
            self.assertEqual(names[at:at + 3], WAITS)
            self.assertEqual(names[-1], "_start")
            self.assertEqual(native["frames"][at]["file"], program)
            self.assertIn("outer_wait()", fathom("dump", str(process.pid), "--native").stdout.decode())

    @unittest.skipIf(shutil.which("strip") is None or shutil.which("nm") is None, "no binutils are here")
    def test_without_symbols_functions_are_named_by_where_they_begin(self):
        stripped = self.program + "_stripped"
        subprocess.run(["strip", "-s", "-o", stripped, self.program], check=True)
        listed = subprocess.run(["nm", "-C", "--defined-only", self.program], capture_output=True, text=True, check=True)
        begins = {name: int(address, 16) for address, _, name in
                  (line.split(" ", 2) for line in listed.stdout.splitlines())}
        with started(stripped) as process:
            while True:  # It is still on its way to the call.
                thread = dumped(process.pid)[process.numbers["waits"]]
                if thread["waits"]:
                    break
        own = [frame["function"] for frame in thread["native"]["frames"] if frame["file"] == stripped]
        # The last one is where the program begins.
        self.assertEqual(own, [f"chain_stripped+{begins[name]:#x}" for name in [*WAITS, "_start"]])
        self.assertIsNone(thread["native"]["reason"])

    def test_a_thread_that_computes_shows_its_calls(self):
        with started(self.program) as process:
            while True:  # A busy machine may have no processor for it meanwhile.
                native = dumped(process.pid)[process.numbers["computes"]]["native"]
                if native["reason"] != "it went on while it was read":
                    break
            self.needs_perf(native["reason"] or "")
            self.assertEqual(functions(native["frames"])[:5], COMPUTES)
            self.assertIsNone(native["reason"], native)

    def test_samples_weigh_its_calls(self):
        with started(self.program) as process:
            done = fathom("sample", str(process.pid), "--native", "--json", "--duration", "1s", "--rate", "200")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.needs_perf(done.stderr.decode())
        samples = json.loads(done.stdout)
        self.assertEqual(schema_problems(samples, SAMPLES), [])
        self.assertEqual(sum(stack["on_cpu_ns"] for stack in samples["stacks"]), samples["on_cpu_ns"])
        self.assertGreater(samples["native"]["samples"], 0)
        computing = [stack for stack in samples["stacks"]
                     if functions(stack["frames"])[-5:] == COMPUTES[::-1]
                     or functions(stack["frames"])[-4:] == COMPUTES[:0:-1]]
        self.assertGreater(sum(stack["on_cpu_ns"] for stack in computing), 0.9 * samples["on_cpu_ns"], samples["stacks"])

    def test_folded_lines_name_its_functions(self):
        with started(self.program) as process:
            done = fathom("sample", str(process.pid), "--native", "--duration", "500ms")
        self.needs_perf(done.stderr.decode())
        self.assertIn("Worker::compute(int)", done.stdout.decode().splitlines()[0])
        self.assertRegex(done.stderr.decode(), r"\d+ native stacks: ")

    def test_a_recording_names_its_functions(self):
        for options in (["--with", "samples"], []):
            with tempfile.TemporaryDirectory() as folder:
                # It ends with its standard input, after a second.
                done = fathom("run", *options, "-q", "-o", f"{folder}/run", "--", "sh", "-c", 'sleep 1 | "$0"',
                              self.program)
                self.assertEqual(done.returncode, 0, done.stderr)
                manifest = (pathlib.Path(folder) / "run/manifest.json").read_text()
                self.needs_perf(manifest if "native functions in samples" in manifest else "")
                hot = fathom("hot", f"{folder}/run").stdout.decode()
                self.assertIn("Worker::spin()", hot, options)
                said = json.loads(fathom("diagnose", "--json", f"{folder}/run").stdout)
                if said["verdict"]["id"] == "cpu-bound":  # not where others had the processors
                    self.assertRegex(said["verdict"]["sentence"], r"in Worker::(compute\(int\)|spin\(\)) \(chain\)")

    def test_a_program_that_another_thread_has_begun_is_watched_too(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "becoming.cc"
            source.write_text(BECOMING)
            program = str(pathlib.Path(folder) / "becoming")
            subprocess.run(["g++", "-std=c++17", "-O1", "-pthread", str(source), "-o", program], check=True)
            with started(program) as process:
                sampler = subprocess.Popen([FATHOM, "sample", str(process.pid), "--native", "--json", "--duration", "2s"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(0.7)  # So long `before` is to run, if there is a processor for it.
                process.stdin.write("x")
                process.stdin.flush()
                said, errors = sampler.communicate()
            self.needs_perf(errors)
            stacks = json.loads(said)["stacks"]
            self.assertTrue(any("after()" in functions(stack["frames"]) for stack in stacks), stacks)


class Mixed(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a program with sanitizers has no time to unwind")
    @unittest.skipIf(shutil.which("g++") is None, "no g++ is here")
    def test_a_recording_has_what_python_calls_below_pythons_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "spin.cc"
            source.write_text(LIBRARY)
            library = f"{folder}/spin.so"
            subprocess.run(["g++", "-O1", "-fPIC", "-shared", "-fno-optimize-sibling-calls", str(source), "-o", library],
                           check=True)
            program = pathlib.Path(folder) / "calling.py"
            program.write_text(CALLING)
            run = f"{folder}/run"
            done = fathom("run", "--no-diagnose", "--with", "samples", "-q", "-o", run, "--", sys.executable,
                          str(program), library)
            self.assertEqual(done.returncode, 0, done.stderr)
            manifest = (pathlib.Path(run) / "manifest.json").read_text()
            self.needs_perf_of(manifest)
            folded = [line.rpartition(" ") for line in fathom("export", "--to", "folded", run).stdout.decode().splitlines()]
            hot = json.loads(fathom("hot", "--json", run).stdout)["rows"]
        names = [[frame.partition(" (")[0] for frame in stack.split(";")] for stack, _, _ in folded]
        native = [stack for stack in names if stack[-2:] == ["outer_spin", "inner_spin"]]
        self.assertTrue(native, names)
        for stack in native:  # Python's functions first, as in the stacks of a thread that waits
            self.assertEqual(stack[:2], ["<module>", "compute"])
            self.assertNotIn("_PyEval_EvalFrameDefault", stack)
        rows = {row["function"]: row for row in hot}
        self.assertGreater(rows["inner_spin"]["self_ns"], 0.9 * rows["compute"]["total_ns"], hot)

    @unittest.skipIf(SANITIZED, "a program with sanitizers has no time to unwind")
    @unittest.skipIf(shutil.which("g++") is None, "no g++ is here")
    def test_a_recording_has_the_native_functions_in_which_python_waits(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "waits.cc"
            source.write_text(WAITING_LIBRARY)
            library = f"{folder}/waits.so"
            subprocess.run(["g++", "-O1", "-fPIC", "-shared", "-fno-optimize-sibling-calls", str(source), "-o", library],
                           check=True)
            program = pathlib.Path(folder) / "waiting.py"
            program.write_text(WAITS_IN_LIBRARY)
            run = f"{folder}/run"
            done = fathom("run", "--no-diagnose", "-q", "-o", run, "--", sys.executable, str(program), library)
            self.assertEqual(done.returncode, 0, done.stderr)
            folded = fathom("export", "--to", "folded", "--metric", "blocked", run).stdout.decode().splitlines()
            waits = json.loads(fathom("waits", "--json", run).stdout)["rows"]
        weights = {}
        for line in folded:
            stack, _, weight = line.rpartition(" ")
            names = tuple(frame.partition(" (")[0] for frame in stack.split(";"))
            weights[names] = weights.get(names, 0) + int(weight)
        receives = {names: weight for names, weight in weights.items() if "receives" in names}
        native = {names: weight for names, weight in receives.items() if "outer_read" in names}
        # Where looking has cost as much as it may, as when it begins, some are left out.
        self.assertGreater(sum(native.values()), 0, weights)
        for names in native:
            self.assertLess(names.index("receives"), names.index("outer_read"))  # between them is ctypes
            self.assertEqual(names[names.index("outer_read") + 1], "inner_read")
            self.assertNotIn("_PyEval_EvalFrameDefault", names)
        # Python's own waits stay as they are, and the line is that of the program.
        self.assertTrue([names for names in weights if names[-1] == "sleeps"], weights)
        places = {row["place"] if "place" in row else str(row) for row in waits}
        self.assertTrue([place for place in places if "waiting.py:7" in place or "receives" in place], waits)

    def test_at_high_rates_a_recording_says_that_it_leaves_out_what_python_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run"
            done = fathom("run", "--no-diagnose", "--with", "samples=500", "-q", "-o", run, "--", sys.executable, "-c",
                          "import time\nwhile time.process_time() < 0.5: pass")
            self.assertEqual(done.returncode, 0, done.stderr)
            missing = json.loads((pathlib.Path(run) / "manifest.json").read_text())["not_recorded"]
        self.assertIn("native functions below Python's in samples", [each["what"] for each in missing])

    def needs_perf_of(self, manifest):
        if "native functions in samples" in manifest:
            self.skipTest("perf may not be used")

    def test_python_functions_stand_among_native_ones_where_a_thread_waits(self):
        with started(sys.executable, str(WAITING)) as process:
            tid = process.numbers["recursion"]
            while True:
                thread = dumped(process.pid)[tid]
                if thread["waits"] and thread["waits"]["kind"] == "lock":
                    break
            native = thread["native"]
            if native["join"] != "joined" and native["reason"]:
                self.skipTest(f"this interpreter's code cannot be unwound: {native['reason']}")
            python = [frame["function"] for frame in thread["frames"]]
            self.assertEqual(native["join"], "joined", thread)
            names = [frame["function"] for frame in native["frames"]]
            self.assertEqual([name for name in names if name in python], python)
            self.assertGreater(len(names), len(python))
            self.assertNotIn("_PyEval_EvalFrameDefault", names)

    def test_samples_have_python_functions_among_native_ones(self):
        with started(sys.executable, str(WORK), "5", "1000") as process:
            done = fathom("sample", str(process.pid), "--native", "--json", "--duration", "1s")
        self.assertEqual(done.returncode, 0, done.stderr)
        if "perf_event_open" in done.stderr.decode():
            self.skipTest(done.stderr.decode())
        samples = json.loads(done.stdout)
        self.assertEqual(schema_problems(samples, SAMPLES), [])
        counts = samples["native"]
        self.assertGreater(counts["samples"], 0)
        self.assertLessEqual(counts["joined"] + counts["unmatched"], counts["samples"])
        self.assertEqual(sum(stack["on_cpu_ns"] for stack in samples["stacks"]), samples["on_cpu_ns"])
        if counts["joined"] > 0:
            names = {frame["function"] for stack in samples["stacks"] for frame in stack["frames"]}
            self.assertIn("<module>", names)


if __name__ == "__main__":
    unittest.main()
