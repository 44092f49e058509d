"""Recording other programs: one that is started for it, or one that runs already."""

from __future__ import annotations

import os
import pathlib
import subprocess
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fathom import _core
from fathom._errors import FathomError
from fathom._folder import fresh
from fathom._session import Path, Session
from fathom._session import open as open_recording

PROGRAM = pathlib.Path(__file__).parent / "bin" / "fathom"


@dataclass(frozen=True)
class Recorded:
    """What was recorded: a session folder."""

    path: pathlib.Path
    exit_code: int | None = None
    """Of a program that `run` started, as a shell gives it: 128 + N when signal N ended it."""
    pids: tuple[int, ...] = ()
    """Of the processes that `attach` recorded."""

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
        raise FathomError("run: no command is named", "invalid_argument")
    folder = pathlib.Path(output) if output is not None else fresh(pathlib.Path(words[0]).stem)
    line = [PROGRAM, "run", "--no-diagnose", "-o", folder, *options, "--", *words]
    try:
        done = subprocess.run([os.fspath(word) for word in line], check=False)
    except OSError as error:
        raise FathomError(f"{PROGRAM}: {error.strerror}; install the package anew", "io") from error
    if not (folder / "manifest.json").exists():
        raise FathomError(f"run: nothing was recorded (exit code {done.returncode})", "io")
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Recorded(folder, exit_code=code)


def attach(
    pids: int | Iterable[int],
    *,
    seconds: float = 5.0,
    timeout: float = 30.0,
    extras: Iterable[str] = (),
    output: Path | None = None,
    name: str = "",
    progress: Callable[[str], None] | None = None,
) -> Recorded:
    """Records running processes and those below them for `seconds`, as `fathom attach` does.

    PyTorch is asked for a trace where the program was started with KINETO_USE_DAEMON=1, for at
    most `timeout` seconds; else threads are sampled from outside. `extras`: shapes, stacks,
    memory, flops, of PyTorch. `progress` is called with a sentence for each thing that happens;
    warnings are Python's. The interpreter's lock is free meanwhile; Ctrl-C ends the recording.
    Raises FathomError: there is no such process, or it may not be looked at.
    """
    wanted = [pids] if isinstance(pids, int) else list(pids)
    folder, recorded = _core.attach(
        wanted,
        os.fspath(output) if output is not None else "",
        name,
        seconds,
        timeout,
        ",".join(extras),
        progress or (lambda text: None),
        lambda text: warnings.warn(text, RuntimeWarning, stacklevel=3),
    )
    return Recorded(pathlib.Path(folder), pids=tuple(recorded))


def doctor() -> list[_core.Check]:
    """What may be recorded on this machine by this user, and what would allow more.

    In the order of `fathom doctor`. Takes up to a few seconds: it starts programs, and asks the
    driver.
    """
    return _core.doctor()
