"""What the printed tables must agree on, for every recording: windows are accounted for to the nanosecond, and however
device time is divided, its sum is the same. Goes through the program, so that no report can lose what analyses keep."""
import collections
import functools
import itertools
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
ACCOUNTING = ("device", "step", "phase", "module", "class")
BUSY = {"compute": "compute", "communication": "exposed_communication", "memcpy": "exposed_memcpy",
        "memset": "exposed_memset"}
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


@functools.cache
def step_rows(trace: pathlib.Path) -> list[dict]:
    """Read once: most laws are about them."""
    return rows("steps", trace)


@functools.cache
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
                for row in step_rows(trace):
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

    def test_buckets_sum_to_each_step_and_device(self):
        for trace in recordings():
            with self.subTest(trace.name):
                steps = collections.defaultdict(collections.Counter)
                for row in step_rows(trace):
                    own = steps[row["step"], row["device"]]
                    own["window"] += row["window_ns"]
                    for bucket, column in BUSY.items():
                        own[bucket] += row[f"{column}_ns"] or 0
                accounts = collections.defaultdict(collections.Counter)
                for row in rows("accounting", trace, "--group-by", "step"):
                    accounts[row["step"], row["device"]][row["bucket"]] += row["time_ns"]
                    self.assertGreater(row["time_ns"], 0)
                devices = {row["device"] for row in rows("accounting", trace)}
                # A step of a process that uses no device, beside devices that no step is known to use.
                windows = {key: own["window"] for key, own in steps.items() if own["window"] and key[1] in devices}
                self.assertEqual({key: own.total() for key, own in accounts.items()}, windows)
                for (step, device), own in accounts.items():
                    for bucket in BUSY if device is not None else ():
                        self.assertEqual(own[bucket], steps[step, device][bucket], (step, device, bucket))

    def test_accounts_are_the_same_however_they_are_divided(self):
        for trace in recordings():
            with self.subTest(trace.name):
                sums = {}
                edges = [row["edge"] for row in step_rows(trace)]
                for by in ACCOUNTING:
                    table = rows("accounting", trace, "--group-by", by)
                    if by == "step" and not all(edges):
                        table = [row for row in table if not row["edge"]]
                    if by in ("module", "step") and not table:
                        continue  # no module frames were recorded, or no step uses a device
                    sums[by] = collections.Counter()
                    for row in table:
                        sums[by][row["device"], row["bucket"]] += row["time_ns"]
                for by, account in sums.items():
                    self.assertEqual(account, sums["device"], by)

    def test_gaps_and_busy_time_make_up_the_steps(self):
        for trace in recordings():
            with self.subTest(trace.name):
                gaps = collections.defaultdict(list)
                for row in rows("gaps", trace, "--sort", "start"):
                    begin = row["start_ns"]
                    gaps[row["device"]].append((begin, begin + row["duration_ns"]))
                for device, own in gaps.items():
                    for (_, end), (begin, _) in itertools.pairwise(own):
                        self.assertLessEqual(end, begin, device)
                for row in step_rows(trace):
                    if row["device"] is None:
                        continue
                    begin, end = row["start_ns"], row["start_ns"] + row["window_ns"]
                    idle = sum(max(0, min(end, till) - max(begin, since)) for since, till in gaps[row["device"]])
                    self.assertEqual(idle, row["idle_ns"], (row["step"], row["device"]))

    def test_device_time_is_the_same_however_it_is_divided(self):
        for trace in recordings():
            for selection in ((), ("--steps", str(step_rows(trace)[-1]["step"])), ("--window", "1ms:")):
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
