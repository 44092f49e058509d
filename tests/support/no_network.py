#!/usr/bin/env python3
"""Runs a command that is ended (SIGSYS) as soon as it, or any process that it starts, asks the kernel for a network.

    no_network.py none COMMAND...       no socket but this machine's own (AF_UNIX)
    no_network.py server COMMAND...     sockets of TCP to be asked at, none to ask with: no connect, nothing sent unconnected

Unlike a machine without a network, this notices an attempt that nobody would hear of. A filter of system calls (seccomp) cannot
be left, and is inherited.
"""
from __future__ import annotations

import ctypes
import os
import platform
import socket
import subprocess
import sys

# Processor: as the kernel names it, and its numbers of socket, connect, sendto, sendmsg, sendmmsg.
PROCESSORS = {"x86_64": (0xC000003E, (41, 42, 44, 46, 307)), "aarch64": (0xC00000B7, (198, 203, 206, 211, 269))}
IO_URING_SETUP = 425  # of both; by which calls are made that no filter sees
X32 = 0x40000000
MSG_FASTOPEN = 0x20000000
KILL_PROCESS, ALLOW = 0x80000000, 0x7FFF0000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
# Where a filter finds what it looks at, on processors that have the lower half of a number first.
NUMBER, ARCHITECTURE = 0, 4
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


def argument(index: int) -> int:
    return 16 + 8 * index


def lines(server: bool) -> list[tuple]:
    """(code, value, label where true, label where false); a label is a string of its own, None the next line."""
    architecture, (make, connect, sendto, sendmsg, sendmmsg) = PROCESSORS[platform.machine()]
    found: list = [
        (LOAD, ARCHITECTURE), (EQUAL, architecture, None, "kill"), (LOAD, NUMBER), (AT_LEAST, X32, "kill", None),
        (EQUAL, IO_URING_SETUP, "kill", None), (EQUAL, make, "socket", None),
    ]
    if server:
        # A local socket may be connected: attach asks by one whether it is served. Those of the network have sizes of their own.
        found += [(EQUAL, connect, "connect", None), (EQUAL, sendto, "flags of sendto", None), (EQUAL, sendmsg, "flags of sendmsg", None),
                  (EQUAL, sendmmsg, "kill", "allow"),
                  "connect", (LOAD, argument(2)), (EQUAL, 16, "kill", None), (EQUAL, 28, "kill", "allow"),
                  "flags of sendto", (LOAD, argument(3)), (ANY_BIT, MSG_FASTOPEN, "kill", "allow"),
                  "flags of sendmsg", (LOAD, argument(2)), (ANY_BIT, MSG_FASTOPEN, "kill", "allow")]
    else:
        found += [(RETURN, ALLOW)]
    found += ["socket", (LOAD, argument(0)), (EQUAL, socket.AF_UNIX, "allow", None)]
    if server:
        found += [(EQUAL, socket.AF_INET, "stream", None), (EQUAL, socket.AF_INET6, "stream", "kill"),
                  "stream", (LOAD, argument(1)), (AND, 0xF), (EQUAL, socket.SOCK_STREAM, "allow", "kill")]
    return [*found, "kill", (RETURN, KILL_PROCESS), "allow", (RETURN, ALLOW)]


def assembled(listed: list) -> list[Instruction]:
    places, count = {}, 0
    for line in listed:
        if isinstance(line, str):
            places[line] = count
        else:
            count += 1
    made: list[Instruction] = []
    for line in listed:
        if not isinstance(line, str):
            code, value, *jumps = line
            here = len(made) + 1
            made.append(Instruction(code, *(places[to] - here if to else 0 for to in jumps or (None, None)), value))
    return made


def filter_here(server: bool) -> None:
    made = assembled(lines(server))
    program = Program(len(made), (Instruction * len(made))(*made))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({words[0]}): {os.strerror(ctypes.get_errno())}")


def front(kind: str) -> list[str]:
    """What to write in front of a command; empty where nothing can be filtered."""
    words = [sys.executable, os.path.abspath(__file__), kind]
    if platform.machine() not in PROCESSORS or subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        return []
    return words


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("none", "server"):
        sys.exit(__doc__)
    filter_here(sys.argv[1] == "server")
    os.execvp(sys.argv[2], sys.argv[2:])
