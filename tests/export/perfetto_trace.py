"""Reads Perfetto's trace format, as far as an export uses it, without Perfetto's own code.

Field numbers are those of protos/perfetto/trace/ in github.com/google/perfetto.
"""
from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

Fields = dict[int, list[int | bytes]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        elif kind == 1:
            yield key >> 3, data[at : at + 8]
            at += 8
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a message is cut off")
            yield key >> 3, data[at : at + size]
            at += size
        else:
            raise ValueError(f"wire type {kind} is not used by this format")


def message(data: bytes) -> Fields:
    found: Fields = defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def number(of: Fields, key: int, default: int = 0) -> int:
    value = of[key][0] if key in of else default
    assert isinstance(value, int)
    return value


def raw(of: Fields, key: int) -> bytes:
    value = of[key][0] if key in of else b""
    assert isinstance(value, bytes)
    return value


def text(of: Fields, key: int) -> str:
    return raw(of, key).decode()


@dataclass
class Track:
    uuid: int
    parent: int
    name: str
    process: Fields | None
    thread: Fields | None
    counter: bool


@dataclass
class Slice:
    track: int
    start: int
    duration: int
    name: str
    category: str
    arguments: dict[str, int | float | str]
    flows: list[int]
    ended_flows: list[int]


@dataclass
class Trace:
    tracks: dict[int, Track] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    instants: list[tuple[int, int, str]] = field(default_factory=list)
    samples: list[tuple[int, int, float]] = field(default_factory=list)
    open: int = 0

    @property
    def arrows(self) -> int:
        """Pairs of slices that an arrow joins, as Perfetto's table `flow` counts them: ends alone join nothing."""
        begun = {flow for found in self.slices for flow in found.flows}
        points = [flow for found in self.slices for flow in (*found.flows, *found.ended_flows) if flow in begun]
        return len(points) - len(begun)


class Reader:
    """Sorts by time, as Perfetto does: events of one time keep the order of the file."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.names: dict[int, dict[int, str]] = defaultdict(dict)
        self.events: list[tuple[int, Fields]] = []

    def read(self, data: bytes) -> Trace:
        for key, value in fields(data):
            if key != 1 or not isinstance(value, bytes):
                raise ValueError("not a packet")
            self.packet(message(value))
        self.events.sort(key=lambda event: event[0])
        stacks: dict[int, list[Slice]] = defaultdict(list)
        for time, event in self.events:
            self.event(time, event, stacks)
        self.trace.open = sum(map(len, stacks.values()))
        return self.trace

    def packet(self, packet: Fields) -> None:
        if 12 in packet:
            for kind, value in fields(raw(packet, 12)):
                assert isinstance(value, bytes)
                entry = message(value)
                self.names[kind][number(entry, 1)] = text(entry, 2)
        if 60 in packet:
            found = message(raw(packet, 60))
            process = message(raw(found, 3)) if 3 in found else None
            thread = message(raw(found, 4)) if 4 in found else None
            uuid = number(found, 1)
            self.trace.tracks[uuid] = Track(
                uuid, number(found, 5), text(found, 2), process, thread, 8 in found
            )
        if 11 in packet:
            self.events.append((number(packet, 8), message(raw(packet, 11))))

    def arguments(self, event: Fields) -> dict[str, int | float | str]:
        found: dict[str, int | float | str] = {}
        for value in event.get(4, []):
            assert isinstance(value, bytes)
            argument = message(value)
            key = self.names[3][number(argument, 1)]
            if 4 in argument:
                found[key] = number(argument, 4) - (number(argument, 4) >> 63 << 64)
            elif 5 in argument:
                found[key] = struct.unpack("<d", raw(argument, 5))[0]
            elif 17 in argument:
                found[key] = self.names[29][number(argument, 17)]
            else:
                found[key] = text(argument, 6)
        return found

    def event(self, time: int, event: Fields, stacks: dict[int, list[Slice]]) -> None:
        track = number(event, 11)
        if track not in self.trace.tracks:
            raise ValueError(f"track {track} is not described")
        kind = number(event, 9)
        ids = [[int.from_bytes(v, "little") for v in event.get(f, []) if isinstance(v, bytes)] for f in (47, 48)]
        if kind == 1:
            category = self.names[1][number(event, 3)] if 3 in event else ""
            name = self.names[2][number(event, 10)]
            begun = Slice(track, time, 0, name, category, self.arguments(event), ids[0], ids[1])
            stacks[track].append(begun)
        elif kind == 2:
            ended = stacks[track].pop()
            ended.duration = time - ended.start
            self.trace.slices.append(ended)
        elif kind == 3:
            self.trace.instants.append((track, time, self.names[2][number(event, 10)]))
        elif kind == 4:
            self.trace.samples.append((track, time, struct.unpack("<d", raw(event, 44))[0]))
        else:
            raise ValueError(f"events of type {kind} are not written")


def read(data: bytes) -> Trace:
    return Reader().read(data)
