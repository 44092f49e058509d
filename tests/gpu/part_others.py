"""Libraries other than PyTorch: their kernels are recorded; and jax beside its own profiler."""

from __future__ import annotations

import json
from collections.abc import Sequence

from common import CommandFailed, Context, last_json
from outcome import Report
from programs_of import Recording

KERNELS = 20
# What each program has to tell; one that finds no GPU ends.
SAYS = """
import json, sys
def ends(possible, reason="", **more):
    print(json.dumps({"possible": possible, "reason": reason, **more}), flush=True)
    if not possible:
        sys.exit(0)
"""
JAX = """
import jax
import jax.numpy as n
if jax.default_backend() != "gpu":
    ends(False, "jax sees no GPU")
x = n.ones(1000)
"""
PROGRAMS = {
    "jax": JAX
    + """
for _ in range(20): x = (x * 2).block_until_ready()
ends(True)
""",
    "cupy": """
import cupy
x = cupy.ones(1000)
for _ in range(20): x *= 2
cupy.cuda.Device().synchronize()
ends(True)
""",
    "numba": """
from numba import cuda
import numpy
if not cuda.is_available():
    ends(False, "numba sees no GPU")
@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2
x = cuda.to_device(numpy.ones(1024))
for _ in range(20): double[8, 128](x)
cuda.synchronize()
ends(True)
""",
    # Launched by Triton's own launcher, in a process with PyTorch.
    "triton": """
import torch, triton
import triton.language as tl
@triton.jit
def fathom_double(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)
x = torch.ones(1024, device="cuda")
for _ in range(20): fathom_double[(8,)](x, BLOCK=128)
torch.cuda.synchronize()
ends(True, value=float(x[0]))
""",
}
# Options of run; of triton every kernel is wanted, not some steps of torch.profiler.
OPTIONS: dict[str, tuple[str, ...]] = {"triton": ("--cuda", "always")}
JAX_PROFILER = (
    JAX
    + """
import glob
folder = sys.argv[1]
jax.profiler.start_trace(folder)
for _ in range(20): x = (x * 2).block_until_ready()
jax.profiler.stop_trace()
found = b"".join(open(file, "rb").read() for file in glob.glob(folder + "/**/*.xplane.pb", recursive=True))
ends(True, gpu=b"/device:GPU" in found)
"""
)


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("other libraries", "no GPU")
        return
    for name, program in PROGRAMS.items():
        if not installed(context, report, name):
            continue
        with Recording(context, report, name) as recording:
            try:
                said = recorded(context, recording, name, program, OPTIONS.get(name, ()))
            except CommandFailed as error:
                if reason := alone(context, name):
                    report.not_possible(name, f"it does not run by itself: {reason}")
                    continue
                raise error
            if not said["possible"]:
                report.not_possible(name, str(said["reason"]))
                continue
            found = recording.kernels("fathom_double") if name == "triton" else recording.kernels()
            report.compare(f"{name}: kernels", f"at least {KERNELS}", found, found >= KERNELS, **recording.facts())
    if installed(context, report, "jax", "jax.profiler"):
        jax_profiler(context, report)


def installed(context: Context, report: Report, library: str, name: str = "") -> bool:
    code = f"import importlib.util, json; print(json.dumps({{'there': importlib.util.find_spec('{library}') is not None}}))"
    there = bool(context.python) and bool(last_json(context.run(context.python, "-c", code))["there"])
    if not there:
        report.not_possible(name or library, "it is not installed")
    return there


def recorded(
    context: Context,
    recording: Recording,
    name: str,
    program: str,
    options: Sequence[object] = (),
    *arguments: object,
) -> dict[str, object]:
    """What the program said. The source is needed on disk: numba and Triton ask for it."""
    file = context.work / f"with_{name.replace('.', '_')}.py"
    file.write_text(SAYS + program)
    return last_json(recording.run(context.python, file, *arguments, options=options, seconds=90))


def alone(context: Context, name: str) -> str:
    """Why the program does not run without Fathom either; "" where it does."""
    try:
        context.run(context.python, context.work / f"with_{name}.py", seconds=90)
    except CommandFailed as error:
        return str(error)
    return ""


def jax_profiler(context: Context, report: Report) -> None:
    """Whoever has CUPTI first keeps it: alone and with --cuda off that is jax; with us it is named, or recorded."""
    name = "jax.profiler"
    file = context.work / "with_jax_profiler.py"
    file.write_text(SAYS + JAX_PROFILER)
    try:
        own = last_json(context.run(context.python, file, context.work / "jax_alone", seconds=90))
    except CommandFailed as error:
        report.not_possible(name, f"it does not run by itself: {error}")
        return
    if not own["possible"]:
        report.not_possible(name, str(own["reason"]))
        return
    for cuda in ("auto", "off"):
        with Recording(context, report, f"{name}, --cuda {cuda}") as recording:
            folder = context.work / f"jax_{cuda}"
            options = ("--cuda", cuda)
            said = recorded(context, recording, name, JAX_PROFILER, options, folder)
            if cuda == "off":
                report.compare(f"{name}, --cuda off: its trace has the GPU", own["gpu"], said["gpu"])
                continue
            found = recording.kernels()
            lost = json.dumps(recording.not_recorded())
            right = found >= KERNELS or "CUPTI" in lost
            report.compare(
                f"{name}, --cuda auto", "recorded, or it is named who has CUPTI", found, right,
                reasons=lost[:400], its_trace_has_the_gpu=said["gpu"], **recording.facts(),
            )
