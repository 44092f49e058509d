"""Recording other programs: one that is started for it, or ones that run already."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fathom import _core
from fathom._errors import FathomError
from fathom._folder import fresh
from fathom._session import Path, Session
from fathom._session import open as open_recording

PROGRAM = pathlib.Path(__file__).parent / "bin" / "fathom"
# Of the program: the command line is wrong, or what it names is not there.
USAGE = 2


@dataclass(frozen=True)
class Recorded:
    """What was recorded: a session folder."""

    path: pathlib.Path
    exit_code: int | None = None
    """Of a program that `run` started, as a shell gives it: 128 + N when signal N ended it."""

    def open(self, *, threads: int = 0) -> Session:
        """Reads the recording, as fathom.open() does."""
        return open_recording(self.path, threads=threads)


def run(
    command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    output: Path | None = None,
    options: Sequence[str] = (),
) -> Recorded:
    """Runs a command and records it, as `fathom run -- COMMAND` does; returns when it has ended.

    A string is a program without arguments, not a line for a shell. The program has our standard
    input, output and error, and what Fathom says goes to standard error. `output`: the session
    folder, new or empty; without it one under fathom-runs/. `options`: of `fathom run`, such as
    ["--with", "shapes,stacks"]. Raises FathomError where nothing could be recorded; a program
    that fails is no error, `exit_code` tells.
    """
    words = [command] if isinstance(command, str | os.PathLike) else list(command)
    if not words:
        raise FathomError("run: no command is named")
    folder = _folder(output, pathlib.Path(words[0]).stem)
    if (folder / "manifest.json").exists():
        raise FathomError(f"run: {folder} is a recording already")
    code = _wait(_start(["run", "--no-diagnose", "-o", folder, *options, "--", *words]))
    if not (folder / "manifest.json").exists():
        raise FathomError("run: nothing was recorded; standard error has the reason")
    return Recorded(folder, exit_code=code)


def attach(
    pids: int | Iterable[int],
    *,
    seconds: float = 5.0,
    timeout: float = 30.0,
    extras: Iterable[str] = (),
    output: Path | None = None,
) -> Recorded:
    """Records running processes and those below them for `seconds`, as `fathom attach` does.

    PyTorch is asked for a trace where the program was started with KINETO_USE_DAEMON=1, for at
    most `timeout` seconds; else threads are sampled from outside. `extras`: shapes, stacks,
    memory, flops, of PyTorch. The program writes what happens to standard error. Raises
    FathomError: there is no such process, or it may not be looked at.
    """
    wanted = [pids] if isinstance(pids, int) else list(pids)
    if not wanted:
        raise FathomError("attach: no process is named")
    folder = _folder(output, f"attached-{wanted[0]}")
    line: list[str | os.PathLike[str]] = ["attach", "--no-diagnose", "-o", folder]
    line += ["--duration", f"{seconds:.9f}s", "--timeout", f"{timeout:.9f}s"]
    if names := ",".join(extras):
        line += ["--with", names]
    program = _start([*line, *map(str, wanted)], stderr=subprocess.PIPE)
    assert program.stderr is not None
    said: list[str] = []
    try:
        for line_of_it in program.stderr:
            said.append(line_of_it.decode(errors="replace").strip())
            with contextlib.suppress(OSError):
                os.write(2, line_of_it)
        program.stderr.close()
    except KeyboardInterrupt:
        program.communicate()
        raise
    if code := _wait(program):
        reason = said[-1].removeprefix("fathom: ") if said else f"attach: exit code {code}"
        raise FathomError(reason, "invalid_argument" if code == USAGE else "io")
    return Recorded(folder)


def doctor() -> list[_core.Check]:
    """What may be recorded on this machine by this user, and what would allow more.

    In the order of `fathom doctor`. Takes up to a few seconds: it starts programs, and asks the
    driver.
    """
    return _core.doctor()


def _folder(chosen: Path | None, name: str) -> pathlib.Path:
    return fresh(name) if chosen is None else pathlib.Path(chosen)


def _start(
    words: Sequence[str | os.PathLike[str]], stderr: int | None = None
) -> subprocess.Popen[bytes]:
    line = [os.fspath(word) for word in (PROGRAM, *words)]
    try:
        return subprocess.Popen(line, stderr=stderr)
    except OSError as error:
        raise FathomError(f"{PROGRAM}: {error.strerror}; install the package anew", "io") from error


def _wait(program: subprocess.Popen[bytes]) -> int:
    """Its exit code. Ctrl-C reaches the program, too, which ends the recording."""
    try:
        code = program.wait()
    except KeyboardInterrupt:
        program.wait()
        raise
    return code if code >= 0 else 128 - code
