"""fathom export --to prof: what pstats, of Python itself, reads of it."""

import cProfile
import json
import pathlib
import profile
import pstats
import unittest

from run_test import FATHOM, PYTHON, Sandbox

PROGRAM = '''from fathom_recorder import api


def fall(depth):
    return fall(depth - 1) if depth else 0


def work(count):
    fall(2)
    return sum([len(str(number)) for number in range(count)])


api.step()
for count in (10, 20, 30):
    work(count)
    api.step()
work(5)
'''


def fall(depth):
    return fall(depth - 1) if depth else 0


def odd(name):
    """A function of that name."""
    space = {}
    exec(compile("def given():\n    return len('')\n", "odd é.py", "exec"), space)
    made = space["given"]
    made.__code__ = made.__code__.replace(co_name=name)
    return made


def work():
    fall(3)
    [odd(name)() for name in ("一", "a;b", "x" * 300)]
    return sorted(str(number) for number in range(100))


def stats_of(path):
    """As pstats has them, times in whole nanoseconds."""

    def whole(row):
        return row if isinstance(row, int) else (*row[:2], *(max(0, round(time * 1e9)) for time in row[2:4]))

    stats = pstats.Stats(str(path)).stats
    return {key: (*whole(row[:4]), {caller: whole(calls) for caller, calls in row[4].items()})
            for key, row in stats.items()}


class Exports(Sandbox):
    def export(self, source, to, *options):
        done = self.fathom("export", "--to", "prof", "-o", to, *options, source)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.folder / to

    def rows(self, source, *options):
        done = self.fathom("functions", source, *options, "--columns", "all", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]


class Read(Exports):
    def test_what_python_s_profilers_wrote_comes_back(self):
        for kind in (cProfile, profile):
            with self.subTest(kind=kind.__name__):
                profiler = kind.Profile()
                profiler.runcall(work)
                before = self.folder / f"{kind.__name__}.prof"
                profiler.dump_stats(str(before))
                after = self.export(before.name, f"{kind.__name__}-after.prof")
                self.assertEqual(stats_of(after), stats_of(before))
                # Written again it is the same file: nothing is lost on the way.
                again = self.export(after.name, f"{kind.__name__}-again.prof")
                self.assertEqual(again.read_bytes(), after.read_bytes())

    def test_a_name_says_the_format(self):
        cProfile.Profile().runcall(work)
        profiler = cProfile.Profile()
        profiler.runcall(work)
        profiler.dump_stats(str(self.folder / "a.prof"))
        done = self.fathom("export", "-o", "b.pstats", "a.prof")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(stats_of(self.folder / "b.pstats"), stats_of(self.folder / "a.prof"))

    def test_devices_and_parts_that_are_not_there_are_refused(self):
        profiler = cProfile.Profile()
        profiler.runcall(work)
        profiler.dump_stats(str(self.folder / "a.prof"))
        (self.folder / "kept.prof").write_text("kept")
        for options in (("--window", "0s:1s"), ("--steps", "1"), ("--device", "0")):
            done = self.fathom("export", "-o", "kept.prof", *options, "a.prof")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(options[0], done.stderr)
            self.assertEqual((self.folder / "kept.prof").read_text(), "kept")


class Recorded(Exports):
    def setUp(self):
        super().setUp()
        if not pathlib.Path(FATHOM).with_name("libfathom_python.so").exists():
            self.skipTest("a build without libfathom_python.so")
        (self.folder / "work.py").write_text(PROGRAM)
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", "functions=c", "--", PYTHON, "work.py")
        self.assertEqual(done.returncode, 0, done.stderr)

    def by_key(self, rows):
        """By what pstats knows a function by."""
        made = {}
        for row in rows:
            file, _, line = (row["location"] or "~:0").rpartition(":")
            made[file, int(line), row["function"]] = row
        return made

    def test_calls_times_and_callers_are_those_of_the_report(self):
        stats = pstats.Stats(str(self.export("session", "all.prof"))).stats
        rows = self.by_key(self.rows("session"))
        self.assertEqual(set(stats), set(rows))
        for key, (primitive, calls, own, total, _) in stats.items():
            row = rows[key]
            self.assertEqual((primitive, calls), (row["primitive_calls"], row["calls"]), key)
            self.assertEqual((round(own * 1e9), round(total * 1e9)), (row["self_ns"], row["total_ns"]), key)
        called = {}
        for row in self.rows("session", "--group-by", "caller"):
            if row["caller"] is not None:
                called[row["function"], row["caller"]] = row["calls"], row["self_ns"]
        found = {(key[2], caller[2]): (calls[0], round(calls[2] * 1e9))
                 for key, row in stats.items() for caller, calls in row[4].items()}
        self.assertEqual(found, called)
        fall = next(row for key, row in stats.items() if key[2] == "fall")
        self.assertEqual(fall[:2], (4, 12))

    def test_it_is_what_the_recorder_itself_wrote(self):
        (recorded,) = (self.folder / "session").glob("functions-*.prof")
        ours, theirs = stats_of(self.export("session", "all.prof")), stats_of(recorded)
        # There functions are without their classes, so that several of Python's own may be one.
        short = {(file, line, name.rpartition(".")[2]): row[:4]
                 for (file, line, name), row in ours.items() if file.endswith("work.py")}
        self.assertIn("work", {name for _, _, name in short})
        self.assertEqual(short, {key: row[:4] for key, row in theirs.items() if key[0].endswith("work.py")})

    def test_steps_have_their_own_calls_without_callers(self):
        for step in (1, 2, 3):
            stats = pstats.Stats(str(self.export("session", "step.prof", "--steps", str(step)))).stats
            rows = self.by_key(self.rows("session", "--steps", str(step)))
            self.assertEqual({key: (row[1], round(row[2] * 1e9)) for key, row in stats.items()},
                             {key: (row["calls"], row["self_ns"]) for key, row in rows.items()})
            self.assertEqual({name: row[1] for (_, _, name), row in stats.items()}["work"], 1)
            self.assertFalse(any(row[4] for row in stats.values()))


if __name__ == "__main__":
    unittest.main()
