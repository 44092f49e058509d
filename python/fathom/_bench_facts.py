"""What of a program bears on how fast it is: versions, threads, switches, random numbers."""

from __future__ import annotations

import contextlib
import platform
import random
import sys
from collections.abc import Callable
from typing import Any

PACKAGES = ("torch", "numpy", "triton", "jax", "tensorflow")


def facts_of_program() -> list[tuple[str, str]]:
    """Of what is imported; nothing is imported for it."""
    facts = [("Python", platform.python_version())]
    for name in PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            facts.append((name, str(version)))
    torch = sys.modules.get("torch")
    return facts + (_torch_facts(torch) if torch is not None else [])


def _torch_facts(torch: Any) -> list[tuple[str, str]]:
    facts = [("torch threads", str(torch.get_num_threads()))]
    if not torch.cuda.is_available():
        return facts
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    switches: dict[str, Callable[[], object]] = {
        "CUDA of torch": lambda: torch.version.cuda,
        "cudnn": cudnn.version,
        "cudnn.benchmark": lambda: cudnn.benchmark,
        "cudnn.deterministic": lambda: cudnn.deterministic,
        "cudnn TF32": lambda: cudnn.allow_tf32,
        "matmul TF32": lambda: matmul.allow_tf32,
    }
    for name, read in switches.items():
        with contextlib.suppress(RuntimeError):  # of switches that were set in two ways
            facts.append((name, str(read())))
    return facts


def random_states() -> dict[str, bytes]:
    """Of the generators that are there, to be compared."""
    states = {"random": repr(random.getstate()).encode()}
    numpy = sys.modules.get("numpy")
    legacy = getattr(getattr(numpy, "random", None), "get_state", None)
    if legacy is not None:
        kind, key, *rest = legacy()
        states["numpy.random"] = repr((kind, rest)).encode() + key.tobytes()
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.random.get_rng_state().numpy().tobytes()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            states["torch.cuda"] = torch.cuda.get_rng_state().numpy().tobytes()
    return states
