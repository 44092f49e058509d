"""Interpreters of Python to test with: that of the tests, and those of pyenv."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Iterator

PEERS = pathlib.Path(__file__).resolve().parents[2] / "build/peers"
ASK = "import json, sys; print(json.dumps([sys.executable, *sys.version_info[:3]]))"


def _candidates() -> Iterator[str]:
    yield sys.executable
    yield from map(str, of_pyenv("*"))


def of_pyenv(version: str) -> list[pathlib.Path]:
    """Those of such versions ("3.8.*"); none where another user's folder is named."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    try:
        return sorted(root.glob(f"versions/{version}/bin/python"))
    except PermissionError:
        return []


def interpreters() -> dict[str, str]:
    """"3.11" to the path of one such interpreter, 3.8 and later."""
    found: dict[tuple[int, int], str] = {}
    for path in _candidates():
        try:
            done = subprocess.run([path, "-I", "-c", ASK], capture_output=True, text=True, timeout=60)
            answer: Any = json.loads(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
        if (answer[1], answer[2]) >= (3, 8):
            found.setdefault((answer[1], answer[2]), path)
    return {"%d.%d" % version: found[version] for version in sorted(found)}


def peers_of(version: str) -> str | None:
    """The folder with what tools/setup peers installed for that Python, to be in PYTHONPATH."""
    folder = PEERS / version
    return str(folder) if (folder / ".complete").exists() else None
