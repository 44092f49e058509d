"""The wheel: built from the sources, installed into a fresh environment, used."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest


def environment() -> dict[str, str]:
    """Without the build tree's package, which would hide the installed one."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def python(source: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A fresh environment with nothing but the wheel. Nothing is downloaded."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source]
    subprocess.run([*pip, *build], check=True, env=environment())
    wheels = list(folder.glob("*.whl"))
    assert len(wheels) == 1
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    fresh = folder / "venv" / "bin" / "python"
    install = ["--python", fresh, "install", "--no-index", "--no-deps", wheels[0]]
    subprocess.run([*pip, *install], check=True, env=environment())
    return fresh


def ask(python: pathlib.Path, cwd: pathlib.Path, *words: str) -> str:
    command = [str(python), *words]
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_report_of_the_example(python: pathlib.Path, trace: str, tmp_path: pathlib.Path) -> None:
    code = f"import fathom; print(fathom.open({str(trace)!r}).report('ops', limit=1)['name'][0])"
    assert "aten::" in ask(python, tmp_path, "-c", code)


def test_the_program_is_in_it(python: pathlib.Path, trace: str, tmp_path: pathlib.Path) -> None:
    assert "fathom" in ask(python, tmp_path, "-m", "fathom", "--version")
    script = python.parent / "fathom"
    printed = subprocess.run([script, "overview", trace], env=environment(), capture_output=True)
    assert printed.returncode == 0


def test_a_program_records_itself(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = (
        "import fathom\n"
        "with fathom.profile(output='run') as p:\n"
        "    for _ in range(3): sum(range(9999)); p.step()\n"
        "print(len(p.open().report('steps')))\n"
    )
    assert ask(python, tmp_path, "-c", code).strip() == "3"


def test_types_and_licence_travel_along(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = (
        "import fathom, pathlib, importlib.metadata as m\n"
        "folder = pathlib.Path(fathom.__file__).parent\n"
        "print((folder / 'py.typed').exists(), (folder / '_core.pyi').exists())\n"
        "print(any('LICENSE' in str(f) for f in m.files('fathom')), m.version('fathom'))\n"
    )
    assert ask(python, tmp_path, "-c", code).split() == ["True", "True", "True", "0.1.0"]


def test_licences_and_bill_of_materials_travel_along(
    python: pathlib.Path, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Of what is linked, of the module's nanobind and of what is in the page."""
    code = (
        "import importlib.metadata as m\n"
        "for f in m.files('fathom'):\n"
        "    if f.name in ('THIRD-PARTY-NOTICES.txt', 'fathom.spdx.json'): print(f.locate())\n"
    )
    found = {
        pathlib.Path(line).name: pathlib.Path(line)
        for line in ask(python, tmp_path, "-c", code).split()
    }
    assert found["THIRD-PARTY-NOTICES.txt"].parent.name == "licenses"
    assert found["fathom.spdx.json"].parent.name == "sboms"
    texts = found["THIRD-PARTY-NOTICES.txt"].read_text()
    bill = json.loads(found["fathom.spdx.json"].read_text())
    versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
    page = json.loads((source / "ui" / "package.json").read_text())["dependencies"]
    assert {name: versions.get(name) for name in page} == page
    assert {"fathom", "simdjson", "isa-l", "zstd", "nanobind", "robin-map"} <= set(versions)
    for name in set(versions) - {"fathom"}:
        assert f"\n{name} {versions[name]}\n" in texts
    program = found["fathom.spdx.json"].parents[2] / "fathom" / "bin" / "fathom"
    sums = [one["checksumValue"] for one in bill["packages"][0]["checksums"]]
    assert sums == [hashlib.sha256(program.read_bytes()).hexdigest()]
