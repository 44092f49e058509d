"""What the printed tables must agree on, for every recording: windows are accounted for to the nanosecond, and however
device time is divided, its sum is the same. Goes through the program, so that no report can lose what analyses keep."""
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
SHARED = pathlib.Path(os.environ.get("FATHOM_DATA", ROOT.parent / "shared/data"))
BUCKETS = ("compute", "exposed_communication", "exposed_memcpy", "exposed_memset", "idle")
OVERVIEW = ("compute", "communication exposed", "memcpy exposed", "memset exposed", "idle")
# Every way in which device time is divided; each must have the same sum.
DIVISIONS = {
    "ops": ("name", "shape", "stack", "phase", "module", "thread"),
    "modules": ("",),
    "stacks": ("",),
}
KERNELS = ("name", "config", "op", "stream")
COPIES = ("kind", "op", "stream")


def recordings() -> list[pathlib.Path]:
    folders = [ROOT / "examples", ROOT / "tests/data/traces", SHARED / "kineto", SHARED / "kineto-multirank"]
    return [path for folder in folders for path in sorted(folder.rglob("*.json.gz")) if "_et.json" not in path.name]


def rows(report: str, trace: pathlib.Path, *options: str) -> list[dict]:
    command = [FATHOM, report, str(trace), "--json", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)["rows"]


def device_time(report: str, trace: pathlib.Path, grouping: str, selection: tuple[str, ...]) -> int:
    options = ("--group-by", grouping) if grouping else ()
    options += ("--metric", "device") if report == "stacks" else ()
    column = "device_self_ns" if report in ("ops", "modules") else "total_ns"
    return sum(row[column] for row in rows(report, trace, *options, *selection))


class Tables(unittest.TestCase):
    def test_there_are_recordings(self):
        self.assertGreaterEqual(len(recordings()), 14)

    def test_steps_are_accounted_for_and_touch(self):
        for trace in recordings():
            with self.subTest(trace.name):
                ends = {}
                for row in rows("steps", trace):
                    key = row["process"], row["device"]
                    if row["device"] is not None:
                        self.assertEqual(sum(row[f"{bucket}_ns"] for bucket in BUCKETS), row["window_ns"])
                        self.assertEqual(row["busy_ns"], row["window_ns"] - row["idle_ns"])
                    self.assertEqual(row["start_ns"], ends.get(key, row["start_ns"]))
                    ends[key] = row["start_ns"] + row["window_ns"]

    def test_the_overview_is_accounted_for(self):
        for trace in recordings():
            with self.subTest(trace.name):
                devices = {}
                for row in rows("overview", trace):
                    devices.setdefault(row["section"], {})[row["metric"]] = row["value"]
                for section, metrics in devices.items():
                    if section.startswith("device") and "window" in metrics:
                        self.assertEqual(sum(metrics[bucket] for bucket in OVERVIEW), metrics["window"], section)

    def test_device_time_is_the_same_however_it_is_divided(self):
        for trace in recordings():
            for selection in ((), ("--steps", str(rows("steps", trace)[-1]["step"])), ("--window", "1ms:")):
                with self.subTest(trace.name, selection=selection):
                    # Every division of the whole; of a part the plain tables, which took it apart in other ways.
                    most = 1 if selection else None
                    copies = device_time("copies", trace, "kind", selection)
                    sums = {device_time("kernels", trace, by, selection) + copies for by in KERNELS[:most]}
                    for report, groupings in DIVISIONS.items():
                        if report == "modules" and not rows(report, trace):
                            continue  # no module frames were recorded
                        sums |= {device_time(report, trace, by, selection) for by in groupings[:most]}
                    self.assertEqual(len(sums), 1, sums)
                    if not selection:
                        self.assertEqual({copies}, {device_time("copies", trace, by, ()) for by in COPIES})


if __name__ == "__main__":
    unittest.main()
