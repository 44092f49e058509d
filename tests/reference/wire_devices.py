"""Records 16 to 21 of a capture file, slowly and plainly: what devices did, and the calls that had them do it."""
from __future__ import annotations

import struct
from collections import defaultdict
from typing import TYPE_CHECKING

from canonical_json import MISSING, Number, Pairs, decode

if TYPE_CHECKING:
    from wire_reference import Slice, WireReader

LAYOUTS = {
    16: "<qqiiIqIIqqq", 17: "<iiiiiiiiiiiiq", 18: "<qIII", 19: "<Iqqq", 20: "<qqiqIIqq", 21: "<qiqiQqqI",
}  # fmt: skip
COPIES = {"HtoD", "DtoH", "DtoD", "PtoP", "HtoH"}
ARRAY_COPIES = {"HtoA", "AtoH", "AtoA", "AtoD", "DtoA"}
PROPERTIES = "device_properties."
DEVICE_KEYS = (
    "totalGlobalMem", "computeMajor", "computeMinor", "numSms", "maxThreadsPerMultiprocessor", "maxThreadsPerBlock",
    "regsPerMultiprocessor", "regsPerBlock", "sharedMemPerMultiprocessor", "sharedMemPerBlock",
    "sharedMemPerBlockOptin",
)  # fmt: skip
SMALL = {"computeMajor", "computeMinor", "numSms", "maxThreadsPerMultiprocessor", "maxThreadsPerBlock"}


def known(value: int) -> str:
    return "-" if value < 0 else str(value)


def copy_kind(word: str) -> str:
    if word in COPIES:
        return word
    return "memset" if word == "Memset" else "array" if word in ARRAY_COPIES else "unknown"


def memory_kind(word: str) -> str:
    if word in ("Pinned", "Pageable", "Array"):
        return word.lower()
    return "device" if word.startswith("Device") else "managed" if word.startswith("Managed") else "unknown"


def dimensions(sizes: list[int]) -> str:
    return ",".join(str(max(size, 0)) for size in sizes)


def empty_details(kind: str) -> list[str]:
    """Of a slice of which nothing more is recorded."""
    if kind == "kernel":
        return ["0,0,0", "0,0,0", *["-"] * 6]
    if kind in ("memcpy", "memset"):
        return ["-", "unknown", "unknown", "unknown"]
    return ["-"] * {"user_annotation": 9, "sync": 4}.get(kind, 0)


def integer(of: Pairs, key: str, small: bool) -> int:
    value = next((value for name, value in of if name == key), MISSING)
    if not isinstance(value, Number) or not value.lstrip("-").isdigit():
        return 0
    bits = 31 if small else 63
    return int(value) if -(2**bits) <= int(value) < 2**bits else 0


class DeviceRecords:
    """What a reader of capture files does with these records."""

    def __init__(self, reader: WireReader) -> None:
        self.reader = reader
        self.first_context: dict[tuple[int, int], int] = {}
        self.allocated: dict[int, int] = defaultdict(int)
        self.memory_rows: list[tuple[tuple[str, str, str], int, list[str]]] = []
        self.properties: list[Pairs] = []
        self.last: Slice | None = None  # the device record that a detail is of

    def device(
        self, start: int, duration: int, pid: int, device: int, context: int, stream: int,
        name: int, category: int, correlation: int, graph: int, node: int,
    ) -> None:  # fmt: skip
        del pid, graph
        device = max(device, 0)
        words = (self.reader.text(name), self.reader.text(category))
        if not self.reader.true(start):
            self.reader.owner = self.last = None
            return
        first = self.first_context.setdefault((device, stream), context)
        thread = str(stream) + ("" if first == context else f" of context {context}")
        place = self.reader.stream(device, stream, thread)
        self.last = found = self.reader.plain_slice(place, start, duration, *words)
        found.correlation = known(correlation)
        if found.kind == "kernel":
            found.details[-1] = known(node)
        elif found.kind == "memset":
            found.details[1] = "memset"
        elif found.kind == "sync":
            found.details[0] = words[0]

    def launch(self, *fields: int) -> None:
        if self.last is None or self.last.kind != "kernel":
            return
        sizes, (registers, static, dynamic, _) = list(fields[:9]), fields[9:]
        shared = str(static + dynamic) if static >= 0 and dynamic >= 0 else "-"
        self.last.launch = (sizes[:3], sizes[3:6])
        self.last.details[:4] = [dimensions(sizes[:3]), dimensions(sizes[3:6]), known(registers), shared]

    def copy(self, size: int, kind: int, source: int, destination: int) -> None:
        if self.last is None or self.last.kind not in ("memcpy", "memset"):
            return
        what = copy_kind(self.reader.text(kind)) if self.last.kind == "memcpy" else "memset"
        places = [memory_kind(self.reader.text(each)) for each in (source, destination)]
        self.last.details = [known(size), what, *places]

    def wait(self, kind: int, stream: int, event: int, correlation: int) -> None:
        if self.last is not None and self.last.kind == "sync":
            self.last.details = [self.reader.text(kind), known(stream), known(event), known(correlation)]

    def call(
        self, start: int, duration: int, pid: int, tid: int, name: int, category: int, correlation: int, external: int
    ) -> None:
        self.last = self.reader.owner = None
        if not self.reader.true(start):
            return
        words = (self.reader.text(name), self.reader.text(category))
        found = self.reader.plain_slice(self.reader.place(words[1], pid, tid), start, duration, *words)
        found.correlation, found.external = known(correlation), known(external)

    def memory(
        self, time: int, pid: int, correlation: int, device: int, address: int, size: int, reserved: int, kind: int
    ) -> None:
        del correlation
        self.last = self.reader.owner = None
        if not self.reader.true(time):
            return
        host = self.reader.text(kind) in ("Pinned", "Pageable")
        device = -1 if host else min(max(device, -1), 127)
        total = self.allocated[device] + size
        if not -(2**63) <= total < 2**63:
            return
        self.allocated[device] = max(0, total)
        place = self.reader.place("", pid, pid)
        signed = struct.unpack("<q", struct.pack("<Q", address))[0]
        at = "-" if signed == -(2**63) else str(signed)
        row = [at, str(size), str(self.allocated[device]), known(reserved), "0" if host else "1", str(device)]
        self.memory_rows.append((place, time, row))
        self.reader.note(time)

    # The trace

    def take_properties(self) -> None:
        """The facts about devices, each its own in the file, become one; kernels are spread over the first."""
        facts = self.reader.facts
        keys = sorted(key for key in facts if key[1].startswith(PROPERTIES))
        if not keys:
            return
        text = "[" + ", ".join(facts.pop(key) for key in keys) + "]"
        facts[0, "deviceProperties"] = self.reader.json_value(text)
        try:
            self.properties = [device for device in decode(text.encode()) if isinstance(device, Pairs)]
        except ValueError:
            return
        if self.properties:
            self.spread(self.properties[0])

    def spread(self, device: Pairs) -> None:
        processors, warp = integer(device, "numSms", True), integer(device, "warpSize", True) or 32
        if processors <= 0 or warp <= 0:
            return
        for found in self.reader.slices:
            if found.launch is None:
                continue
            (x, y, z), (a, b, c) = ([float(max(size, 0)) for size in sizes] for sizes in found.launch)
            if x * y * z <= 0 or a * b * c <= 0:
                continue
            blocks = x * y * z / processors
            found.details[4:6] = [struct.pack(">d", each).hex() for each in (blocks, blocks * (a * b * c) / warp)]

    def lines(self, lines: dict[str, list[str]], shift: int) -> None:
        for place, time, row in self.memory_rows:
            lines["memory"].append("|".join(["memory", *place, str(shift + time), *row]))
        for device in self.properties:
            name = device.last("name")
            numbers = [integer(device, key, key in SMALL) for key in DEVICE_KEYS]
            warp = integer(device, "warpSize", True)
            named = isinstance(name, str) and not isinstance(name, Number)
            shown = [integer(device, "id", True), name if named else ""]
            lines["devices"].append("|".join(map(str, ["device", *shown, *numbers, warp if warp > 0 else 32])))
