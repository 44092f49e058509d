"""Turns a result of the GPU check into what the repository keeps: its folder, fixtures of CUPTI's records, and the
part of docs/gpu.md that says what was found.

Whoever calls `page` needs nothing but the committed folders: tools/docs writes it, and a test holds the page to it.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import result
from outcome import state_of_parts

NOT_YET = """\
**It has not been run on a machine with a GPU yet.** Without one it was run with `--dry-run`, and its CUDA programs were compiled by \
nvcc 13.0 for sm_90.
"""
PACKED_AT_MOST = 8 << 20
PAGE = "docs/gpu.md"


def pack(folder: Path, target: Path) -> None:
    """The result as one file, to be carried away."""
    scratch = target.with_name(target.name + ".new")
    with tarfile.open(scratch, "w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name, recursive=False)
    if scratch.stat().st_size >= PACKED_AT_MOST:
        scratch.unlink()
        raise ValueError(f"the result is not below {PACKED_AT_MOST} bytes")
    scratch.replace(target)


def keep(sources: Sequence[Path], root: Path) -> list[Path]:
    """Puts a result below `root`/tests/data, packed or a folder, or what several commands made of one GPU; says what it
    wrote. What is there of the same GPU is replaced."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = [opened(source, Path(scratch, str(number))) for number, source in enumerate(sources)]
        folder = merged(folders, Path(scratch, "merged"))
        if broken := result.problems(folder):
            raise ValueError("; ".join(broken))
        name = slug(summary_of(folder)["device"][0])
        target = root / "tests/data/gpu" / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        return [target, *fixtures(target, root, name), *written(root)]


def written(root: Path) -> list[Path]:
    """The page with what `page` has, as tools/docs writes it; none where it has no place for it."""
    file = root / PAGE
    text = file.read_text() if file.exists() else ""
    begin, end = "<!-- made: results -->\n", "<!-- end: results -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        return []
    before, after = text.split(begin)[0], text.split(end)[1]
    file.write_text(f"{before}{begin}\n{page(root)}\n{end}{after}")
    return [file]


def opened(source: Path, folder: Path) -> Path:
    """Where its files are, below `folder` if they were packed."""
    if source.is_file():
        folder.mkdir()
        unpack(source.read_bytes(), folder)
    else:
        folder = source
    if broken := result.problems(folder):
        raise ValueError("; ".join(broken))
    document = summary_of(folder)
    if document["dry_run"] or not document["device"]:
        raise ValueError("it was made without a GPU: there is nothing to keep")
    return folder


def summary_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return document


def merged(folders: Sequence[Path], target: Path) -> Path:
    """One result of several: where two have a part, the later one's counts."""
    if len(folders) == 1:
        return folders[0]
    documents = [summary_of(folder) for folder in folders]
    if len({tuple(document["device"]) for document in documents}) > 1:
        raise ValueError("they are of different GPUs")
    parts: dict[str, dict[str, Any]] = {}
    left_out: dict[str, list[str]] = {}
    for folder, document in zip(folders, documents, strict=True):
        shutil.copytree(folder, target, dirs_exist_ok=True)
        parts |= {part["part"]: part for part in document["parts"]}
        left_out |= document.get("left_out", {})
    document = {
        **documents[-1],
        "parts": list(parts.values()),
        "seconds": round(sum(part["seconds"] for part in parts.values()), 1),
        "state": state_of_parts([part["state"] for part in parts.values()]),
        "left_out": left_out,
    }
    machine = json.loads((target / "machine.json").read_text())
    (target / "README.md").write_text(result.readme(document, machine, left_out))
    (target / "summary.md").write_text(result.summary_text(document))
    (target / "summary.json").write_text(result.shortened(document))
    return target


def fixtures(target: Path, root: Path, name: str) -> list[Path]:
    """The records as CUPTI wrote them, for src/capture/cuda/raw_records_test.cc."""
    folder = root / "tests/data/cupti"
    for old in folder.glob(f"{name}-*.raw"):
        old.unlink()
    archive = target / "raw.tar.xz"
    if not archive.exists():
        return []
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as tar:
        for member in tar.getmembers():
            data = tar.extractfile(member)
            if data is None or not member.name.endswith(".raw"):
                continue
            file = folder / f"{name}-{slug(member.name.removesuffix('.raw'))}.raw"
            file.write_bytes(data.read())
            made.append(file)
    return made


def unpack(data: bytes, folder: Path) -> None:
    """Plain files with plain names; nothing else is looked at."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member) if member.isfile() and result.NAME.fullmatch(member.name) else None
            if file is not None and member.size < PACKED_AT_MOST:
                (folder / member.name).write_bytes(file.read())


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def page(root: Path) -> str:
    """What docs/gpu.md says of the results that are kept."""
    folders = sorted(path.parent for path in (root / "tests/data/gpu").glob("*/summary.json"))
    return "\n".join(found(folder) for folder in folders) or NOT_YET


def found(folder: Path) -> str:
    document = json.loads((folder / "summary.json").read_text())
    machine = json.loads((folder / "machine.json").read_text())
    drivers = sorted({gpu["driver_version"] for gpu in machine["gpus"]})
    torch = machine["torch"]
    lines = [
        f"### {', '.join(document['device'])}",
        "",
        f"{document['made']}, driver {', '.join(drivers)}, PyTorch {torch.get('version', 'none')} for CUDA "
        f"{torch.get('cuda', 'none')}: **{document['state']}**. Its files are in `tests/data/gpu/{folder.name}`.",
        "",
        "| part | | seconds | |",
        "|---|---|---:|---|",
    ]
    for part in document["parts"]:
        lines.append(f"| `{part['part']}` | {part['state']} | {part['seconds']} | {result.cell(part['reason'])} |")
    wrong = [(part, each) for part in document["parts"] for each in part["checks"] if each["state"] == "failed"]
    if wrong:
        lines += ["", "| what failed | expected | got | |", "|---|---|---|---|"]
        lines += [failed(part, each) for part, each in wrong]
    return "\n".join(lines) + "\n"


def failed(part: dict[str, Any], check: dict[str, Any]) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in check.get("facts", {}).items())
    told = [part["part"] + ": " + check["name"], check.get("expected", ""), check.get("got", "") or check["detail"], facts]
    return "| " + " | ".join(result.cell(each) for each in told) + " |"
