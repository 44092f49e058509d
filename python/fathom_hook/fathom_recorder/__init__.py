"""Records what a Python program does, from inside it. Started by sitecustomize.py; see
docs/capture.md."""

from __future__ import annotations

import os

SESSION = "FATHOM_SESSION"


def begin() -> None:
    """Starts recording this process if a session folder is named in the environment. Never
    raises."""
    if not os.environ.get(SESSION):
        return
    try:
        from . import recorder

        recorder.begin()
    except Exception:
        pass
