"""What this process is (its role and rank) and what it used."""

from __future__ import annotations

import os
import resource
import sys
import time

PARENT = "FATHOM_PARENT"
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")


def rank_of_environment() -> int:
    """The rank that a launcher such as torchrun or mpirun gave, or -1."""
    for name in _RANKS:
        text = os.environ.get(name, "")
        if text.isdigit() and (name != "SLURM_PROCID" or "SLURM_STEP_NUM_TASKS" in os.environ):
            return int(text)
    return -1


def role_and_rank() -> tuple[str, int]:
    """The first Python process is `main`, one that has a rank which its parent had not is a
    `rank`. A process that became another program stays what it was."""
    rank = rank_of_environment()
    parent = os.environ.get(PARENT)
    pid, rank_of_parent, role = (*(parent or "").split(":"), "", "", "")[:3]
    if pid == str(os.getpid()) and role:
        return role, rank
    if rank >= 0 and rank_of_parent != str(rank):
        return "rank", rank
    return ("main" if parent is None else "child"), rank


def mark_for_children(rank: int, role: str) -> None:
    """Children read here that they are children, and of which rank."""
    os.environ[PARENT] = f"{os.getpid()}:{rank}:{role}"


def name_of_command() -> str:
    """The script or module, as people call it."""
    words = iter(_words()[1:])
    for word in words:
        if word == "-m":
            return next(words, "python -m")
        if word == "-c":
            return _helper(next(words, ""))
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            next(words, "")
        elif not word.startswith("-") or word == "-":
            return os.path.basename(word)
    return os.path.basename(sys.executable or "python")


def _helper(code: str) -> str:
    """Python's own helpers are started with -c: "from multiprocessing.resource_tracker import
    main…"."""
    words = code.split()
    known = len(words) > 1 and words[0] == "from" and words[1].startswith("multiprocessing.")
    return words[1] if known else "python -c"


def _words() -> list[str]:
    """The command line, which Python before 3.10 does not show."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return list(getattr(sys, "orig_argv", []))


def processor_time() -> tuple[int, int]:
    """User and system time of this process so far, ns."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return int(usage.ru_utime * 1e9), int(usage.ru_stime * 1e9)


def exit_fields(began_ns: int, used: tuple[int, int] = (0, 0)) -> tuple[int, ...]:
    """status, user, system, peak, wall, read, written, as an exit record has them. `used`: the
    processor time of this process that is not of what is recorded."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    user, system = processor_time()
    read, written = _io()
    return (
        -1,
        user - used[0],
        system - used[1],
        usage.ru_maxrss * 1024,
        time.monotonic_ns() - began_ns,
        read,
        written,
    )


def _io() -> tuple[int, int]:
    """Bytes read from and written to storage, or -1."""
    found = {}
    try:
        with open("/proc/self/io") as file:
            for line in file:
                key, _, value = line.partition(":")
                found[key] = int(value)
    except (OSError, ValueError):
        pass
    return found.get("read_bytes", -1), found.get("write_bytes", -1)


def resident_bytes() -> int:
    """What this process holds in memory now, or -1."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return -1
