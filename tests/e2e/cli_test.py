"""The program as people and scripts meet it: help, mistakes, pipes, terminals, folders, exit codes."""
import csv
import gzip
import io
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT, MistakesCase, fathom, on_terminal, some

TRACES = ROOT / "tests/data/traces"
TRACE = str(TRACES / "sidnb13_h100_transformer_step.pt.trace.json.gz")
SMALL = str(TRACES / "hta_event_sync.json.gz")


def reports():
    """The names of the tables, as the reference lists them."""
    return re.findall(r"^## (\S+)$", fathom("reference").stdout.decode(), re.M)


def width(line: str) -> int:
    return len(re.sub(r"\x1b\[[0-9;]*m", "", line))


class Help(unittest.TestCase):
    def test_help_lists_every_table_and_exits_with_0(self):
        done = fathom("--help")
        self.assertEqual(done.returncode, 0)
        for report in reports():
            self.assertRegex(done.stdout.decode(), rf"\n  {report} ")

    def test_each_command_explains_itself_with_columns_and_an_example(self):
        for report in reports():
            text = fathom(report, "--help").stdout.decode()
            self.assertIn(f"fathom {report}", text)
            self.assertIn("Columns", text)
            self.assertIn("Example", text)
            self.assertEqual(text, fathom("help", report).stdout.decode())

    def test_help_tells_conditions_defaults_and_what_text_leaves_out(self):
        text = " ".join(fathom("kernels", "--help").stdout.decode().split())
        self.assertIn("one of = != < <= > >= ~ !~", text)
        self.assertIn("one of name (the default), config", text)
        self.assertIn("without the unit at its end: total.", text)
        self.assertIn("[bytes; --wide]", text)

    def test_conditions_that_help_gives_as_examples_are_understood(self):
        for report in reports():
            text = fathom(report, "--help", COLUMNS="1000").stdout.decode()
            for condition in re.findall(r"'(\S+)'", re.search(r"--filter EXPR.*", text)[0]):
                done = fathom(report, SMALL, "--filter", condition)
                self.assertEqual((done.returncode, done.stderr), (0, b""), condition)

    def test_version_names_the_version_the_processor_and_glibc(self):
        printed = fathom("--version").stdout.decode()
        self.assertRegex(printed, r"\Afathom \d+\.\d+\.\d+( \(\S+\))?\n(x86-64|aarch64)\b.*, on glibc 2\.\d+\n\Z")
        # A build of a checkout knows its commit, and one that is handed out the oldest glibc that it is for.
        if (ROOT / ".git").exists():
            self.assertRegex(printed, r"\Afathom \d+\.\d+\.\d+ \(\S+\)\n")
        cache = pathlib.Path(FATHOM).parent / "CMakeCache.txt"
        settings = dict(re.findall(r"^(FATHOM_\w+):\w+=(.+)$", cache.read_text(), re.M)) if cache.exists() else {}
        if settings.get("FATHOM_PORTABLE") == "ON":
            self.assertIn(f", for glibc {settings['FATHOM_OLDEST_GLIBC']} and newer, on glibc 2.", printed)
        self.assertEqual(printed, fathom("-V").stdout.decode())

    def test_no_argument_shows_help_on_stderr_as_a_usage_error(self):
        done = fathom()
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"fathom COMMAND", done.stderr)


class Mistakes(MistakesCase):
    def test_misspelled_command_suggests_the_nearest(self):
        self.fails(2, "kernals", "x", says="did you mean 'kernels'?")

    def test_misspelled_option_suggests_the_nearest(self):
        self.fails(2, "info", "--jsn", SMALL, says="did you mean --json?")

    def test_short_option_that_there_is_not(self):
        self.fails(2, "info", "-x", SMALL, says="there is no option -x")
        self.fails(2, "-x", says="there is no option -x")

    def test_values_too_few_and_too_many(self):
        self.fails(2, "info", SMALL, "--limit", says="--limit needs a value: --limit N")
        self.fails(2, "info", SMALL, "--json=3", says="--json takes no value")
        self.fails(2, "formats", "x", says="one argument too many: 'x'")
        self.fails(2, "info", "", says="empty")

    def test_missing_input_is_a_usage_error(self):
        self.fails(2, "info", says="INPUT is missing")

    def test_unknown_column_suggests_the_nearest(self):
        self.fails(2, "info", SMALL, "--sort", "nmae", says="did you mean 'name'?")
        self.fails(2, "ops", SMALL, "--sort", "hst_self", says="did you mean 'host_self'?")

    def test_filter_that_makes_no_sense(self):
        self.fails(2, "info", SMALL, "--filter", "name", says="--filter")
        self.fails(2, "info", SMALL, "--filter", "name~[", says="regular expression")

    def test_absent_device_and_steps_are_named(self):
        self.fails(2, "steps", SMALL, "--device", "7", says="device")
        self.fails(2, "steps", TRACE, "--steps", "900-901", says="steps")

    def test_tables_of_the_whole_trace_take_no_part_of_it(self):
        for report in ("info", "health"):
            self.fails(2, report, SMALL, "--steps", "1", says="there is no option --steps")
            self.assertNotIn(b"--steps", fathom(report, "--help").stdout)

    def test_only_stacks_are_grouped_to_a_depth(self):
        self.fails(2, "kernels", SMALL, "--group-by", "op=3", says="only stack takes a number")
        self.assertEqual(fathom("ops", SMALL, "--group-by", "stack=3").returncode, 0)

    def test_window_without_units_is_refused(self):
        self.fails(2, "steps", SMALL, "--window", "1:2", says="unit")

    def test_json_and_csv_exclude_each_other(self):
        self.fails(2, "info", SMALL, "--json", "--csv", says="exclude")

    def test_wrong_path_is_unreadable_and_suggests_a_neighbour(self):
        self.fails(3, "info", SMALL.replace("sync.json", "sinc.json"), says="did you mean")

    def test_pattern_without_match_is_unreadable(self):
        self.fails(3, "info", str(TRACES / "*.nothing"), says="no file matches")

    def test_not_a_trace_is_unreadable(self):
        self.fails(3, "info", str(ROOT / "CMakeLists.txt"), says="CMakeLists.txt")
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(b'{"a": 1}')
            file.flush()
            self.fails(3, "info", file.name,
                       says=': not a trace that Fathom reads; this looks like JSON without "traceEvents"')

    def test_empty_file_is_unreadable(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            self.fails(3, "info", file.name, says=file.name)

    def test_output_that_cannot_be_written(self):
        self.fails(2, "info", SMALL, "-o", "/nowhere/at/all", says="/nowhere/at/all")


class Inputs(unittest.TestCase):
    def test_standard_input_reads_plain_and_compressed(self):
        packed = pathlib.Path(SMALL).read_bytes()
        for data in (packed, gzip.decompress(packed)):
            done = fathom("info", "-", "--json", stdin=data)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["input"], "-")

    def test_file_alone_is_overview(self):
        if "overview" not in reports():
            self.skipTest("there is no overview")
        self.assertEqual(fathom(SMALL).stdout, fathom("overview", SMALL).stdout)

    def test_directory_reads_each_trace_and_skips_the_rest_with_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 2, 10):
                shutil.copy(SMALL, f"{folder}/rank{rank}.json.gz")
            pathlib.Path(folder, "notes.txt").write_text("not a trace\n")
            done = fathom("info", folder, "--json")
            self.assertEqual(done.returncode, 0)
            names = [pathlib.Path(one["input"]).name for one in json.loads(done.stdout)["inputs"]]
            self.assertEqual(names, ["rank0.json.gz", "rank2.json.gz", "rank10.json.gz"])
            self.assertIn("notes.txt", done.stderr.decode())
            self.assertEqual(fathom("info", folder, "--json", "--quiet").stderr, b"")

            text = fathom("info", folder).stdout.decode()
            self.assertEqual(len(re.findall(r"rank\d+\.json\.gz\n", text)), 3)

            rows = list(csv.reader(io.StringIO(fathom("info", folder, "--csv").stdout.decode(), newline="")))
            self.assertEqual(rows[0][0], "input")
            self.assertEqual(len({row[0] for row in rows[1:]}), 3)

    def test_directory_without_any_trace_is_unreadable(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(fathom("info", folder).returncode, 3)
            pathlib.Path(folder, "notes.txt").write_text("not a trace\n")
            self.assertEqual(fathom("info", folder).returncode, 3)

    def test_pattern_stands_for_its_files(self):
        done = fathom("info", str(TRACES / "hta_*_sync.json.gz"), "--json")
        self.assertEqual(len(json.loads(done.stdout)["inputs"]), 1)

    def test_one_bad_file_of_several_is_told_and_the_others_are_shown(self):
        done = fathom("info", SMALL, "/no/such/file.json", "--json")
        self.assertEqual(done.returncode, 3)
        done = fathom("info", SMALL, str(ROOT / "CMakeLists.txt"), "--json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(json.loads(done.stdout)["inputs"]), 1)


class Pipes(unittest.TestCase):
    def test_reader_that_goes_away_ends_it_quietly(self):
        process = subprocess.Popen([FATHOM, "info", TRACE, TRACE, TRACE, "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=ENVIRONMENT)
        process.stdout.read(1)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), 0)

    def test_no_colour_and_no_progress_in_a_pipe(self):
        done = fathom("health", TRACE)
        self.assertNotIn(b"\x1b", done.stdout)
        self.assertEqual(done.stderr, b"")

    def test_output_goes_to_the_file_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = fathom("info", SMALL, "--json", "-o", f"{folder}/out.json")
            self.assertEqual((done.returncode, done.stdout), (0, b""))
            self.assertEqual(json.loads(pathlib.Path(folder, "out.json").read_text())["report"], "info")


class Terminal(unittest.TestCase):
    def test_every_table_fits_a_narrow_terminal(self):
        for report in some(reports()):
            for columns in (60, 100):
                for line in on_terminal(columns, report, TRACE).splitlines():
                    self.assertLessEqual(width(line), columns, f"{report}: {line}")
            for line in fathom(report, TRACE, COLUMNS="60").stdout.decode().splitlines():
                self.assertLessEqual(width(line), 60, f"{report}: {line}")

    def test_wide_shows_every_name_in_full(self):
        text = on_terminal(60, "kernels", TRACE, "--wide") if "kernels" in reports() else ""
        self.assertNotIn("…", text.split("\n", 2)[-1])

    def test_colours_on_a_terminal_only_unless_refused(self):
        self.assertIn("\x1b[", on_terminal(80, "health", TRACE))
        self.assertNotIn("\x1b[", on_terminal(80, "health", TRACE, NO_COLOR="1"))
        self.assertNotIn("\x1b[", on_terminal(80, "health", TRACE, "--color=never"))
        self.assertIn(b"\x1b[", fathom("health", TRACE, "--color", "always").stdout)


class Machines(unittest.TestCase):
    def test_every_table_of_every_trace_is_valid_json_with_the_declared_columns(self):
        for report in reports():
            for trace in some(sorted(TRACES.glob("*.json.gz"))):
                done = fathom(report, str(trace), "--json")
                self.assertEqual(done.returncode, 0, f"{report} {trace.name}: {done.stderr}")
                table = json.loads(done.stdout)
                self.assertEqual((table["schema"], table["report"]), ("fathom.table/1", report))
                names = [column["name"] for column in table["columns"]]
                self.assertEqual(len(set(names)), len(names))
                for row in table["rows"]:
                    self.assertEqual(list(row), names, f"{report} {trace.name}")
                self.assertEqual(table["rows_total"], len(table["rows"]))

    def test_csv_holds_the_same_values_as_json(self):
        for report in some(reports()):
            table = json.loads(fathom(report, TRACE, "--json").stdout)
            rows = list(csv.reader(io.StringIO(fathom(report, TRACE, "--csv").stdout.decode(), newline="")))
            self.assertEqual(rows[0], [column["name"] for column in table["columns"]])
            self.assertEqual(len(rows) - 1, len(table["rows"]))
            for cells, row in zip(rows[1:], table["rows"]):
                for cell, value in zip(cells, row.values()):
                    if isinstance(value, str):
                        self.assertEqual(cell, value)
                    elif value is None:
                        self.assertEqual(cell, "")
                    elif not isinstance(value, bool):
                        self.assertEqual(float(cell), float(value))

    def test_the_same_answer_twice_and_with_any_number_of_threads(self):
        for report in some(reports()):
            one = fathom(report, TRACE, "--json", "--threads", "1").stdout
            for _ in range(3):
                self.assertEqual(one, fathom(report, TRACE, "--json", "--threads", "4").stdout, report)

    def test_filter_sort_limit_and_columns_shape_rows(self):
        def rows(*arguments):
            return json.loads(fathom("info", TRACE, "--json", *arguments).stdout)["rows"]

        slices = rows("--filter", "section=slices", "--filter", "name!=total")
        self.assertTrue(slices)
        self.assertEqual({row["section"] for row in slices}, {"slices"})
        self.assertEqual(slices, sorted(slices, key=lambda row: -row["value"]))
        by_name = rows("--filter", "section=slices", "--sort", "name", "--columns", "name,value", "--limit", "3")
        self.assertEqual([list(row) for row in by_name], [["name", "value"]] * 3)
        self.assertEqual(by_name, sorted(by_name, key=lambda row: row["name"]))
        reverse = rows("--filter", "section=slices", "--sort", "-name")
        self.assertEqual(reverse, rows("--filter", "section=slices", "--sort", "name:desc"))
        self.assertTrue(all("cpu" in row["name"] for row in rows("--filter", "name~^CPU")))

    def test_an_option_takes_its_value_and_not_the_input_after_it(self):
        for option in (("--filter", "name!=total"), ("--sort", "name"), ("--columns", "name"), ("--limit", "2")):
            done = fathom("info", *option, TRACE)
            self.assertEqual((done.returncode, done.stderr), (0, b""), option)
        last = fathom("info", TRACE, "--limit", "2", "--limit", "1", "--sort", "value", "--sort", "name", "--json")
        self.assertEqual(len(json.loads(last.stdout)["rows"]), 1)
        twice = fathom("info", "--filter", "section=slices", "--filter", "name=total", TRACE, "--json")
        self.assertEqual(len(json.loads(twice.stdout)["rows"]), 1)

    def test_folded_stacks_are_lines_that_hold_the_times_of_the_table(self):
        for metric in ("host", "device"):
            rows = json.loads(fathom("stacks", TRACE, "--metric", metric, "--json").stdout)["rows"]
            lines = fathom("stacks", TRACE, "--metric", metric, "--folded").stdout.decode().splitlines()
            self.assertEqual([line.rsplit(" ", 1) for line in lines],
                             [[row["stack"], str(row["total_ns"])] for row in rows])
        both = fathom("stacks", TRACE, SMALL, "--folded").stdout.decode().splitlines()
        self.assertEqual({line.split(";")[0] for line in both}, {TRACE, SMALL})
        self.assertEqual(fathom("stacks", TRACE, "--folded", "--json").returncode, 2)
        self.assertEqual(fathom("ops", TRACE, "--folded").returncode, 2)

    def test_completion_scripts_are_valid(self):
        for shell in ("bash", "zsh"):
            script = fathom("completion", shell)
            self.assertEqual(script.returncode, 0)
            if shutil.which(shell):
                checked = subprocess.run([shell, "-n"], input=script.stdout, capture_output=True, check=False)
                self.assertEqual((checked.returncode, checked.stderr), (0, b""))
        self.assertEqual(fathom("completion", "fish").returncode, 2)

    def test_bash_completes_commands_options_and_columns(self):
        def complete(*words):
            script = fathom("completion", "bash").stdout.decode()
            listed = " ".join(f"'{word}'" for word in words)
            script += f"\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _fathom; printf '%s\\n' \"${{COMPREPLY[@]}}\""
            return subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode().splitlines()

        self.assertIn("info", complete("fathom", "in"))
        self.assertIn("--json", complete("fathom", "info", "--js"))
        self.assertIn("section", complete("fathom", "info", "--sort", "se"))
        self.assertIn("-section", complete("fathom", "info", "--sort", "-se"))
        self.assertIn("section", complete("fathom", "info", "--sort", "=", "se"))
        self.assertIn("section", complete("fathom", "info", "--sort", "="))
        self.assertIn("name,value", complete("fathom", "info", "--columns", "name,va"))
        self.assertIn("steps", complete("fathom", "help", "st"))
        self.assertNotIn("digest", complete("fathom", "di"))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "my trace.json").touch()
            self.assertEqual(complete("fathom", "info", f"{folder}/my"), [f"{folder}/my trace.json"])

    def test_man_page_is_clean_roff(self):
        page = fathom("man")
        self.assertEqual(page.returncode, 0)
        for heading in ("NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "EXAMPLES"):
            self.assertIn(f"\n.SH {heading}\n".encode(), page.stdout)
        if shutil.which("groff"):
            checked = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", "-z"], input=page.stdout,
                                     capture_output=True, check=False)
            self.assertEqual(checked.stderr, b"")

    def test_reference_documents_every_column(self):
        text = fathom("reference").stdout.decode()
        for report in reports():
            for column in json.loads(fathom(report, SMALL, "--json").stdout)["columns"]:
                self.assertIn(f"| `{column['name']}` |", text)


if __name__ == "__main__":
    unittest.main()
