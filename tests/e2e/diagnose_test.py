"""The diagnosis as people and scripts meet it: one screen, the documented JSON, the page, mistakes."""
import base64
import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT, MistakesCase, fathom, on_terminal

TRACES = sorted((ROOT / "tests/data/traces").glob("*.json.gz"))
RECORDINGS = sorted((ROOT / "tests/data/recordings").rglob("*.json.gz"))
TRACE = str(ROOT / "tests/data/traces/sidnb13_h100_transformer_step.pt.trace.json.gz")
STEPS = str(ROOT / "tests/data/traces/luatil_rtx3060_compile_triton.json.gz")
EXAMPLE = str(ROOT / "examples/resnet50_v100.pt.trace.json.gz")
INPUT = str(ROOT / "tests/data/traces/kineto_gpu_metrics_input.json.gz")
SCHEMA = json.loads((ROOT / "docs/diagnosis.schema.json").read_text())
HOSTILE = ['<script>document.title="owned"</script>', '"><img src=x onerror=document.title="owned">',
           "</style></title>&amp;", "\x1b[2J\x07\r\nline two", "x" * 100_000, "\u202egnp.exe"]


def diagnosis(*arguments):
    done = fathom("diagnose", "--json", "--quiet", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def problems(value, schema, where="$"):
    """What of a value is not as the schema says: the part of JSON Schema that ours uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        found = [problems(value, each, where) for each in schema["anyOf"]]
        return [] if any(not each for each in found) else min(found, key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{where}: {value!r} is not one of {schema['enum']}"]
    if "const" in schema:
        return [] if value == schema["const"] else [f"{where}: {value!r}"]
    if "type" not in schema:
        return []
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    types = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    if not any(isinstance(value, types[kind]) and isinstance(value, bool) == (kind == "boolean") for kind in kinds):
        return [f"{where}: {value!r} is not {kinds}"]
    out = []
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        out.append(f"{where}: {len(value)} characters")
    if isinstance(value, int) and value < schema.get("minimum", value):
        out.append(f"{where}: {value}")
    if isinstance(value, list):
        out += [f"{where}: {len(value)} items"] if len(value) > schema.get("maxItems", len(value)) else []
        for i, item in enumerate(value):
            out += problems(item, schema.get("items", {}), f"{where}[{i}]")
    if isinstance(value, dict):
        out += [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, item in value.items() if "properties" in schema else ():
            if name not in schema["properties"]:
                out.append(f"{where}: {name} is not documented")
            else:
                out += problems(item, schema["properties"][name], f"{where}.{name}")
    return out


def hostile_trace(folder: str) -> str:
    """A recording of which every name is meant to do harm."""
    events = []
    for step in range(3):
        at = step * 10_000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": at, "dur": 9_000})
        for i, name in enumerate(HOSTILE):
            start = at + 100 + 1_400 * i
            number = step * 100 + i + 1
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 900,
                           "args": {"External id": number}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                           "ts": start + 10, "dur": 20, "args": {"correlation": number}})
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start + 40, "dur": 300,
                           "args": {"device": 0, "stream": 7, "correlation": number}})
    path = pathlib.Path(folder) / "it's <b>hostile<b> $(x).json"
    path.write_text(json.dumps({"traceEvents": events, "deviceProperties": [{"id": 0, "name": HOSTILE[0]}],
                                "note": HOSTILE[1]}))
    return str(path)


def carried(page: pathlib.Path) -> dict:
    """Answers in JSON that a written page carries, by question (src/server/page_file/archive.h)."""
    packed = re.search(r'id="fathom-answers">([A-Za-z0-9+/=]*)</script>', page.read_text())[1]
    data = gzip.decompress(base64.b64decode(packed))
    begin, = struct.unpack("<Q", data[-8:])
    places = json.loads(data[begin:-8])["answers"]
    return {question: json.loads(data[at:at + size]) for question, (at, size, *_) in places.items()
            if not question.startswith("api/tiles/")}


class Advice(unittest.TestCase):
    def test_commands_to_run_next_ask_for_the_same_diagnosis(self):
        options = ["--peaks", "H100 SXM", "--price", "0.3", "--carbon", "420", "--exclude-warmup"]
        done = fathom("diagnose", *options, EXAMPLE)
        commands = [shlex.split(line) for line in re.findall(r"\bfathom diagnose .*", plain(done.stdout.decode()))]
        self.assertGreaterEqual(len(commands), 2, done.stdout)
        for command in commands:
            for option, value in zip(options[:6:2], options[1:6:2], strict=True):
                self.assertEqual(command[command.index(option) + 1], value)
            self.assertIn("--exclude-warmup", command)

    def test_commands_after_standard_input_name_what_stands_for_it(self):
        with gzip.open(EXAMPLE) as trace:
            done = subprocess.run([FATHOM, "diagnose", "-"], input=trace.read(), capture_output=True, check=True, env=ENVIRONMENT)
        self.assertIn("\n              TRACE is the file that standard input came from: it cannot be read again.\n",
                      done.stdout.decode())

    def test_names_no_settings_of_another_vendors_libraries(self):
        judged = 0
        for trace in RECORDINGS:
            with gzip.open(trace, "rt", errors="replace") as file:
                text = file.read()
            if '"cudaLaunchKernel"' in text and '"hip' not in text:
                judged += 1
                self.assertNotIn("MIOPEN", json.dumps(diagnosis(str(trace))), trace.name)
        self.assertGreater(judged, 10)


class Screen(unittest.TestCase):
    def test_it_fits_the_terminal_whatever_its_height(self):
        cases = [(trace, lines) for trace in TRACES for lines in (30, 50)]
        cases += [(trace, 24) for trace in [*TRACES, *RECORDINGS]]
        for trace, lines in cases:
            with self.subTest(trace=trace.name, lines=lines):
                text = plain(on_terminal(80, "diagnose", str(trace), lines=lines))
                rows = sum(max(1, -(-len(line) // 80)) for line in text.splitlines())
                self.assertLess(rows, lines, text)

    def test_it_has_baseline_accounting_verdict_findings_and_what_to_run_next(self):
        for trace in TRACES:
            text = fathom("diagnose", str(trace), COLUMNS="80").stdout.decode()
            for label in ("Capture  ", "Baseline  ", "Verdict  ", "Next  "):
                self.assertRegex(text, rf"(?m)^{label}", trace.name)
            self.assertRegex(text, r"(?m)^(1\.|• ) |^No rule found", trace.name)

    def test_commands_can_be_pasted_as_they_stand(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "it's my run.json.gz")
            shutil.copy(INPUT, trace)
            text = fathom("diagnose", "--all", str(trace), COLUMNS="80").stdout.decode()
            text += fathom("diagnose", str(trace), COLUMNS="80").stdout.decode()
            commands = set(re.findall(r"^(?:Next|Narrower|   check)? +(fathom .*)$", text, re.M))
            self.assertGreater(len(commands), 4)
            self.assertTrue(any("--focus" in command for command in commands))
            for command in commands:
                done = subprocess.run(command.replace("fathom", shlex.quote(FATHOM), 1), shell=True, capture_output=True,
                                      text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 0, command + done.stderr)

    def test_commands_read_the_file_whatever_its_name(self):
        names = ["a\nb.json.gz", "a\tb\x1b[31m.json.gz", "a'b\"c\\d.json.gz", " a  b ", "-x.json.gz", "-\n'x", "{a,b}", "größe\u202e",
                 b"\xff\n1".decode(errors="surrogateescape"), "a\nfathom overview b"]
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                shutil.copy(INPUT, pathlib.Path(folder, name))
                pathlib.Path(folder, "fathom").symlink_to(FATHOM)
                environment = {**ENVIRONMENT, "PATH": f"{folder}:{ENVIRONMENT['PATH']}", "COLUMNS": "80"}
                shown = subprocess.run([FATHOM, "diagnose", "--", name], cwd=folder, env=environment, capture_output=True, timeout=120,
                                       check=True).stdout
                self.assertNotRegex(shown, rb"[\x00-\x09\x0b-\x1f\x7f]|\xff|\xe2\x80\xae", name)
                commands = re.findall(rb"^(?:Next|Narrower)? +(fathom (?!explain).*)$", shown, re.M)
                self.assertGreater(len(commands), 1, shown)
                for command in commands:
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, b""), command)
                    self.assertTrue(done.stdout, command)

    def test_a_pipe_gets_no_colours_and_a_terminal_does(self):
        self.assertNotIn(b"\x1b", fathom("diagnose", TRACE).stdout)
        self.assertIn("\x1b[", on_terminal(80, "diagnose", TRACE))
        self.assertNotIn("\x1b", on_terminal(80, "diagnose", TRACE, NO_COLOR="1"))

    def test_paragraphs_keep_to_a_narrow_terminal(self):
        for line in plain(on_terminal(60, "diagnose", TRACE, lines=50)).splitlines():
            if not re.match(r"   (before|after|check) |.* fathom ", line):  # To be copied: on one line.
                self.assertLessEqual(len(line), 60, line)

    def test_a_locale_without_utf_8_gets_ascii(self):
        for command in (["diagnose", INPUT], ["diagnose", "--all", TRACE], ["explain", "gain"]):
            self.assertTrue(fathom(*command, LC_ALL="C").stdout.isascii(), command)
        self.assertIn("µs", fathom("diagnose", TRACE, LC_ALL="").stdout.decode(), "no locale asks for nothing")

    def test_all_shows_more_than_one_screen(self):
        text = fathom("diagnose", "--all", STEPS, COLUMNS="80").stdout.decode()
        self.assertIn("Rules that found nothing", text)
        self.assertGreater(text.count("\n   check "), 3)

    def test_code_keeps_its_lines(self):
        for trace in TRACES:
            self.assertNotIn("␊", fathom("diagnose", "--all", str(trace)).stdout.decode(), trace.name)

    def test_what_it_says_to_run_runs(self):
        text = fathom("diagnose", TRACE, COLUMNS="300").stdout.decode()
        commands = re.findall(r"(?:Next|Narrower| {8}) +fathom (.*)", text)
        self.assertTrue(any("--focus" in command for command in commands), text)
        for command in commands:
            done = subprocess.run(f"'{FATHOM}' {command}", shell=True, capture_output=True, check=False, cwd=ROOT,
                                  env=ENVIRONMENT, timeout=120)
            self.assertEqual(done.returncode, 0, command)

    def test_what_it_says_to_run_asks_for_the_same_part(self):
        text = fathom("diagnose", STEPS, "--steps", "4-", "--focus", "backward", "--exclude-warmup",
                      COLUMNS="300").stdout.decode()
        self.assertIn("fathom diagnose --all --steps 4- --exclude-warmup --focus backward ", text)
        self.assertIn("fathom gaps --steps 4- ", text)

    def test_names_that_mean_harm_do_none(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = hostile_trace(folder)
            for command in (["diagnose", trace], ["diagnose", "--all", trace]):
                done = fathom(*command, COLUMNS="80")
                self.assertEqual(done.returncode, 0, done.stderr)
                for harm in (b"\x1b", b"\x07", b"\r", "\u202e".encode()):
                    self.assertNotIn(harm, done.stdout)
            self.assertLess(len(fathom("diagnose", trace, COLUMNS="80").stdout), 8_000)


class Json(unittest.TestCase):
    def test_it_is_as_documented(self):
        recorded = sorted((ROOT / "tests/illness/recorded").glob("*.trace.json.gz"))
        for trace in [*TRACES, *recorded[::5]]:
            self.assertEqual(problems(diagnosis(str(trace)), SCHEMA), [], trace.name)

    def test_the_accounting_sums_to_the_steps(self):
        for trace in TRACES:
            said = diagnosis(str(trace))
            windows = sum(step["window_ns"] for step in said["steps"])
            self.assertEqual(sum(said["account_ns"].values()), windows, trace.name)
            for step in said["steps"]:
                self.assertEqual(sum(step["account_ns"].values()), step["window_ns"], trace.name)

    def test_the_run_has_numbers_of_all_timed_steps(self):
        run = str(ROOT / "tests/data/runs/cpu_train")
        timed = diagnosis(run)["run"]["timed_steps"]
        table = json.loads(fathom("steps", "--json", "--quiet", run).stdout)
        spans = [row["host_span_ns"] for row in table["rows"]]
        self.assertEqual((timed["steps"], timed["in_depth"]), (len(spans), 3))
        self.assertGreater(len(spans), 3)
        of = {"mean_ns": statistics.mean(spans), "median_ns": statistics.median(spans), "stddev_ns": statistics.stdev(spans)}
        of |= {"min_ns": min(spans), "max_ns": max(spans)}
        for name, value in of.items():  # torch's mark of a step and the step differ by microseconds
            self.assertAlmostEqual(timed[name], value, delta=0.002 * value, msg=name)

    def test_findings_divide_the_step(self):
        for trace in TRACES:
            said = diagnosis(str(trace))
            findings = [each for card in said["findings"] for each in (card, *card["alternatives"])]
            promised = sum(finding["upper_bound_ns"] for finding in findings)
            self.assertLessEqual(promised, said["baseline"]["step_mean_ns"], trace.name)
            order = sorted(finding["quick_win"] for finding in findings)
            self.assertEqual(order, list(range(1, len(order) + 1)), trace.name)

    def test_what_hides_behind_others_stands_before_what_saves_next_to_nothing(self):
        found = diagnosis(EXAMPLE)
        first, hidden, *rest = [each for each in found["findings"] if each["part"] == "gain"]
        saving = {each["rule"]: each["step_ns"] - each["predicted_step_ns"]["likely"] for each in (first, hidden, rest[0])}
        # It waits for its input: what its matrix multiplications save is seen once it does not.
        self.assertEqual([first["rule"], hidden["rule"]], ["data-loader-workers", "tensor-cores-unused"])
        self.assertLess(saving["tensor-cores-unused"], saving[rest[0]["rule"]])
        self.assertGreater(hidden["saves_after_others_ns"], 10 * saving["tensor-cores-unused"])
        self.assertLessEqual(hidden["saves_after_others_ns"], hidden["upper_bound_ns"])
        together = found["together"]
        self.assertEqual(together["numbers"], [1, 2, 3])
        more = together["step_ns"] - together["predicted_step_ns"]["likely"]
        self.assertGreater(more, sum(saving.values()), "two that wait for each other save more than each alone")
        self.assertIn("once the other findings are changed", " ".join(fathom("diagnose", EXAMPLE).stdout.decode().split()))

    def test_it_is_the_same_every_time(self):
        self.assertEqual(diagnosis(STEPS), diagnosis(STEPS))

    def test_its_size_is_bounded(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = hostile_trace(folder)
            self.assertEqual(problems(diagnosis(trace), SCHEMA), [])

    def test_several_inputs_make_a_list(self):
        said = diagnosis(TRACE, INPUT)
        self.assertEqual([each["input"] for each in said], [TRACE, INPUT])

    def test_steps_window_and_device_select(self):
        self.assertEqual([step["step"] for step in diagnosis(STEPS, "--steps", "4-5")["steps"]], [4, 5])
        self.assertEqual(diagnosis(STEPS, "--device", "0")["baseline"]["device"], 0)
        every = diagnosis(STEPS)["steps"]
        slack = every[0]["window_ns"] // 2  # Less than a step.
        begin, end = every[1]["start_ns"] - slack, every[2]["start_ns"] + every[2]["window_ns"] + slack
        said = diagnosis(STEPS, "--window", f"{begin}ns:{end}ns")
        self.assertEqual([step["step"] for step in said["steps"]], [every[1]["step"], every[2]["step"]])

    def test_a_printed_time_is_found_again_by_window(self):
        """In recordings whose first work starts after the first event."""
        def rows(table, *options):
            return json.loads(fathom(table, STEPS, "--json", "--quiet", "--limit", "0", *options).stdout)["rows"]

        def around(begin, end):
            return "--window", f"{begin}ns:{end}ns"
        for row in rows("gaps")[::40]:
            found = rows("gaps", *around(row["start_ns"], row["start_ns"] + row["duration_ns"]))
            self.assertEqual([each["start_ns"] for each in found], [row["start_ns"]])
        said = diagnosis(STEPS)
        steps = {row["step"]: row for row in rows("steps")}
        for step in said["steps"]:
            row = steps[step["step"]]
            self.assertEqual(step["start_ns"], row["start_ns"])
            found = rows("steps", *around(row["start_ns"], row["start_ns"] + row["window_ns"]))
            self.assertEqual([each["step"] for each in found], [step["step"]])
        places = [evidence for finding in diagnosis(TRACE)["findings"] for evidence in finding["evidence"]
                  if finding["rule"] == "host-bound" and "begin_ns" in evidence]
        self.assertTrue(places)
        for place in places:
            window = around(place["begin_ns"], place["end_ns"])
            found = json.loads(fathom("gaps", TRACE, "--json", "--quiet", *window).stdout)["rows"]
            self.assertIn((place["begin_ns"], place["end_ns"] - place["begin_ns"]),
                          [(row["start_ns"], row["duration_ns"]) for row in found])

    def test_exclude_warmup_leaves_out_long_first_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "warm.json"
            lengths = [900, 700, 100, 110, 100, 300]
            at, events = 0, []
            for number, length in enumerate(lengths):
                events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1,
                               "tid": 1, "ts": at, "dur": length})
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 1,
                               "dur": length - 2})
                at += length
            path.write_text(json.dumps({"traceEvents": events}))
            self.assertEqual(diagnosis(str(path))["baseline"]["steps"], 6)
            said = diagnosis(str(path), "--exclude-warmup")
            self.assertEqual([step["step"] for step in said["steps"]], [2, 3, 4, 5])

    def test_focus_takes_operators_phases_and_modules(self):
        whole = diagnosis(TRACE)
        for name in ("aten::linear", "MultiheadAttention_0", "forward"):
            said = diagnosis(TRACE, "--focus", name)
            self.assertEqual(said["baseline"]["step_name"], name)
            self.assertLess(said["baseline"]["step_mean_ns"], whole["baseline"]["step_mean_ns"])


class SeveralRanksTest(unittest.TestCase):
    FOLDER = str(ROOT / "tests/data/runs/two_ranks")

    def test_a_folder_of_ranks_is_one_input_whose_late_rank_is_diagnosed(self):
        told = diagnosis(self.FOLDER)
        self.assertEqual(problems(told, SCHEMA), [])
        self.assertEqual(told["input"], self.FOLDER)
        self.assertEqual(told["verdict"]["id"], "straggler")
        ranks = told["ranks"]
        self.assertEqual([each["rank"] for each in ranks["recordings"]], [0, 1])
        self.assertEqual((ranks["diagnosed"], ranks["late"]), (1, 1))
        early, late = ranks["recordings"]
        # Each all-reduce is on both: what it takes longer on rank 0 is its waiting.
        words = ["ops", "--json", "--quiet", "--filter", "name=gloo:all_reduce", self.FOLDER]
        tables = json.loads(fathom(*words).stdout)["inputs"]
        waits = [table["rows"][0]["host_total_ns"] for table in tables]
        self.assertAlmostEqual(late["made_wait_ns"] * 3, waits[0] - waits[1], delta=3)
        self.assertLessEqual(early["waited_ns"], early["communication_ns"])
        self.assertEqual(late["came_last"], 3)

    def test_the_screen_names_the_late_rank_and_the_others(self):
        screen = plain(fathom("diagnose", self.FOLDER).stdout.decode())
        self.assertIn("rank 1 is diagnosed, the others wait for it", " ".join(screen.split()))
        self.assertIn("straggler. Rank 1 comes last", " ".join(screen.split()))
        self.assertIn("--rank 0", screen)
        self.assertEqual(screen.count("Verdict"), 1)
        # The run is that of all ranks, whichever is diagnosed.
        for words in ((), ("--rank", "0")):
            self.assertIn("97.27 s wall", plain(fathom("diagnose", *words, self.FOLDER).stdout.decode()))

    def test_another_rank_may_be_asked_for(self):
        told = diagnosis("--rank", "0", self.FOLDER)
        self.assertEqual(told["ranks"]["diagnosed"], 0)
        self.assertIn("late-rank", [each["rule"] for each in told["findings"]])
        refused = fathom("diagnose", "--rank", "7", self.FOLDER)
        self.assertEqual((refused.returncode, refused.stdout), (2, b""))
        self.assertIn("there is no rank 7; there is rank 0, rank 1", refused.stderr.decode())
        self.assertEqual(fathom("diagnose", "--rank", "7", TRACE).returncode, 2)

    def test_beside_another_input_the_folder_is_one_of_a_list(self):
        told = diagnosis(self.FOLDER, TRACE)
        self.assertEqual([each["input"] for each in told], [self.FOLDER, TRACE])
        self.assertIsNone(told[1]["ranks"])

    def test_its_page_is_that_of_the_diagnosed_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            self.assertEqual(fathom("diagnose", "--html", str(page), self.FOLDER).returncode, 0)
            answers = carried(page)
        told = answers["api/diagnosis"]
        late = told["ranks"]["recordings"][told["ranks"]["diagnosed"]]["input"]
        self.assertEqual(told, diagnosis(self.FOLDER))
        self.assertEqual(answers["api/session"]["inputs"][0]["name"], late)
        self.assertEqual(len(answers["api/session"]["inputs"]), len(told["ranks"]["recordings"]))

    def test_traces_of_different_programs_in_one_folder_are_diagnosed_each(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, trace in (("a.json.gz", INPUT), ("b.json.gz", TRACE)):
                shutil.copy(trace, pathlib.Path(folder) / name)
            told = diagnosis(folder)
            self.assertEqual([pathlib.Path(each["input"]).name for each in told],
                             ["a.json.gz", "b.json.gz"])

    def test_rank_files_in_a_folder_are_compared_too(self):
        traces = sorted((ROOT / "tests/data/runs/two_ranks").glob("torch-*.json.gz"))
        with tempfile.TemporaryDirectory() as folder:
            for trace in traces:
                shutil.copy(trace, folder)
            told = diagnosis(folder)
            self.assertEqual((told["input"], told["ranks"]["late"]), (folder, 1))


class Page(unittest.TestCase):
    """The page itself is tested in tests/server/page_file_test.py and tests/ui."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    @unittest.skipUnless(shutil.which("chromium"), "no browser")
    def test_a_browser_runs_it_and_nothing_of_the_recording(self):
        path = pathlib.Path(self.folder.name) / "page.html"
        done = fathom("diagnose", "--quiet", hostile_trace(self.folder.name), "--html", str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000",
                               f"--user-data-dir={self.folder.name}/profile", f"file://{path}"],
                              capture_output=True, timeout=120, check=False)
        self.assertRegex(done.stdout, rb"<title>Diagnosis [^<]* Fathom</title>")
        self.assertNotIn(b"<title>owned", done.stdout)

    def test_redact_and_size_are_about_the_page(self):
        for option in (["--redact"], ["--size", "5MB"]):
            done = fathom("diagnose", *option, TRACE)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"--html", done.stderr)


class Mistakes(MistakesCase):
    def test_an_unknown_focus_suggests_the_nearest(self):
        self.fails(2, "diagnose", TRACE, "--focus", "aten::liner", says="did you mean 'aten::linear'?")
        self.fails(2, "diagnose", TRACE, "--focus", "\x1bzzzz", says="nothing in the selected time")

    def test_an_unknown_name_to_explain_suggests_the_nearest(self):
        self.fails(2, "explain", "data-loadng", says="did you mean 'data-loading'?")
        self.fails(2, "explain", "qqqqqqqq", says="is no rule, term, table or column")

    def test_absent_steps_and_devices(self):
        self.fails(2, "diagnose", TRACE, "--steps", "900", says="steps")
        self.fails(2, "diagnose", TRACE, "--device", "7", says="device")
        self.fails(2, "diagnose", TRACE, "--window", "x", says="--window")

    def test_files_that_are_not_there_or_no_traces(self):
        self.fails(3, "diagnose", "/nonexistent/trace.json", says="/nonexistent/trace.json")
        self.fails(3, "diagnose", __file__, says="diagnose_test.py")
        self.fails(2, "diagnose", says="INPUT is missing")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_that_may_not_be_read(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            os.chmod(file.name, 0)
            self.fails(3, "diagnose", file.name, says=file.name)

    def test_a_page_is_of_one_input(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            self.fails(2, "diagnose", TRACE, INPUT, "--html", str(path), says="--html takes one input")
            self.assertFalse(path.exists())

    def test_a_page_that_cannot_be_written(self):
        done = fathom("diagnose", TRACE, "--html", "/nonexistent/page.html")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"/nonexistent/page.html", done.stderr)

    def test_a_bad_input_among_good_ones_is_named_and_the_others_shown(self):
        done = fathom("diagnose", "--json", TRACE, __file__, INPUT)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"diagnose_test.py", done.stderr)
        self.assertEqual([each["input"] for each in json.loads(done.stdout)], [TRACE, INPUT])


class Explain(unittest.TestCase):
    def test_every_rule_verdict_bucket_table_and_column(self):
        said = diagnosis(TRACE)
        names = [rule["rule"] for rule in said["rules"]] + [said["verdict"]["id"]]
        names += list(said["account_ns"]) + ["ops", "device_self_ns", "device_self", "gain"]
        for name in names:
            done = fathom("explain", name)
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)
            self.assertGreater(len(done.stdout), 40, name)

    def test_without_a_name_it_lists_what_there_is(self):
        text = fathom("explain").stdout.decode()
        for name in ("data-loading", "host-bound", "launch latency", "roofline"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
