"""What the parts of the GPU check share: where things are, and how commands are run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


# Each shows that there is a driver.
DRIVER = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")

# Groups of processes that run now; threads may have one each.
LIVE: set[int] = set()


class CommandFailed(Exception):
    """A command ended badly or took too long; says which and how."""


@dataclass(eq=False)
class Context:
    fathom: Path
    python: str  # an interpreter with PyTorch, or "" where there is none
    work: Path  # scratch of this part
    keep: Path  # what is put here is packed into the result
    dry: bool  # no GPU is used, even if there is one
    budget: float  # seconds
    clock_seconds: int = 5  # of `truth`
    begin: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        return max(0.0, self.budget - (time.monotonic() - self.begin))

    @property
    def gpu(self) -> bool:
        return not self.dry and has_gpu()

    def run(
        self,
        *words: object,
        seconds: float = 60,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Standard output. `env` are further variables of the environment."""
        return run([str(word) for word in words], min(seconds, self.left), check, env or {})

    def ended(
        self, *words: object, seconds: float = 60, env: Mapping[str, str] | None = None
    ) -> tuple[str, int]:
        """Standard output, and the exit code as a shell has it."""
        done = finished([str(word) for word in words], min(seconds, self.left), env or {})
        return done.stdout, done.returncode if done.returncode >= 0 else 128 - done.returncode

    def rows(self, table: str, trace: Path, *arguments: str) -> list[dict[str, Any]]:
        """Of a table; of all its inputs, as a session of several processes with PyTorch has them."""
        text = self.run(self.fathom, table, trace, "--json", *arguments)
        document = json.loads(text)
        inputs: list[dict[str, Any]] = document.get("inputs", [document])
        return [row for each in inputs for row in each["rows"]]

    def diagnosis(self, trace: Path) -> dict[str, Any]:
        document = json.loads(self.run(self.fathom, "diagnose", trace, "--json"))
        first: dict[str, Any] = document[0] if isinstance(document, list) else document
        return first

    def verification(self, rules: list[str], base: str, new: str) -> dict[str, Any]:
        """Its exit code is its answer: 0 confirmed, 1 not, 4 it cannot tell."""
        words = (self.fathom, "verify", "--json", "--within-runs", ",".join(rules), base, new)
        said, code = self.ended(*words)
        if code not in (0, 1, 4):
            raise CommandFailed(f"verify {','.join(rules)}: exit code {code}")
        answer: dict[str, Any] = json.loads(said)
        return answer

    def run_help(self) -> str:
        return self.run(self.fathom, "run", "--help")


def has_gpu() -> bool:
    """Containers may lack the driver's files of /proc and nvidia-smi, and WSL has a file of its own."""
    return any(Path(file).exists() for file in DRIVER) or shutil.which("nvidia-smi") is not None


def run(words: list[str], seconds: float, check: bool, more: Mapping[str, str]) -> str:
    done = finished(words, seconds, more)
    if check and done.returncode != 0:
        raise CommandFailed(said_at_end(done))
    return done.stdout


def said_at_end(done: subprocess.CompletedProcess[str]) -> str:
    tail = " / ".join((done.stderr or done.stdout).strip().splitlines()[-4:])
    return f"{' '.join(done.args)[-160:]}: exit code {done.returncode}: {tail[-600:]}"


def finished(
    words: list[str], seconds: float, more: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    if seconds <= 0:
        raise CommandFailed(f"{Path(words[0]).name}: no time is left for it")
    environment = {**os.environ, **more}
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        LIVE.add(process.pid)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise CommandFailed(
                f"{' '.join(words)[-160:]}: took longer than {seconds:.0f} s"
            ) from None
        finally:
            LIVE.discard(process.pid)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def last_json(text: str) -> dict[str, Any]:
    """The last line of a program's output that is a JSON object."""
    for line in reversed(text.strip().splitlines()):
        if line.startswith("{"):
            document: dict[str, Any] = json.loads(line)
            return document
    raise CommandFailed(f"no JSON in the output: {text[-200:]!r}")


def copy_session(session: Path, target: Path) -> None:
    """Without the recorder's own files."""
    shutil.copytree(
        session, target, ignore=shutil.ignore_patterns("hook", "lib"), dirs_exist_ok=True
    )


def option_named(text: str, word: str) -> tuple[str, ...] | None:
    """How `fathom run --help` spells it: an option that ends so, or a word of --with."""
    flag = re.search(rf"--[a-z-]*{word}(?![\w-])", text)
    if flag:
        return (flag.group(),)
    found = re.search(rf"\b[a-z-]*{word}(?![\w-])", text)
    return ("--with", found.group()) if found else None


def end_with_commands(*_: object) -> None:
    """For SIGTERM: ends this process and every command that it runs."""
    for group in list(LIVE):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    os._exit(1)
