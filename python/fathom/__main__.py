"""`python -m fathom` is the program `fathom` that the wheel carries."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from fathom._record import PROGRAM


def main() -> NoReturn:
    """Becomes the program: same process, same terminal, same exit code."""
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"fathom: error: {PROGRAM} is not there; install the package anew")
    os.execv(PROGRAM, ["fathom", *sys.argv[1:]])


if __name__ == "__main__":
    main()
