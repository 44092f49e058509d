"""What `fathom diagnose` answers of a recording, for the tests beside this file."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))


def findings(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Of every card, and the alternatives that were found of the same cause."""
    return [finding for card in answer["findings"] for finding in (card, *card["alternatives"])]


def answers(path: str) -> list[dict[str, Any]]:
    """The answer, and of several ranks that of each: what waiting costs is found on those that wait."""
    done = subprocess.run([FATHOM, "diagnose", "--json", path], capture_output=True, text=True, timeout=120, check=True)
    answer = json.loads(done.stdout)
    ranks = answer["ranks"]["recordings"] if answer["ranks"] else []
    return [answer, *(each for rank in ranks for each in answers(rank["input"]))]
