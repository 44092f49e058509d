"""docs/glossary.md defines what the program shows: every label of its screens, and every value from a fixed list."""
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
TRACES = ("examples/resnet50_v100.pt.trace.json.gz", "tests/data/traces/hta_alexnet.json.gz",
          "tests/data/traces/tl_mi300_torch_compile_triton.json.gz", "tests/data/traces/hta_event_sync.json.gz")
RUNS = ("tests/data/runs/cpu_train", "tests/data/runs/two_ranks", "tests/data/runs/ranges", "tests/data/runs/plain",
        "tests/data/runs/sampled")
PAIR = ("tests/illness/recorded/fp64.ill.trace.json.gz", "tests/illness/recorded/fp64.cured.trace.json.gz")
# Columns whose values come from a fixed list, with the kind of word. Lists within a value are separated by commas.
COLUMNS = {
    ("accounting", "bucket"): "bucket", ("accounting", "phase"): "phase", ("accounting", "class"): "class",
    ("gaps", "cause"): "bucket", ("gaps", "opener"): "opener", ("gaps", "phase"): "phase",
    ("kernels", "class"): "class", ("kernels", "occupancy_limiter"): "limiter", ("kernels", "launch_advice"): "launch_advice",
    ("copies", "kind"): "copy", ("copies", "source"): "memory", ("copies", "destination"): "memory",
    ("critical-path", "part"): "path", ("roofline", "bound"): "bound", ("ops", "kind"): "row", ("syncs", "reason"): "reason",
    ("health", "status"): "status", ("health", "section"): "section", ("collectives", "kind"): "collective", ("waits", "waits_for"): "wait", ("processes", "role"): "role", ("loader", "role"): "role", ("energy", "source"): "source",
}
GROUPED = {("accounting", "phase"): ("--group-by", "phase"), ("accounting", "class"): ("--group-by", "class")}


def words() -> dict[str, set[str]]:
    """Heading → the words below it."""
    found: dict[str, set[str]] = {}
    heading = ""
    for line in (ROOT / "docs/glossary.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(("| word |", "| ---")):
            found.setdefault(heading, set()).add(line.split(" | ")[0][2:])
    return found


WORDS = words()
ALL = set().union(*WORDS.values())


def run(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([FATHOM, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in codes, (arguments, done.stderr)
    return done.stdout


def enumerations(schema: object) -> set[str]:
    """Every text that a JSON Schema lists as a value."""
    found: set[str] = set()
    if isinstance(schema, dict):
        found |= {value for value in schema.get("enum", []) if isinstance(value, str)}
        for value in schema.values():
            found |= enumerations(value)
    if isinstance(schema, list):
        for value in schema:
            found |= enumerations(value)
    return found


class Glossary(unittest.TestCase):
    def test_values_from_fixed_lists_are_defined(self):
        seen = 0
        for (report, column), _ in COLUMNS.items():
            inputs = RUNS if report in ("processes", "loader", "energy", "waits") else TRACES
            for name in inputs:
                rows = json.loads(run(report, *GROUPED.get((report, column), ()), "--json", "--limit", "0", name))
                for table in rows.get("inputs", [rows]):
                    for row in table["rows"]:
                        for value in (row[column] or "").split(", "):
                            seen += value != ""
                            self.assertIn(value, ALL | {""}, f"fathom {report} {name}: {column}")
        self.assertGreater(seen, 100)

    def test_labels_of_screens_are_defined(self):
        labels = WORDS["Labels of the screens"]
        screens = [run("diagnose", *options, name) for name in TRACES + RUNS for options in ((), ("--all",))]
        screens.append(run("whatif", "--remove-syncs", TRACES[0]))
        screens.append(run("compare", "--all", *TRACES[:2]))
        screens.append(run("verify", "--within-runs", "fp64", *PAIR, codes=(0, 1, 4)))
        screens.append(run("baseline", "show", "tests/data/baselines/version_2.json"))
        screens.append(run("bench", "--runs", "2", "--", "true"))
        screens.append(run("bench", "--runs", "6", "--base", "true", "--", "true"))
        screens.append(run("bench", "--runs", "1", "--sweep", "n=1,2", "--", "true", codes=(0, 4)))
        seen = set()
        for screen in screens:
            for heading in ("\nProcesses", "\nNot recorded", "\nRules that", "\n1. "):
                # Below these are lines of their own form; labels of findings are looked for in the whole.
                head = screen.split(heading)[0] if heading != "\n1. " else screen
            for line in head.splitlines():
                label = re.match(r"(?:   )?([A-Za-z]+(?: [a-z]+)?) {2,}\S", line)
                if label and len(re.match(r" *[^ ].*? {2,}", line)[0]) == 14:
                    seen.add(label[1])
                    self.assertIn(label[1], labels, line)
        self.assertLessEqual({"Verdict", "predicted", "evidence", "Next", "Outcome", "Accepted", "Result", "Rounds"}, seen)

    def test_values_of_the_schema_are_defined(self):
        values = enumerations(json.loads((ROOT / "docs/diagnosis.schema.json").read_text()))
        shown = {value.replace("_", " ") for value in values} | values
        undefined = {value for value in values if value not in ALL and value.replace("_", " ") not in ALL}
        # JSON has efforts and schemas by ids of their own.
        self.assertLessEqual(undefined, {"flag", "line", "fathom.diagnosis/1"})
        self.assertGreater(len(shown), 20)

    def test_kinds_and_units_of_columns_are_defined(self):
        for report in re.findall(r"^## (\S+)$", run("reference"), re.M):
            of_runs = ("telemetry", "processes", "functions", "energy", "loader", "ranges", "hot", "threads")
            name = RUNS[0] if report in of_runs else TRACES[0]
            for column in json.loads(run(report, "--json", "--limit", "1", name))["columns"]:
                self.assertIn(column["kind"], WORDS["Kinds of columns"], report)
                self.assertIn(column["unit"] or "ns", WORDS["Units"], f"{report}: {column['name']}")

    def test_every_column_is_defined_in_the_page_that_the_glossary_names(self):
        metrics = (ROOT / "docs/metrics.md").read_text()
        for name in re.findall(r"^\| `(\w+)` \|", run("reference"), re.M):
            self.assertIn(f"| `{name}` |", metrics)

    def test_the_program_explains_every_word(self):
        for heading in ("Terms", "Verdicts", "Kernel classes"):
            for word in sorted(WORDS[heading]):
                self.assertIn(word, run("explain", word))


if __name__ == "__main__":
    unittest.main()
