"""fathom dump: processes with known stacks and waits, trees, stopped and ended ones, secrets, mistakes."""
import json
import os
import signal
import subprocess
import sys
import unittest

from check_test import schema_problems
from program import ROOT, MistakesCase, fathom, started

SCHEMA = json.loads((ROOT / "docs/dump.schema.json").read_text())
WAITING = ROOT / "tests/programs/stacks/waiting.py"
RANKS = ROOT / "tests/programs/stacks/ranks.py"
BUSY = ROOT / "tests/programs/stacks/busy.py"
# Of the interpreters that may be looked at; this one may be none.
PYTHON = next((python for python in (sys.executable, "/usr/bin/python3") if os.path.exists(python)), "python3")


def dumped(*arguments):
    done = fathom("dump", *(str(argument) for argument in arguments), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def thread_of(dump, tid):
    return next(thread for process in dump["processes"] for thread in process["threads"] if thread["tid"] == tid)


class Dump(unittest.TestCase):
    def test_threads_have_stacks_lines_and_what_they_wait_for(self):
        with started(PYTHON, str(WAITING)) as process:
            tid = process.numbers["recursion"]
            while True:  # It is still on its way to the lock.
                dump = dumped(process.pid)
                thread = thread_of(dump, tid)
                names = [frame["function"].split(".")[-1] for frame in thread["frames"]]
                if names[:4] == ["recursion"] * 4 and thread["waits"] and thread["waits"]["kind"] == "lock":
                    break
            self.assertEqual(schema_problems(dump, SCHEMA), [])
            lines = WAITING.read_text().splitlines()
            self.assertIn("lock.acquire()", lines[thread["frames"][0]["line"] - 1])
            self.assertIn("recursion(depth - 1)", lines[thread["frames"][1]["line"] - 1])
            self.assertEqual(thread["stack"], "whole")
            self.assertIsNone(thread["gil"])
            text = fathom("dump", str(process.pid)).stdout.decode()
            self.assertIn(f"process {process.pid}: ", text)
            self.assertIn("CPython 3.", text)
            self.assertIn(f"      recursion ({WAITING}:{thread['frames'][0]['line']})\n", text)
            self.assertRegex(text, rf"thread {tid} \S+: sleeping, waits for a lock\n")

    def test_a_stopped_process_is_read(self):
        with started(PYTHON, str(BUSY)) as process:
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            for thread in dumped(process.pid)["processes"][0]["threads"]:
                self.assertEqual(thread["state"], "stopped")
                self.assertEqual(thread["stack"], "whole")
                self.assertTrue(thread["frames"][0]["function"].endswith("work"))
            process.send_signal(signal.SIGCONT)

    def test_the_tree_below_is_shown_and_secrets_are_not(self):
        program = ("import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import sys; "
                   "print(flush=True); sys.stdin.read()', '--api-key', 'verysecret']); p.wait()")
        with started(PYTHON, "-c", program) as process:
            dump = dumped(process.pid)
            self.assertEqual(len(dump["processes"]), 2)
            parent, child = dump["processes"]
            self.assertEqual(child["parent"], parent["pid"])
            self.assertEqual(child["command"][-2:], ["--api-key", "[redacted]"])
            self.assertEqual(parent["threads"][0]["waits"]["objects"], [f"process {child['pid']}"])
            self.assertNotIn("verysecret", fathom("dump", str(child["pid"])).stdout.decode())
            self.assertEqual(len(dumped(process.pid, "--alone")["processes"]), 1)
            os.kill(child["pid"], signal.SIGKILL)

    def test_ranks_are_side_by_side_and_the_odd_one_is_marked(self):
        with started(PYTHON, str(RANKS)) as process:
            while True:  # Some are still on their way.
                dump = dumped(process.pid)
                if [(group["function"], group["waits"]) for group in dump["ranks"]] == [("all_reduce", "file"),
                                                                                        ("load", "sleep")]:
                    break
            self.assertEqual(schema_problems(dump, SCHEMA), [])
            together, odd = dump["ranks"]
            self.assertEqual((together["ranks"], together["odd"]), ([0, 1, 3], False))
            self.assertEqual((odd["ranks"], odd["odd"]), ([2], True))
            lines = RANKS.read_text().splitlines()
            self.assertIn("sys.stdin.read()", lines[together["line"] - 1])
            self.assertIn("time.sleep", lines[odd["line"] - 1])
            launcher, *below = dump["processes"]
            self.assertIsNone(launcher["rank"])
            self.assertEqual({each["pid"]: each["rank"] for each in below}[odd["pids"][0]], 2)
            self.assertEqual({each["local_rank"] for each in below}, {0, 1, 2, 3})
            text = fathom("dump", str(process.pid)).stdout.decode()
            self.assertRegex(text, r"^ranks 0, 1, 3: all_reduce \(.*ranks\.py:\d+\), ")
            self.assertRegex(text, r"\nrank 2: load \(.*ranks\.py:\d+\), .*<- the odd one\n")
            self.assertIn(f"process {odd['pids'][0]}, rank 2: ", text)
            # One alone is no job.
            self.assertEqual(dumped(odd["pids"][0])["ranks"], [])

    def test_a_process_without_python_says_so_and_what_it_waits_for(self):
        reading, writing = os.pipe()
        process = subprocess.Popen(["cat"], stdin=reading, stdout=subprocess.DEVNULL)
        try:
            while True:
                one = dumped(process.pid)["processes"][0]
                if one["command"] == ["cat"] and one["threads"][0]["waits"]:
                    break
            self.assertEqual(one["reason"], "no CPython is in it")
            self.assertIsNone(one["python"])
            self.assertEqual(one["threads"][0]["waits"]["call"], "read")
            self.assertEqual(one["threads"][0]["waits"]["objects"], [os.readlink(f"/proc/self/fd/{reading}")])
            self.assertIn("no Python stacks: no CPython is in it", fathom("dump", str(process.pid)).stdout.decode())
        finally:
            process.kill()
            process.wait()
            os.close(reading)
            os.close(writing)

    def test_one_that_has_ended_says_so(self):
        process = subprocess.Popen(["true"])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        self.assertIn("it has ended", dumped(process.pid)["processes"][0]["reason"])
        process.wait()


class Mistakes(MistakesCase):
    def test_processes_that_are_not_there_and_words_that_are_none(self):
        self.fails(3, "dump", "999999999", says="process 999999999 is not there")
        self.fails(2, "dump", "x")
        self.fails(2, "dump", "0")
        self.fails(2, "dump")

    @unittest.skipIf(os.geteuid() != 0, "only root may become another user")
    def test_another_users_process_is_a_clear_sentence(self):
        process = subprocess.Popen(["sleep", "1000"])
        try:
            done = subprocess.run([os.environ.get("FATHOM", str(ROOT / "build/release/fathom")), "dump",
                                   str(process.pid)], capture_output=True, check=False, user=65534, group=65534,
                                  extra_groups=[], cwd="/")
        except PermissionError as error:
            self.skipTest(f"another user may not run the program: {error}")
        finally:
            process.kill()
            process.wait()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"belongs to another user (0)", done.stderr)
        self.assertIn(b"sudo", done.stderr)


if __name__ == "__main__":
    unittest.main()
