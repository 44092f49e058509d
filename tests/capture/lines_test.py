#!/usr/bin/env python3
"""Lines of real programs, with each interpreter that is here: hits as Python's own means count
them, times of a program that knows them, and programs that a recorder must not disturb."""

from __future__ import annotations

import collections
import functools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any

sys.path.insert(0, os.path.dirname(__file__))
from captured import HOOK, PROGRAMS, PYTHON_LIBRARY, Captures, Run, fathom_json, run_together
from interpreters import interpreters, peers_of

LINES: dict[str, Any] = {"with": ["lines"]}
INTERPRETERS = interpreters()

Row = collections.namedtuple("Row", "file first last function function_line hits total own")


def rows_of(run: Run, pid: int | None = None) -> list[Row]:
    """Statements, the records of each summed up."""
    sums: dict[Any, list[int]] = {}
    for kind, fields in run.records(run.process()["pid"] if pid is None else pid):
        if kind == "line":
            row = sums.setdefault(fields[1:6], [0, 0, 0])
            for at, value in enumerate(fields[6:]):
                row[at] += value
    return [Row(*key, *row) for key, row in sums.items()]


def of_program(run: Run, name: str, pid: int | None = None) -> dict[int, Row]:
    rows = [row for row in rows_of(run, pid) if row.file.endswith(os.sep + name)]
    found = {row.first: row for row in rows}
    assert len(found) == len(rows), "one row for each statement"
    return found


def marked(name: str, pattern: str) -> dict[int, str]:
    """Lines of a program with such a comment, and its first group."""
    found = {}
    for number, line in enumerate((PROGRAMS / name).read_text().splitlines(), 1):
        match = re.search(r"# " + pattern + r"$", line)
        if match:
            found[number] = match[1]
    return found


class Way(unittest.TestCase):
    """One interpreter."""

    python = sys.executable
    version = "%d.%d" % sys.version_info[:2]

    def setUp(self) -> None:
        if not PYTHON_LIBRARY.exists():
            self.skipTest(f"no {PYTHON_LIBRARY.name} beside the program")
        self.captures = Captures(self.python, PYTHON_LIBRARY)
        self.addCleanup(self.captures.close)

    def program(self, text: str) -> str:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        path = pathlib.Path(folder, "made.py")
        path.write_text(textwrap.dedent(text))
        return str(path)

    def record(self, *command: str, options: dict[str, Any] = LINES, **more: str) -> Run:
        run = self.captures.run(*command, options=options, **more)
        by = "sys.monitoring" if self.has_monitoring else "sys.settrace"
        self.assertEqual(run.process()["lines"]["by"], by)
        return run

    def bare(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        words = [str(PROGRAMS / word) if word.endswith(".py") else word for word in command]
        return subprocess.run(
            [self.python, *words],
            capture_output=True,
            text=True,
            timeout=600,
            cwd="/",
            env={**os.environ, **more},
        )

    @property
    def has_monitoring(self) -> bool:
        return tuple(map(int, self.version.split("."))) >= (3, 12)

    @functools.cached_property
    def leaves_libraries_out(self) -> bool:
        """By a frame evaluation function of ours, which 3.11.0 to 3.11.3 do not call for every frame."""
        asked = self.bare("-c", "import sys; print(sys.version_info[2])")
        return self.version == "3.10" or (self.version == "3.11" and int(asked.stdout) >= 4)

    def test_hits_are_the_events_that_python_reports(self) -> None:
        reference = self.bare("line_events.py", "statements.py")
        self.assertEqual(reference.returncode, 0, reference.stderr)
        events = {int(k): v for k, v in json.loads(reference.stdout.splitlines()[-1]).items()}
        run = self.record("statements.py")
        self.assertEqual((run.code, run.out, run.err), (0, "done\n", ""))
        rows = of_program(run, "statements.py")
        long = marked("statements.py", r"runs (\d+)")
        single = {first: row.hits for first, row in rows.items() if row.first == row.last}
        inside = {line for row in rows.values() for line in range(row.first, row.last + 1)}
        expected = {line: events.get(line, 0) for line in single}
        self.assertGreater(len(expected), 70)
        self.assertEqual(single, expected)
        self.assertEqual(
            {line: rows[line].hits for line in long}, {k: int(v) for k, v in long.items()}
        )
        self.assertEqual(set(events) - inside, set())
        # A function that was never called has no rows, a branch that was not taken has.
        self.assertEqual([row for row in rows.values() if row.function == "never"], [])
        self.assertIn(0, [row.hits for row in rows.values() if row.function == "catching"])

    def test_bodies_on_the_line_of_their_header_have_hits_of_their_own(self) -> None:
        run = self.record(
            self.program(
                """\
                import functools
                @functools.lru_cache(None)
                def cached(n): return n
                class C:
                    @property
                    def p(self): return 1
                    @staticmethod
                    def s(): return 1
                def wide(a,
                         b=1): return a
                def tail(a): return max(a,
                                        0)
                @functools.lru_cache(None)
                def holds(n): return sorted(n, key=lambda x: -x)
                def gives(a): yield max(a,
                                        0)
                for i in range(4):
                    cached(i % 3); C().p; C.s(); wide(i); tail(i); holds((1, 2)); list(gives(i))
                """
            )
        )
        self.assertEqual((run.code, run.err), (0, ""))
        found = [
            (row.function.rpartition(".")[2], row.first, row.last, row.hits)
            for row in rows_of(run)
            if row.function not in ("<module>", "C") and "<lambda>" not in row.function
        ]
        expected = [
            ("cached", 3, 3, 3),
            ("p", 6, 6, 4),
            ("s", 8, 8, 4),
            ("wide", 10, 10, 4),
            ("tail", 11, 12, 4),
            ("holds", 14, 14, 1),
            ("gives", 15, 16, 4),
        ]
        self.assertEqual(sorted(found), sorted(expected))
        defined = {(row.first, row.last): row.hits for row in rows_of(run) if row.function == "C"}
        self.assertEqual(set(defined), {(5, 6), (7, 8)})

    def test_times_are_those_that_the_program_measures(self) -> None:
        """Within 2 %. A processor that another program takes away between the two measurements is
        counted in one of them, so the best of some runs counts."""
        words = {word: line for line, word in marked("known_lines.py", r"(\w+)").items()}
        self.assertEqual(len(words), 6)
        best = float("inf")
        for _ in range(6):
            run = self.record("known_lines.py", "0", "60")
            self.assertEqual((run.code, run.err), (0, ""))
            rows = of_program(run, "known_lines.py")
            known = json.loads(run.out)
            errors = [abs(rows[line].total / known[word] - 1) for word, line in words.items()]
            best = min(best, max(errors))
            if best < 0.02:
                break
        self.assertLess(best, 0.02)
        self.assertEqual(rows[words["calls"]].hits, 60)
        self.assertEqual(rows[words["sleeps"]].hits, 60)

    def test_own_times_sum_to_the_time_of_the_outermost(self) -> None:
        # A processor that is taken away inside the recorder is in none of them: the best of some runs counts.
        for _ in range(5):
            rows = of_program(self.record("known_lines.py", "0", "30"), "known_lines.py")
            own = sum(row.own for row in rows.values())
            outermost = sum(row.total for row in rows.values() if row.function == "<module>")
            self.assertLessEqual(own, outermost)
            if own > 0.98 * outermost:
                break
        self.assertGreater(own, 0.98 * outermost)
        # Of a recursion the outermost counts, so the line that recurses is in the one that calls.
        inside = [row.total for row in rows.values() if row.function == "deep"]
        self.assertLess(max(inside), rows[marked_line("known_lines.py", "recurses")].total)

    def test_lines_of_all_threads_are_recorded(self) -> None:
        run = self.record("known_lines.py", "4", "10")
        self.assertEqual((run.code, run.err), (0, ""))
        rows = of_program(run, "known_lines.py")
        calls = rows[marked_line("known_lines.py", "calls")]
        self.assertEqual(calls.hits, 40)
        self.assertGreater(calls.total, json.loads(run.out)["calls"] * 0.9)

    def test_a_window_has_a_timeline(self) -> None:
        """As torch.profiler begins and ends it: where each thread is, without a hole."""
        program = self.program(
            """
            import json, threading, time
            import fathom_recorder.recorder

            now, tid, slept = time.monotonic_ns, threading.get_native_id, {}

            def inner():
                slept["inner", tid()] = -now() + (time.sleep(0.03) or now())  # inner

            def both():
                slept["before", tid()] = -now() + (time.sleep(0.02) or now())  # before
                inner()  # calls
                yield  # rests
                slept["resumed", tid()] = -now() + (time.sleep(0.01) or now())  # resumed

            def work():
                for _ in both():
                    slept["caller", tid()] = -now() + (time.sleep(0.04) or now())  # caller

            recorder = fathom_recorder.recorder.current
            time.sleep(0.05)
            recorder.window_begins()
            begin = time.monotonic_ns()
            thread = threading.Thread(target=work)
            thread.start()
            work()
            thread.join()
            end = time.monotonic_ns()
            recorder.window_ends(True)
            known = [(*key, value) for key, value in slept.items()]
            work()
            recorder.window_begins()
            recorder.window_ends(False)
            recorder.write_windows()
            print(json.dumps([begin, end, known]))
            """
        )
        run = self.record(program)
        self.assertEqual((run.code, run.err), (0, ""))
        begin, end, known = json.loads(run.out)
        pid = run.process()["pid"]
        marks = {
            number: line.rpartition("# ")[2]
            for number, line in enumerate(pathlib.Path(program).read_text().splitlines(), 1)
        }
        runs = [fields for kind, fields in run.records(pid) if kind == "line_run"]
        self.assertEqual(len(known), 8)
        for tid in {tid for _, tid, _ in known}:
            own = [fields for fields in runs if fields[3] == tid]
            self.assertEqual([f[0] for f in own], sorted(f[0] for f in own))
            for one, following in zip(own, own[1:]):
                self.assertLessEqual(one[0] + one[1], following[0] + 1)
        for word, tid, slept in known:
            times = [f[1] for f in runs if f[3] == tid and marks[f[5]] == word]
            self.assertEqual(len(times), 1, word)
            # What it measures itself, and the little around that.
            self.assertGreaterEqual(times[0], slept - 1_000_000)
            self.assertLess(times[0], slept + 200_000_000)
        main = [fields for fields in runs if fields[3] == pid]
        inside = sum(
            min(start + length, end) - max(start, begin)
            for start, length, *_ in main
            if start < end and start + length > begin
        )
        self.assertGreater(inside, 0.99 * (end - begin))
        self.assertLess(max(start + length for start, length, *_ in main), end + 1_000_000_000)

    def test_steps_have_parts_that_sum_to_the_whole(self) -> None:
        program = self.program(
            """
            import os
            import threading
            import warnings
            from fathom_recorder import api

            # Of a fork while the thread that was joined is about to end.
            warnings.simplefilter("ignore")

            def work(count):
                total = 0
                for number in range(count):
                    total += number  # each
                return total

            work(3)
            api.step()  # its beginning was learnt of later
            for count in (10, 20, 30):
                work(count)
                thread = threading.Thread(target=work, args=(1000,))
                thread.start()
                thread.join()
                api.step()
            work(4)
            child = os.fork()
            if child:
                os.waitpid(child, 0)
            else:
                work(7)
            """
        )
        run = self.record(program)
        self.assertEqual((run.code, run.err), (0, ""))
        pid = run.process()["pid"]
        parts = [fields for kind, fields in run.records(pid) if kind == "line_part"]
        sums: dict[Any, list[int]] = {}
        each = next(n for n, line in enumerate(open(program), 1) if "# each" in line)
        hits: dict[int, int] = {}
        for start, duration, _, step, *key, count, total, own in parts:
            row = sums.setdefault(tuple(key), [0, 0, 0])
            for at, value in enumerate((count, total, own)):
                row[at] += value
            if key[1] == each:
                hits[step] = hits.get(step, 0) + count
        whole = {row[:5]: list(row[5:]) for row in rows_of(run) if any(row[5:])}
        self.assertEqual(sums, whole)
        self.assertEqual(hits, {1: 1010, 2: 1020, 3: 1030, -1: 3 + 4})
        steps = {s.value: (s.start, s.duration) for s in run.slices("step")}
        self.assertEqual({f[3]: f[:2] for f in parts if f[3] >= 0}, {n: steps[n] for n in (1, 2, 3)})
        # The child has no steps of its own.
        child = run.process("child")["pid"]
        self.assertNotIn("line_part", [kind for kind, _ in run.records(child)])

    def test_threads_that_began_elsewhere_are_found(self) -> None:
        if self.version == "3.8":
            self.skipTest("not found there")
        run = self.record("raw_threads.py")
        self.assertEqual((run.code, run.out, run.err), (0, "16\n", ""))
        rows = of_program(run, "raw_threads.py")
        hits = [row.hits for row in rows.values() if row.function.endswith("leaf")]
        self.assertEqual(max(hits), 16 if self.has_monitoring else 8)

    def test_libraries_are_not_watched_unless_asked_for(self) -> None:
        files = {row.file for row in rows_of(self.record("statements.py"))}
        self.assertEqual({os.path.basename(file) for file in files}, {"statements.py"})
        run = self.record("statements.py", options={**LINES, "lines_of": ["asyncio.base_events"]})
        self.assertEqual((run.code, run.out, run.err), (0, "done\n", ""))
        asked = {os.path.basename(row.file) for row in rows_of(run)}
        self.assertEqual(asked, {"statements.py", "base_events.py"})
        run_once = [row for row in rows_of(run) if row.function.endswith("_run_once") and row.hits]
        self.assertGreater(len(run_once), 5)

    def test_hits_are_right_where_libraries_call_the_program_back(self) -> None:
        reference = self.bare("line_events.py", "library_turns.py")
        self.assertEqual(reference.returncode, 0, reference.stderr)
        *printed, last = reference.stdout.splitlines()
        events = {int(line): count for line, count in json.loads(last).items()}
        run = self.record("library_turns.py")
        self.assertEqual((run.code, run.out.splitlines(), run.err), (0, printed, ""))
        rows = of_program(run, "library_turns.py")
        single = {first: row.hits for first, row in rows.items() if row.first == row.last}
        self.assertGreater(len(single), 50)
        self.assertEqual(single, {line: events.get(line, 0) for line in single})

    def test_frames_of_libraries_are_not_traced(self) -> None:
        """In a frame that the trace function met, lines are off; nothing is off where it was not called."""
        run = self.record("library_turns.py", "looks")
        self.assertEqual((run.code, run.err), (0, ""))
        met = not self.has_monitoring and not self.leaves_libraries_out
        self.assertEqual(run.out.splitlines()[-1], f"{not met} {not met}")
        why = run.process()["lines"].get("all_code_traced", "")
        self.assertEqual("this version of Python" in why, met, why)
        self.assertEqual(why == "", not met, why)
        # A profile function wants all events, so that all is traced where there is one.
        run = self.record("library_turns.py", "looks", options={"with": ["lines", "functions"]})
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(run.out.splitlines()[-1], f"{self.has_monitoring} {self.has_monitoring}")
        if self.leaves_libraries_out:
            self.assertIn("profile function", run.process()["lines"]["all_code_traced"])

    def test_hits_are_those_of_a_program_that_is_traced_as_a_whole(self) -> None:
        """Generators in several threads, coroutines, exceptions, recursion, finalizers, a fork."""
        run = self.record("library_mixes.py")
        whole = self.record("library_mixes.py", options={"with": ["lines", "functions"]})
        for each in (run, whole):
            self.assertEqual((each.code, each.err), (0, ""))
        self.assertEqual(run.out, whole.out)
        self.assertEqual(run.process()["not_recorded"], [])
        hits, expected = (
            {first: row.hits for first, row in of_program(each, "library_mixes.py").items()}
            for each in (run, whole)
        )
        self.assertGreater(sum(expected.values()), 10_000)
        self.assertEqual(hits, expected)

    def test_hits_are_right_around_profile_functions_of_the_program(self) -> None:
        run = self.record("library_mixes.py", "profiles")
        alone = self.record("library_mixes.py", "calls")
        for each in (run, alone):
            self.assertEqual((each.code, each.err), (0, ""))
            self.assertEqual(each.process()["not_recorded"], [])
        # While it is there, all is traced, and this is reported.
        if self.leaves_libraries_out:
            self.assertIn("profile function", run.process()["lines"].get("all_code_traced", ""))
            self.assertNotIn("all_code_traced", alone.process()["lines"])
        hits, expected = (
            {
                first: row.hits
                for first, row in of_program(each, "library_mixes.py").items()
                if row.function in ("number", "fib")
            }
            for each in (run, alone)
        )
        self.assertEqual(hits, expected)
        self.assertGreater(min(expected.values()), 50)

    def test_a_frame_evaluation_function_of_the_program(self) -> None:
        """Set later than ours: one that calls what was there, one that does not, and the usual one."""
        if not self.leaves_libraries_out:
            self.skipTest("there is none of ours")
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder, "evaluates.so")
            source = str(PROGRAMS / "evaluates_frames.c")
            try:
                subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("no C compiler")
            expected = None
            for how in ("none", "passing", "alone", "usual"):
                run = self.record("evaluates_frames.py", str(library), how)
                self.assertEqual((run.code, run.err), (0, ""))
                found = {
                    first: row.hits for first, row in of_program(run, "evaluates_frames.py").items()
                    if row.function.endswith(("number", "__getitem__"))
                }
                expected = expected or found
                self.assertEqual(found, expected, how)
                why = run.process()["lines"].get("all_code_traced", "")
                self.assertEqual("frame evaluation function" in why, how == "alone", how)
            self.assertEqual(set(expected.values()), {600})

    def test_threads_that_run_at_the_end_do_no_harm(self) -> None:
        run = self.record(
            self.program(
                """\
                import os, threading, time
                library = {}
                text = "def call(f):\\n    while True: f()\\n"
                exec(compile(text, os.path.dirname(os.__file__) + "/made_library.py", "exec"), library)
                def turn():
                    time.sleep(0)
                for _ in range(4):
                    threading.Thread(target=library["call"], args=(turn,), daemon=True).start()
                time.sleep(0.2)
                print("done")
                """
            )
        )
        self.assertEqual((run.code, run.out, run.err), (0, "done\n", ""))

    def test_cuda_without_pytorch_has_the_timeline_of_the_program(self) -> None:
        library = PYTHON_LIBRARY.parent / "libfathom_cuda.so"
        fake = PYTHON_LIBRARY.parent / "libfake_cupti.so"
        if not library.exists() or not fake.exists():
            self.skipTest("no recorder of CUDA here, or no CUPTI for tests")
        program = self.program(
            """\
            import ctypes, os, sys
            def work():
                total = 0
                for at in range(100):
                    total += at
                return total
            work()
            if sys.argv[1] == "uses":  # as the driver does
                ctypes.CDLL(os.environ["FATHOM_FAKE"], mode=ctypes.RTLD_GLOBAL)
                ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
            work()
            """
        )
        more = {"FATHOM_CUPTI": str(fake), "FATHOM_FAKE": str(fake)}
        for word, rounds in (("uses", 2), ("does not", 0)):
            run = self.record(program, word, CUDA_INJECTION64_PATH=str(library), **more)
            self.assertEqual((run.code, run.err), (0, ""))
            self.assertEqual(run.process()["not_recorded"], [])
            runs = [
                fields
                for kind, fields in run.records(run.process()["pid"])
                if kind == "line_run" and fields[4].endswith("made.py")
            ]
            lines = collections.Counter(fields[5] for fields in runs)
            self.assertEqual(lines[5], 100 * rounds, word)
            self.assertEqual(lines[6], rounds, word)
            starts = [fields[0] for fields in runs]
            self.assertEqual(starts, sorted(starts))
        launches = self.program(
            """\
            import ctypes, os, time
            fake = ctypes.CDLL(os.environ["FATHOM_FAKE"], mode=ctypes.RTLD_GLOBAL)
            ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
            while not fake.fake_recording():
                fake.fake_work(1)
                time.sleep(0.001)
            def work():
                fake.fake_work(50)
                return sum(range(1000))
            work()
            work()
            fake.fake_work(1)
            fake.fake_wait_for_deliveries()
            """
        )
        run = self.record(launches, CUDA_INJECTION64_PATH=str(library), **more)
        self.assertEqual((run.code, run.err), (0, ""))
        rows = fathom_json("lines", str(run.folder), "--limit", "0")["rows"]
        shares = {row["location"].rpartition(":")[2]: row for row in rows}
        whole = sum(row["device_ns"] for row in rows)
        self.assertGreater(shares["8"]["device_ns"], whole * 0.9)
        self.assertGreater(shares["8"]["blocked_ns"], 0)
        run = self.record(program, "does not")
        self.assertNotIn("line_run", [kind for kind, _ in run.records(run.process()["pid"])])

    def test_a_deep_recursion_ends_as_without(self) -> None:
        """From 3.11 on it takes no stack, so that it may go as deep as memory lasts."""
        if self.version in ("3.8", "3.9", "3.10"):
            self.skipTest("a recursion takes stack there")
        run = self.record(
            self.program(
                """\
                import sys, threading
                sys.setrecursionlimit(10**6)
                def leaf():
                    return 1
                def deep(n):
                    return leaf() if n == 0 else 1 + deep(n - 1)
                def both():
                    return deep(100) + deep(60000) + deep(100)
                print(both())
                thread = threading.Thread(target=lambda: print(both()))
                thread.start()
                thread.join()
                """
            )
        )
        self.assertEqual((run.code, run.out, run.err), (0, "60203\n" * 2, ""))
        hits = {row.first: row.hits for row in rows_of(run) if row.function in ("leaf", "deep")}
        self.assertEqual(hits, {4: 6, 6: 2 * 60203})
        if self.version == "3.11" and self.leaves_libraries_out:
            self.assertIn("recursion", run.process()["lines"]["all_code_traced"])

    def test_a_function_of_a_library_may_be_asked_for(self) -> None:
        program = self.program(
            """
            import functools
            import json
            import textwrap
            from fathom_recorder import api

            def asked(function):
                @functools.wraps(function)
                def wrapped(*arguments):
                    return function(*arguments)
                return wrapped

            @functools.lru_cache()
            def own():
                return 1

            json.dumps([1])
            textwrap.dedent("x")
            for function in (json.dumps, asked(textwrap.dedent), json.JSONDecoder().decode, own, len, None):
                api.lines(function)
            api.lines(json.dumps)  # once is enough
            for _ in range(3):
                json.dumps([1])
                textwrap.dedent("x")
                json.loads("1")
            class Odd:
                def __getattr__(self, name):
                    raise KeyError(name)
            api.lines(Odd())
            print(own())
            """
        )
        run = self.record(program)
        self.assertEqual((run.code, run.out, run.err), (0, "1\n", ""))
        rows = [row for row in rows_of(run) if row.file != program and row.hits]
        found = {row.function.rpartition(".")[2]: row.file for row in rows}
        names = {name: os.path.basename(file) for name, file in found.items()}
        self.assertEqual(names, {"dumps": "__init__.py", "dedent": "textwrap.py", "decode": "decoder.py"})
        for name in names:
            first = min(row.first for row in rows if row.function.rpartition(".")[2] == name)
            hits = [row.hits for row in rows if row.first == first]
            self.assertEqual(hits, [3], name)

    def test_asking_costs_nothing_where_no_lines_are_recorded(self) -> None:
        program = self.program(
            """
            import json
            from fathom_recorder import api
            before = json.dumps.__code__
            api.lines(json.dumps)
            print(json.dumps.__code__ is before)
            """
        )
        run = self.captures.run(program, options={})
        self.assertEqual((run.code, run.out, run.err), (0, "True\n", ""))
        self.assertEqual([k for k, _ in run.records(run.process()["pid"]) if k == "line"], [])

    def test_sources_are_kept(self) -> None:
        for how in ("on", "off", "redacted"):
            run = self.record("statements.py", options={**LINES, "sources": how})
            kept = pathlib.Path(f"{run.folder}/sources{PROGRAMS / 'statements.py'}")
            text = (PROGRAMS / "statements.py").read_text()
            self.assertEqual(kept.exists(), how != "off")
            if how == "on":
                self.assertEqual(kept.read_text(), text)
            elif how == "redacted":
                hidden = kept.read_text()
                self.assertEqual(hidden.count("\n"), text.count("\n"))
                self.assertIn("leaf(…)", hidden)
                for secret in ("never", "# runs", "lines\n"):
                    self.assertNotIn(secret, hidden.replace("def never", ""))

    def test_odd_programs_run_as_without(self) -> None:
        expected = self.bare("odd_calls.py")
        self.assertEqual(expected.returncode, 0, expected.stderr)
        run = self.record("odd_calls.py")
        self.assertEqual((run.code, run.out, run.err), (0, expected.stdout, expected.stderr))
        rows = of_program(run, "odd_calls.py")
        down = [row.hits for row in rows.values() if row.function.endswith("down")]
        self.assertEqual(down, [3 * 901])
        leaf = max(row.hits for row in rows.values() if row.function == "leaf")
        leaves = 10 + 300 + 3 + 6 + 200 + 20 + 1
        if self.has_monitoring:
            self.assertEqual(leaf, leaves + 35)
        else:  # raw threads are found late, or never
            self.assertTrue(leaves <= leaf <= leaves + 35, leaf)
        # The child of the fork counts from nothing.
        child = of_program(run, "odd_calls.py", run.process("child")["pid"])
        self.assertEqual(max(row.hits for row in child.values() if row.function == "leaf"), 11)

    def test_other_ways_to_end_are_recorded(self) -> None:
        for how, code in (("os._exit", 3), ("exec", 0)):
            run = self.record("odd_calls.py", how)
            self.assertEqual(run.code, code, run.err)
            rows = of_program(run, "odd_calls.py")
            self.assertGreater(max(r.hits for r in rows.values() if r.function == "leaf"), 500)

    def test_functions_and_lines_may_be_recorded_together(self) -> None:
        run = self.record("statements.py", options={"with": ["functions", "lines"]})
        self.assertEqual((run.code, run.out, run.err), (0, "done\n", ""))
        self.assertEqual(run.process()["functions"]["by"], "native")
        rows = of_program(run, "statements.py")
        calls = {
            fields[3]: fields[4]
            for kind, fields in run.records(run.process()["pid"])
            if kind == "function" and fields[1].endswith("statements.py")
        }
        hits = max(row.hits for row in rows.values() if row.function == "factorial")
        self.assertEqual((calls["factorial"], hits), (25, 25))

    def test_a_program_that_traces_itself_keeps_its_tracer(self) -> None:
        means = ["trace_function", "trace_function_and_back", "profile_function"]
        means.append("trace_function_of_threads")
        if self.has_monitoring:
            means += ["monitoring", "restarting_events", "taking_our_number"]
        for mean in means:
            with self.subTest(mean):
                run = self.record("traces_itself.py", mean)
                self.assertEqual((run.code, run.out, run.err), (0, "20\n", ""))
                rows = of_program(run, "traces_itself.py")
                hits = max(
                    (row.hits for row in rows.values() if row.function == "traced"), default=0
                )
                note = run.not_recorded()
                if mean == "taking_our_number":
                    self.assertIn("took our number of sys.monitoring", note)
                elif self.has_monitoring or mean == "profile_function":
                    self.assertEqual(hits, 20)
                elif mean == "trace_function_and_back":
                    self.assertEqual(hits, 10)
                elif mean == "trace_function_of_threads":
                    self.assertEqual(hits, 15)
                    self.assertIn("lines of new threads", note)
                else:
                    # This thread's place was taken and not given back; the other has its own.
                    self.assertEqual(hits, 5)
                    self.assertIn("a trace function of its own", note)

    def test_greenlets_are_noted(self) -> None:
        """A module of that name stands for the real one, which no test needs."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "greenlet.py").write_text("")
            program = pathlib.Path(folder, "loads.py")
            program.write_text("import greenlet\n")
            run = self.record(str(program))
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertIn("the program loaded greenlet", run.not_recorded())
        self.assertEqual(self.record("statements.py").process()["not_recorded"], [])

    def test_what_memory_does_not_suffice_for_is_noted(self) -> None:
        run = self.record("odd_calls.py", options={**LINES, "max_memory_bytes": 20_000})
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("memory did not suffice for", run.not_recorded())

    def test_functions_that_memory_does_not_suffice_for_are_noted(self) -> None:
        functions = "".join(f"def f{at}():\n    return 1\n\nf{at}()\n" for at in range(400))
        path = self.program(functions)
        run = self.record(path, options={**LINES, "max_memory_bytes": 40_000})
        self.assertEqual((run.code, run.out, run.err), (0, "", ""))
        rows = [row for row in of_program(run, "made.py").values() if row.function != "<module>"]
        found = re.search(r"did not suffice for all lines of (\d+) functions", run.not_recorded())
        assert found, run.not_recorded()
        self.assertGreater(int(found[1]), 0)
        # They have no rows that say that they never ran.
        self.assertLessEqual(len(rows) + int(found[1]), run.process()["lines"]["code_objects"])

    def test_a_thread_may_begin_functions_while_the_program_ends(self) -> None:
        run = self.record(
            self.program(
                """
                import threading
                def work():
                    while True:
                        exec(compile("def f():\\n    pass\\n\\nf()", "/more.py", "exec"), {})
                threading.Thread(target=work, daemon=True).start()
                threading.Event().wait(0.2)
                """
            )
        )
        self.assertEqual((run.code, run.err, run.not_recorded()), (0, "", "[]"))
        self.assertIn("/more.py", {row.file for row in rows_of(run)})

    def test_exceptions_of_signal_handlers_reach_the_program(self) -> None:
        """The recorder is interrupted where it resolves the name of a file."""
        run = self.record(
            self.program(
                """
                import os, signal
                class Stop(Exception):
                    pass
                def handle(number, frame):
                    raise Stop
                def interrupted(path):
                    os.kill(os.getpid(), signal.SIGUSR1)
                    return resolve(path)
                signal.signal(signal.SIGUSR1, handle)
                resolve = os.path.abspath
                for again in range(2):
                    os.path.abspath = resolve if again else interrupted
                    try:
                        exec(compile("print(1)", "/other.py", "exec"))
                    except Stop:
                        print("stopped")
                os.path.abspath = broken = lambda path: 1 / 0
                exec(compile("print(2)", "/broken.py", "exec"))
                os.path.abspath = resolve
                """
            )
        )
        self.assertEqual((run.code, run.out, run.err), (0, "stopped\n1\n2\n", ""))
        hits = [(row.file, row.hits) for row in rows_of(run) if not row.file.endswith("made.py")]
        self.assertEqual(hits, [("/other.py", 1)])
        self.assertIn("lines of /broken.py", run.not_recorded())

    def test_other_interpreters_of_the_process_are_left_alone(self) -> None:
        run = self.record(
            self.program(
                """
                try:
                    import _interpreters as interpreters
                except ImportError:
                    import _xxsubinterpreters as interpreters
                def f():
                    pass
                f()
                made = interpreters.create()
                interpreters.run_string(made, "def f():\\n    pass\\n\\nf()")
                interpreters.destroy(made)
                f()
                """
            )
        )
        self.assertEqual((run.code, run.err, run.not_recorded()), (0, "", "[]"))
        hits = [row.hits for row in of_program(run, "made.py").values() if row.function == "f"]
        self.assertEqual(hits, [2])

    def test_a_tracer_that_is_taken_away_again_is_noted(self) -> None:
        """Before 3.12 it took our place, which we find empty in the end, or take again."""
        run = self.record(
            self.program(
                """
                import sys, time
                sys.settrace(lambda *_: None)
                sys.settrace(None)
                for _ in range(20):
                    time.sleep(0.1)
                """
            )
        )
        self.assertEqual((run.code, run.err), (0, ""))
        noted = "a trace function of its own" in run.not_recorded()
        self.assertEqual(noted, not self.has_monitoring)

    def test_a_file_has_one_name_where_the_program_changes_its_folder(self) -> None:
        path = self.program(
            """
            import os
            os.chdir(os.path.dirname(__file__))
            exec(compile("def f():\\n    pass\\n\\ndef g():\\n    pass\\n", "part.py", "exec"))
            f()
            os.chdir("/")
            g()
            """
        )
        files = {row.file for row in rows_of(self.record(path))}
        self.assertEqual(files, {path, os.path.join(os.path.dirname(path), "part.py")})

    def test_warnings_of_the_program_come_once(self) -> None:
        path = self.program(r'print("\d")')
        for how in ("on", "redacted"):
            run = self.record(path, options={**LINES, "sources": how})
            self.assertEqual((run.code, run.out, run.err), (0, "\\d\n", self.bare(path).stderr))

    def test_hits_are_those_of_line_profiler(self) -> None:
        peers = peers_of(self.version)
        if peers is None:
            self.skipTest(f"no line_profiler for Python {self.version}: tools/setup peers")
        theirs = self.bare("line_profiled.py", "statements.py", PYTHONPATH=peers)
        self.assertEqual(theirs.returncode, 0, theirs.stderr)
        expected = {int(k): v for k, v in json.loads(theirs.stdout.splitlines()[-1]).items()}
        rows = of_program(self.record("statements.py"), "statements.py")
        single = {line: row.hits for line, row in rows.items() if row.first == row.last}
        both = {line: (single[line], hits) for line, hits in expected.items() if line in single}
        self.assertGreater(len(both), 50)
        self.assertEqual([pair for pair in both.items() if pair[1][0] != pair[1][1]], [])


def marked_line(name: str, word: str) -> int:
    return next(line for line, found in marked(name, r"(\w+)").items() if found == word)


def ways() -> list[type[unittest.TestCase]]:
    found = []
    for version, python in INTERPRETERS.items():
        members = {"python": python, "version": version}
        found.append(type("Native" + version.replace(".", "_"), (Way,), members))
    return found


class Queue(unittest.TestCase):
    """What there is no room for."""

    def setUp(self) -> None:
        sys.path.insert(0, str(HOOK))
        self.addCleanup(sys.path.remove, str(HOOK))

    def test_of_a_batch_each_run_is_counted(self) -> None:
        from fathom_recorder import wire

        with tempfile.TemporaryDirectory() as folder:
            writer = wire.Writer(f"{folder}/made.fathom", 0, 1 << 20)
            for at in range(wire.QUEUE_LENGTH + 1):
                writer.end(at)
            writer.line_runs([(at, 1, 11, ("a.py", 4, "f")) for at in range(3)])
            self.assertEqual(writer._dropped, {"line_runs": 3})
            writer.close()


    def test_what_a_thread_is_asking_about_at_the_end_is_no_lack_of_memory(self) -> None:
        from unittest import mock

        from fathom_recorder import failures, lines

        module = mock.Mock()
        module.watches.return_value = 0
        module.line_losses.return_value = (0, 0)
        module.take_lines.return_value = []
        made = lines.Lines(module, "/session", (), "off")
        codes = [compile("a = 1", "/more.py", "exec"), compile("b = 1", "/more.py", "exec")]
        for code in codes:
            made._decide(code)
        self.assertEqual((len(made._codes), made._deciding), (2, {}))
        self.addCleanup(failures.clear)
        made._deciding = {id(code): code for code in codes}
        made.save(mock.Mock())
        self.assertEqual(failures.notes(), [])
        made._deciding.popitem()
        made.save(mock.Mock())
        (note,) = failures.notes()
        self.assertIn("1 functions", note["why"])


class PartsOfSteps(unittest.TestCase):
    """What there is no room for is counted, and the rest is written."""

    def setUp(self) -> None:
        sys.path.insert(0, str(HOOK))
        self.addCleanup(sys.path.remove, str(HOOK))

    def test_parts_beyond_the_limits_are_counted(self) -> None:
        from unittest import mock

        from fathom_recorder import failures, parts

        class Kept:
            def __init__(self) -> None:
                self.rows: list[Any] = []
                self.dropped: list[Any] = []

            def put(self, rows: Any) -> None:
                self.rows.append(rows)

            def drop(self, what: str, count: int) -> None:
                self.dropped.append((what, count))

            def flush(self) -> None:
                pass

        row = struct.Struct("<QQ")
        packed = b"".join(row.pack(1, at) for at in range(4))
        kept: Any = Kept()
        made = parts.Parts(
            "lines", "<QQ", lambda: (packed, 1), lambda key, at: None if at == 3 else (key, at)
        )
        self.assertFalse(made.any)
        with mock.patch.object(parts, "MOST_ROWS", 5), mock.patch.object(parts, "MOST_BYTES", 200):
            made.step_begins()
            made.step_ends(7, 100, 130)
            made.step_ends(8, 130, 160)
            made.step_ends(9, 160, 190)
            made.step_ends(10, 190, 200)  # 192 bytes wait
            made.write(kept, kept.put)
            made.write(kept, kept.put)
        found = [(part[2], [at for _, at in rows]) for part, rows in kept.rows]
        self.assertEqual(found, [(-1, [0, 1, 2]), (7, [0, 1])])
        self.assertEqual(kept.rows[1][0], (100, 30, 7))
        # One each time that the library had no memory for, four that waited, the last ones of the file.
        self.assertEqual(kept.dropped, [("parts of lines", 5 + 2 * 4 + 1 + 3)])
        self.assertTrue(made.any)
        self.assertIn("lines by step", [each["what"] for each in failures.notes()])
        failures.withdraw("lines by step")
        made.clear()
        self.assertFalse(made.any)


class Statements(unittest.TestCase):
    """Which lines are one statement, and what is kept of them."""

    def setUp(self) -> None:
        sys.path.insert(0, str(HOOK))
        self.addCleanup(sys.path.remove, str(HOOK))

    def stretches(self, source: str) -> list[tuple[int, int]]:
        from fathom_recorder.statements import statements_of

        return sorted(set(statements_of(source)[0].values()))

    def test_headers_stand_alone_and_shared_lines_are_one(self) -> None:
        self.assertEqual(self.stretches("a\nb(\n1)\n"), [(1, 1), (2, 3)])
        self.assertEqual(
            self.stretches("if (a and\n    b):\n  c\nelse:\n  d\n"), [(1, 2), (3, 3), (5, 5)]
        )
        self.assertEqual(self.stretches("if a: b(\n 1)\n"), [(1, 2)])
        self.assertEqual(self.stretches("a; b\n"), [(1, 1)])
        self.assertEqual(self.stretches("@a\n@b(\n1)\ndef f(x,\n  y):\n  z\n"), [(1, 5), (6, 6)])
        self.assertEqual(
            self.stretches("try:\n  a\nexcept (A,\n   B):\n  c\nfinally:\n  d\n"),
            [(1, 1), (2, 2), (3, 4), (5, 5), (7, 7)],
        )
        self.assertEqual(self.stretches("with a as b, \\\n   c:\n  d\n"), [(1, 2), (3, 3)])

    def test_a_body_on_its_header_s_line_is_the_function_s_own_statement(self) -> None:
        from fathom_recorder.statements import CodeLines, statements_of

        source = "@a\ndef f(x): return [\n  y for y in x]\nclass C:\n  @a\n  def g(): return 1\n"
        statements = statements_of(source)
        self.assertEqual(
            self.stretches(source), [(1, 3), (4, 4), (5, 6)], "who defines it runs the header"
        )
        module = compile(source, "x.py", "exec")
        self.assertEqual(
            CodeLines(module, "x.py", *statements).stretches, [(1, 3), (4, 4)]
        )
        found = {}
        waiting = [module]
        while waiting:
            code = waiting.pop()
            waiting += [each for each in code.co_consts if hasattr(each, "co_code")]
            found[code.co_name] = CodeLines(code, "x.py", *statements).stretches
        self.assertEqual(found["f"], [(2, 3)])
        self.assertEqual(found.get("<listcomp>", [(2, 3)]), [(2, 3)], "what the body holds")
        self.assertEqual(found["g"], [(6, 6)])
        self.assertIn((5, 6), found["C"])

    def test_texts_that_are_no_python_have_none(self) -> None:
        with self.assertRaises(SyntaxError):
            self.stretches("{{ template }} x")

    def test_nothing_is_shown_of_texts_that_are_no_python(self) -> None:
        from fathom_recorder.sources import redacted

        self.assertEqual(redacted("a secret of mine\nit's\n"), "\n\n")
        self.assertEqual(redacted("a = 'secret'\n"), "a = …\n")

    def test_secrets_in_kept_sources_are_hidden(self) -> None:
        from fathom_recorder.source_secrets import without_secrets

        for text, expected in (
            ('API_KEY = "a b"\n', 'API_KEY = "[redacted]"\n'),
            ("os.environ['HF_TOKEN'] = 'abc'", "os.environ['HF_TOKEN'] = '[redacted]'"),
            ('{"password": "a\\"b", "lr": 1}', '{"password": "[redacted]", "lr": 1}'),
            ('login(token="abc", x="y")', 'login(token="[redacted]", x="y")'),
            ('db = "postgres://me:pw@host/x"', 'db = "postgres://[redacted]@host/x"'),
            ('f("sk-abcdefghijklmnop0123")', 'f("[redacted]")'),
            ("# ghp_abcdefghijklmnopqrstuvwxyz", "# [redacted]"),
            (
                "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----\n[redacted]\n-----END PRIVATE KEY-----",
            ),
            (
                'key = "-----BEGIN RSA PRIVATE KEY-----\\nabc/+=\\n-----END RSA PRIVATE KEY-----"\nx = 1',
                'key = "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----"\nx = 1',
            ),
            (
                "-----BEGIN PRIVATE KEY-----\n" + 2 * ("Ab1/" * 16 + "\n"),
                "-----BEGIN PRIVATE KEY-----\n[redacted]\n[redacted]\n",
            ),
            ('api_key: str = "abc"', 'api_key: str = "[redacted]"'),
            ('token: Optional[str] = "abc"', 'token: Optional[str] = "[redacted]"'),
            ('password = """abc"""', 'password = """[redacted]"""'),
            ('secret = rb"abc"', 'secret = rb"[redacted]"'),
            ('f(api_key=f"key-{n}-8", n=3)', 'f(api_key=f"[redacted]", n=3)'),
            ('SECRET = """a\n\nb"""\n', 'SECRET = """[redacted]\n\n[redacted]"""\n'),
            ('password = "ab\\\ncd"\n', 'password = "[redacted]\n[redacted]"\n'),
            ('{"Authorization": "Bearer a1.b-c_d~e/f=="}', '{"Authorization": "Bearer [redacted]"}'),
            ('c = "Host=x;Password=a-b;"', 'c = "Host=x;Password=[redacted];"'),
        ):
            self.assertEqual(without_secrets(text), expected)
        for text in (
            'pad_token = "<pad>"; tokenizer = "bert"; max_tokens = 5',
            'add_argument("--token", "-t", help="of the hub")',
            'if token == "x": pass',
            'f"https://{user}:{password}@host"',
            "import hf_trainer_benchmark_of_models",
            'if "-----BEGIN PRIVATE KEY-----" in text:\n    return load(text)\n',
            'a = "-----BEGIN PRIVATE KEY-----"\nb = "-----END PRIVATE KEY-----"\n',
            'if token: mode = "x"',
            'password = ""',
            'secret = """"""',
            'f"Bearer {token}"',
            "f(password=given); g()",
            'def hash(password: str, method: str = "scrypt"): pass',
            'class Token:\n    \"\"\"One of them.\"\"\"\n',
        ):
            self.assertEqual(without_secrets(text), text)


if __name__ == "__main__":
    sys.exit(0 if run_together(Queue, Statements, *ways()) else 1)
