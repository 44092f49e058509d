"""Records what a Python program does, from inside it. Started by sitecustomize.py; see
docs/capture.md."""

from __future__ import annotations

import os
import sys

SESSION = "FATHOM_SESSION"


def _is_main_interpreter() -> bool:
    """A sub-interpreter reads sitecustomize, too. What is recorded is one of the process, and
    before Python 3.9 a thread of ours that is left in one ends the program."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    had = name in sys.modules
    try:
        interpreters = __import__(name)
        return bool(interpreters.get_current() == interpreters.get_main())
    except (ImportError, AttributeError):
        return True  # nor can the program have made one in Python
    finally:
        if not had:
            sys.modules.pop(name, None)


_begun = False


def begin() -> None:
    """Starts recording this process if a session folder is named in the environment, once: what a
    program says of itself asks each time. Never raises."""
    global _begun
    if _begun or not os.environ.get(SESSION):
        return
    _begun = True
    try:
        if not _is_main_interpreter():
            return
        from . import recorder

        recorder.begin()
    except Exception:
        pass
