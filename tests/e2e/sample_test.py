"""fathom sample: weights that sum to the scheduler's time, folded lines, and mistakes."""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from check_test import schema_problems
from program import FATHOM, ROOT, SANITIZED, MistakesCase, fathom

SCHEMA = json.loads((ROOT / "docs/samples.schema.json").read_text())
WORK = ROOT / "tests/programs/stacks/work.py"
BECOMING = ROOT / "tests/programs/stacks/becoming.py"


@contextlib.contextmanager
def working():
    """A program that calls functions, 5 deep, and does nothing else."""
    process = subprocess.Popen([sys.executable, str(WORK), "5", "1000"], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def on_cpu(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


class Sample(unittest.TestCase):
    def test_weights_sum_to_what_the_scheduler_says(self):
        with working() as process, tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "out.json"
            before = on_cpu(process.pid)
            done = fathom("sample", str(process.pid), "--duration", "1s", "--json", "-o", str(output))
            after = on_cpu(process.pid)
            self.assertEqual(done.returncode, 0, done.stderr)
            samples = json.loads(output.read_text())
        self.assertEqual(schema_problems(samples, SCHEMA), [])
        self.assertEqual(sum(stack["on_cpu_ns"] for stack in samples["stacks"]), samples["on_cpu_ns"])
        self.assertGreater(samples["on_cpu_ns"], 0)
        self.assertLessEqual(samples["on_cpu_ns"], after - before)
        names = {frame["function"] for stack in samples["stacks"] for frame in stack["frames"]}
        self.assertTrue({"<module>", "deep", "work"} <= names, names)
        self.assertRegex(done.stderr.decode(), r"\d+ stacks: \d+ % whole, \d+ % shortened, \d+ % not read; \d+ ms")

    def test_two_may_sample_one_program(self):
        with working() as process:
            before = on_cpu(process.pid)
            both = [subprocess.Popen([FATHOM, "sample", str(process.pid), "--duration", "1s", "--json"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
            printed = [each.communicate(timeout=120) for each in both]
            spent = on_cpu(process.pid) - before
            dump = fathom("dump", str(process.pid))
            self.assertIsNone(process.poll(), "the program goes on")
        self.assertEqual(dump.returncode, 0, dump.stderr)
        for each, (out, err) in zip(both, printed):
            self.assertEqual(each.returncode, 0, err)
            samples = json.loads(out)
            # Each has all of the time for itself: neither takes from the other.
            self.assertGreater(samples["on_cpu_ns"], 0)
            self.assertLessEqual(samples["on_cpu_ns"], spent)
            self.assertEqual(sum(stack["on_cpu_ns"] for stack in samples["stacks"]), samples["on_cpu_ns"])
            deepest = max(samples["stacks"], key=lambda stack: stack["on_cpu_ns"])["frames"]
            self.assertEqual({"<module>", "deep"} - {frame["function"] for frame in deepest}, set())

    def test_folded_lines_go_from_the_outermost_function_on(self):
        with working() as process:
            done = fathom("sample", str(process.pid), "--duration", "500ms", "--rate", "200", "-q")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        line = done.stdout.decode().splitlines()[0]
        stack, _, weight = line.rpartition(" ")
        self.assertGreater(int(weight), 0)
        frames = stack.split(";")
        self.assertTrue(frames[0].startswith(f"<module> ({WORK}:"), line)
        self.assertTrue(frames[1].startswith(f"deep ({WORK}:"), line)

    def test_a_program_whose_lines_are_recorded_has_the_stacks_that_it_has_without(self):
        """In some versions of Python each of its functions then runs in a loop of its own."""
        with tempfile.TemporaryDirectory() as folder:
            command = [FATHOM, "run", "--with", "lines", "-q", "-o", folder + "/run", "--", sys.executable, str(WORK), "5", "3"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
                run.stdout.readline()
                # A program with sanitizers has no time to unwind.
                for native in ((),) if SANITIZED else ((), ("--native",)):
                    done = fathom("sample", str(run.pid), "--duration", "500ms", "--json", "-q", *native)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found = set()
                    for stack in json.loads(done.stdout)["stacks"]:
                        names = [each["function"] for each in stack["frames"] if each["file"] == str(WORK)]
                        if names and "(stack not read)" not in names:
                            found.add(tuple(names))
                    whole = ("<module>", *["deep"] * 6, "work")
                    self.assertTrue(found & {whole, (*whole, "small")}, found)
                    for names in found:  # what is not certain is left out
                        rest = iter((*whole, "small"))
                        self.assertTrue(all(name in rest for name in names), (native, names))
                run.stdout.read()
            self.assertEqual(run.returncode, 0)

    def test_a_child_that_is_forked_meanwhile_is_sampled(self):
        process = subprocess.Popen([sys.executable, str(BECOMING), "fork"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            with tempfile.TemporaryDirectory() as folder:
                output = pathlib.Path(folder) / "out.json"
                peer = subprocess.Popen([FATHOM, "sample", str(process.pid), "--duration", "3s", "--json", "-q", "-o",
                                         str(output)])
                process.stdin.write(b"\n")
                process.stdin.flush()
                self.assertEqual(peer.wait(), 0)
                samples = json.loads(output.read_text())
        finally:
            process.kill()
            process.communicate()
        names = {frame["function"] for stack in samples["stacks"] for frame in stack["frames"]}
        self.assertTrue({"in_child", "in_parent"} <= names, names)
        for stack in samples["stacks"]:
            functions = {frame["function"] for frame in stack["frames"]}
            self.assertFalse({"in_child", "in_parent"} <= functions, stack)

    def test_a_program_that_ends_ends_it(self):
        with working() as process:
            peer = subprocess.Popen([sys.executable, "-c", "import os, signal, sys; os.kill(int(sys.argv[1]), 9)",
                                     str(process.pid)])
            done = fathom("sample", str(process.pid), "--duration", "60s", "-q")
            peer.wait()
        # Either it had ended before, or it ended meanwhile.
        self.assertIn(done.returncode, (0, 3))


class Mistakes(MistakesCase):
    def test_what_cannot_be_sampled(self):
        self.fails(3, "sample", "999999999", says="process 999999999 is not there")
        self.fails(2, "sample", "x")
        self.fails(2, "sample", "1", "2", says="one PID")
        self.fails(2, "sample", "1", "--rate", "0")
        self.fails(2, "sample", "1", "--rate", "10001", says="at most 10000")


if __name__ == "__main__":
    unittest.main()
