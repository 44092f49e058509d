"""fathom bench as people and scripts meet it: two commands, failures, time limits, Ctrl-C, every output."""
import csv
import io
import json
import os
import pathlib
import platform
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import program

SCHEMA = json.loads((program.ROOT / "docs/bench.schema.json").read_text())
FAST = "sh -c :"


def taking(mib):
    """A command that takes so much memory, which a busy machine does not change. Less than the program itself takes is
    lost: some 50 MiB under the sanitizers."""
    return [sys.executable, "-c", f"x = bytearray({mib} << 20)"]


def line(words):
    return " ".join(f"'{word}'" for word in words)


def bench(*arguments, **settings):
    done = program.fathom("bench", *arguments, COLUMNS="80", **settings)
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def result(*arguments) -> dict:
    done = bench("--json", "--quiet", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def check(value, schema, where="$"):
    """The value is as the schema says: as much of JSON Schema as it uses."""
    if "anyOf" in schema:
        kinds = {"null"} if value is None else {"other"}
        chosen = [each for each in schema["anyOf"] if (each.get("type") == "null") == ("null" in kinds)]
        assert chosen, f"{where}: {value!r}"
        return check(value, chosen[0], where)
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value!r}"
    types = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    kind = schema.get("type")
    if kind == "number":
        assert isinstance(value, (int, float)) and not isinstance(value, bool), f"{where}: {value!r}"
    elif kind:
        assert isinstance(value, types[kind]), f"{where}: {value!r}"
    if kind == "integer":
        assert not isinstance(value, bool) and value >= schema.get("minimum", value), f"{where}: {value!r}"
    if kind == "array":
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), where
        for index, item in enumerate(value):
            check(item, schema["items"], f"{where}[{index}]")
    if kind == "object" and "properties" in schema:
        wanted = set(schema["required"])
        assert wanted <= set(value) <= set(schema["properties"]), f"{where}: {set(value) ^ wanted}"
        for key, part in schema["properties"].items():
            if key not in value:
                continue
            check(value[key], part, f"{where}.{key}")
    return None


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) if hasattr(
            self, "enterContext") else pathlib.Path(tempfile.mkdtemp())

    def test_a_command_that_takes_much_more_is_found(self):
        found = result("--runs", "8", "--metric", "peak-memory", "--base", line(taking(80)), "--", *taking(200))
        memory = found["metrics"][0]
        self.assertEqual((found["headline"], memory["metric"], memory["verdict"]), ("peak_memory", "peak_memory", "slower"))
        self.assertGreater(memory["ratio_interval"][0], 1)
        self.assertEqual(found["stopped"], "runs")
        self.assertEqual(found["pairs"], 8)
        self.assertEqual(memory["base"]["count"], 8)
        self.assertIsNone(memory["base"]["p95"])
        self.assertEqual(memory["base"]["p95_reason"], "needs 59 values, has 8")

    def test_json_follows_its_schema(self):
        check(result("--runs", "7", "--base", FAST, "--", "sh", "-c", ":"), SCHEMA)
        check(result("--runs", "3", "--", "sh", "-c", ":"), SCHEMA)
        check(result("--runs", "22", "--resolution", "5%", "--time", "20s", "--", "true"), SCHEMA)

    def test_pairs_are_in_random_order_which_the_seed_repeats(self):
        def order(seed):
            runs = result("--runs", "30", "--seed", seed, "--base", FAST, "--", "true")["runs"]
            return "".join(run["side"][0] for run in runs if not run["warmup"])

        first = order("5")
        self.assertEqual(first, order("5"))
        self.assertNotEqual(first, order("6"))
        self.assertEqual({first[i:i + 2] for i in range(0, 60, 2)}, {"bn", "nb"})

    def test_below_six_pairs_nothing_is_claimed(self):
        found = result("--runs", "5", "--base", FAST, "--", "sleep", "0.05")
        wall = found["metrics"][0]
        self.assertEqual(wall["verdict"], "cannot_tell")
        self.assertEqual(wall["reason"], "5 pairs: below 6 nothing can be claimed at 5 %")

    def test_text_has_both_commands_the_verdict_and_the_conditions(self):
        done = bench("--runs", "6", "--seed", "3", "--metric", "peak-memory", "--base", line(taking(80)), "--", *taking(200))
        self.assertEqual(done.returncode, 0, done.stderr)
        for label in ("Base ", "New ", "Differs", "Result        more: +", "Also", "First run", "Conditions"):
            self.assertIn(label, done.stdout)
        self.assertLess(done.stdout.index("Differs "), done.stdout.index("Base "), "before anything is compared")
        self.assertIn("seed 3", " ".join(done.stdout.split()))
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 80)

    def test_a_command_alone_is_described_without_a_verdict(self):
        done = bench("--runs", "3", "--", "true")
        self.assertTrue(done.stdout.startswith("Command       true\n"), done.stdout)
        self.assertNotIn("Result", done.stdout)
        self.assertIsNone(result("--runs", "3", "--", "true")["metrics"][0]["verdict"])

    def test_csv_has_a_row_for_each_run_and_markdown_a_table(self):
        done = bench("--csv", "--quiet", "--runs", "4", "--warmup", "2", "--base", FAST, "--", "true")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(rows), 2 * (4 + 2))
        self.assertEqual(sum(row["warmup"] == "true" for row in rows), 4)
        self.assertTrue(all(int(row["wall_ns"]) > 0 for row in rows))
        done = bench("--markdown", "--quiet", "--runs", "6", "--base", FAST, "--", "true")
        self.assertIn("\n| metric | base | new | |\n", done.stdout)

    def test_a_run_that_fails_ends_the_bench_with_what_it_said(self):
        done = bench("--base", FAST, "--", "sh", "-c", "echo first >&2; echo why >&2; exit 3")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the command (sh -c 'echo first", done.stderr)
        self.assertIn("ended with exit code 3, in run 2;", done.stderr)
        self.assertTrue(done.stderr.endswith("The end of its standard error:\n  first\n  why\n"), done.stderr)
        self.assertIn("the base (false)", bench("--base", "false", "--", "true").stderr)

    def test_failures_count_where_that_is_asked(self):
        found = result("--ignore-failure", "--runs", "6", "--base", "false", "--", "true")
        self.assertEqual({run["exit_code"] for run in found["runs"]}, {0, 1})
        self.assertIn("7 runs failed", bench("--ignore-failure", "--runs", "6", "--base", "false", "--", "true").stdout)

    def test_a_run_that_hangs_is_ended_with_its_children(self):
        mark = self.folder / "pid"
        done = bench("--timeout", "0.3", "--", "sh", "-c", f"sleep 300 & echo $! > {mark}; wait")
        self.assertEqual(done.returncode, 1)
        self.assertIn("longer than it may (--timeout)", done.stderr)
        self.assertTrue(gone(int(mark.read_text())))

    def test_commands_have_nothing_to_read_and_print_nowhere(self):
        done = program.fathom("bench", "--runs", "2", "--quiet", "--", "sh", "-c", "cat; echo printed; echo too >&2",
                              stdin=b"not for them")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"printed\n", done.stdout)
        shown = bench("--runs", "2", "--quiet", "--show-output", "--", "sh", "-c", "echo printed")
        self.assertEqual(shown.stderr, "printed\n" * 3)

    def test_input_is_read_from_its_beginning_each_time(self):
        path = self.folder / "input"
        path.write_text("line\n")
        done = bench("--runs", "3", "--input", str(path), "--", "sh", "-c", "read word && test $word = line")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot be read", bench("--input", "/no/such/file", "--", "true").stderr)

    def test_prepare_runs_before_each_run(self):
        counted = self.folder / "count"
        found = result("--runs", "3", "--prepare", f"echo x >> {counted}", "--base", FAST, "--", "true")
        self.assertEqual(len(counted.read_text().splitlines()), len(found["runs"]))
        self.assertEqual(bench("--prepare", "exit 4", "--", "true").returncode, 1)

    def test_no_output_has_a_secret(self):
        plot, kept = self.folder / "plot.svg", self.folder / "kept"
        kept.mkdir()
        texts = []
        for form in ("--json", "--markdown", "--csv", "--quiet"):
            done = bench("--quiet", form, "--runs", "1", "--prepare", "true --password SECRET0", "--svg", str(plot), "--base",
                         "true --token=SECRET1 1", "--", "true", "--token=SECRET2", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            texts += [done.stdout, plot.read_text()]
        for vary in (["--sweep", "v=1,2"], ["--bisect", "v=1..2"]):
            form = ["--svg", str(plot)] if vary[0] == "--sweep" else []
            for way in ("--json", "--markdown", "--quiet"):
                place = kept / (way + vary[0])
                done = bench("--quiet", way, *vary, *form, "--prepare", "true --password SECRET0", "--timeout", "0.2", "--keep",
                             str(place), "--", "sh", "-c", "sleep $(({v} - 1))", "--token=SECRET1")
                self.assertEqual(done.returncode, 0, done.stderr)
                texts += [done.stdout, plot.read_text(), (place / "bench.json").read_text()]
        texts.append(bench("--", "false", "--token=SECRET1").stderr)
        for text in texts:
            self.assertNotIn("SECRET", text)
        self.assertIn("token=[redacted]", texts[0])

    def test_what_prepares_may_take_no_longer_than_a_run(self):
        done = bench("--prepare", "sleep 60", "--timeout", "100ms", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--prepare (sleep 60) ran for", done.stderr)
        self.assertIn("longer than it may (--timeout), and was ended", done.stderr)

    def test_ctrl_c_keeps_what_was_measured(self):
        begun = self.folder / "begun"
        command = ["sh", "-c", f"echo x >> {begun}; sleep 0.01"]
        process = subprocess.Popen([program.FATHOM, "bench", "--json", "--quiet", "--resolution", "0.001%",
                                    "--base", "sh -c 'sleep 0.01'", "--", *command], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=program.ENVIRONMENT)
        while not begun.exists() or len(begun.read_text().splitlines()) < 9:
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        found = json.loads(printed)
        check(found, SCHEMA)
        self.assertEqual(found["stopped"], "interrupted")
        self.assertGreaterEqual(found["pairs"], 6)
        self.assertEqual(found["metrics"][0]["new"]["count"], found["pairs"])

    def test_ctrl_c_again_does_not_lose_what_was_measured(self):
        begun = self.folder / "begun"
        process = subprocess.Popen([program.FATHOM, "bench", "--json", "--quiet", "--time", "100", "--metric", "wall", "--",
                                    "sh", "-c", f"echo >> {begun}; sleep 0.01"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.ENVIRONMENT)
        while not begun.exists() or len(begun.read_text()) < 300:
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.01)
        for _ in range(40):  # the results are longer than a pipe holds
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        printed, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(json.loads(printed)["stopped"], "interrupted")

    def test_the_time_that_the_resolution_takes_is_told_after_the_pilot(self):
        done = bench("--json", "--resolution", "0.001%", "--time", "3s", "--base", FAST, "--", "true")
        found = json.loads(done.stdout)
        self.assertEqual(found["stopped"], "time")
        if found["announced"] is None:
            self.assertLess(found["pairs"], 20)  # on a very slow machine
        else:
            self.assertIn("fathom: ±0.001 % takes up to about ", done.stderr)
            self.assertEqual(found["announced"]["after_pairs"], 20)
            self.assertGreater(found["announced"]["pairs"], found["pairs"])

    def test_runs_are_plotted(self):
        plot = self.folder / "plot.svg"
        for arguments, lines in ((("--", "true"), 1), (("--base", FAST, "--", "true"), 2)):
            done = bench("--quiet", "--runs", "7", "--metric", "wall", "--svg", str(plot), *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            root = xml.etree.ElementTree.fromstring(plot.read_text())
            self.assertEqual(len(root.findall(".//{*}polyline")), lines)
            self.assertEqual(len(root.findall(".//{*}circle")), 7 * lines, "each run that counts")

    def test_progress_is_shown_only_on_a_terminal(self):
        self.assertNotIn("\r", bench("--runs", "5", "--", "true").stderr)
        for arguments in (("--runs", "3", "--", "sleep", "0.3"),
                          ("--sweep", "v=1,2", "--runs", "3", "--metric", "wall", "--", "sleep", "0.3")):
            master, slave = pty.openpty()
            process = subprocess.Popen([program.FATHOM, "bench", *arguments], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=slave, env=program.ENVIRONMENT)
            os.close(slave)
            shown = b""
            try:
                while chunk := os.read(master, 65536):
                    shown += chunk
            except OSError:
                pass  # The other end is closed.
            self.assertEqual(process.wait(), 0)
            os.close(master)
            self.assertRegex(shown.decode(), "\r\x1b\\[K.*about [0-9.]+ (s|min) left")

    def test_progress_stays_on_one_line_of_a_narrow_terminal(self):
        shown = program.errors_on_terminal(30, "bench", "--runs", "8", "--time", "60s", "--resolution", "0.001%", "--", "sleep", "0.21")
        lines = [line for line in shown.replace("\n", "\r").split("\r") if line.startswith("\x1b[K")]
        self.assertTrue(any(line.endswith("…") for line in lines), "some did not fit")
        self.assertLess(max(len(line.removeprefix("\x1b[K")) for line in lines), 30)

    def steps(self, *rounds):
        """A program that goes on in steps, of so many rounds each."""
        path = self.folder / "steps.py"
        path.write_text("import sys\ntry: from fathom_recorder.api import step\n"
                        "except ImportError: step = lambda: None\n"
                        "for _ in range(int(sys.argv[2])): sum(range(int(sys.argv[1]))); step()\n")
        return [sys.executable, str(path), *map(str, rounds)]

    def test_the_step_is_measured_where_there_are_steps(self):
        base, now = self.steps(20000, 20), self.steps(60000, 20)
        found = result("--runs", "8", "--base", " ".join(base), "--", *now)
        check(found, SCHEMA)
        step = found["metrics"][0]
        self.assertEqual((found["headline"], step["metric"], step["base"]["count"]), ("step", "step", 8))
        self.assertIn("wall", [metric["metric"] for metric in found["metrics"]])
        self.assertEqual({run["steps"] for run in found["runs"]}, {20})
        for run in found["runs"]:
            # Ten of the 19 are as long as their median, or longer.
            self.assertLess(run["step_ns"] * 10 + run["first_step_ns"], run["wall_ns"])
            # Nineteen later ones, and all twenty.
            whole = run["step_mean_ns"] * 19 + run["first_step_ns"]
            self.assertAlmostEqual(run["step_rate_per_s"] * whole / 1e9, 20, places=3)
            self.assertLess(whole, run["wall_ns"])
        defined = {metric["metric"]: metric["definition"] for metric in found["metrics"]}
        self.assertIn("the median of each run's steps", defined["step"])
        for each in ("first_step", "step_mean", "step_rate"):
            self.assertTrue(defined[each], "it says what it is")
        python = {"Python": platform.python_version()}
        self.assertEqual(found["programs"], {"base": python, "new": python}, "as the hook says")
        text = bench("--runs", "2", "--quiet", "--base", " ".join(base), "--", *self.steps(20000, 30)).stdout
        self.assertIn(f"Programs Python {platform.python_version()}", " ".join(text.split()))
        self.assertIn("step time: the median of each run's steps", " ".join(text.split()))
        self.assertIn("steps per second (all steps by their time, the first too)", " ".join(text.split()))
        self.assertIn("base 20, new 30 in each run", " ".join(text.split()))

    def test_the_first_step_has_what_came_before_its_end(self):
        path = self.folder / "late.py"
        # What ours imports of the standard library is no import of the program's either.
        path.write_text("import sys, time\nfor name in 'typing', 'contextlib': sys.modules.pop(name, None)\n"
                        "try: import fathom_recorder\nexcept ImportError: fathom_recorder = None\n"
                        "def step():\n"
                        "    if fathom_recorder is None: return\n"
                        "    fathom_recorder.begin()\n"  # as the package fathom does, which imports the rest when it is needed
                        "    from fathom_recorder import api\n"
                        "    api.step()\n"
                        "for _ in range(4): time.sleep(0.02); step()\n")
        for run in result("--runs", "3", "--metric", "first-step", "--", sys.executable, str(path))["runs"]:
            self.assertEqual(run["steps"], 4)
            self.assertGreaterEqual(run["first_step_ns"], 20e6)

    def test_what_has_no_steps_is_measured_as_a_process(self):
        found = result("--runs", "2", "--", sys.executable, "-c", "print()")
        self.assertEqual(found["headline"], "wall")
        self.assertEqual({run["steps"] for run in found["runs"]}, {None})
        self.assertEqual(result("--runs", "2", "--warmup", "0", "--", *self.steps(10, 9))["headline"], "wall")
        self.assertEqual(result("--runs", "2", "--metric", "user", "--", *self.steps(10, 9))["headline"], "user")

    def test_processor_time_is_that_of_both_modes(self):
        found = result("--runs", "3", "--metric", "cpu", "--", sys.executable, "-c", "sum(range(100000))")
        self.assertEqual(found["headline"], "cpu")
        times = [run["user_ns"] + run["system_ns"] for run in found["runs"] if not run["warmup"]]
        self.assertEqual(found["metrics"][0]["new"]["median"], sorted(times)[1])
        self.assertGreater(min(times), 0)

    def test_a_run_without_the_steps_that_were_asked_for_ends_the_bench(self):
        done = bench("--metric", "first-step", "--runs", "3", "--", "sh", "-c", ":")
        self.assertEqual(done.returncode, 1)
        self.assertIn("had no steps that Fathom sees, in run 1; --metric wall", done.stderr)

    def test_nothing_of_the_watched_runs_stays(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        program.fathom("bench", "--runs", "2", "--", *self.steps(10, 9), TMPDIR=str(temporary))
        self.assertEqual(list(temporary.iterdir()), [])
        done = program.fathom("bench", "--metric", "step", "--", "true", TMPDIR="/proc")
        self.assertEqual(done.returncode, 2)
        self.assertIn("TMPDIR names another place", done.stderr.decode())
        # Nobody asked for steps.
        self.assertEqual(program.fathom("bench", "--runs", "1", "--", "true", TMPDIR="/proc").returncode, 0)

    def sampled(self, samples, text="", end=""):
        """A program of ten steps of so many samples each."""
        path = self.folder / f"sampled{samples}.py"
        path.write_text("from fathom_recorder import api\n"
                        f"for _ in range(10):\n    {text or 'pass'}\n    sum(range(20000))\n"
                        f"    api.samples({samples})\n    api.step()\n{end}\n")
        return [sys.executable, str(path)]

    def test_each_metric_of_steps_may_decide(self):
        steps = self.steps(2000, 5)
        for name in ("step", "first-step", "step-mean", "step-rate"):
            found = result("--metric", name, "--runs", "1", "--warmup", "0", "--", *steps)
            check(found, SCHEMA)
            self.assertEqual(found["headline"], name.replace("-", "_"))

    def test_steps_without_a_loader_are_steps_all_the_same(self):
        errors = bench("--metric", "loader-wait", "--runs", "1", "--", *self.steps(2000, 5)).stderr
        self.assertIn("waited for no data loader that Fathom sees", errors)
        self.assertNotIn("had no steps", errors)

    def test_throughput_is_of_the_samples_that_the_program_says(self):
        base, now = self.sampled(10), self.sampled(10000)
        found = result("--metric", "throughput", "--runs", "8", "--base", " ".join(base), "--", *now)
        check(found, SCHEMA)
        rate = found["metrics"][0]
        self.assertEqual((found["headline"], rate["unit"]), ("throughput", "1/s"))
        # A thousand times the samples in as long: more is faster.
        self.assertGreater(rate["ratio"], 2)
        self.assertEqual(rate["verdict"], "faster")
        for run in found["runs"]:
            self.assertGreater(run["throughput_per_s"], 0)
        done = bench("--metric", "throughput", "--runs", "2", "--", *self.steps(10, 9))
        self.assertEqual(done.returncode, 1)
        self.assertIn("fathom.step(samples=…)", done.stderr)

    def test_epochs_are_those_that_the_program_marks(self):
        path = self.folder / "epochs.py"
        path.write_text("from fathom_recorder import api\nfor number in range(3):\n"
                        "    with api.annotate(f'Epoch {number}'):\n"
                        "        for _ in range(4): sum(range(20000)); api.step()\n"
                        "    with api.annotate('epochal'): sum(range(2000000))\n")
        found = result("--metric", "epoch", "--runs", "2", "--", sys.executable, str(path))
        for run in found["runs"]:
            # Four steps each, and two epochs after the first.
            self.assertGreater(run["epoch_ns"], run["step_ns"])
            self.assertLess(run["epoch_ns"], run["wall_ns"] / 2)
        done = bench("--metric", "epoch", "--runs", "2", "--", *self.steps(10, 9))
        self.assertIn("marks no epoch", done.stderr)

    def test_mfu_is_of_what_a_recording_says_the_steps_compute(self):
        model = str(program.ROOT / "tests/data/traces/luatil_rtx3060_compile_triton.json.gz")
        words = self.steps(20000, 9)
        found = result("--runs", "3", "--model", model, "--", *words)
        check(found, SCHEMA)
        baseline = json.loads(program.fathom("diagnose", "--json", model).stdout)["baseline"]
        for run in found["runs"]:
            ideal = run["mfu_percent"] / 100 * run["step_ns"]
            self.assertAlmostEqual(ideal / (baseline["mfu_percent"] / 100 * baseline["usual_step_ns"]), 1, places=1)
        rows = {metric["metric"]: metric for metric in found["metrics"]}
        self.assertEqual((rows["mfu"]["unit"], rows["mfu"]["new"]["count"]), ("percent", 3))
        without = result("--runs", "2", "--", *words)
        self.assertEqual({run["mfu_percent"] for run in without["runs"]}, {None})
        done = bench("--metric", "mfu", "--runs", "2", "--", *words)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--metric mfu needs --model", done.stderr)
        done = bench("--runs", "2", "--model", str(program.ROOT / "tests/data/traces/hta_alexnet.json.gz"), "--", *words)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no operations of its steps are known", done.stderr)

    def test_phases_stand_beside_the_step(self):
        path = self.folder / "phases.py"
        path.write_text("from fathom_recorder import api\n"
                        "with api.annotate('epoch'):\n"
                        "    for _ in range(6):\n"
                        "        with api.annotate('forward'):\n"
                        "            with api.annotate('attention'): sum(range(20000))\n"
                        "        with api.annotate('backward'): sum(range(20000))\n"
                        "        api.step()\n")
        words = [sys.executable, str(path)]
        found = result("--runs", "2", "--base", line(words), "--", *words)
        check(found, SCHEMA)
        for run in found["runs"]:
            self.assertEqual([(phase["name"], phase["per"]) for phase in run["phases"]],
                             [(name, "step") for name in ("attention", "backward", "forward")])
            times = {phase["name"]: phase["ns"] for phase in run["phases"]}
            self.assertLess(times["attention"], times["forward"], "it lies inside")
            self.assertLess(5 * (times["forward"] + times["backward"]), run["wall_ns"], "means of the five steps after the first")
        rows = {metric["metric"]: metric for metric in found["metrics"]}
        self.assertEqual(rows["phase.forward"]["unit"], "ns")
        self.assertEqual(rows["phase.forward"]["new"]["count"], 2)
        self.assertNotIn("phase.epoch", rows)
        text = bench("--runs", "1", "--quiet", "--", *words).stdout
        self.assertIn("backward per step ", text)

    def test_a_wanted_saving_is_reached_missed_or_neither(self):
        def against(target, mib):
            done = bench("--json", "--quiet", "--runs", "8", "--metric", "peak-memory", "--target", target, "--base",
                         line(taking(200)), "--", *taking(mib))
            found = json.loads(done.stdout)
            check(found, SCHEMA)
            return done.returncode, found["target"]["state"], found["target"]["saved"]

        code, state, saved = against("50%", 80)
        self.assertEqual((code, state), (0, "reached"))
        self.assertGreater(saved, 0.5)
        self.assertEqual(against("90%", 190)[:2], (1, "missed"))
        more = bench("--quiet", "--runs", "8", "--metric", "peak-memory", "--target", "20%", "--base", line(taking(80)),
                     "--", *taking(200))
        self.assertRegex(" ".join(more.stdout.split()), r"20\.0 % less is wanted, \d+\.\d % \(\d+\.\d % to \d+\.\d %\) more is taken")
        few = bench("--quiet", "--runs", "3", "--target", "20%", "--base", "true", "--", "true")
        self.assertEqual(few.returncode, 4)
        self.assertIn("Target        cannot tell: 20.0 % less is wanted", few.stdout)

    def test_the_results_may_be_kept_as_session_folders(self):
        kept = self.folder / "kept"
        base, now = self.steps(20000, 20), self.steps(60000, 20)
        printed = bench("--json", "--quiet", "--runs", "6", "--keep", str(kept), "--base", " ".join(base), "--", *now)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(json.loads((kept / "bench.json").read_text()), json.loads(printed.stdout))
        for side in ("base", "new"):
            self.assertEqual(len(list((kept / side).iterdir())), 6)
        steps = program.fathom("steps", str(kept / "new/001"), "--csv")
        self.assertEqual(len(steps.stdout.decode().splitlines()), 21, steps.stderr)
        sides = [word for side in ("base", "new") for run in sorted((kept / side).iterdir())
                 for word in ("--" + side, str(run))]
        compared = program.fathom("compare", *sides)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("Step time ", compared.stdout.decode())
        whole = [self.folder / "a.json", self.folder / "b.json"]
        for path, command in zip(whole, ("true", "false || true"), strict=True):
            path.write_text(bench("--json", "--quiet", "--runs", "7", "--", "sh", "-c", command).stdout)
        compared = program.fathom("compare", *map(str, whole))
        self.assertRegex(compared.stdout.decode(), r"(?m)^Time  ", "a wall time is no step time")
        again = bench("--runs", "1", "--keep", str(kept), "--", "true")
        self.assertEqual(again.returncode, 2)
        self.assertIn("there is something in it already", again.stderr)

    def fake_gpus(self, script=""):
        library = pathlib.Path(program.FATHOM).parent / "fake_nvml"
        if not (library / "libnvidia-ml.so.1").exists():
            self.skipTest("the fake NVML is not built")
        return {"LD_LIBRARY_PATH": str(library), "FATHOM_NVML_SCRIPT": script}

    def test_clocks_and_energy_of_gpus_stand_beside_each_run(self):
        # GPU 0 of the fake is at 1200 MHz, and throttled for heat.
        done = bench("--json", "--quiet", "--runs", "6", "--base", "sleep 0.3", "--", "sleep", "0.5",
                     **self.fake_gpus())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        check(found, SCHEMA)
        for run in found["runs"]:
            self.assertAlmostEqual(run["gpus"][0]["sm_clock_mhz"], 1200)
            self.assertGreater(max(run["gpus"][0]["throttled"].values()), 0.5)
            self.assertGreater(run["gpu_memory_bytes"], 8 << 30)
        wall = found["metrics"][0]
        self.assertEqual((wall["metric"], wall["clocks_differ"]), ("wall", False), "cycles say the same at one clock")

    def test_the_text_has_the_clocks_of_each_side_and_the_correlation_of_neighbours(self):
        done = bench("--quiet", "--runs", "3", "--base", "sleep 0.3", "--", "sleep", "0.5", **self.fake_gpus())
        text = " ".join(done.stdout.split())
        for side in ("base", "new"):
            self.assertIn(f"{side} GPU 0: 1,200 MHz", text)
        self.assertIn("power limit", text)
        self.assertIn("driver 550.54.15", text)
        self.assertEqual(text.count("correlation of neighbours"), 2)

    def test_gpus_and_who_computes_on_them_are_conditions(self):
        done = bench("--json", "--runs", "1", "--", "true", **self.fake_gpus())
        self.assertIn("another program computes on GPU 0 (2", done.stderr)
        self.assertNotIn("on GPU 1", done.stderr)
        found = json.loads(done.stdout)
        check(found, SCHEMA)
        self.assertEqual(found["conditions"]["driver"], "550.54.15")
        self.assertEqual([gpu["other_programs"] for gpu in found["conditions"]["gpus"]], [1, 0])
        done = bench("--runs", "1", "--", "true", **self.fake_gpus("processes=1"))
        self.assertNotIn("computes on GPU", done.stderr, "that is the asker itself")

    def test_energy_is_told_or_why_it_is_not(self):
        done = bench("--metric", "energy", "--runs", "2", "--", "sleep", "0.3", **self.fake_gpus("no-driver"))
        if done.returncode == 0:
            self.assertIn("energy of the run", done.stdout)  # this machine counts its processors'
            return
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no energy of the run that could be measured; ", done.stderr)
        self.assertIn("energy of the processors (RAPL): ", done.stderr)

    def test_energy_has_a_price_of_a_run_and_of_an_epoch(self):
        path = self.folder / "epochs.py"
        path.write_text("import time\nfrom fathom_recorder import api\ntime.sleep(0.3)\nfor _ in range(2):\n"
                        "    with api.annotate('epoch'):\n"
                        "        for _ in range(4): time.sleep(0.1); api.step()\ntime.sleep(0.3)\n")
        done = bench("--json", "--quiet", "--runs", "2", "--price", "3.6", "--metric", "epoch", "--", sys.executable, str(path),
                     **self.fake_gpus("energy-rises"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        check(found, SCHEMA)
        for run in found["runs"]:
            self.assertGreater(run["energy_joules"], 400, "400 W for more than a second, by each of two GPUs")
            self.assertAlmostEqual(run["cost"], run["energy_joules"] / 1e6)
            self.assertAlmostEqual(run["epoch_cost"], run["epoch_energy_joules"] / 1e6)
            self.assertLess(0, run["epoch_energy_joules"])
            self.assertLess(run["epoch_energy_joules"], run["energy_joules"])
        self.assertIn("cost", [metric["metric"] for metric in found["metrics"]])
        done = bench("--metric", "epoch-cost", "--runs", "2", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("need --price", done.stderr)

    def test_peak_memory_is_known_whoever_starts_us(self):
        large = bytearray(160 << 20)  # The kernel counts it as ours, too: until then the process is this one.
        found = result("--runs", "2", "--warmup", "0", "--metric", "peak-memory", "--", *taking(80))
        self.assertLess(max(run["peak_memory_bytes"] for run in found["runs"]), len(large))

    def test_peak_memory_of_a_large_process_is_compared(self):
        large = "import sys; x = bytearray(200 << 20)"
        # Of 8 equal signs one alone passes the false discovery rate of the other metrics.
        found = result("--runs", "8", "--base", f"{sys.executable} -c '{large}'", "--", sys.executable, "-c",
                       large.replace("200", "100"))
        memory = {metric["metric"]: metric for metric in found["metrics"]}["peak_memory"]
        self.assertEqual(memory["verdict"], "faster")
        self.assertLess(memory["ratio"], 0.7)


def gone(pid: int) -> bool:
    """Within a moment, for the kernel ends it when it comes to it."""
    for _ in range(1000):
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


class Mistakes(program.MistakesCase):
    def test_messages_name_the_mistake(self):
        self.fails(2, "bench", says="COMMAND")
        self.fails(2, "bench", "--base", "a $HOME", "--", "true", says="is for a shell")
        self.fails(2, "bench", "--base", "'a", "--", "true", says="not closed")
        self.fails(2, "bench", "--base", " ", "--", "true", says="--base: an empty command")
        self.fails(2, "bench", "--quiet", "--", "/", says="/: this is a folder")
        self.fails(2, "bench", "--quiet", "--", "no-such-command-anywhere", says="there is no such command in PATH")
        self.fails(2, "bench", "--quiet", "--", "/etc/passwd", says="cannot be executed")
        self.fails(2, "bench", "--resolution", "1", "--", "true", says="as 1%")
        self.fails(2, "bench", "--runs", "0", "--", "true", says="at least 1")
        self.fails(2, "bench", "--time", "0", "--", "true", says="more than 0")
        self.fails(2, "bench", "--json", "--markdown", "--", "true", says="one of")

    def test_a_file_that_cannot_be_written_is_said_before_anything_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for option in ("--svg", "--output"):
                self.fails(2, "bench", "--quiet", option, f"{folder}/none/x", "--", "touch", f"{folder}/ran",
                           says=f"bench: {option}: {folder}/none/x: No such file or directory")
                self.assertFalse(os.path.exists(f"{folder}/ran"))
                self.fails(2, "bench", "--quiet", option, folder, "--", "touch", f"{folder}/ran",
                           says=f"bench: {option}: {folder}: Is a directory")
                self.assertFalse(os.path.exists(f"{folder}/ran"))

    def test_what_was_measured_is_printed_where_the_plot_cannot_be(self):
        with tempfile.TemporaryDirectory() as folder:
            gone = pathlib.Path(folder) / "gone"
            gone.mkdir()
            done = bench("--quiet", "--runs", "2", "--svg", str(gone / "x.svg"), "--", "rm", "-rf", str(gone))
        self.assertEqual(done.returncode, 2)
        self.assertIn("No such file or directory", done.stderr)
        self.assertIn("2 runs, median", done.stdout)


if __name__ == "__main__":
    unittest.main()
