"""Makes the session folder `plain`: a Python program without torch, beside a GPU, as docs/capture.md and docs/wire.md
say. Nothing was recorded: its numbers are round, so that what is made of them can be computed by hand.

    make_plain.py DIR
"""

import json
import pathlib
import struct
import sys
import zlib

MAGIC = b"FATHOM\x01\x00"
SECOND = 10**9
MIB = 1 << 20
STARTED = 1_000 * SECOND
UNIX = 1_767_225_600 * SECOND
MAIN, CHILD = 100, 101


class File:
    """One capture file of one block."""

    def __init__(self) -> None:
        self.payload = b""
        self.texts: dict[str, int] = {}
        self.counters: dict[tuple[int, int, str], int] = {}
        self.record(2, "qqI", STARTED, UNIX, 100)

    def record(self, kind: int, layout: str, *fields: float, text: bytes = b"") -> None:
        body = struct.pack("<" + layout, *fields) + text
        self.payload += struct.pack("<HH", kind, len(body)) + body

    def text(self, text: str) -> int:
        if text and text not in self.texts:
            self.texts[text] = len(self.texts) + 1
            self.record(1, "I", self.texts[text], text=text.encode())
        return self.texts[text] if text else 0

    def process(self, at: int, pid: int, parent: int, name: str, role: str) -> None:
        name_id, role_id = self.text(name), self.text(role)
        self.record(3, "qiiiII", STARTED + at, pid, parent, -1, name_id, role_id)

    def slice(self, start: float, end: float, tid: int, name: str, category: str, value: int = -1) -> None:
        name_id, category_id = self.text(name), self.text(category)
        begin, length = STARTED + round(start * SECOND), round((end - start) * SECOND)
        self.record(5, "qqiqIIq", begin, length, MAIN, tid, name_id, category_id, value)

    def sample(self, at: int, pid: int, device: int, name: str, unit: str, value: float) -> None:
        key = (pid, device, name)
        if key not in self.counters:
            name_id, unit_id = self.text(name), self.text(unit)
            self.counters[key] = len(self.counters) + 1
            self.record(9, "IiiII", self.counters[key], pid, device, name_id, unit_id)
        self.record(10, "qId", STARTED + at, self.counters[key], value)

    def function(self, file: str, line: int, name: str, calls: int, total: int, own: int) -> None:
        file_id, name_id = self.text(file), self.text(name)
        self.record(14, "iIIIQqq", MAIN, file_id, line, name_id, calls, total, own)

    def exit(self, pid: int, wall: int, user: int, peak: int, read: int) -> None:
        at = STARTED + (0 if pid == MAIN else 2 * SECOND) + wall
        self.record(12, "qiiqqqqqq", at, pid, 0, user, SECOND // 2, peak, wall, read, 2 * MIB)

    def save(self, path: pathlib.Path) -> None:
        summed = struct.pack("<HHQ", 1, 0, 0) + self.payload
        header = struct.pack("<III", 0x4B4C4246, len(self.payload), zlib.crc32(summed))
        path.write_bytes(MAGIC + header + summed)


def monitor() -> File:
    file = File()
    file.process(0, MAIN, 1, "python work.py", "main")
    file.process(2 * SECOND, CHILD, MAIN, "python work.py", "child")
    for second in range(11):
        at = second * SECOND
        file.sample(at, MAIN, -1, "process.cpu_user", "seconds", 0.7 * second)
        file.sample(at, MAIN, -1, "process.memory", "bytes", (100 + 10 * second) * MIB)
        if 2 <= second <= 6:
            file.sample(at, CHILD, -1, "process.memory", "bytes", 300 * MIB)
        file.sample(at, 0, -1, "cpu.count", "count", 4)
        file.sample(at, 0, -1, "memory.total", "bytes", 4096 * MIB)
        file.sample(at, 0, -1, "cgroup.memory_limit", "bytes", 1024 * MIB)
        file.sample(at, 0, 0, "gpu.power", "watts", 100)
        file.sample(at, 0, 0, "gpu.power_limit", "watts", 400)
        file.sample(at, 0, 0, "gpu.utilization", "percent", 10 * second)
        file.sample(at, 0, 0, "gpu.memory_used", "bytes", 512 * MIB)
        file.sample(at, 0, 0, "gpu.memory_total", "bytes", 8192 * MIB)
    file.exit(CHILD, 4 * SECOND, 1 * SECOND, 310 * MIB, 0)
    file.exit(MAIN, 10 * SECOND, 7 * SECOND, 210 * MIB, 64 * MIB)
    return file


def inside() -> File:
    file = File()
    file.process(0, MAIN, 1, "work.py", "main")
    file.slice(0, 0.5, MAIN, "import", "phase")
    file.slice(0.5, 9.5, MAIN, "main", "phase")
    file.slice(9.5, 10, MAIN, "exit", "phase")
    file.slice(1, 3, 777, "thread", "phase")
    file.slice(4, 4.25, MAIN, "garbage collection", "gc", 2)
    file.slice(5, 6, MAIN, "load", "annotation")
    file.slice(6, 7.5, MAIN, "load", "annotation")
    file.function("work.py", 1, "<module>", 1, 9 * SECOND, SECOND // 10)
    file.function("work.py", 12, "Table.load", 2, 2 * SECOND, SECOND // 2)
    file.function("", 0, "<built-in method builtins.sum>", 1000, 6 * SECOND, 6 * SECOND)
    file.function("work.py", 20, "total", 1000, 6_400_000_000, 400_000_000)
    return file


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    monitor().save(folder / "monitor.fathom")
    inside().save(folder / f"process-{MAIN}.fathom")
    manifest = {
        "schema": "fathom-run/1",
        "fathom": "0.1.0",
        "name": "work",
        "command": ["python", "work.py"],
        "options": {"telemetry_hz": 1, "price_per_kwh": 0.36, "carbon_g_per_kwh": 500},
        "started_unix_ns": UNIX,
        "ended_unix_ns": UNIX + 10 * SECOND,
        "exit": {"code": 0, "signal": None},
        "processes": [],
        "not_recorded": [
            {
                "what": "energy of the processors (RAPL)",
                "why": "this machine shows no counters of energy",
                "lost": "energy of processors and memory (energy.*)",
                "remedy": "virtual machines have none",
            }
        ],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    said = {"schema": "fathom-process/1", "pid": MAIN, "gc": {"pauses": 9, "total_ns": 300_000_000}, "not_recorded": []}
    (folder / f"process-{MAIN}.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
