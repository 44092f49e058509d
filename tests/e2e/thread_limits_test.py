"""Few threads, or none to be had: results are the same byte for byte, and what cannot do without says what it lacks."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT

TRACES = ROOT / "tests/data/traces"
NAMES = ("luatil_rtx3060_compile_triton.json.gz", "tl_h100_bert_small.json.gz")
COMMANDS = (["diagnose", "--json"], ["diagnose", "--all"], ["overview", "--json"], ["ops", "--json"],
            ["export", "--to", "chrome"])
NOBODY = 65534


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Where a user who is nobody may read it.
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-threads-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        cls.program = shutil.copy(FATHOM, cls.folder / "fathom")
        cls.traces = [shutil.copy(TRACES / name, cls.folder / name) for name in NAMES]

    def run_limited(self, command, threads=None):
        """The finished process; `threads`: how many the system lets its user have, in all processes."""
        def limit():
            if threads is None:
                return
            # The system's administrator has no such limit.
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        # The leak sanitizer, where the program is built with it, needs a thread of its own at the end.
        environment = {**ENVIRONMENT, "ASAN_OPTIONS": ENVIRONMENT.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        # The end of a pipe ends a server.
        return subprocess.run(command, capture_output=True, timeout=120, check=False, input=b"",
                              env=environment, preexec_fn=limit)

    def fathom(self, *arguments, threads=None):
        return self.run_limited([self.program, *arguments], threads)

    def test_the_limit_is_one(self):
        done = self.run_limited(["/bin/sh", "-c", "/bin/true; echo went on"], threads=1)
        self.assertEqual(done.stdout, b"", "another process could be started")

    def test_without_a_thread_to_be_had_a_page_is_written(self):
        new = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        new.chmod(0o777)
        for command in ("view", "diagnose"):
            pages = []
            for threads in (None, 1):
                page = new / f"{command}_{threads}.html"
                done = self.fathom(command, "--html", str(page), self.traces[0], threads=threads)
                self.assertEqual(done.returncode, 0, (command, threads, done.stderr))
                pages.append(page.read_bytes())
            self.assertEqual(pages[0], pages[1], command)
            self.assertGreater(len(pages[0]), 100_000)

    def test_without_a_thread_to_be_had_the_output_is_the_same(self):
        for command in COMMANDS:
            for trace in self.traces:
                normal = self.fathom(*command, "--threads", "4", trace)
                self.assertEqual((normal.returncode, normal.stderr), (0, b""))
                for threads in (1, 2):
                    done = self.fathom(*command, "--threads", "4", trace, threads=threads)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertEqual(done.stdout, normal.stdout, (command, trace, threads))

    def test_what_needs_a_thread_or_a_process_says_that_there_is_none(self):
        lacks = "a limit on processes is reached (ulimit -u, or pids.max of the control group)"
        commands = {
            "view": ["view", "--no-open", self.traces[0]],
            "run": ["run", "--quiet", "-o", "NEW", "--", "/bin/true"],
            "bench": ["bench", "--quiet", "--runs", "1", "--warmup", "0", "--", "/bin/true"],
            "bench, shown": ["bench", "--quiet", "--show-output", "--runs", "1", "--warmup", "0", "--", "/bin/true"],
        }
        for name, command in commands.items():
            outcomes = []
            for threads in (1, 2, 3, 8, None):
                new = tempfile.mkdtemp(dir=self.folder)
                pathlib.Path(new).chmod(0o777)
                words = [f"{new}/session" if word == "NEW" else word for word in command]
                done = self.fathom(*words, threads=threads)
                outcomes.append(done.returncode)
                if done.returncode != 0:
                    self.assertIn(lacks, done.stderr.decode(), (name, threads, done.returncode))
                    self.assertNotEqual(done.returncode, 1, (name, threads))
                    self.assertGreater(done.returncode, 0, (name, threads))
            self.assertGreater(outcomes[0], 0, (name, outcomes))
            self.assertEqual(outcomes[-1], 0, (name, outcomes))

    def test_any_number_of_threads_gives_the_same_output(self):
        for command in COMMANDS:
            for trace in self.traces:
                outputs = {self.fathom(*command, "--threads", str(threads), trace).stdout for threads in (1, 2, 3, 16)}
                self.assertEqual(len(outputs), 1, (command, trace))


if __name__ == "__main__":
    unittest.main()
