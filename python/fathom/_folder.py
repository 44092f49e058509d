"""The session folder of a recording that a program makes of itself (docs/capture.md)."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import platform
import sys
import time
from typing import Any

from fathom import _core
from fathom._errors import FathomError


class Folder:
    """Made when something is first recorded; its manifest is replaced as a whole."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._chosen = None if path is None else pathlib.Path(path)
        self._numbers = itertools.count(1)
        self._manifest: dict[str, Any] = {}
        self._ours = False
        self.path: pathlib.Path | None = None

    def make(self) -> pathlib.Path:
        """The folder, which is there from now on. FathomError: it cannot be written."""
        if self.path is None:
            path = self._chosen or fresh(_program())
            self._manifest = _conditions()
            try:
                path.mkdir(parents=True, exist_ok=True)
                self._write_manifest(path)
            except OSError as error:
                raise FathomError(f"{path}: {error.strerror}", "io") from error
            self.path = path
        return self.path

    def next_trace(self, *, gzip: bool) -> str:
        """Where torch.profiler's next trace of this process goes."""
        folder = self.make()
        while True:
            path = folder / f"torch-{os.getpid()}-{next(self._numbers)}.pt.trace.json"
            if not path.exists() and not path.with_name(path.name + ".gz").exists():
                return f"{path}.gz" if gzip else str(path)

    def finish(self) -> None:
        """The recording is complete."""
        if self.path is not None:
            self._manifest["ended_unix_ns"] = time.time_ns()
            self._write_manifest(self.path)

    def _write_manifest(self, folder: pathlib.Path) -> None:
        path = folder / "manifest.json"
        # Ranks share a folder: the first that comes describes the run.
        if path.exists() and not self._ours:
            return
        new = folder / f"manifest.json.{os.getpid()}"
        new.write_text(json.dumps(self._manifest, indent=2) + "\n", encoding="utf-8")
        new.replace(path)
        self._ours = True


def _program() -> str:
    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    return name.lstrip("-") or "python"


def fresh(name: str) -> pathlib.Path:
    """fathom-runs/<time>-<name>, with a number behind it where that is taken."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    base = pathlib.Path("fathom-runs") / f"{stamp}-{name}"
    for number in itertools.count(2):
        if not base.exists():
            break
        base = base.with_name(f"{stamp}-{name}-{number}")
    return base.absolute()


def _conditions() -> dict[str, Any]:
    return {
        "schema": "fathom-run/1",
        "fathom": _core.version,
        "name": _program(),
        "command": _core.redact_command(list(sys.orig_argv)),
        "directory": os.getcwd(),
        "host": {
            "name": platform.node(),
            "kernel": platform.release(),
            "cores": os.cpu_count(),
            "cores_allowed": len(os.sched_getaffinity(0)),
            "load": os.getloadavg()[0],
        },
        "started_unix_ns": time.time_ns(),
    }
