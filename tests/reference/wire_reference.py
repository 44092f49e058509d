"""A slow, plain reader of Fathom's own capture files: docs/wire.md as Python, and what docs/formats.md makes of it.

It shares nothing with the program but these two pages. Records of devices are in wire_devices.py.
"""
from __future__ import annotations

import json
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from canonical_json import canonical, decode
from wire_devices import LAYOUTS as DEVICE_LAYOUTS
from wire_devices import DeviceRecords, empty_details

MAGIC = b"FATHOM\x01\x00"
SYNC = b"FBLK"
HEADER = struct.Struct("<4sIIHHQ")
LAYOUTS = {
    2: "<qqI", 3: "<qiiiII", 4: "<iqI", 5: "<qqiqIIq", 6: "<qiqII", 7: "<qiq", 8: "<qiqII", 9: "<IiiII", 10: "<qId",
    11: "<iII", 12: "<qiiqqqqqq", 13: "<IQ", 14: "<iIIIQqq", 15: "<II",
    22: "<iIIIIIQqq", 23: "<IIIIi", 24: "<qiqIIqqqII", 25: "<qqiqIII",
    26: "<qqiqIIIQqq", 27: "<qqiqIIIIIQqq", 28: "<iIIIIIIQQqq",
    **DEVICE_LAYOUTS,
}  # fmt: skip
LARGEST = 16 << 20
LAST_TIME = 2**61
CLOCK_STEP = 1_000_000

# Kind of slice, and whether it lies beside the threads.
CATEGORIES = {
    "annotation": ("user_annotation", False), "range": ("user_annotation", True), "frame": ("user_annotation", True),
    "step": ("user_annotation", False), "loader.fetch": ("user_annotation", False),
    "loader.sample": ("other", False), "loader.collate": ("other", False), "loader.pin": ("other", False),
    "gc": ("other", False), "profile": ("trace_span", True), "phase": ("trace_span", True),
    "kernel": ("kernel", False), "gpu_memcpy": ("memcpy", False), "gpu_memset": ("memset", False),
    "cuda_graph": ("kernel", False), "cuda_sync": ("sync", False), "cuda_runtime": ("runtime", False),
    "cuda_driver": ("driver", False), "overhead": ("overhead", False), "overhead.device": ("overhead", True),
    "host_function": ("other", False), "line": ("other", True), "python_function": ("python_function", False),
}  # fmt: skip
Place = tuple[str, str, str]


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and payload of every block whose sum is right, wherever it lies."""
    at = len(MAGIC) if data.startswith(MAGIC) else 0
    while at + HEADER.size <= len(data):
        sync, size, crc, kind, _, number = HEADER.unpack_from(data, at)
        end = at + HEADER.size + size
        if sync == SYNC and size <= LARGEST and end <= len(data) and zlib.crc32(data[at + 12 : end]) == crc:
            if kind == 1:
                yield number, data[at + HEADER.size : end]
            at = end
            continue
        at = data.find(SYNC, at + 1)
        if at < 0:
            return


def text_of(raw: bytes) -> str:
    """Each byte that is not UTF-8 becomes U+FFFD."""
    text = raw.decode(errors="surrogateescape")
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def json_value(text: str) -> str:
    """Objects and lists as they are, all else as a string."""
    if text.startswith(("{", "[")):
        try:
            json.loads(text)
            return canonical(decode(text.encode()))
        except ValueError:
            pass
    return quoted(text)


def field(value: Any) -> str:
    return "-" if value is None else str(value)


def bits(value: float) -> str:
    return struct.pack(">d", value).hex()


class Slice:
    def __init__(self, place: Place, start: int, end: int, name: str, category: str) -> None:
        self.place, self.start, self.end = place, start, end
        self.name, self.category = name, category
        self.kind = CATEGORIES.get(category, ("other", False))[0]
        self.correlation = self.external = "-"
        self.details = empty_details(self.kind)
        self.launch: tuple[list[int], list[int]] | None = None  # grid and block
        self.number: int | None = None
        self.arguments: list[tuple[str, str]] = []


class Track:
    def __init__(self, pid: int | None, tid: int | None) -> None:
        self.pid, self.tid = pid, tid
        self.name, self.device, self.slices = "", -1, 0
        self.stream: int | None = None
        self.unit: str | None = None


class Run:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.parent: int | None = None
        self.rank = self.status = -1
        self.role: str | None = None
        self.name: str | None = None
        self.times: list[int | None] = [None, None]
        self.used: list[int | None] = [None] * 6  # wall, user, system, peak, read, written


class WireReader:
    def __init__(self) -> None:
        self.clocks: list[int] = []
        self.clock_errors: list[int] = []
        self.tracks: dict[Place, Track] = {}
        self.slices: list[Slice] = []
        self.instants: list[tuple[Place, int, str, list[tuple[str, str]]]] = []
        self.samples: list[tuple[Place, int, float]] = []
        self.open: dict[tuple[int, int], list[Slice]] = defaultdict(list)
        self.thread_names: dict[tuple[int, int], str] = {}
        self.threads: set[tuple[int, int]] = set()
        self.facts: dict[tuple[int, str], str] = {}
        self.runs: dict[int, Run] = {}
        self.functions: list[str] = []
        self.lines: list[str] = []
        self.sums = {"profile": 0, "stack": 0}
        self.stacks: list[tuple[int, list[str], list[str]]] = []
        self.main = 0
        self.last = 0
        self.first_block = 0
        self.owner: list[tuple[str, str]] | None = None
        self.devices = DeviceRecords(self)

    def read(self, data: bytes) -> None:
        for count, (number, payload) in enumerate(blocks(data)):
            if count == 0:
                self.first_block = number
            self.block(payload)

    def block(self, payload: bytes) -> None:
        self.texts = {0: ""}
        self.counters: dict[int, Place] = {}
        self.frames: dict[int, list[str]] = {0: []}
        self.owner = None
        self.devices.last = None
        at = 0
        while at + 4 <= len(payload):
            kind, size = struct.unpack_from("<HH", payload, at)
            body = payload[at + 4 : at + 4 + size]
            at += 4 + size
            if len(body) < size:
                return
            if kind == 1 and size >= 4:
                self.texts[struct.unpack_from("<I", body)[0]] = text_of(body[4:])
            elif kind in LAYOUTS and size >= struct.calcsize(LAYOUTS[kind]):
                self.record(kind, struct.unpack_from(LAYOUTS[kind], body))

    def record(self, kind: int, fields: tuple[Any, ...]) -> None:
        handlers: dict[int, Callable[..., None]] = {
            2: self.clock, 3: self.process, 4: self.thread, 5: self.slice, 6: self.begin, 7: self.end,
            8: self.instant, 9: self.counter, 10: self.sample, 11: self.fact, 12: self.exit, 14: self.function,
            15: self.argument, 16: self.devices.device, 17: self.devices.launch, 18: self.devices.copy,
            19: self.devices.wait, 20: self.devices.call, 21: self.devices.memory,
            22: self.line, 23: self.frame, 24: self.stack, 25: self.line_run,
        }  # fmt: skip
        if 5 <= kind <= 8:
            self.devices.last = None
        if kind in handlers:
            handlers[kind](*fields)

    def text(self, number: int) -> str:
        return self.texts.get(number, "")

    def true(self, time: int) -> bool:
        return 0 <= time <= LAST_TIME

    def note(self, time: int) -> None:
        self.last = max(self.last, time)

    # Records

    def clock(self, monotonic: int, unix: int, error: int) -> None:
        if self.true(monotonic) and self.true(unix):
            self.clocks.append(unix - monotonic)
            self.clock_errors.append(error)

    def run(self, pid: int) -> Run:
        return self.runs.setdefault(pid, Run(pid))

    def process(self, time: int, pid: int, parent: int, rank: int, name: int, role: int) -> None:
        if not self.true(time):
            return
        self.main = self.main or pid
        run = self.run(pid)
        if run.times[0] is None:
            run.times[0] = time
        run.parent = parent if parent > 0 else run.parent
        run.rank = rank if rank >= 0 else run.rank
        run.name = self.text(name) or run.name
        run.role = self.text(role) or run.role
        self.note(time)

    def thread(self, pid: int, tid: int, name: int) -> None:
        self.thread_names[pid, tid] = self.text(name)

    def track(self, kind: str, pid: int, tid: int | None, series: str) -> Place:
        place = (kind, str(pid) if pid else "machine", series)
        self.tracks.setdefault(place, Track(pid or None, tid))
        return place

    def stream(self, device: int, stream: int, thread: str) -> Place:
        """As a trace of torch.profiler has them: the device is the process, the stream the thread."""
        place = ("device", str(device), thread)
        track = self.tracks.setdefault(place, Track(device, stream))
        track.device, track.stream, track.name = device, stream, f"stream {thread}"
        return place

    def place(self, category: str, pid: int, tid: int) -> Place:
        if CATEGORIES.get(category, ("", False))[1]:
            return self.track("async", pid, None, category if tid == pid else f"{category} {tid}")
        self.threads.add((pid, tid))
        return self.track("host", pid, tid, str(tid))

    def named(self, category: str, name: str, value: int) -> str:
        if category == "step" and value >= 0:
            return f"ProfilerStep#{value}"
        if category == "loader.fetch" and not name.startswith("enumerate("):
            return f"enumerate(DataLoader)#{name}"
        return name or category

    def slice(
        self, start: int, duration: int, pid: int, tid: int, name: int, category: int, value: int
    ) -> None:
        self.owner = None
        if not self.true(start):
            return
        duration = duration if 0 <= duration <= LAST_TIME else 0
        what = self.text(category)
        found = Slice(
            self.place(what, pid, tid), start, start + duration, self.named(what, self.text(name), value), what
        )
        if value != -1:
            found.number = value
        self.add(found)
        self.owner = found.arguments

    def plain_slice(self, place: Place, start: int, duration: int, name: str, category: str) -> Slice:
        """A slice that is named as it is."""
        duration = duration if 0 <= duration <= LAST_TIME else 0
        found = Slice(place, start, start + duration, name, category)
        self.add(found)
        self.owner = found.arguments
        return found

    def json_value(self, text: str) -> str:
        return json_value(text)

    def add(self, found: Slice) -> None:
        self.slices.append(found)
        self.tracks[found.place].slices += 1
        self.note(found.end)

    def begin(self, time: int, pid: int, tid: int, name: int, category: int) -> None:
        self.owner = None
        if not self.true(time):
            return
        what = self.text(category)
        found = Slice(self.place(what, pid, tid), time, time, self.named(what, self.text(name), -1), what)
        self.open[pid, tid].append(found)
        self.owner = found.arguments
        self.note(time)

    def end(self, time: int, pid: int, tid: int) -> None:
        self.owner = None
        if self.true(time) and self.open[pid, tid]:
            found = self.open[pid, tid].pop()
            found.end = max(found.start, time)
            self.add(found)

    def instant(self, time: int, pid: int, tid: int, name: int, category: int) -> None:
        self.owner = None
        if not self.true(time):
            return
        self.owner = []
        self.instants.append((self.place("", pid, tid), time, self.text(name) or self.text(category), self.owner))
        self.note(time)

    def argument(self, key: int, value: int) -> None:
        if self.owner is not None:
            self.owner.append((self.text(key), self.text(value)))

    def counter(self, number: int, pid: int, device: int, name: int, unit: int) -> None:
        series = self.text(name) + (f" device {device}" if device >= 0 else "")
        place = self.track("counter", pid, None, series)
        track = self.tracks[place]
        track.name = track.name or self.text(name)
        track.unit, track.device = self.text(unit), max(device, -1)
        self.counters[number] = place

    def sample(self, time: int, counter: int, value: float) -> None:
        if counter in self.counters and self.true(time) and value - value == 0:
            self.samples.append((self.counters[counter], time, value))
            self.note(time)

    def fact(self, pid: int, key: int, value: int) -> None:
        self.facts[pid, self.text(key)] = self.text(value)

    def exit(self, time: int, pid: int, status: int, *used: int) -> None:
        if not self.true(time):
            return
        user, system, peak, wall, read, written = used
        run = self.run(pid)
        run.times[1], run.status = time, status
        run.used = [None if value < 0 else value for value in (wall, user, system, peak, read, written)]
        self.note(time)

    def function(self, pid: int, file: int, line: int, name: int, calls: int, total: int, own: int) -> None:
        if self.fits("profile", max(total, own), min(total, own)):
            shown = (pid, self.text(file), self.text(name), line, calls, total, own)
            self.functions.append("|".join(["function", *map(str, shown)]))

    def fits(self, table: str, most: int, least: int = 0) -> bool:
        """Sums over a whole table must stay times, too."""
        if least < 0 or not 0 <= most <= LAST_TIME - self.sums[table]:
            return False
        self.sums[table] += most
        return True

    def line(self, pid: int, file: int, first: int, last: int, function: int, of: int, hits: int, total: int, own: int) -> None:
        if self.fits("profile", max(total, own), min(total, own)):
            shown = (pid, self.text(file), self.text(function), first, last, of, hits, total, own)
            self.lines.append("|".join(["line", *map(str, shown)]))

    def line_run(self, start: int, duration: int, pid: int, tid: int, file: int, first: int, function: int) -> None:
        self.owner = None
        if self.true(start):
            place = self.track("async", pid, tid, "line" if tid == pid else f"line {tid}")
            name = f"{self.text(file)}:{first} {self.text(function)}"
            self.plain_slice(place, start, duration, name, "line")
            self.owner = None

    def frame(self, number: int, parent: int, function: int, file: int, line: int) -> None:
        if number:
            own = [self.text(function), self.text(file), str(line)]
            self.frames[number] = own + self.frames.get(parent, [])

    def stack(self, time: int, pid: int, tid: int, thread: int, frame: int, *rest: int) -> None:
        *spent, cause, waited = rest
        if self.true(time) and all(self.fits("stack", each) for each in spent):
            before = ["stack", str(pid), str(tid), self.text(thread)]
            after = [*map(str, spent), self.text(cause), self.text(waited), *self.frames.get(frame, [])]
            self.stacks.append((time, before, after))
            self.note(time)

    # The trace

    def finish(self) -> dict[str, list[str]]:
        for thread in sorted(self.open):
            for found in self.open[thread]:
                found.end = self.last
                self.add(found)
        self.shift = 0
        if self.clocks:
            self.shift = sorted(self.clocks)[len(self.clocks) // 2]
            moved = max(self.clocks) - min(self.clocks)
            if moved > CLOCK_STEP:
                self.facts[0, "clock_was_set_by_ns"] = str(moved)
            apart = [abs(clock - self.shift) for clock in self.clocks]
            errors = [a + e for a, e in zip(apart, self.clock_errors, strict=True) if a <= CLOCK_STEP]
            self.facts[0, "clock_error_ns"] = str(max(errors, default=0))
        self.devices.take_properties()
        lines: dict[str, list[str]] = defaultdict(list)
        self.devices.lines(lines, self.shift)
        self.slice_lines(lines)
        self.moment_lines(lines)
        self.track_lines(lines)
        self.process_lines(lines)
        lines["functions"] = self.functions
        lines["lines"] = self.lines
        for time, before, after in self.stacks:
            lines["stacks"].append("|".join([*before, str(self.shift + time), *after]))
        for (pid, key), value in self.facts.items():
            shown = key if pid in (0, self.main) else f"process {pid} {key}"
            lines["facts"].append(f"fact|{shown}|{json_value(value)}")
        if self.first_block > 0:
            lines["facts"].append(f"fact|blocks_before_the_first|{self.first_block}")
        return lines

    def where(self, tag: str, found: Slice) -> list[str]:
        return [tag, *found.place, found.name, str(self.shift + found.start), str(found.end - found.start)]

    def slice_lines(self, lines: dict[str, list[str]]) -> None:
        counts: dict[str, int] = defaultdict(int)
        for found in self.slices:
            counts[found.category] += 1
            what = [found.category, found.kind, found.correlation, found.external]
            lines["slices"].append("|".join([*self.where("slice", found), *what, *found.details]))
            if found.number is not None:
                lines["numbers"].append("|".join([*self.where("number", found), str(found.number)]))
            for key, value in found.arguments:
                lines["arguments"].append("|".join([*self.where("argument", found), key, value]))
        for category, count in counts.items():
            kind = CATEGORIES.get(category, ("other", False))[0]
            lines["categories"].append(f"category|{category}|{kind}|{count}")

    def moment_lines(self, lines: dict[str, list[str]]) -> None:
        for place, time, name, arguments in self.instants:
            lines["instants"].append("|".join(["instant", *place, str(self.shift + time), name]))
            for key, value in arguments:
                at = str(self.shift + time)
                lines["arguments"].append("|".join(["argument", *place, name, at, "-", key, value]))
        for place, time, value in self.samples:
            lines["samples"].append("|".join(["sample", *place, str(self.shift + time), bits(value)]))

    def track_lines(self, lines: dict[str, list[str]]) -> None:
        for (pid, tid), name in self.thread_names.items():
            if (pid, tid) in self.threads:
                self.tracks["host", str(pid) if pid else "machine", str(tid)].name = name
        for place, track in self.tracks.items():
            numbers = [field(track.pid), field(track.tid), str(track.device), field(track.stream)]
            shown = [*numbers, track.name, "-", str(track.slices)]
            lines["tracks"].append("|".join(["track", *place, *shown, field(track.unit)]))

    def process_lines(self, lines: dict[str, list[str]]) -> None:
        names = {track.pid or 0: place[1] for place, track in self.tracks.items() if place[0] != "device"}
        names.update({pid: str(pid) for pid in self.runs})
        for pid, shown in names.items():
            run = self.runs.get(pid, Run(pid))
            lines["processes"].append(f"process|{shown}|{run.name or ''}|{run.role or ''}|-")
        for device in sorted({place[1] for place in self.tracks if place[0] == "device"} - set(names.values())):
            lines["processes"].append(f"process|{device}|GPU|GPU {device}|-")
        for run in self.runs.values():
            times = [field(None if time is None else time + self.shift) for time in run.times]
            shown = [field(run.pid), field(run.parent), str(run.rank), str(run.status), field(run.role)]
            used = [field(value) for value in run.used]
            lines["runs"].append("|".join(["run", *shown, field(run.name), *times, *used]))
        ranks = {run.rank for run in self.runs.values() if run.rank >= 0}
        if len(ranks) == 1:
            lines["distributed"].append(f"distributed||{ranks.pop()}|-")


def wire_lines(data: bytes) -> dict[str, list[str]]:
    reader = WireReader()
    reader.read(data)
    return reader.finish()
