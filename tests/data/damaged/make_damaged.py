#!/usr/bin/env python3
"""Writes the damaged inputs beside it, and expected.json: what the reader must say of each.

`@@` in a text marks the byte that is expected as the first place of the repair; it is not written.
Everything here is made up, in the shape that real damage has (docs/formats.md, "Repairs").
"""
from __future__ import annotations

import gzip
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXPECTED: dict[str, dict[str, Any]] = {}
MARK = b"@@"


def event(number: int, **changes: str) -> str:
    """An operator as JSON text; `changes` replace the text of a value, or drop the key when empty."""
    values = {
        "ph": '"X"', "cat": '"cpu_op"', "name": f'"op {number}"', "pid": "1", "tid": "1",
        "ts": str(2_000_000 + 10 * number), "dur": "5",
    }  # fmt: skip
    values.update(changes)
    return "{" + ", ".join(f'"{key}": {value}' for key, value in values.items() if value) + "}"


def document(*events: str) -> str:
    return '{"traceEvents": [\n' + ",\n".join(events) + "\n]}"


def write(name: str, data: str | bytes, slices: int, **repairs: int) -> None:
    """`repairs`: how many of each kind; each first one at the (next) mark, or at the end without a mark."""
    raw = data.encode() if isinstance(data, str) else data
    places = []
    while MARK in raw:
        places.append(raw.index(MARK))
        raw = raw.replace(MARK, b"", 1)
    (HERE / name).write_bytes(raw)
    found = {}
    for kind, count in repairs.items():
        found[kind] = [count, places.pop(0) if places else len(raw)]
    EXPECTED[name] = {"slices": slices, "repairs": found}


def write_packed(name: str, packed: bytes, slices: int, repairs: dict[str, list[int]]) -> None:
    (HERE / name).write_bytes(packed)
    EXPECTED[name] = {"slices": slices, "repairs": repairs}


def refuse(name: str, data: str | bytes, says: str) -> None:
    (HERE / name).write_bytes(data.encode() if isinstance(data, str) else data)
    EXPECTED[name] = {"error": says}


def ends() -> None:
    two = '{"traceEvents": [' + event(1) + ", " + event(2)
    write("cut_in_event.json", two + ', @@{"ph": "X", "cat": "cp', 2, truncated=1)
    write("cut_in_number.json", two + ', @@{"ph": "X", "name": "a", "ts": 20', 2, truncated=1)
    write("cut_in_escape.json", two + ', @@{"ph": "X", "name": "a\\', 2, truncated=1)
    write("cut_after_comma.json", two + ",", 2, missing_close=1)
    write("cut_after_event.json", two, 2, missing_close=1)
    write("cut_after_list.json", two + '], "displayTimeUnit": "m', 2, missing_close=1)
    write("list_without_bracket.json", "[\n" + event(1) + ",\n" + event(2) + ",\n", 2, missing_close=1)
    write("trailing_garbage.json", document(event(1), event(2)) + "\n@@garbage {]", 2, trailing_garbage=1)
    write("two_documents.json", document(event(1)) + "\n@@" + document(event(2)), 1, trailing_garbage=1)
    write("trailing_comma_list.json", '{"traceEvents": [' + event(1) + ",\n@@]}", 1, trailing_comma=1)
    write("trailing_comma_object.json", document(event(1)[:-1] + ", @@}", event(2)), 2, trailing_comma=1)
    write("missing_comma.json", '{"traceEvents": [' + event(1) + " @@" + event(2) + "]}", 2, missing_comma=1)


def strings() -> None:
    named = lambda name: document(event(1), event(2, name=name))  # noqa: E731
    write("invalid_escape.json", named(r'@@"C:\path\xdir"'), 2, invalid_escape=1)
    write("half_a_surrogate_pair.json", named(r'@@"a \ud83d b"'), 2, invalid_escape=1)
    write("control_characters.json", named('@@"two\nlines\tand a bell \a"'), 2, control_character=1)
    write("unescaped_quote.json", document(event(1), "@@" + event(2, name='"void f<"a">()"')), 2, unescaped_quote=1)
    write("not_utf8.json", named('@@"caf? ?"').encode().replace(b"?", b"\xe9"), 2, invalid_utf8=1)
    write("utf8_cut_short.json", named('@@"?"').encode().replace(b"?", b"\xe2\x82"), 2, invalid_utf8=1)
    write("byte_order_mark.json", "\ufeff" + document(event(1)), 1)


def numbers() -> None:
    write("nan_duration.json", document(event(1), "@!" + event(2, dur="@@NaN")).replace("@!", ""), 2,
          not_a_number=1, missing_time=1)  # fmt: skip
    write("infinite_time.json", document(event(1), event(2, ts="@@Infinity")), 1, not_a_number=1, missing_time=1)
    write("nan_argument.json", document(event(1, args='{"flops": @@NaN, "Sequence number": 3}')), 1, not_a_number=1)
    write("huge_time.json", document(event(1), event(2, ts="@@1e300")), 1, number_out_of_range=1, missing_time=1)
    write("huge_argument.json", document(event(1, args='{"External id": @@123456789012345678901}')), 1,
          number_out_of_range=1)  # fmt: skip
    write("absurd_duration.json", document(event(1), "@@" + event(2, dur="1000000000000000"), event(3)), 3,
          absurd_duration=1)  # fmt: skip
    write("negative_duration.json", document(event(1), "@@" + event(2, dur="-3.5")), 2, negative_duration=1)
    write("missing_duration.json", document(event(1), "@@" + event(2, dur="")), 2, missing_time=1)
    write("missing_start.json", document(event(1), "@@" + event(2, ts="")), 1, missing_time=1)
    write("lost_times.json", document(event(1), "@@" + event(2, ts="0", dur="0"), event(3, ts="0", dur="0"), event(4)),
          2, zero_time=2)  # fmt: skip
    write("zero_times_that_are_true.json", document(event(1, ts="0", dur="0"), event(2, ts="4")), 2)
    # Where two repairs share one damage, the second is at the event that holds it.
    for name in ("nan_duration", "infinite_time", "huge_time"):
        raw = (HERE / f"{name}.json").read_bytes()
        EXPECTED[f"{name}.json"]["repairs"]["missing_time"][1] = raw.index(b'{"ph"', raw.index(b"op 1"))


def structure() -> None:
    write("duplicate_key.json", document(event(1), event(2)[:-1] + ', @@"name": "the last one"}'), 2, duplicate_key=1)
    write("missing_brace.json", document(event(1), "@@" + event(2)[:-1], event(3)), 2, malformed_event=1)
    write("missing_colon.json", document(event(1), "@@" + event(2).replace('"ts":', '"ts"'), event(3)), 2, malformed_event=1)
    write("hole_of_zeros.json", document(event(1), "@@" + event(2)[:30]).encode()[:-3] + bytes(200) + b", " + event(3).encode() + b"]}",
          2, malformed_event=1)  # fmt: skip
    write("not_an_object.json", document(event(1), '@@17', event(3)), 2, malformed_event=1)
    write("unknown_phase.json", document(event(1), "@@" + event(2, ph='"Z"'), event(3)), 2, unknown_phase=1)
    write("no_phase.json", document(event(1), "@@" + event(2, ph="")), 1, unknown_phase=1)
    write("wrong_type_name.json", document(event(1), event(2, name='@@["a", "list"]')), 2, wrong_type=1)
    write("wrong_type_time.json", document(event(1), event(2, ts="@@true")), 1, wrong_type=1, missing_time=1)
    raw = (HERE / "wrong_type_time.json").read_bytes()
    EXPECTED["wrong_type_time.json"]["repairs"]["missing_time"][1] = raw.index(b'{"ph"', raw.index(b"op 1"))
    write("unmatched_begin.json", document(event(1), "@@" + event(2, ph='"B"', dur="")), 2, unmatched_begin=1)
    write("unmatched_end.json", document(event(1), "@@" + event(2, ph='"E"', dur="")), 1, unmatched_end=1)
    write("overlapping_siblings.json", document(event(1, dur="15"), event(2, dur="15"), event(3, dur="15")), 3)
    write("deep_nesting.json", document(event(1, args='{"x": ' + "[" * 3000 + "]" * 3000 + "}"), event(2)), 2)


def packed() -> None:
    text = document(*(event(i, name=f'"op {i * 7919 % 1000003}"') for i in range(400))).encode()
    good = gzip.compress(text, mtime=0)
    cut = good[: len(good) // 2]
    kept = zlib.decompressobj(31).decompress(cut)
    last = kept.rindex(b'{"ph"')
    write_packed("cut.json.gz", cut, kept.count(b'"ph"') - 1,
                 {"truncated": [1, last], "decompression": [1, len(kept)]})  # fmt: skip
    changed = good[:-8] + bytes([good[-8] ^ 1]) + good[-7:]
    write_packed("wrong_checksum.json.gz", changed, 400, {"decompression": [1, len(text)]})
    write_packed("garbage_behind.json.gz", good + b"garbage", 400, {"decompression": [1, len(text)]})
    write_packed("zeros_behind.json.gz", good + bytes(5000), 400, {})
    half = text.index(b'{"ph"', len(text) // 2)
    members = gzip.compress(text[:half], mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(text[half:], mtime=0)
    write_packed("members.json.gz", members, 400, {})


def no_traces() -> None:
    refuse("empty.json", "", "an empty file")
    refuse("white_space.json", " \n\n", "nothing but white space")
    refuse("page.html", "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n", "an HTML page")
    refuse("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0", "a PNG image")
    refuse("snapshot.pickle", pickle.dumps({"segments": [], "device_traces": [[]]}, 4), "a Python pickle")
    refuse("report.sqlite", b"SQLite format 3\0\x10\0\1\1\0" + bytes(80), "an SQLite database")
    refuse("profile.pstats", b"\xfb\x29\x03\xfa\x07test.py\xe9\x01\0\0\0\xda\x04main", "a Python cProfile file")
    refuse("archive.zip", b"PK\3\4\x14\0\0\0\x08\0", "a ZIP archive")
    refuse("program.elf", b"\x7fELF\2\1\1\0" + bytes(40), "an ELF program")
    refuse("log.txt", "step 1 loss 0.5\nstep 2 loss 0.4\n", "plain text")
    refuse("table.csv", "time,gpu,util,mem\n1,0,97,5\n", "comma-separated values")
    refuse("other.json", json.dumps({"results": [1, 2, 3]}), 'JSON without "traceEvents"')
    refuse("numbers.json", "[1, 2, 3]", "JSON")
    refuse("events_no_list.json", '{"traceEvents": 5}', "traceEvents")
    refuse("execution_trace.json", '{\n  "schema": "1.0.1", "pid": 563677, "start_ts": 6278907328,\n  "nodes": [\n    {"name": "[pytorch|profiler|execution_trace|process]", "id": 1}\n  ]\n}', "a PyTorch execution trace")
    refuse("pointer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a Git LFS pointer")
    refuse("random.bin", bytes((i * 7919 + 13) % 251 for i in range(3000)), "binary data")


def main() -> None:
    ends()
    strings()
    numbers()
    structure()
    packed()
    no_traces()
    (HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1) + "\n")


if __name__ == "__main__":
    main()
