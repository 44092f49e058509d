"""What is known of source files by their content: a file that passed a check passes it again while nothing changed.

The key of a file is the hash of itself, of the headers of ours that it reaches, of its compile command and of the
checker. Keys are kept in build/proofs/<check>, and in tools/proofs/<check>.txt, which is committed: so a fresh clone
without history knows what passed, wherever its branches point. A key says nothing about another content: whoever
forgets to write them costs the next check time, and hides nothing. `make nightly` believes none of them.
"""
import argparse
import collections.abc
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ("src", "include", "tests", "bench", "cmake")
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
PRECOMPILED = re.compile(r" -Winvalid-pch -include \S+/cmake_pch\.hxx(?= )")
KEY_LENGTH = 20


class Closure:
    """The hash of a file and of every header of ours that it reaches."""

    def __init__(self) -> None:
        self.includes: dict[pathlib.Path, tuple[bytes, list[pathlib.Path]]] = {}

    def read(self, path: pathlib.Path) -> tuple[bytes, list[pathlib.Path]]:
        if path not in self.includes:
            text = path.read_bytes()
            found = []
            for name in INCLUDE.findall(text):
                for folder in (path.parent, ROOT / "src", ROOT / "include", ROOT):
                    candidate = folder / os.fsdecode(name)
                    if candidate.is_file():
                        found.append(candidate.resolve())
                        break
            self.includes[path] = (hashlib.sha256(text).digest(), found)
        return self.includes[path]

    def digest(self, path: pathlib.Path) -> bytes:
        seen: set[pathlib.Path] = set()
        todo = [path]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo.extend(self.read(current)[1])
        return b"".join(self.read(each)[0] for each in sorted(seen))


@dataclasses.dataclass
class Source:
    """A file that is compiled, and how: without its name, its output, and headers that gcc has precompiled."""

    path: pathlib.Path
    flags: str
    folder: str


def sources_of(build: pathlib.Path) -> list[Source]:
    """Our own files in a tree's compile_commands.json, each once."""
    found: dict[pathlib.Path, Source] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OURS and path.exists():
            found.setdefault(path, Source(path, flags_of(entry), entry["directory"]))
    return list(found.values())


def flags_of(entry: dict[str, str]) -> str:
    words = shlex.split(PRECOMPILED.sub("", entry["command"]))
    # What stands before the compiler starts it: env, settings, ccache.
    while words and not re.search(r"(?:\+\+|g?cc|clang)(?:-\d+)?$", words[0]):
        words.pop(0)
    kept = []
    skip = False
    for word in words[1:]:
        if skip or word in ("-o", "-c", entry["file"]):
            skip = word == "-o" and not skip
            continue
        kept.append(word)
    return shlex.join(kept)


class Proofs:
    """Of one check: which files are known to pass it as they are."""

    def __init__(self, check: str, checker: bytes, believe: bool = True) -> None:
        self.check = check
        self.checker = checker
        self.local = ROOT / "build" / "proofs" / check
        self.local.mkdir(parents=True, exist_ok=True)
        self.committed = ROOT / "tools" / "proofs" / f"{check}.txt"
        self.closure = Closure()
        self.known: set[str] = set()
        if believe:
            self.known = {each.name for each in self.local.iterdir()}
            if self.committed.exists():
                self.known |= {line.split(" ")[0] for line in self.committed.read_text().splitlines()}

    def key(self, source: Source) -> str:
        # Where the clone lies says nothing about it.
        flags = source.flags.replace(str(ROOT), ".")
        content = self.checker + flags.encode() + self.closure.digest(source.path)
        return hashlib.sha256(content).hexdigest()[:KEY_LENGTH]

    def holds(self, source: Source) -> bool:
        return self.key(source) in self.known

    def add(self, source: Source) -> None:
        key = self.key(source)
        self.known.add(key)
        (self.local / key).touch()

    def write(self, sources: collections.abc.Iterable[Source]) -> None:
        """Commits nothing: writes the file that is to be committed."""
        lines = [f"{self.key(each)} {each.path.relative_to(ROOT)}\n" for each in sources if self.holds(each)]
        self.committed.parent.mkdir(parents=True, exist_ok=True)
        self.committed.write_text("".join(sorted(lines, key=lambda line: line.split(" ")[1])))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="only these")
    parser.add_argument("--all", action="store_true", help="believe no proof")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="read one of N proven files too, chosen by commit")
    parser.add_argument("--write", action="store_true", help="write what holds now into tools/proofs, to be committed")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1)


def unproven(proofs: Proofs, sources: list[Source], again: int) -> list[Source]:
    """Those to read: what is not known to pass, and of the rest one of `again`, another one for each commit."""
    commit = b""
    if again:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False).stdout

    def drawn(source: Source) -> bool:
        digest = hashlib.sha256(commit + str(source.path.relative_to(ROOT)).encode()).digest()
        return again > 0 and int.from_bytes(digest[:4], "big") % again == 0

    return [each for each in sources if not proofs.holds(each) or drawn(each)]
