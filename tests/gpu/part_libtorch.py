"""A program of C++ with LibTorch, without Python: the injection records it. PyTorch's package brings the headers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from common import HERE, CommandFailed, Context, last_json
from outcome import Report
from part_cuda import records_cuda
from programs_of import Recording

LAUNCHES = 50
PLACES = (
    "import json, os, torch\n"
    "from torch.utils import cpp_extension as c\n"
    "libraries = os.path.join(os.path.dirname(torch.__file__), 'lib')\n"
    "print(json.dumps({'include': c.include_paths(), 'libraries': libraries,"
    " 'cuda': os.path.exists(libraries + '/libtorch_cuda.so'), 'abi': int(torch._C._GLIBCXX_USE_CXX11_ABI)}))"
)


def run(context: Context, report: Report) -> None:
    name = "C++ with LibTorch"
    if not context.gpu:
        report.not_possible(name, "no GPU")
        return
    program = compiled(context, report, name)
    if program is None:
        return
    if not records_cuda(context):
        report.not_possible(name, "this Fathom brings no libfathom_cuda.so")
        return
    with Recording(context, report, name) as recording:
        said = last_json(recording.run(program, LAUNCHES, seconds=90))
        if not said["possible"]:
            report.not_possible(name, str(said["reason"]))
            return
        report.compare(f"{name}: computes", LAUNCHES + 1, said["value"])
        found = recording.kernels()
        # One for each addition, and one that fills.
        report.compare(f"{name}: kernels", f"at least {LAUNCHES + 1}", found, found > LAUNCHES, **recording.facts())


def compiled(context: Context, report: Report, name: str) -> Path | None:
    """None where something is missing or fails; the report has it."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "c++", "g++"))), None)
    if not context.python or compiler is None:
        report.not_possible(name, "no Python with torch" if not context.python else "no C++ compiler")
        return None
    try:
        places = last_json(context.run(context.python, "-c", PLACES, seconds=90))
    except CommandFailed as error:
        report.not_possible(name, f"PyTorch does not say where its headers are: {error}"[:300])
        return None
    if not any(Path(folder, "torch/torch.h").exists() for folder in places["include"]):
        report.not_possible(name, "PyTorch's headers are not there")
        return None
    libraries = places["libraries"]
    names = ["torch", "torch_cpu", "c10", *(["torch_cuda", "c10_cuda"] if places["cuda"] else [])]
    program = context.work / "libtorch"
    words: list[object] = [compiler, "-std=c++20", "-O0", f"-D_GLIBCXX_USE_CXX11_ABI={places['abi']}"]
    words += [*(f"-I{folder}" for folder in places["include"]), HERE / "programs/libtorch.cc", "-o", program]
    # What the libraries need of one another they find by their own paths.
    words += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
    try:
        context.run(*words, *(f"-l{each}" for each in names), seconds=240)
    except CommandFailed as error:
        report.failed("libtorch.cc compiles", str(error))
        return None
    report.compare("libtorch.cc compiles", "it does", "it does")
    return program
