"""`python -m fathom` is the program `fathom` that the wheel carries."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program: same process, same terminal, same exit code."""
    program = pathlib.Path(__file__).parent / "bin" / "fathom"
    if not os.access(program, os.X_OK):
        sys.exit(f"fathom: error: {program} is not there; install the package anew")
    os.execv(program, ["fathom", *sys.argv[1:]])


if __name__ == "__main__":
    main()
