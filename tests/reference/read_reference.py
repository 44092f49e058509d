#!/usr/bin/env python3
"""A slow, plain reader of chrome-json traces and capture files. Prints the digest that `fathom digest` prints.

It shares nothing with the fast reader but docs/formats.md, so what both agree on is what the file says.
Usage: read_reference.py [--lines] FILE
"""
from __future__ import annotations

import gzip
import re
import struct
import sys
import zlib
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any, Iterator

from canonical_json import MISSING, Number, Pairs, canonical, decode, repaired
from pstats_reference import is_pstats, pstats_lines
from wire_reference import MAGIC, wire_lines

TABLES = [
    "slices", "numbers", "arguments", "collectives", "flows", "memory", "samples", "instants",
    "tracks", "processes", "runs", "functions", "lines", "stacks", "categories", "devices", "distributed", "facts",
]  # fmt: skip
INT64 = range(-(2**63), 2**63)
ABSENT = None
Place = tuple[str, str, str]  # kind of track, pid, tid or series

KIND_OF_CATEGORY = {
    "cpu_op": "cpu_op", "operator": "cpu_op",
    "user_annotation": "user_annotation", "gpu_user_annotation": "gpu_user_annotation",
    "kernel": "kernel", "mtia_ccp_events": "kernel",
    "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
    "cuda_runtime": "runtime", "hip_runtime": "runtime", "xpu_runtime": "runtime",
    "mtia_runtime": "runtime", "privateuse1_runtime": "runtime", "glow_runtime": "runtime",
    "runtime": "runtime", "cuda_api": "runtime",
    "cuda_driver": "driver", "hip_driver": "driver", "xpu_driver": "driver",
    "privateuse1_driver": "driver", "driver": "driver",
    "cuda_sync": "sync", "xpu_sync": "sync", "cuda_event": "sync", "hpu_op": "runtime",
    "python_function": "python_function", "python": "python_function",
    "overhead": "overhead", "trace": "trace_span", "cuda_profiler_range": "profiler_range",
}  # fmt: skip
ON_DEVICE = {"kernel", "memcpy", "memset", "sync", "gpu_user_annotation", "profiler_range"}

COPY_WORDS = [
    ("Memset", "memset"), ("FillBuffer", "memset"), ("MemoryFill", "memset"),
    ("HtoD", "HtoD"), ("HostToDevice", "HtoD"), ("M2D", "HtoD"), ("H2D", "HtoD"),
    ("DtoH", "DtoH"), ("DeviceToHost", "DtoH"), ("D2M", "DtoH"), ("D2H", "DtoH"),
    ("DtoD", "DtoD"), ("DeviceToDevice", "DtoD"), ("P2P", "PtoP"), ("D2D", "DtoD"),
    ("PtoP", "PtoP"), ("PeerToPeer", "PtoP"), ("HtoH", "HtoH"), ("HostToHost", "HtoH"),
    ("HtoA", "array"), ("AtoH", "array"), ("AtoA", "array"), ("AtoD", "array"), ("DtoA", "array"),
]  # fmt: skip
# Names that torch gives without a namespace, and its own ranges.
OF_TORCH = ("detach", "ProfilerStep#", "Optimizer.", "enumerate(", "fused_", "fallback_function", "TensorExpr")
MEMORY_WORDS = [
    ("Pinned", "pinned"), ("Pageable", "pageable"), ("Host", "pageable"),
    ("Device", "device"), ("Array", "array"), ("Managed", "managed"),
    ("MEMORY", "pageable"), ("HOST", "pinned"), ("DEVICE", "device"), ("SHARED", "managed"),
]  # fmt: skip

SIGNATURE_KEYS = {"Input Dims", "Input dims", "Input type", "Input Strides", "Concrete Inputs"}
MERGED_KEYS = SIGNATURE_KEYS | {
    "correlation", "correlationId", "External id", "external id", "Sequence number", "Fwd thread id",
    "flops", "Flops", "Call stack", "Module Hierarchy",
}  # fmt: skip


# Values ---------------------------------------------------------------------------------------------


def as_text(value: Any) -> str | None:
    """A string; other values as their JSON text; null and nothing are absent."""
    if value is MISSING or value is None:
        return ABSENT
    if isinstance(value, str) and not isinstance(value, Number):
        return repaired(value)
    return canonical(value)


def as_json(value: Any) -> str | None:
    return ABSENT if value is MISSING else canonical(value)


def as_token(value: Any) -> str:
    """A pid or tid as written, without quotes."""
    if value is MISSING:
        return ""
    return repaired(value) if isinstance(value, str) else canonical(value)


_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def as_integer(value: Any) -> int | None:
    """Quoted and hexadecimal ones too; a fraction is cut off; what does not fit 64 bits is absent."""
    if not isinstance(value, str):
        return ABSENT
    text = str(value)
    if re.fullmatch(r"0[xX]-?[0-9a-fA-F]+", text):
        number = int(text[2:], 16)
    elif re.fullmatch(r"-?\d+", text):
        number = int(text)
    elif _NUMBER.fullmatch(text) and abs(float(text)) < 9.2e18:
        number = int(float(text))
    else:
        return ABSENT
    return number if number in INT64 else ABSENT


def as_real(value: Any) -> float | None:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return ABSENT
    number = float(value)
    return ABSENT if number in (float("inf"), float("-inf")) else number


def as_dimensions(value: Any) -> list[int]:
    sizes = [0, 0, 0]
    if isinstance(value, list) and not isinstance(value, Pairs):
        for i, item in enumerate(value[:3]):
            if not isinstance(item, Number) or not item.isdigit() or int(item) >= 2**31:
                break
            sizes[i] = int(item)
    return sizes


def as_microseconds(value: Any) -> Decimal | None:
    """Exactly what is written; a time beyond 64 bits of nanoseconds is no time."""
    if not isinstance(value, str):
        return ABSENT
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
        return ABSENT
    number = Decimal(value)
    return number if abs(number) * 1000 < 2**63 else ABSENT


def to_ns(microseconds: Decimal) -> int:
    """Rounded half away from zero."""
    return int((microseconds * 1000).to_integral_value(ROUND_HALF_UP))


def as_id(value: Any) -> int | None:
    """Decimal or hexadecimal text as 64 bits; other text by its FNV-1a hash."""
    if value is MISSING:
        return ABSENT
    text = repaired(value) if isinstance(value, str) else canonical(value)
    if re.fullmatch(r"\d+", text) and int(text) < 2**64:
        number = int(text)
    elif re.fullmatch(r"0x[0-9a-fA-F]+", text) and int(text, 16) < 2**64:
        number = int(text, 16)
    else:
        number = 0xCBF29CE484222325
        for byte in text.encode():
            number = (number ^ byte) * 0x100000001B3 % 2**64
    return number - 2**64 if number >= 2**63 else number


def id_of(event: Pairs) -> int | None:
    wrapped = event.last("id2")
    if isinstance(wrapped, Pairs):
        return as_id(wrapped.last("local", "global"))
    return as_id(event.last("id"))


# Lines ----------------------------------------------------------------------------------------------


def field(value: Any) -> str:
    return "-" if value is ABSENT else str(value)


def bits(value: float | None) -> str:
    return "-" if value is ABSENT else struct.pack(">d", value).hex()


def bits_unless(value: float | None, absent: float) -> str:
    return "-" if value == absent else bits(value)


def splitmix64(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def line_hash(line: str) -> int:
    data = line.encode()
    return splitmix64(len(data) << 32 | zlib.crc32(data))


# Events ---------------------------------------------------------------------------------------------


class Slice:
    """An event with a duration, and what its args say."""

    def __init__(self, event: Pairs, place: Place, start: int, duration: int) -> None:
        self.place = place
        self.start = start
        self.duration = duration
        self.name = as_text(event.last("name")) or ""
        self.category = as_text(event.last("cat")) or ""
        self.kind = KIND_OF_CATEGORY.get(self.category.lower(), "other")
        self.args = args_of(event)
        self.zero_time = False

    def become_range(self, names: set[str]) -> None:
        """The first Kineto wrote what a program annotates among operators: what nobody else can have named."""
        stem = self.name.rstrip("0123456789")
        libraries = any(sign in self.name for sign in ":<[") or stem.endswith("Backward") or self.name + "Backward" in names
        if self.category == "Operator" and self.name and not libraries and not self.name.startswith(OF_TORCH):
            self.kind = self.category = "user_annotation"

    def take_over(self, args: Pairs) -> None:
        """What an end event says wins over what its begin said; the four fields on inputs go together."""
        keys = {key for key, _ in args}
        if keys & SIGNATURE_KEYS:
            self.args = Pairs(item for item in self.args if item[0] not in SIGNATURE_KEYS)
        self.args = Pairs(self.args + [item for item in args if item[0] in MERGED_KEYS])

    def where(self, tag: str, base: int) -> list[str]:
        return [tag, *self.place, self.name, str(base + self.start), str(self.duration)]

    def line(self, base: int) -> str:
        arg = self.args.last
        fields = self.where("slice", base) + [self.category, self.kind]
        fields.append(field(as_integer(arg("correlation", "correlationId"))))
        fields.append(field(as_integer(arg("External id", "external id"))))
        return "|".join(fields + self.detail())

    def detail(self) -> list[str]:
        return {
            "cpu_op": self.op, "user_annotation": self.op, "kernel": self.kernel,
            "memcpy": self.copy, "memset": self.copy, "python_function": self.frame, "sync": self.sync,
        }.get(self.kind, list)()  # fmt: skip

    def op(self) -> list[str]:
        arg = self.args.last
        values = [
            as_json(arg("Input Dims", "Input dims")), as_json(arg("Input type")),
            as_json(arg("Input Strides")), as_json(arg("Concrete Inputs")),
            as_integer(arg("Sequence number")), as_integer(arg("Fwd thread id")),
            as_integer(arg("flops", "Flops")), as_text(arg("Call stack")), as_text(arg("Module Hierarchy")),
        ]  # fmt: skip
        return [field(value) for value in values]

    def kernel(self) -> list[str]:
        arg = self.args.last
        registers = as_integer(arg("registers per thread"))
        return [
            ",".join(map(str, as_dimensions(arg("grid")))),
            ",".join(map(str, as_dimensions(arg("block")))),
            field(registers) if registers is not None and 0 <= registers < 2**31 else "-",
            field(as_integer(arg("shared memory"))),
            bits_unless(as_real(arg("blocks per SM")), -1),
            bits_unless(as_real(arg("warps per SM")), -1),
            bits_unless(as_real(arg("est. achieved occupancy %", "theoretical occupancy %")), -1),
            field(as_integer(arg("graph node id"))),
        ]

    def copy(self) -> list[str]:
        kind = next((kind for word, kind in COPY_WORDS if word in self.name), "unknown")
        source = destination = ""
        opened, arrow = self.name.find("("), self.name.find("->")
        if 0 <= opened < arrow:
            source, destination = self.name[opened:arrow], self.name[arrow:]
        elif opened >= 0:
            destination = self.name[opened:]
        memory = [next((m for word, m in MEMORY_WORDS if word in part), "unknown") for part in (source, destination)]
        kind = "memset" if self.kind == "memset" else kind
        return [field(as_integer(self.args.last("bytes"))), kind, *memory]

    def frame(self) -> list[str]:
        keys = ("Python id", "Python parent id", "Python module id")
        return [field(as_integer(self.args.last(key))) for key in keys]

    def sync(self) -> list[str]:
        keys = ("wait_on_stream", "wait_on_cuda_event_id", "wait_on_cuda_event_record_corr_id")
        return [field(as_text(self.args.last("cuda_sync_kind")))] + [
            field(as_integer(self.args.last(key))) for key in keys
        ]

    def collective(self, base: int) -> str | None:
        arg = self.args.last
        if arg("Collective name") is MISSING:
            return None
        ranks = arg("Process Group Ranks")
        is_text = isinstance(ranks, str) and not isinstance(ranks, Number)
        values = [
            as_text(arg("Collective name")), as_text(arg("dtype")),
            as_integer(arg("In msg nelems")), as_integer(arg("Out msg nelems")), as_integer(arg("Group size")),
            as_text(arg("Process Group Name")), as_text(arg("Process Group Description")),
            as_text(ranks) if is_text else as_json(ranks), as_integer(arg("Seq")),
        ]  # fmt: skip
        return "|".join(self.where("collective", base) + [field(value) for value in values])


def args_of(event: Pairs) -> Pairs:
    args = event.last("args")
    return args if isinstance(args, Pairs) else Pairs()


class Reader:
    def __init__(self, document: Any) -> None:
        self.facts: Pairs = Pairs()
        self.events: list[Any] = document
        if isinstance(document, Pairs):
            self.facts = Pairs((k, v) for k, v in document if k != "traceEvents")
            self.events = document.last("traceEvents")
        base = self.facts.last("baseTimeNanoseconds")
        self.base = as_integer(base) or 0
        self.slices: list[Slice] = []
        self.lines: dict[str, list[str]] = {table: [] for table in TABLES}
        self.pairs: list[tuple[int, Any, Slice | None, Pairs]] = []
        self.used: dict[Place, int] = {}  # how many slices lie there
        self.metadata: list[Pairs] = []
        self.flows: list[tuple[Any, ...]] = []

    def host(self, event: Pairs) -> Place:
        return ("host", as_token(event.last("pid")), as_token(event.last("tid")))

    def read(self) -> None:
        for event in self.events:
            if not isinstance(event, Pairs):
                continue
            phase = event.last("ph")
            if phase == "M":
                self.metadata.append(event)
                continue
            start = as_microseconds(event.last("ts"))
            if start is ABSENT or not isinstance(phase, str):
                continue
            if phase == "X":
                self.complete(event, start)
            elif phase in "BESFbe":
                self.pair_end(event, phase, to_ns(start))
            elif phase in "stf":
                self.flow(event, phase, to_ns(start))
            elif phase in "iIRn":
                self.instant(event, to_ns(start))
            elif phase == "C":
                self.counter(event, to_ns(start))
        self.close_pairs()
        self.drop_zero_times()

    def complete(self, event: Pairs, ts: Decimal) -> None:
        start = to_ns(ts)
        dur = as_microseconds(event.last("dur"))
        duration = 0 if dur is ABSENT else to_ns(ts + dur) - start
        if duration < 0 or duration > 10**14:
            duration = 0
        place = self.host(event)
        item = Slice(event, place, start, duration)
        if item.kind in ON_DEVICE:
            item.place = ("device", *place[1:])
        item.zero_time = start == 0 and duration == 0
        self.slices.append(item)

    def pair_end(self, event: Pairs, phase: str, at: int) -> None:
        category = as_text(event.last("cat"))
        if phase in "BE":
            place = self.host(event)
            group: Any = place
        else:
            place = ("async", as_token(event.last("pid")), category or "")
            group = (place, id_of(event))
        begun = None
        if phase in "BSb":
            begun = Slice(event, place, at, 0)
            self.slices.append(begun)
        self.pairs.append((at, group, begun, args_of(event)))

    def close_pairs(self) -> None:
        """Last begun, first ended, in the order of time; what has no end lasts to its group's last begin or end."""
        stacks: dict[Any, list[Slice]] = defaultdict(list)
        last: dict[Any, int] = {}
        for at, group, begun, args in sorted(self.pairs, key=lambda pair: pair[0]):
            last[group] = at
            if begun:
                stacks[group].append(begun)
            elif stacks[group]:
                item = stacks[group].pop()
                item.duration = at - item.start
                item.take_over(args)
        for group, stack in stacks.items():
            for item in stack:
                item.duration = last[group] - item.start

    def drop_zero_times(self) -> None:
        starts = [item.start for item in self.slices if not item.zero_time]
        if starts and min(starts) >= 10**9:
            self.slices = [item for item in self.slices if not item.zero_time]

    def flow(self, event: Pairs, phase: str, at: int) -> None:
        if id_of(event) is not ABSENT:
            self.flows.append((self.host(event)[1:], at, id_of(event), as_text(event.last("cat")), phase))

    def instant(self, event: Pairs, at: int) -> None:
        place = self.host(event)
        name = as_text(event.last("name")) or ""
        if name != "[memory]":
            self.add("instants", "instant", place, self.base + at, name)
            return
        arg = args_of(event).last

        def small(value: int | None) -> int:
            return value if value is not None and -1 <= value <= 127 else -1

        self.add(
            "memory", "memory", place, self.base + at, field(as_integer(arg("Addr"))),
            as_integer(arg("Bytes")) or 0, field(as_integer(arg("Total Allocated"))),
            field(as_integer(arg("Total Reserved"))), small(as_integer(arg("Device Type"))),
            small(as_integer(arg("Device Id"))),
        )  # fmt: skip

    def counter(self, event: Pairs, at: int) -> None:
        name = as_text(event.last("name")) or ""
        for key, value in args_of(event):
            number = as_real(value)
            if number is not ABSENT:
                place = ("counter", as_token(event.last("pid")), repaired(name + " " + key))
                self.add("samples", "sample", place, self.base + at, bits(number))

    def add(self, table: str, tag: str, place: Place, *values: Any) -> None:
        self.used.setdefault(place, 0)
        self.lines[table].append("|".join([tag, *place, *map(str, values)]))

    def finish(self) -> None:
        """Everything that is known only at the end."""
        counts: dict[str, int] = {}
        names = {item.name for item in self.slices}
        for item in self.slices:
            item.become_range(names)
            self.used[item.place] = self.used.get(item.place, 0) + 1
            counts[item.category] = counts.get(item.category, 0) + 1
            self.lines["slices"].append(item.line(self.base))
            collective = item.collective(self.base)
            if collective:
                self.lines["collectives"].append(collective)
        for category, count in counts.items():
            kind = KIND_OF_CATEGORY.get(category.lower(), "other")
            self.lines["categories"].append(f"category|{category}|{kind}|{count}")
        named = set(self.used)
        for (pid, tid), at, number, category, phase in self.flows:
            kinds = ("host", "device") if phase == "s" else ("device", "host")
            found = [(kind, pid, tid) for kind in kinds if (kind, pid, tid) in named]
            place = found[0] if found else ("host", pid, tid)
            self.add("flows", "flow", place, self.base + at, number, field(category), phase)
        self.tracks(named)
        self.about_the_run()

    def tracks(self, named: set[Place]) -> None:
        """Tracks are the places on which something lies; processes are theirs and those that metadata name."""
        names: dict[Place, str] = {}
        sorts: dict[Place, int | None] = {}
        processes: dict[str, list[Any]] = {pid: ["", "", None] for _, pid, _ in self.used}
        for event in self.metadata:
            what, arg = event.last("name"), args_of(event).last
            _, pid, tid = self.host(event)
            name, labels = (arg(key) for key in ("name", "labels"))
            if what in ("process_name", "process_labels", "process_sort_index"):
                processes.setdefault(pid, ["", "", None])
            if what == "process_name":
                processes[pid][0] = text_only(name)
            elif what == "process_labels":
                processes[pid][1] = text_only(labels)
            elif what == "process_sort_index":
                processes[pid][2] = as_integer(arg("sort_index"))
            for place in (("host", pid, tid), ("device", pid, tid)):
                if what == "thread_name" and place in named:
                    names[place] = text_only(name)
                elif what == "thread_sort_index" and place in named:
                    sorts[place] = as_integer(arg("sort_index"))
        for pid, (name, labels, sort) in processes.items():
            self.lines["processes"].append(f"process|{pid}|{name}|{labels}|{field(sort)}")
        devices = self.devices_of_tracks()
        for place, count in self.used.items():
            kind, pid, tid = place
            pid_number = as_whole_number(pid)
            tid_number = ABSENT if kind == "counter" else trailing_number(tid)
            device, stream = devices.get(place, (None, None))
            if kind == "device":
                if device is None:
                    device = pid_number if pid_number is not None and 0 <= pid_number < 2**31 else 0
                stream = tid_number if stream is None else stream
            fields = [field(pid_number), field(tid_number), str(-1 if device is None else device), field(stream)]
            fields += [names.get(place, ""), field(sorts.get(place)), str(count), "-"]
            self.lines["tracks"].append("|".join(["track", *place, *fields]))

    def devices_of_tracks(self) -> dict[Place, tuple[int | None, int | None]]:
        """What the args of the events on a stream say first about its device and number."""
        said: dict[Place, tuple[int | None, int | None]] = {}
        for item in self.slices:
            if item.place[0] != "device":
                continue
            device, stream = said.get(item.place, (None, None))
            if device is None:
                number = as_integer(item.args.last("device"))
                device = number if number is not None and 0 <= number < 2**31 else None
            if stream is None:
                stream = as_integer(item.args.last("stream"))
            said[item.place] = (device, stream)
        return said

    def about_the_run(self) -> None:
        for key, value in self.facts:
            self.lines["facts"].append(f"fact|{repaired(key)}|{canonical(value)}")
        devices = self.facts.last("deviceProperties", "computeProperties")
        for device in devices if isinstance(devices, list) else []:
            if not isinstance(device, Pairs):
                continue
            numbers = [plain_integer(device.last(key)) or 0 for key in DEVICE_KEYS]
            warp = plain_integer(device.last("warpSize")) or 32
            name = device.last("name")
            fields = [numbers[0], repaired(name) if isinstance(name, str) else "", *numbers[1:], warp]
            self.lines["devices"].append("|".join(["device", *map(str, fields)]))
        distributed = self.facts.last("distributedInfo")
        if isinstance(distributed, Pairs):
            backend = distributed.last("backend")
            numbers_text = [field(plain_integer(distributed.last(key))) for key in ("rank", "world_size")]
            name = repaired(backend) if isinstance(backend, str) else ""
            self.lines["distributed"].append("|".join(["distributed", name, *numbers_text]))


DEVICE_KEYS = (
    "id", "totalGlobalMem", "computeMajor", "computeMinor", "numSms", "maxThreadsPerMultiprocessor",
    "maxThreadsPerBlock", "regsPerMultiprocessor", "regsPerBlock", "sharedMemPerMultiprocessor",
    "sharedMemPerBlock", "sharedMemPerBlockOptin",
)  # fmt: skip


def text_only(value: Any) -> str:
    """A string; anything else is not read."""
    return repaired(value) if isinstance(value, str) and not isinstance(value, Number) else ""


def plain_integer(value: Any) -> int | None:
    """An integer that is written as one."""
    if isinstance(value, Number) and re.fullmatch(r"-?\d+", value) and int(value) in INT64:
        return int(value)
    return ABSENT


def as_whole_number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]+", text) and int(text) in INT64 else ABSENT


def trailing_number(text: str) -> int | None:
    """The number a text is, or ends in ("stream 7")."""
    match = re.search(r"(^-)?[0-9]+\Z", text)
    return int(match.group()) if match and int(match.group()) in INT64 else ABSENT


def read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def reference_lines(data: bytes) -> dict[str, list[str]]:
    if data.startswith(MAGIC):
        return {table: wire_lines(data).get(table, []) for table in TABLES}
    if is_pstats(data):
        return {table: pstats_lines(data).get(table, []) for table in TABLES}
    with localcontext() as context:
        context.prec = 100
        reader = Reader(decode(data))
        reader.read()
        reader.finish()
        return reader.lines


def digest_rows(lines: dict[str, list[str]]) -> Iterator[str]:
    for table in TABLES:
        total = sum(line_hash(line) for line in lines[table]) % 2**64
        yield f"{table} {len(lines[table])} {total:016x}"


def main() -> None:
    show_lines = "--lines" in sys.argv
    (path,) = [argument for argument in sys.argv[1:] if argument != "--lines"]
    lines = reference_lines(read_bytes(Path(path)))
    if show_lines:
        for table in TABLES:
            for line in sorted(lines[table]):
                print(table + ": " + line)
    else:
        print("\n".join(digest_rows(lines)))


if __name__ == "__main__":
    main()
