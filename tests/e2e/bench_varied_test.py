"""fathom bench over several values: sweeps with their knee and plot, crossovers, the largest value that runs."""
import csv
import io
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import bench_test
import program

SWEEP = json.loads((program.ROOT / "docs/bench_sweep.schema.json").read_text())
BISECT = json.loads((program.ROOT / "docs/bench_bisect.schema.json").read_text())
# A loop of so many rounds in a shell: an integer each.
LOOP = "i=0; while [ $i -lt {n} ]; do i=$((i+1)); done"
# Takes that many MiB for itself.
TAKES = "x = bytearray({mib} << 20); print(len(x))"


def bench(*arguments, **settings):
    return bench_test.bench(*arguments, **settings)


def result(schema, *arguments) -> dict:
    done = bench("--json", "--quiet", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    found = json.loads(done.stdout)
    bench_test.check(found, schema)
    return found


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())

    def test_the_knee_is_the_smallest_value_that_is_as_good_as_the_best(self):
        # Memory varies little on a busy machine. From 2 on the value does not matter.
        text = "x = bytearray((400 if {v} < 2 else 200) << 20)"
        found = result(SWEEP, "--sweep", "v=4,1,2,8", "--runs", "7", "--warmup", "0", "--resolution", "20%", "--metric",
                       "peak-memory", "--", sys.executable, "-c", text)
        self.assertEqual([each["value"] for each in found["values"]], ["4", "1", "2", "8"])
        self.assertEqual(found["knee"], "2")
        standing = {each["value"]: each["standing"] for each in found["values"]}
        self.assertEqual(standing["1"], "worse")
        self.assertEqual(sorted(standing.values())[0], "best")
        self.assertTrue(all(each["new"]["count"] == 7 for each in found["values"]))

    def test_the_best_itself_is_not_said_to_be_as_good_as_the_best(self):
        text = "x = bytearray((10 * {v}) << 20)"
        shown = " ".join(bench("--quiet", "--sweep", "v=2,40", "--runs", "6", "--warmup", "0", "--metric", "peak-memory", "--",
                               sys.executable, "-c", text).stdout.split())
        self.assertIn("Knee v 2: the best by its median, and no smaller value is certainly as good within 1 %", shown)

    def test_each_round_has_all_values_in_random_order_which_the_seed_repeats(self):
        def order(seed):
            values = result(SWEEP, "--sweep", "v=a,b,c", "--runs", "12", "--warmup", "0", "--seed", seed, "--metric",
                            "wall", "--", "true")["values"]
            runs = sorted((run["begin_ns"], run["pair"], each["value"]) for each in values for run in each["runs"])
            return [(pair, value) for _, pair, value in runs]

        first = order("7")
        self.assertEqual(first, order("7"))
        self.assertNotEqual(first, order("8"))
        for pair in range(12):
            self.assertEqual(sorted(value for each, value in first[3 * pair:3 * pair + 3]), ["a", "b", "c"])
            self.assertEqual({each for each, value in first[3 * pair:3 * pair + 3]}, {pair})
        self.assertGreater(len({tuple(value for _, value in first[3 * i:3 * i + 3]) for i in range(12)}), 1)

    def test_a_value_without_a_place_is_a_variable(self):
        path = self.folder / "seen"
        result(SWEEP, "--sweep", "SIZE=3,5", "--runs", "1", "--", "sh", "-c", f"echo $SIZE >> {path}")
        self.assertEqual(sorted(set(path.read_text().split())), ["3", "5"])
        done = bench("--sweep", "batch-size=3,5", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no word of the command says {batch-size}", done.stderr)

    def test_what_prepares_has_the_value(self):
        path = self.folder / "seen"
        result(SWEEP, "--sweep", "v=3,5", "--runs", "1", "--warmup", "0", "--prepare", f"echo {{v}} $v >> {path}", "--", "true", "{v}")
        self.assertEqual(sorted(path.read_text().splitlines()), ["3 3", "5 5"])

    def test_workers_go_up_to_the_cores(self):
        found = result(SWEEP, "--sweep", "num_workers=auto", "--runs", "1", "--", "echo", "{num_workers}")
        values = [each["value"] for each in found["values"]]
        self.assertEqual(values[:2], ["0", "1"])
        self.assertIsNone(found["knee"], "one round decides nothing")

    def test_workers_go_up_to_the_cores_that_the_process_may_use(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})
        found = result(SWEEP, "--sweep", "num_workers=auto", "--runs", "1", "--", "echo", "{num_workers}")
        self.assertEqual([each["value"] for each in found["values"]], ["0", "1"])

    def test_out_of_memory_is_a_row(self):
        command = [sys.executable, "-c", TAKES.replace("{mib}", "int('{mib}')")]
        found = result(SWEEP, "--sweep", "mib=1,8,4000", "--memory-limit", "1GiB", "--runs", "2", "--", *command)
        rows = {each["value"]: each for each in found["values"]}
        self.assertEqual(rows["4000"]["state"], "out_of_memory")
        self.assertIn("MemoryError", rows["4000"]["why"])
        self.assertIsNone(rows["4000"]["new"])
        self.assertEqual(rows["8"]["new"]["count"], 2)
        done = bench("--quiet", "--sweep", "mib=1,4000", "--memory-limit", "1GiB", "--runs", "1", "--", *command)
        self.assertEqual(done.returncode, 0)
        self.assertIn("out of memory", done.stdout)

    def test_out_of_memory_is_a_row_whatever_else_is_said_and_shown(self):
        text = "[ {v} -lt 4 ] || { echo MemoryError >&2; head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1; }"
        for options in ([], ["--show-output"]):
            found = result(SWEEP, *options, "--sweep", "v=1,4", "--runs", "1", "--metric", "wall", "--", "sh", "-c", text)
            self.assertEqual([each["state"] for each in found["values"]], ["measured", "out_of_memory"])

    def test_what_is_kept_stays_in_its_folder(self):
        kept = self.folder / "a/b/c/d/kept"
        kept.parent.mkdir(parents=True)
        steps = self.folder / "steps.py"
        steps.write_text("from fathom_recorder.api import step\nfor _ in range(9): step()\n")
        result(SWEEP, "--sweep", "v=../../../../out,2", "--runs", "1", "--warmup", "0", "--keep", str(kept), "--metric",
               "step", "--", sys.executable, str(steps), "{v}")
        self.assertEqual(list(self.folder.rglob("out")), [])
        self.assertEqual(len([path.name for path in (kept / "new").iterdir() if path.name.startswith("v=.._.._.._.._out-")]), 1)

    def test_the_schema_has_every_metric(self):
        listed = SWEEP["properties"]["metric"]["anyOf"][0]["enum"]
        names = bench("--metric", "none", "--", "true").stderr.split("there are: auto, ")[1].replace("-", "_").split(", ")
        self.assertEqual(sorted(listed), sorted(name.split()[0] for name in names))

    def test_what_takes_too_long_is_a_row(self):
        found = result(SWEEP, "--sweep", "s=0,300", "--timeout", "0.5", "--runs", "2", "--metric", "wall", "--",
                       "sleep", "{s}")
        self.assertEqual([each["state"] for each in found["values"]], ["measured", "timed_out"])

    def test_another_failure_ends_the_sweep(self):
        done = bench("--sweep", "code=0,3", "--runs", "2", "--", "sh", "-c", "echo why >&2; exit {code}")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("at code=3 (sh -c", done.stderr)
        self.assertIn("ended with exit code 3", done.stderr)

    def test_with_a_base_each_value_has_a_verdict(self):
        found = result(SWEEP, "--sweep", "n=100,20000", "--runs", "8", "--metric", "wall", "--base",
                       "sh -c '" + LOOP + "'", "--", "sh", "-c", LOOP + "; " + LOOP.replace("{n}", "{n}0"))
        verdicts = {each["value"]: each["verdict"] for each in found["values"]}
        self.assertEqual(verdicts["20000"], "slower")
        self.assertIsNone(found["knee"])

    def test_what_the_programs_say_of_themselves_is_told(self):
        python = [sys.executable, "-c", "print({v})"]
        options = ("--sweep", "v=1,2", "--runs", "1", "--warmup", "1")
        found = result(SWEEP, *options, "--base", " ".join([sys.executable, "-c", "'print({v})'"]), "--", *python)
        said = {"Python": platform.python_version()}
        self.assertEqual(found["programs"], {"base": said, "new": said})
        self.assertEqual(result(SWEEP, *options, "--", "true", "{v}")["programs"], {"base": None, "new": {}})
        for form in ((), ("--markdown",)):
            done = bench(*options, "--quiet", *form, "--", *python)
            self.assertIn(f"Python {platform.python_version()}", " ".join(done.stdout.split()))

    def test_the_rounds_that_the_resolution_takes_are_told_after_the_pilot(self):
        done = bench("--json", "--sweep", "v=1,2", "--resolution", "0.001%", "--time", "4s", "--metric", "wall", "--",
                     "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        bench_test.check(found, SWEEP)
        rounds = found["values"][0]["new"]["count"]
        if found["announced"] is None:
            self.assertLessEqual(rounds, 20)  # on a very slow machine
        else:
            self.assertRegex(done.stderr, r"fathom: ±0.001 % takes up to about [\d,]+ rounds, ")
            self.assertEqual(found["announced"]["after_pairs"], 20)
            self.assertGreater(found["announced"]["pairs"], rounds)

    def test_text_csv_markdown_and_plot(self):
        plot = self.folder / "plot.svg"
        arguments = ("--sweep", "v=1,2,3", "--runs", "6", "--metric", "wall")
        done = bench("--quiet", *arguments, "--svg", str(plot), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\n  v  wall time", done.stdout)
        self.assertIn("\nKnee ", done.stdout)
        root = xml.etree.ElementTree.fromstring(plot.read_text())
        self.assertEqual(len(root.findall(".//{*}circle")), 3)
        rows = list(csv.DictReader(io.StringIO(bench("--csv", "--quiet", *arguments, "--", "true").stdout)))
        self.assertEqual(len(rows), 3 * 7)
        self.assertEqual({row["v"] for row in rows}, {"1", "2", "3"})
        self.assertIn("| v | wall time |  |", bench("--markdown", "--quiet", *arguments, "--", "true").stdout)

    def test_ctrl_c_keeps_complete_rounds(self):
        begun = self.folder / "begun"
        process = subprocess.Popen([program.FATHOM, "bench", "--json", "--quiet", "--time", "100", "--sweep", "v=1,2",
                                    "--metric", "wall", "--", "sh", "-c", f"echo {{v}} >> {begun}; sleep 0.01"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.ENVIRONMENT)
        while not begun.exists() or len(begun.read_text().splitlines()) < 9:
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        found = json.loads(printed)
        bench_test.check(found, SWEEP)
        self.assertEqual(found["stopped"], "interrupted")
        self.assertEqual({each["new"]["count"] for each in found["values"]},
                         {found["values"][0]["new"]["count"]})


class Crossovers(unittest.TestCase):
    def test_the_size_from_which_the_new_command_costs_no_more_is_bracketed(self):
        # The base takes n MiB, the new command 200.
        found = result(SWEEP, "--crossover", "n=100..800", "--runs", "2", "--warmup", "0", "--resolution", "20%",
                       "--metric", "peak-memory", "--base", f"{sys.executable} -c 'x = bytearray({{n}} << 20)'", "--",
                       sys.executable, "-c", "x = bytearray(200 << 20)  # {n}")
        crossover = found["crossover"]
        self.assertEqual(crossover["crossing"], "found")
        self.assertTrue(crossover["slower_up_to"] < 208 and crossover["faster_from"] > 192, crossover)
        self.assertLessEqual(crossover["faster_from"] - crossover["slower_up_to"], 0.2 * crossover["slower_up_to"])
        sizes = [int(each["value"]) for each in found["values"]]
        self.assertEqual(sizes, sorted(sizes))
        self.assertTrue(all(each["base"]["count"] == 2 for each in found["values"]))

    def test_it_may_be_never_or_always(self):
        def crossing(base, new):
            commands = [f"{sys.executable} -c 'x = bytearray({base} << 20)  # {{n}}'", "--", sys.executable, "-c",
                        f"x = bytearray({new} << 20)  # {{n}}"]
            return result(SWEEP, "--crossover", "n=1..4", "--runs", "6", "--warmup", "0", "--metric", "peak-memory", "--base",
                          *commands)["crossover"]

        never = crossing(80, 200)
        self.assertEqual((never["crossing"], never["surely_slower"]), ("never", 4))
        always = crossing(200, 80)
        self.assertEqual((always["crossing"], always["surely_faster"]), ("always", 1))

    def test_what_the_medians_say_is_not_said_to_be_certain(self):
        def said(*new):
            done = bench("--quiet", "--crossover", "n=1..2", "--runs", "1", "--warmup", "0", "--metric", "wall", "--base",
                         "sh -c 'sleep 0.01' {n}", "--", *new, "{n}")
            self.assertEqual(done.returncode, 0, done.stderr)
            return " ".join(done.stdout.split())

        self.assertIn("Crossover cannot tell at n 1; by the medians the new command costs no more already at n 1", said("true"))
        self.assertIn("Crossover cannot tell at n 1, 2; by the medians the new command costs more up to n 2",
                      said("sh", "-c", "sleep 0.3"))

    def test_no_pair_begins_after_the_time(self):
        done = bench("--quiet", "--json", "--crossover", "n=1..1024", "--time", "300ms", "--runs", "1000", "--warmup", "0",
                     "--metric", "wall", "--base", "sleep 0.02{n}", "--", "sleep", "0.02{n}")
        self.assertEqual(done.returncode, 4, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["stopped"], "time")
        self.assertLess(found["values"][0]["new"]["count"], 50)

    def test_a_size_without_memory_is_no_never(self):
        limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); x = bytearray({n} << 20)"
        done = bench("--quiet", "--json", "--crossover", "n=100..1600", "--runs", "2", "--warmup", "0", "--metric", "peak-memory",
                     "--base", f"{sys.executable} -c 'x = bytearray(80 << 20)  # {{n}}'", "--", sys.executable, "-c", limited)
        found = json.loads(done.stdout)
        self.assertEqual(found["values"][-1]["state"], "out_of_memory", found["values"])
        self.assertEqual(found["crossover"]["crossing"], "unknown")
        self.assertEqual(done.returncode, 4)

    def test_both_curves_are_plotted(self):
        plot = pathlib.Path(tempfile.mkdtemp()) / "plot.svg"
        done = bench("--quiet", "--crossover", "n=1..4", "--runs", "2", "--metric", "wall", "--svg", str(plot), "--base",
                     "sh -c ': {n}'", "--", "sh", "-c", "sleep 0.05; : {n}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Crossover", done.stdout)
        root = xml.etree.ElementTree.fromstring(plot.read_text())
        self.assertEqual(len(root.findall(".//{*}polyline")), 2)


class Bisections(unittest.TestCase):
    def test_the_largest_value_that_fits_into_memory_is_found_and_runs_twice(self):
        command = [sys.executable, "-c", TAKES.replace("{mib}", "16 * int('{n}')")]
        found = result(BISECT, "--bisect", "n", "--memory-limit", "600MiB", "--", *command)
        largest = found["largest"]
        self.assertTrue(found["complete"])
        self.assertEqual(found["smallest_failed"], largest + 1)
        # 600 MiB less what an interpreter takes.
        self.assertTrue(25 <= largest <= 37, largest)
        probes = found["probes"]
        self.assertEqual([each["value"] for each in probes[:4]], [1, 2, 4, 8])
        self.assertEqual((probes[-1]["value"], probes[-1]["fits"]), (largest, True))
        self.assertEqual(sum(each["value"] == largest for each in probes), 2)
        self.assertEqual({each["why"] for each in probes if not each["fits"]}, {"out of memory"})

    def test_it_ends_at_the_end_of_the_range_and_says_where_nothing_fits(self):
        done = bench("--bisect", "n=3..12", "--", "echo", "{n}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("n 12, the end of the range, runs", done.stdout)
        self.assertIn("fathom: n 6: runs\n", done.stderr)
        done = bench("--bisect", "n=4000..8000", "--memory-limit", "500MiB", "--", sys.executable, "-c",
                     TAKES.replace("{mib}", "int('{n}')"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("none: already n 4000 does not run", done.stdout)

    def test_a_failure_for_another_reason_ends_the_search(self):
        done = bench("--quiet", "--bisect", "n", "--", "sh", "-c", "echo why >&2; test {n} -lt 5")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("at n=8 (sh -c", done.stderr)
        self.assertIn("not for lack of memory", done.stderr)

    def test_a_run_must_make_whole_steps(self):
        path = pathlib.Path(tempfile.mkdtemp()) / "steps.py"
        path.write_text("import sys\ntry: from fathom_recorder.api import step\n"
                        "except ImportError: step = lambda: None\n"
                        "for _ in range(1 if int(sys.argv[1]) > 5 else 4): step()\n")
        found = result(BISECT, "--bisect", "n=1..16", "--", sys.executable, str(path), "{n}")
        self.assertEqual((found["largest"], found["smallest_failed"]), (5, 6))
        self.assertIn("ended well, but after 1 steps", {each["why"] for each in found["probes"]})


class Mistakes(program.MistakesCase):
    def test_messages_name_the_mistake(self):
        self.fails(2, "bench", "--sweep", "v=1", "--", "true", says="needs two values")
        self.fails(2, "bench", "--sweep", "v=auto", "--", "true", says="auto is for num_workers")
        self.fails(2, "bench", "--crossover", "n=1", "--", "true", says="--base")
        self.fails(2, "bench", "--crossover", "n=9..1", "--base", "a", "--", "true", says="bounds")
        self.fails(2, "bench", "--bisect", "n", "--base", "true", "--", "true", says="without --base")
        self.fails(2, "bench", "--bisect", "n", "--sweep", "v=1,2", "--", "true", says="one of --sweep")
        for option in (["--time", "1s"], ["--runs", "3"], ["--metric", "cpu"], ["--resolution", "1%"], ["--warmup", "3"]):
            self.fails(2, "bench", *option, "--bisect", "n", "--", "true", says=f"{option[0]} has no meaning with --bisect")
        self.fails(2, "bench", "--svg", "x.svg", "--bisect", "n", "--", "true", says="nothing to plot")
        self.fails(2, "bench", "--memory-limit", "1GiB", "--", "true", says="--memory-limit belongs")
        self.fails(2, "bench", "--target", "20%", "--", "true", says="--base")
        self.fails(2, "bench", "--target", "100%", "--base", "true", "--", "true", says="no saving below 100%")


if __name__ == "__main__":
    unittest.main()
