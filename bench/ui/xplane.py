"""A Chrome trace as XProf's own format, which is all that XProf opens: bench/ui/measure.py --peers.

Threads and streams become lines of one plane for each process, slices their events, without arguments. It is written by
hand, as the package brings no writer: https://github.com/openxla/xprof, xplane.proto.
"""

from __future__ import annotations

import json
import pathlib


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str | bytes) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(content)) + content


class Plane:
    """The slices of a process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: dict[str, int] = {}
        self.lines: dict[str, bytearray] = {}
        self.titles: dict[str, str] = {}

    def add(self, line: str, name: str, begin_ns: int, duration_ns: int) -> None:
        metadata = self.names.setdefault(name, len(self.names) + 1)
        event = number(1, metadata) + number(2, begin_ns * 1000) + number(3, duration_ns * 1000)
        self.lines.setdefault(line, bytearray()).extend(text(4, event))

    def encoded(self, number_of_plane: int) -> bytes:
        out = [number(1, number_of_plane), text(2, self.name)]
        for at, (line, events) in enumerate(self.lines.items(), 1):
            title = self.titles.get(line, f"thread {line}")
            out.append(text(3, number(1, at) + text(2, title) + bytes(events)))
        for name, metadata in self.names.items():
            # An entry of a map: the key, and the value with the same id.
            out.append(text(4, number(1, metadata) + text(2, number(1, metadata) + text(2, name))))
        return b"".join(out)


def convert(trace: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes `folder`/plugins/profile/trace/host.xplane.pb, where XProf looks for it."""
    recording = json.loads(trace.read_bytes())
    events = recording["traceEvents"] if isinstance(recording, dict) else recording
    slices = [event for event in events if event.get("ph") == "X" and "dur" in event]
    first = min(event["ts"] for event in slices)
    planes: dict[str, Plane] = {}
    for event in events:
        pid = str(event.get("pid"))
        if event.get("ph") == "X" and "dur" in event:
            device = str(event.get("cat", "")).lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
            if pid not in planes:
                planes[pid] = Plane(f"/device:GPU:{pid}" if device else f"/host:CPU {pid}" if planes else "/host:CPU")
            planes[pid].add(str(event.get("tid")), event["name"], round((event["ts"] - first) * 1000), round(event["dur"] * 1000))
        elif event.get("name") == "thread_name" and pid in planes:
            planes[pid].titles[str(event.get("tid"))] = str(event["args"]["name"])
    target = folder / "plugins/profile/trace"
    target.mkdir(parents=True)
    (target / "host.xplane.pb").write_bytes(b"".join(text(1, plane.encoded(at)) for at, plane in enumerate(planes.values(), 1)))
