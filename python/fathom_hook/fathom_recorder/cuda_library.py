"""Asks libfathom_cuda.so, which the CUDA driver loads into a process, whether CUPTI is its own there."""

from __future__ import annotations

import ctypes
import os

_NOT_YET = -1


def holds_cupti(initialised: bool) -> bool:
    """Whether torch.profiler is to leave CUPTI to that library. `initialised`: the process uses its GPU by now, so that
    a library that was not loaded will not be."""
    path = os.environ.get("CUDA_INJECTION64_PATH")
    answer = _answer(path) if path else 0
    return not initialised if answer == _NOT_YET else answer == 1


def _answer(path: str) -> int:
    """What fathom_has_cupti() says; 0 of a library that is another tool's."""
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return _NOT_YET
    try:
        return int(library.fathom_has_cupti())
    except AttributeError:
        return 0
