"""The result folder of a GPU check: few small files, flat, without names of the machine.

README.md       what this is, when and on what it was made
machine.json    the machine
summary.json    each part: passed, failed or not possible, why, and its numbers
summary.md      the same to read
cuda.tar.xz     sessions of the CUDA programs, each with what the program said it did
torch.tar.xz    a session of a PyTorch training, with what torch.profiler counted
nvml.tar.xz     a session with the telemetry that was compared with nvidia-smi
pairs.tar.xz    pairs of illness and cure, with their step times without a profiler
raw.tar.xz      records of CUPTI as it wrote them
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import platform
import re
import struct
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from outcome import PASSED, Report, state_of_parts

FILES_AT_MOST = 9
BYTES_AT_MOST = 2_000_000
NAME = re.compile(r"[A-Za-z0-9._-]+")
# What each archive may take; the largest member goes first where it is more.
SHARES = {
    "cuda.tar.xz": 300_000,
    "torch.tar.xz": 380_000,
    "nvml.tar.xz": 70_000,
    "pairs.tar.xz": 1_000_000,
    "raw.tar.xz": 100_000,
}
TEXT_SHARE = 100_000
BLOCK = struct.Struct("<IIIHHQ")
SYNC = 0x4B4C4246


# What may be in it


def problems(folder: Path) -> list[str]:
    """Rules that a result folder breaks."""
    found = []
    entries = sorted(folder.iterdir())
    if len(entries) > FILES_AT_MOST:
        found.append(f"{len(entries)} files, more than {FILES_AT_MOST}")
    total = sum(entry.stat().st_size for entry in entries if entry.is_file())
    if total >= BYTES_AT_MOST:
        found.append(f"{total} bytes, not fewer than {BYTES_AT_MOST}")
    for entry in entries:
        if not entry.is_file() or entry.is_symlink():
            found.append(f"{entry.name} is no plain file")
        if not NAME.fullmatch(entry.name):
            found.append(f"{entry.name!r} has other letters than [A-Za-z0-9._-]")
    for name in ("README.md", "machine.json", "summary.json", "summary.md"):
        if not (folder / name).is_file():
            found.append(f"{name} is missing")
    return found


# Without names of the machine


def private_words(python: str) -> list[str]:
    """What tells whose machine it is, the longest first."""
    folders = {str(Path.home()), os.getcwd(), sys.prefix, sys.base_prefix, tempfile.gettempdir()}
    if python:
        folders |= {str(Path(python).parent.parent), str(Path(python).resolve().parent.parent)}
    folders |= {str(Path(__file__).resolve().parents[2])}
    words = {folder for folder in folders if len(folder) > 3 and folder != "/usr"}
    # Of a kernel's release, what somebody called their own.
    words |= {part for part in platform.release().partition("-")[1:] if len(part) > 3}
    node = platform.node()
    # A short plain word may be a word of the recording too, such as "cuda".
    if len(node) > 8 or not node.isalpha():
        words |= {node} if len(node) > 3 and node != "localhost" else set()
    return sorted(words, key=len, reverse=True)


def neutral(data: bytes, words: Iterable[str]) -> bytes:
    """The data with these words replaced by as many x; capture files keep their sums right."""
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(neutral(gzip.decompress(data), words), 9, mtime=0)
    if data.startswith(b"FATHOM\x01"):
        return neutral_capture(data, words)
    return replaced(data, words)


def replaced(data: bytes, words: Iterable[str]) -> bytes:
    for word in words:
        plain = word.encode()
        data = data.replace(plain, b"x" * len(plain))
    return data


def neutral_capture(data: bytes, words: Iterable[str]) -> bytes:
    """docs/wire.md: a block has 24 bytes of header, with a CRC-32 of its end and the payload."""
    parts, at = [data[:8]], 8
    while at + BLOCK.size <= len(data):
        sync, size, _, kind, reserved, number = BLOCK.unpack_from(data, at)
        payload = data[at + BLOCK.size : at + BLOCK.size + size]
        if sync != SYNC or len(payload) < size:
            break
        payload = replaced(payload, words)
        tail = struct.pack("<HHQ", kind, reserved, number)
        crc = zlib.crc32(payload, zlib.crc32(tail))
        parts.append(BLOCK.pack(sync, size, crc, kind, reserved, number) + payload)
        at += BLOCK.size + size
    # What is left was damaged: it is left out.
    return b"".join(parts)


# Packing


def pack(source: Path, target: Path, words: list[str], at_most: int) -> list[str]:
    """Packs a folder; returns the members that did not fit, the largest of which go first."""
    members: dict[str, bytes] = {}
    left_out: list[str] = []
    for path in sorted(source.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        name = path.relative_to(source).as_posix()
        try:
            # What is compressed one by one shares nothing.
            member, data = unzipped(name, path.read_bytes())
        except (OSError, EOFError, zlib.error):
            # Whoever wrote it was stopped.
            left_out.append(name)
            continue
        members[member] = neutral(data, words)
    data = archive(members)
    while len(data) > at_most and members:
        sizes = {name: len(zlib.compress(member, 1)) for name, member in members.items()}
        part = len(data) / sum(sizes.values())
        while members:
            largest = max(members, key=lambda name: sizes[name])
            # The two of a pair go together.
            twins = [name for name in members if twin(name) == twin(largest)]
            for name in twins:
                del members[name]
            left_out += twins
            if part * sum(sizes[name] for name in members) <= at_most:
                break
        data = archive(members)
    if members:
        target.write_bytes(data)
    return left_out


def unzipped(name: str, data: bytes) -> tuple[str, bytes]:
    if name.endswith(".gz"):
        return name.removesuffix(".gz"), gzip.decompress(data)
    return name, data


def twin(name: str) -> str:
    """What the recordings of a pair share in their names."""
    return re.sub(r"\.(ill|cured)\.", ".", name)


def archive(members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member, data in sorted(members.items()):
            entry = tarfile.TarInfo(member)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return lzma.compress(plain.getvalue(), preset=6)


# Words


def summary(reports: list[Report], machine: dict[str, Any], dry: bool) -> dict[str, Any]:
    return {
        "schema": "fathom-gpu-check/1",
        "made": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "dry_run": dry,
        "device": [gpu["name"] for gpu in machine["gpus"]],
        "state": state_of_parts([report.state for report in reports]),
        "seconds": round(sum(report.seconds for report in reports), 1),
        "parts": [report.document() for report in reports],
    }


def cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def summary_text(document: dict[str, Any]) -> str:
    device = ", ".join(document["device"]) or "no GPU"
    lines = [
        f"# GPU check: {document['state']}",
        "",
        f"{document['made']}, {device}, {document['seconds']:.0f} s.",
    ]
    if document["dry_run"]:
        lines += ["", "A dry run: no GPU was used."]
    lines += ["", "| part | | seconds | |", "|---|---|---:|---|"]
    for part in document["parts"]:
        lines.append(
            f"| {part['part']} | {part['state']} | {part['seconds']} | {cell(part['reason'])} |"
        )
    for part in document["parts"]:
        lines += ["", f"## {part['part']}", "", "| check | | |", "|---|---|---|"]
        lines += [
            f"| {cell(each['name'])} | {each['state']} | {cell(each['detail'])} |"
            for each in part["checks"]
        ]
        short = {
            name: value for name, value in part["numbers"].items() if len(json.dumps(value)) < 400
        }
        if short:
            lines += ["", "| number | |", "|---|---|"]
            lines += [
                f"| {cell(name)} | {cell(json.dumps(value, ensure_ascii=False))} |"
                for name, value in short.items()
            ]
    return "\n".join(lines) + "\n"


def readme(
    document: dict[str, Any], machine: dict[str, Any], left_out: dict[str, list[str]]
) -> str:
    gpus = "; ".join(
        f"{gpu['name']}, {gpu['memory.total']}, driver {gpu['driver_version']}"
        for gpu in machine["gpus"]
    )
    torch = machine["torch"]
    lines = [
        f"# A GPU check on {', '.join(document['device']) or 'a machine without a GPU'}",
        "",
        f"Made on {document['made']} by `tools/gpu_check.sh` (docs/gpu.md); see `summary.md`.",
        "Our own recordings of our own programs, under the licence of this repository.",
        "",
        "| | |",
        "|---|---|",
        f"| GPU | {gpus or 'none'} |",
        f"| processor | {machine['processor']}, {machine['cores']} cores to use |",
        f"| system | {machine['distribution']}, {machine['system']} |",
        f"| PyTorch | {torch.get('version', 'none')}, CUDA {torch.get('cuda', 'none')} |",
        f"| nvcc | {machine['nvcc'] or 'none'} |",
        f"| Fathom | {' '.join(machine['fathom'])} |",
        "",
        "Names of the machine and of its folders are replaced by x.",
    ]
    dropped = [f"{name}: {', '.join(members)}" for name, members in left_out.items() if members]
    if dropped:
        lines += ["", f"Left out for their size: {'; '.join(dropped)}."]
    return "\n".join(lines) + "\n"


def write(
    folder: Path,
    reports: list[Report],
    machine: dict[str, Any],
    kept: Path,
    words: list[str],
    dry: bool,
    packed: dict[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Writes everything, without `words`, in a folder of its own; returns the summary. Archives of
    `packed` are there already; it is given those that are made."""
    folder.mkdir(parents=True, exist_ok=True)
    left_out = {} if packed is None else packed
    for name, share in SHARES.items():
        source = kept / name.split(".")[0]
        if source.is_dir() and name not in left_out:
            left_out[name] = pack(source, folder / name, words, share)
    document = summary(reports, machine, dry)
    document["left_out"] = {name: members for name, members in left_out.items() if members}
    texts = {
        "README.md": readme(document, machine, left_out),
        "machine.json": json.dumps(machine, indent=1, ensure_ascii=False) + "\n",
        "summary.json": shortened(document),
        "summary.md": summary_text(document),
    }
    for name, text in texts.items():
        (folder / name).write_bytes(replaced(text.encode(), words))
    return document


def shortened(document: dict[str, Any]) -> str:
    """As JSON; where it is too long, without facts about what passed; numbers that are too long are named, not given."""
    none: tuple[int, dict[str, Any], str] = (0, {}, "")
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if len(text) > TEXT_SHARE:
        for part in document["parts"]:
            for check in part["checks"]:
                if check["state"] == PASSED:
                    check["facts"] = {}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    while len(text) > TEXT_SHARE:
        sizes = [
            (len(json.dumps(value)), part["numbers"], name)
            for part in document["parts"]
            for name, value in part["numbers"].items()
        ]
        size, numbers, name = max(sizes, key=lambda each: each[0], default=none)
        if size < 100:
            break
        numbers[name] = "left out for its size"
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    return text
