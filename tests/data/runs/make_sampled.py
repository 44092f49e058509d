"""Makes the session folder `sampled`: a Python program whose threads were sampled, as docs/sampling.md and docs/wire.md
say. Nothing was recorded: its numbers are round, so that what is made of them can be computed by hand.

    make_sampled.py DIR
"""

import json
import pathlib
import sys

from make_plain import MAIN, SECOND, STARTED, UNIX, File

MS = SECOND // 1000
WORKER, CHILD = 102, 103
LIBRARY = "/usr/lib/python3.11"


class Samples(File):
    """With frames and stacks."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: dict[tuple[int, str, str, int], int] = {}
        self.now: dict[int, int] = {}

    def frame(self, parent: int, function: str, file: str, line: int) -> int:
        key = (parent, function, file, line)
        if key not in self.frames:
            function_id, file_id = self.text(function), self.text(file)
            self.frames[key] = len(self.frames) + 1
            self.record(23, "IIIIi", self.frames[key], parent, function_id, file_id, line)
        return self.frames[key]

    def stack(self, pid: int, tid: int, stack: list[tuple[str, str, int]], spent: tuple[int, int, int],
              cause: str = "", waited: str = "") -> None:
        """Spent on a processor, in the run queue and blocked, in ms."""
        frame = 0
        for function, file, line in stack:
            frame = self.frame(frame, function, file, line)
        self.now[tid] = self.now.get(tid, 0) + sum(spent)
        thread, cause_id, object_id = self.text("sort" if pid == CHILD else "python"), self.text(cause), self.text(waited)
        self.record(24, "qiqIIqqqII", STARTED + self.now[tid] * MS, pid, tid, thread, frame,
                    *(each * MS for each in spent), cause_id, object_id)


def monitor() -> Samples:
    file = Samples()
    file.process(0, MAIN, 1, "python app.py", "main")
    file.process(0, CHILD, MAIN, "sort names", "child")
    for key, value in {"rate_hz": 100, "rounds": 1000, "late": 3, "cost_ns": 40 * MS, "processors": 2,
                       "stacks_whole": 690, "stacks_shortened": 8, "stacks_unread": 2}.items():
        key_id, value_id = self_ids(file, f"samples.{key}", str(value))
        file.record(11, "iII", 0, key_id, value_id)
    main, lib = ("<module>", "app.py", 40), f"{LIBRARY}/json/decoder.py"
    for _ in range(10):
        file.stack(MAIN, MAIN, [main, ("parse", "app.py", 12)], (300, 10, 0))
        file.stack(MAIN, MAIN, [main, ("parse", "app.py", 13), ("JSONDecoder.decode", lib, 337)], (200, 10, 0))
        file.stack(MAIN, MAIN, [main, ("total", "app.py", 21)], (80, 0, 0))
        file.stack(MAIN, MAIN, [main, ("fetch", "app.py", 30)], (0, 0, 400), "file", "socket:[4242]")
    for _ in range(5):
        file.stack(MAIN, WORKER, [("run", "app.py", 50), ("<lambda>", "app.py", 51)], (20, 0, 0))
        file.stack(MAIN, WORKER, [("run", "app.py", 50)], (0, 0, 1980), "sleep", "clock_nanosleep")
    file.stack(CHILD, CHILD, [], (500, 0, 0))
    file.exit(MAIN, 10 * SECOND, 6 * SECOND, 210 << 20, 0)
    return file


def self_ids(file: File, *texts: str) -> list[int]:
    return [file.text(text) for text in texts]


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    monitor().save(folder / "monitor.fathom")
    manifest = {
        "schema": "fathom-run/1",
        "fathom": "0.1.0",
        "name": "app",
        "command": ["python", "app.py"],
        "options": {"telemetry_hz": 0},
        "started_unix_ns": UNIX,
        "ended_unix_ns": UNIX + 10 * SECOND,
        "exit": {"code": 0, "signal": None},
        "processes": [],
        "not_recorded": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
