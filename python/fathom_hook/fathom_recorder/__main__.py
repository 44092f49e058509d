"""The fallback where the start-up hook is not read (python -I, -E, -S):

python -I .../hook/fathom_recorder script.py [arguments]
python -I .../hook/fathom_recorder -m module [arguments]
"""

from __future__ import annotations

import os
import sys
import types


def _begin() -> None:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, folder)
    try:
        import fathom_recorder

        fathom_recorder.begin()
    finally:
        sys.path.remove(folder)


def _run_script(path: str) -> None:
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _run_module(name: str) -> None:
    import runpy

    sys.argv = sys.argv[2:]
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def main() -> None:
    words = sys.argv[1:]
    if not words or (words[0] == "-m" and len(words) < 2):
        print("usage: python -I .../fathom_recorder SCRIPT|-m MODULE [arguments]", file=sys.stderr)
        raise SystemExit(2)
    _begin()
    if words[0] == "-m":
        _run_module(words[1])
    else:
        _run_script(words[0])


main()
