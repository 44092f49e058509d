"""Records the session folders of this directory: a real program on the CPU, written as docs/wire.md says.

    record.py DIR    needs torch

It is a second, plain writer of the format: what Fathom reads here was not written by Fathom. Names of
the machine are left out. Times and loads are those of the machine it ran on.
"""
import gzip
import json
import os
import pathlib
import resource
import struct
import sys
import threading
import time
import zlib

import torch
from torch.profiler import ProfilerActivity, profile, schedule

MAGIC = b"FATHOM\x01\x00"


class File:
    """One capture file, in blocks."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.number = 0
        self.begin()
        path.write_bytes(MAGIC)

    def begin(self) -> None:
        self.payload = b""
        self.texts: dict[str, int] = {}
        self.counters: dict[tuple[int, int, str, str], int] = {}
        self.clock()

    def record(self, kind: int, layout: str, *fields: object, text: bytes = b"") -> None:
        body = struct.pack("<" + layout, *fields) + text
        self.payload += struct.pack("<HH", kind, len(body)) + body

    def text(self, text: str) -> int:
        if not text:
            return 0
        if text not in self.texts:
            self.texts[text] = len(self.texts) + 1
            self.record(1, "I", self.texts[text], text=text.encode())
        return self.texts[text]

    def clock(self) -> None:
        before, unix, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        self.record(2, "qqI", (before + after) // 2, unix, after - before)

    def process(self, at: int, pid: int, parent: int, name: str, role: str) -> None:
        name_id, role_id = self.text(name), self.text(role)
        self.record(3, "qiiiII", at, pid, parent, -1, name_id, role_id)

    def slice(self, start: int, end: int, name: str, category: str, value: int = -1) -> None:
        name_id, category_id = self.text(name), self.text(category)
        pid, tid = os.getpid(), threading.get_native_id()
        self.record(5, "qqiqIIq", start, end - start, pid, tid, name_id, category_id, value)

    def sample(self, pid: int, name: str, unit: str, value: float) -> None:
        key = (pid, -1, name, unit)
        if key not in self.counters:
            name_id, unit_id = self.text(name), self.text(unit)
            self.counters[key] = len(self.counters) + 1
            self.record(9, "IiiII", self.counters[key], pid, -1, name_id, unit_id)
        self.record(10, "qId", time.monotonic_ns(), self.counters[key], value)

    def flush(self) -> None:
        summed = struct.pack("<HHQ", 1, 0, self.number) + self.payload
        header = struct.pack("<III", 0x4B4C4246, len(self.payload), zlib.crc32(summed))
        with open(self.path, "ab") as file:
            file.write(header + summed)
        self.number += 1
        self.begin()


class Monitor(threading.Thread):
    """Samples this process a hundred times a second."""

    def __init__(self, file: File) -> None:
        super().__init__(daemon=True)
        self.file = file
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.wait(0.01):
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            self.file.sample(os.getpid(), "process.resident", "bytes", 4096.0 * pages)
            self.file.sample(os.getpid(), "process.cpu", "seconds", time.process_time())
            load = float(pathlib.Path("/proc/loadavg").read_text().split()[0])
            self.file.sample(0, "load", "processes", load)


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    pid = os.getpid()
    own, launcher = File(folder / f"process-{pid}.fathom"), File(folder / "monitor.fathom")
    started, started_unix = time.monotonic_ns(), time.time_ns()
    for file in (own, launcher):
        file.process(started, pid, 1, "python train.py", "main")
    own.record(4, "iqI", pid, pid, own.text("MainThread"))
    monitor = Monitor(launcher)
    monitor.start()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profile(
        activities=[ProfilerActivity.CPU], schedule=schedule(wait=2, warmup=1, active=3, repeat=1)
    ) as profiler:
        for step in range(8):
            begin = time.monotonic_ns()
            time.sleep(0.02)
            batch = torch.randn(32, 64)
            own.slice(begin, time.monotonic_ns(), "sleeping loader", "loader.fetch", step)
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            own.slice(begin, time.monotonic_ns(), "step", "step", step)
            profiler.step()
    own.slice(started, time.monotonic_ns(), "main", "phase")
    monitor.stop.set()
    monitor.join()
    trace = folder / "trace.json"
    profiler.export_chrome_trace(str(trace))
    text = trace.read_text()
    trace.unlink()
    document = json.loads(text)
    document.pop("host_name", None)
    document["traceName"] = "trace.json"
    named = folder / f"torch-{pid}-1.pt.trace.json.gz"
    named.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.monotonic_ns() - started
    user, system = round(used.ru_utime * 1e9), round(used.ru_stime * 1e9)
    peak = used.ru_maxrss * 1024
    launcher.record(12, "qiiqqqqqq", started + wall, pid, 0, user, system, peak, wall, -1, -1)
    own.flush()
    launcher.flush()
    manifest = {
        "schema": "fathom-run/1",
        "fathom": "0.1.0",
        "name": "train",
        "command": ["python", "train.py"],
        "git": {"revision": "0123456789abcdef", "dirty": False},
        "host": {"cores": os.cpu_count(), "cpu": "a processor"},
        "gpus": [],
        "started_unix_ns": started_unix,
        "ended_unix_ns": started_unix + wall,
        "exit": {"code": 0},
        "processes": [{"pid": pid, "parent": 1, "role": "main", "command": "python train.py"}],
        "not_recorded": [{"what": "GPU", "why": "there is none", "remedy": ""}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    said = {
        "schema": "fathom-process/1",
        "pid": pid,
        "versions": {"torch": torch.__version__, "python": sys.version.split()[0]},
        "model": {"class": "Sequential", "parameters": sum(p.numel() for p in model.parameters())},
        "batch_size": 32,
        "dtype": "float32",
    }
    (folder / f"process-{pid}.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
