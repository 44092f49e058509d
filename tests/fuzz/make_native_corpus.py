#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/native_code: .eh_frame with its header, a record of perf, texts of /proc. Always the same bytes."""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus/native_code"
HEADER = 0x1000  # as native_code_fuzz.cc has them
FRAMES = 0x20000
FUNCTION = 0x10000


def entry(body):
    body += bytes(-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def frames(instructions, augmentation=b"zR", header=True):
    """One function, whose entry the header's table names."""
    table = 12 + 8 if header else 0
    at = FRAMES
    cie = entry(struct.pack("<I", 0) + b"\x01" + augmentation + b"\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01")
    place = at + len(cie) + 8
    fde = entry(struct.pack("<Iii", len(cie) + 4, FUNCTION - place, 0x4000) + b"\x00" + instructions)
    head = b"\x01\x1b\x03\x3b" + struct.pack("<iIii", at - HEADER - 4, 1, FUNCTION - HEADER, at + len(cie) - HEADER)
    head = head[:table] if header else b""
    return struct.pack("<H", len(head)) + head + cie + fde + bytes(4)


def sample():
    body = struct.pack("<IIQQ", 1, 1, 1, 2) + struct.pack("<17Q", *range(17)) + struct.pack("<Q", 16) + bytes(16)
    body += struct.pack("<Q", 16)
    return struct.pack("<IHH", 9, 0, 8 + len(body)) + body


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    prologue = b"\x41\x0e\x10\x86\x02\x43\x0d\x06\x5c\x0a\xc6\x0c\x07\x08\x41\x0b"
    plt = b"\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"
    for name, content in {
            "prologue": frames(prologue), "without_header": frames(prologue, header=False), "plt": frames(plt),
            "signal": frames(b"\x10\x03\x02\x77\x08\x16\x06\x03\x11\x7c\x06", b"zRS"), "sample": sample(),
            "lost": struct.pack("<IHHQQ", 2, 0, 24, 1, 9), "map": b"1000 20 a function\n",
            "blocked": b"0 0x0 0x1 0x2 0x3 0x4 0x5 0x7000 0x10000\n"}.items():
        (CORPUS / name).write_bytes(content)


if __name__ == "__main__":
    main()
