#!/usr/bin/env python3
"""Groups source files that can be compiled as one translation unit.

    tools/source_groups.py [--files N] [--bytes N] FILE...      prints NUMBER FILE for each file that is in company

Most of a compiler's time goes into headers, which every file reads anew; files behind one another read them
once. No name that a file of a group keeps for itself (in an unnamed namespace, static, a macro, an alias) occurs
in another of its files, unless in a namespace where it is not seen: so names neither collide nor hide others.
"""
import argparse
import collections
import dataclasses
import pathlib
import re
from collections.abc import Iterator

# A name with the namespace where it is seen without qualification.
Name = tuple[str, str]

# Names stand in the first column, as clang-format puts them.
OPENS = re.compile(r"^namespace(?: ([\w:]+))? \{$")
CLOSES = re.compile(r"^\}  // namespace\b")
NAMED = re.compile(r"^(?!\s|//|#|namespace|template)[^=;({\[\n]*?\b(\w+)\s*(?:[=;({\[]|$)")
ATTRIBUTE = re.compile(r"^\[\[\w+\]\] ")
ENTRY = re.compile(r"^(?:extern \"C\" )?int (main|LLVM\w+)\(")
STATIC = re.compile(r"^static [^=;({\[\n]*?\b(\w+)\s*[=;({\[]")
ALIAS = re.compile(r"^(?:using|namespace)\s+(\w+)\s*=")
MACRO = re.compile(r"^#\s*define\s+(\w+)")
# GoogleTest makes a class of each test, whose name is these two.
TEST = re.compile(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.MULTILINE)
TEST_MACRO = re.compile(r"(?:INSTANTIATE_|TYPED_)?TEST(?:_[A-Z]+)*")
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'""", re.DOTALL)
# Not behind a dot, an arrow or two colons: there a name is looked for elsewhere.
WORD = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*|(?<=[^:]:)[A-Za-z_]\w*")


def lines_with_namespaces(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each line with the namespaces around it; an unnamed one is empty."""
    around: list[str] = []
    for line in text.splitlines():
        if opens := OPENS.match(line):
            around.append(opens[1] or "")
        elif CLOSES.match(line) and around:
            around.pop()
        yield line, around


def own_names(text: str) -> set[Name]:
    """What a file keeps for itself."""
    names = {("", "_".join(test) + "_Test") for test in TEST.findall(text)}
    for full, around in lines_with_namespaces(text):
        line = ATTRIBUTE.sub("", full)
        scope = "::".join(filter(None, around))
        found = [ENTRY.match(line), STATIC.match(line), ALIAS.match(line)]
        if "" in around:
            found.append(NAMED.match(line))
        names.update((scope, match[1]) for match in found if match and not TEST_MACRO.fullmatch(match[1]))
        if macro := MACRO.match(line):
            names.add(("", macro[1]))
    return names


def seen_names(text: str) -> set[Name]:
    """Every word of a file that may name what another file keeps in one of the namespaces that this one enters."""
    scopes = {""}
    for _, around in lines_with_namespaces(text):
        parts = "::".join(filter(None, around)).split("::")
        scopes.update("::".join(parts[: count + 1]) for count in range(len(parts)))
    words = set(WORD.findall(NO_CODE.sub(" ", text)))
    return {(scope, word) for scope in scopes for word in words}


@dataclasses.dataclass
class Group:
    files: list[pathlib.Path]
    size: int
    own: set[Name]
    seen: set[Name]


def grouped(flags: dict[pathlib.Path, str], files: int, size: int | None = None) -> list[list[pathlib.Path]]:
    """The files by equal flags, neighbours together, at most so many files and bytes to one."""
    result: list[list[pathlib.Path]] = []
    by_flags = collections.defaultdict(list)
    for path in sorted(flags):
        by_flags[flags[path]].append(path)
    for alike in by_flags.values():
        groups: list[Group] = []
        for path in alike:
            text = path.read_text()
            own = own_names(text)
            seen = seen_names(text) | own
            for group in groups:
                full = len(group.files) >= files or (size is not None and group.size + len(text) > size)
                if not full and group.seen.isdisjoint(own) and group.own.isdisjoint(seen):
                    group.files.append(path)
                    group.size += len(text)
                    group.own |= own
                    group.seen |= seen
                    break
            else:
                groups.append(Group([path], len(text), own, seen))
        result.extend(group.files for group in groups)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--bytes", type=int)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    for number, group in enumerate(grouped(dict.fromkeys(args.sources, ""), args.files, args.bytes)):
        for path in group if len(group) > 1 else ():
            print(number, path)


if __name__ == "__main__":
    main()
