"""Each example of docs/python.md runs, in the order of the page, in one folder."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest


def examples(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def test_the_examples_of_the_page_run(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shutil.copy(source / "examples" / "resnet50_v100.pt.trace.json.gz", tmp_path)
    torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True)
    ran = 0
    for code in examples(source / "docs" / "python.md"):
        if "torch" in code and torch.returncode != 0:
            continue
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        ran += 1
    assert ran >= 5


def test_the_first_example_of_the_bench_runs(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = examples(source / "docs" / "bench-api.md")[0]
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=os.environ)


def test_the_page_names_the_whole_surface(source: pathlib.Path) -> None:
    import fathom

    page = (source / "docs" / "python.md").read_text(encoding="utf-8")
    missing = [name for name in fathom.__all__ if name not in page]
    assert not missing


@pytest.mark.parametrize("kind", ["Session", "Table", "Column", "Diagnosis", "profile"])
def test_the_page_names_each_member(source: pathlib.Path, kind: str) -> None:
    import fathom

    page = (source / "docs" / "python.md").read_text(encoding="utf-8")
    members = [name for name in vars(getattr(fathom, kind)) if not name.startswith("_")]
    assert not [name for name in members if name not in page]


def test_readme_s_python_runs(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "examples").symlink_to(source / "examples")
    for code in examples(source / "README.md"):
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=os.environ)
