"""A tool of which loading its modules is nearly all: 40 of them, which nobody may keep compiled."""
import pathlib
import sys
import tempfile

FUNCTION = "def f{0}(a, b={0}, *c):\n    x = [y * {0} for y in range(a) if y % 3]\n    return dict(zip(x, c)) if b else (a, b)\n\n"


def write_package(folder):
    package = pathlib.Path(folder, "bigtool")
    package.mkdir()
    package.joinpath("__init__.py").write_text("".join(f"from . import m{i}\n" for i in range(40)))
    text = "".join(FUNCTION.format(i) for i in range(250))
    for i in range(40):
        package.joinpath(f"m{i}.py").write_text(text)


def main(folder):
    write_package(folder)
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    import bigtool  # the line
    return bigtool.m3.f1(5)


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
