"""Too little memory: whatever the command and wherever it runs out, one message says what was asked for, what was in
use, the limit and the remedy, and the exit code is 3; nothing crashes, hangs, or is left out in silence."""
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT, SANITIZED, fathom

TRACES = ROOT / "tests/data/traces"
TRACE = str(TRACES / "sidnb13_h100_transformer_step.pt.trace.json.gz")
LARGER = str(TRACES / "luatil_rtx3060_compile_triton.json.gz")
MESSAGE = re.compile(r"^fathom: out of memory.*: a request for .+ failed with .+ of address space in use, "
                     r"the limit is .+ \(ulimit -v\); raise it(?P<threads>, or use fewer threads \(--threads 1\))?$", re.M)
KIB = 1024
MIB = 1024 * KIB
HANGS = 60
NEW_FOLDER = "NEW"  # stands for one


def limited(limit: int, *arguments: str):
    """The finished process, which had `limit` bytes of address space."""
    command = ["/bin/sh", "-c", f'ulimit -v {limit // KIB}; exec "$@"', "sh", FATHOM, *arguments]
    # The end of a pipe ends what else would wait to be asked.
    return subprocess.run(command, input=b"", capture_output=True, timeout=HANGS, check=False, env=ENVIRONMENT)


def smallest(enough, within: int) -> int:
    """The least address space that is enough for `--version`, by its exit code; at most `within` bytes too large."""
    fails, works = 0, 256 * MIB
    while works - fails > within:
        middle = (fails + works) // 2
        if enough(limited(middle, "--version").returncode):
            works = middle
        else:
            fails = middle
    return works


@functools.cache
def begins() -> int:
    """The least address space in which the loader finds room for the program."""
    return smallest(lambda code: code != 127, 4 * KIB)


@functools.cache
def least() -> int:
    """The least address space in which the program starts and says its version."""
    # Where stack and heap begin differs from run to run.
    return smallest(lambda code: code == 0, 64 * KIB) + 256 * KIB


def commands():
    """Every command: those of --help, and one that is for tests."""
    return re.findall(r"^  ([a-z][a-z-]+) {2,}\S", fathom("--help").stdout.decode(), re.M) + ["digest"]


@unittest.skipIf(SANITIZED, "sanitizers need more address space than there is memory")
class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-memory-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def arguments(self, command):
        """An ordinary call of that command."""
        special = {
            "run": ["run", "--quiet", "-o", NEW_FOLDER, "--", "/bin/true"],
            "attach": ["attach", "999999999"],
            "doctor": ["doctor"],
            "dump": ["dump", "--alone", str(os.getpid())],
            "sample": ["sample", "--alone", "--duration", "1ms", "-q", str(os.getpid())],
            "explain": ["explain", "fp64"],
            "compare": ["compare", TRACE, TRACE],
            "baseline": ["baseline", "show", str(ROOT / "tests/data/baselines/version_1.json")],
            "verify": ["verify", "host-bound", TRACE, TRACE],
            "check": ["check", TRACE, "--against", TRACE, "--budget", "step_time+3%"],
            "bench": ["bench", "--quiet", "--runs", "1", "--warmup", "0", "--", "/bin/true"],
            "view": ["view", "--no-open", TRACE],
            "whatif": ["whatif", "--remove-syncs", TRACE],
            "export": ["export", "--to", "chrome", TRACE],
            "formats": ["formats"],
            "completion": ["completion", "bash"],
            "man": ["man"],
            "reference": ["reference"],
        }
        return special.get(command, [command, TRACE])

    def fresh(self, arguments):
        """With a folder of its own where one must be new."""
        return [tempfile.mkdtemp(dir=self.folder) if word == NEW_FOLDER else word for word in arguments]

    def check(self, done, normal, limit):
        """Says whether the command did all that it does with enough memory."""
        where = f"{done.args[5:]} in {limit} bytes: {done.stderr.decode()[-600:]}"
        if done.returncode == normal.returncode != 3:
            if normal.stdout is not None:
                self.assertEqual(done.stdout, normal.stdout, where)
            return True
        self.assertEqual(done.returncode, 3, where)
        said = MESSAGE.search(done.stderr.decode())
        self.assertTrue(said, where)
        if done.args[5] not in ("run", "bench"):  # libc does not say how much starting a program and listing a folder lacked
            self.assertNotIn("a request for more", said[0], where)
        if ("--threads", "1") in itertools.pairwise(done.args):
            self.assertFalse(said["threads"], where)
        return False

    def sweep(self, arguments, step, growth=1.5):
        """From the least that the program starts in to what is enough; how often it was too little."""
        normal = fathom(*self.fresh(arguments))
        if arguments[0] in ("run", "attach", "doctor", "dump", "sample", "bench", "view"):
            normal.stdout = None  # shows processes, memory or times, which are not the same twice
        limit, failures = least(), 0
        while not self.check(limited(int(limit), *self.fresh(arguments)), normal, limit):
            failures += 1
            limit += step
            step *= growth
            self.assertLess(limit, 4096 * MIB, f"{arguments} never finds enough")
        return failures

    def test_it_says_so_from_the_first_limit_on_in_which_it_begins(self):
        failures = 0
        for limit in range(begins() + 12 * KIB, least(), 12 * KIB):
            done = limited(limit, "health", "--threads", "1", TRACE)
            self.assertEqual(done.returncode, 3, f"{limit} bytes: {done.stderr.decode()}")
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertFalse(self.check(done, done, limit))
            failures += 1
        self.assertGreater(failures, 10)

    def test_fewer_threads_are_advised_where_there_are_several(self):
        for threads in ("1", "2"):
            said = MESSAGE.search(limited(least() + 512 * KIB, "overview", "--threads", threads, LARGER).stderr.decode())
            self.assertEqual(bool(said["threads"]), threads != "1", said)

    def test_every_command_says_what_it_lacked(self):
        calls = [[*self.arguments(command)] for command in commands()]
        self.assertGreater(len(calls), 25)
        with_threads = [[call[0], "--threads", threads, *call[1:]] for call in calls for threads in ("1", "4")
                        if call[-1] == TRACE and call[0] != "digest"]
        alone = [call for call in calls if call[-1] != TRACE or call[0] == "digest"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            least()
            failures = list(pool.map(lambda call: self.sweep(call, 96 * KIB), with_threads + alone))
        # The limits begin below what reading takes.
        self.assertTrue(all(count > 0 for count in failures[:len(with_threads)]), failures)

    def test_a_diagnosis_says_so_wherever_it_runs_out(self):
        for threads in ("1", "4"):
            self.assertGreater(self.sweep(["diagnose", "--threads", threads, LARGER], 192 * KIB, growth=1.02), 10)

    def test_a_server_that_runs_out_while_it_reads_says_so(self):
        self.assertGreater(self.sweep(["view", "--no-open", TRACE], 128 * KIB, growth=1.02), 10)

    def test_of_a_folder_of_recordings_nothing_is_left_out_in_silence(self):
        for folder in ("two_ranks", "cpu_train"):
            for command in (["diagnose", "--all"], ["processes"], ["info"]):
                self.assertGreater(self.sweep([*command, str(ROOT / "tests/data/runs" / folder)], 64 * KIB), 3)

    def test_the_file_that_was_read_is_named(self):
        done = limited(least() + 512 * KIB, "overview", LARGER)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"fathom: out of memory while reading {LARGER}: a request for", done.stderr.decode())

    def test_of_several_inputs_the_others_are_shown(self):
        small = str(TRACES / "hta_event_sync.json.gz")
        limit = least()
        while limited(limit, "info", "--threads", "1", small).returncode != 0:
            limit += 256 * KIB
        # What the first one left behind takes some.
        done = limited(limit + MIB, "info", "--threads", "1", LARGER, small)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), MESSAGE)
        self.assertIn(b"hta_event_sync", done.stdout)


if __name__ == "__main__":
    unittest.main()
