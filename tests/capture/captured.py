"""Runs a program under the Python hook, as the launcher would, and reads what it recorded."""

from __future__ import annotations

import collections
import concurrent.futures
import glob
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from typing import Any

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
HOOK = ROOT / "python/fathom_hook"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
# What programs load, where the program under test was built; none of it with sanitizers.
PYTHON_LIBRARY = pathlib.Path(FATHOM).parent / "libfathom_python.so"
TORCH_PYTHON = os.environ.get("FATHOM_TORCH_PYTHON") or str(ROOT / "build/torch/bin/python")

# Run in a shell's background, the tests begin with SIGINT ignored, and programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

KINDS = {
    1: ("string", "<I"),
    2: ("clock", "<qqI"),
    3: ("process", "<qiiiII"),
    4: ("thread", "<iqI"),
    5: ("slice", "<qqiqIIq"),
    6: ("begin", "<qiqII"),
    7: ("end", "<qiq"),
    8: ("instant", "<qiqII"),
    9: ("counter", "<IiiII"),
    10: ("sample", "<qId"),
    11: ("fact", "<iII"),
    12: ("exit", "<qiiqqqqqq"),
    13: ("dropped", "<IQ"),
    14: ("function", "<iIIIQqq"),
    15: ("argument", "<II"),
    22: ("line", "<iIIIIIQqq"),
    25: ("line_run", "<qqiqIII"),
    26: ("function_part", "<qqiqIIIQqq"),
    27: ("line_part", "<qqiqIIIIIQqq"),
    28: ("function_calls", "<iIIIIIIQQqq"),
}
# Which fields are numbers of strings.
TEXTS = {
    "process": (4, 5),
    "thread": (2,),
    "slice": (4, 5),
    "begin": (3, 4),
    "instant": (3, 4),
    "counter": (3, 4),
    "fact": (1, 2),
    "dropped": (0,),
    "function": (1, 3),
    "argument": (0, 1),
    "line": (1, 4),
    "line_run": (4, 6),
    "function_part": (4, 6),
    "line_part": (4, 7),
    "function_calls": (1, 3, 4, 6),
}
Slice = collections.namedtuple("Slice", "start duration pid tid name category value")


def records(path: str | pathlib.Path) -> list[tuple[str, tuple[Any, ...]]]:
    """What a capture file holds, by docs/wire.md; a half block at the end is left out."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"FATHOM\x01\x00", path
    found: list[tuple[str, tuple[Any, ...]]] = []
    at = 8
    while at + 24 <= len(data):
        sync, size, crc = struct.unpack_from("<III", data, at)
        payload = data[at + 24 : at + 24 + size]
        if len(payload) < size:
            break
        assert sync == 0x4B4C4246, (path, at)
        assert crc == zlib.crc32(data[at + 12 : at + 24] + payload), (path, at)
        found += block(payload)
        at += 24 + size
    return found


def block(payload: bytes) -> list[tuple[str, tuple[Any, ...]]]:
    texts = {0: ""}
    found = []
    at = 0
    while at < len(payload):
        kind, size = struct.unpack_from("<HH", payload, at)
        body = payload[at + 4 : at + 4 + size]
        at += 4 + size
        name, layout = KINDS[kind]
        fields = list(struct.unpack_from(layout, body))
        if name == "string":
            texts[fields[0]] = body[4:].decode()
            continue
        for place in TEXTS.get(name, ()):
            fields[place] = texts[fields[place]]
        found.append((name, tuple(fields)))
    return found


class Run:
    """One captured program: its exit, output, and session folder."""

    def __init__(self, folder: str, done: subprocess.CompletedProcess[str]) -> None:
        self.folder = pathlib.Path(folder)
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def processes(self) -> list[dict[str, Any]]:
        paths = sorted(self.folder.glob("process-*.json"))
        return [json.loads(path.read_text()) for path in paths]

    def process(self, role: str = "main") -> dict[str, Any]:
        return next(p for p in self.processes() if p["role"] == role)

    def records(self, pid: int) -> list[tuple[str, tuple[Any, ...]]]:
        return records(self.folder / f"process-{pid}.fathom")

    def ends(self, pid: int) -> int:
        """How often the process has said that it ends."""
        return sum(kind == "exit" for kind, _ in self.records(pid))

    def slices(self, category: str) -> list[Slice]:
        """Of all processes."""
        found = []
        for path in sorted(glob.glob(str(self.folder / "process-*.fathom"))):
            found += [Slice(*fields) for kind, fields in records(path) if kind == "slice"]
        return [s for s in found if s.category == category]

    def roles(self) -> collections.Counter[str]:
        """How many processes have which role in the end."""
        last = {}
        for path in glob.glob(str(self.folder / "process-*.fathom")):
            for kind, fields in records(path):
                if kind == "process":
                    last[path] = fields[5]
        return collections.Counter(last.values())

    def traces(self) -> list[pathlib.Path]:
        return sorted(self.folder.glob("torch-*.pt.trace.json"))

    def steps(self, trace: pathlib.Path) -> list[int]:
        """Numbers of the steps that `fathom steps` finds."""
        rows = fathom_json("steps", str(trace), "--limit", "0")["rows"]
        return [row["step"] for row in rows]

    def not_recorded(self, role: str = "main") -> str:
        return json.dumps(self.process(role)["not_recorded"])


def fathom_json(command: str, *words: str) -> Any:
    done = subprocess.run(
        [FATHOM, command, *words, "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


class Captures:
    """A place for session folders, removed by close()."""

    def __init__(self, python: str = sys.executable, library: pathlib.Path | None = None) -> None:
        """`library` is unpacked into the session, as the launcher does with what programs load."""
        self.python = python
        self.library = library
        self._folder = tempfile.mkdtemp(prefix="fathom-capture-")

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def environment(self, options: dict[str, Any], **more: str) -> dict[str, str]:
        """As the launcher sets it, with a session folder of its own."""
        session = tempfile.mkdtemp(dir=self._folder)
        if self.library is not None and self.library.exists():
            os.mkdir(os.path.join(session, "lib"))
            shutil.copy(self.library, os.path.join(session, "lib"))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
        environment.update(
            FATHOM_SESSION=session,
            FATHOM_OPTIONS=json.dumps(options),
            PYTHONPATH=str(HOOK),
            PYTHONDONTWRITEBYTECODE="1",
            OMP_NUM_THREADS="1",
            **more,
        )
        return environment

    def run(self, *command: str, options: dict[str, Any] | None = None, **more: str) -> Run:
        """Runs Python with these words; a program's name stands for its path."""
        words = [str(PROGRAMS / w) if w in os.listdir(PROGRAMS) else w for w in command]
        environment = self.environment(options or {}, **more)
        done = subprocess.run(
            [self.python, *words],
            capture_output=True,
            text=True,
            env=environment,
            cwd=self._folder,
            timeout=900,
        )
        return Run(environment["FATHOM_SESSION"], done)


def each(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    found: list[unittest.TestCase] = []
    for test in suite:
        found += each(test) if isinstance(test, unittest.TestSuite) else [test]
    return found


def run_one(test: unittest.TestCase) -> bool:
    """Says how it went at its end, so that outputs do not mix."""
    result = unittest.TestResult()
    test.run(result)
    ends = {"ok": result.wasSuccessful()} | {"skipped": bool(result.skipped)}
    how = next((name for name in ("skipped", "ok") if ends[name]), "FAILED")
    report = "".join(text for _, text in result.failures + result.errors)
    print(f"{test.id().rpartition('.')[2]} ... {how}\n{report}", end="", flush=True)
    return result.wasSuccessful()


def run_together(*cases: type[unittest.TestCase]) -> bool:
    """All tests, as many at a time as there are processors, for those that take long. Whether all
    went well."""
    tests = []
    for case in cases:
        tests += each(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    workers = max(2, min(4, os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        good = list(pool.map(run_one, tests))
    print(f"{len(tests)} tests, {good.count(False)} failed")
    return all(good)
