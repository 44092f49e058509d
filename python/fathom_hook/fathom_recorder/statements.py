"""Which lines of a source file belong to one statement, and which statements a code object runs.

The header of a compound statement, decorators included, is a statement of its own; statements that
share a line are one. Only a function's body on the line of its header is kept apart from that:
whoever defines the function runs the one, the function the other.
"""

from __future__ import annotations

import _warnings
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Tuple

    # First and last line.
    Stretch = Tuple[int, int]
    # The stretch of each line that is in one.
    Stretches = Dict[int, Stretch]
    # Of each line of a body on its header's line: where the definition begins, and the body.
    Bodies = Dict[int, Tuple[int, Stretch]]

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST, without importing ast
# The file's name for compile(), so that no other warnings are meant.
NAME = "<fathom>"
NO_WARNINGS = ("ignore", None, Warning, NAME, 0)
# Fields that hold statements; handlers and cases hold such as have them.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
# What the recorder numbers them with.
MOST = 60_000


def parsed(source: bytes | str) -> Any:
    """Its tree. Raises what compile() raises. Python has warned of invalid escapes and the like when
    the program was compiled; the program must not see that again."""
    filters = getattr(sys.modules.get("warnings", _warnings), "filters", [])
    filters.insert(0, NO_WARNINGS)
    try:
        return compile(source, NAME, "exec", ONLY_AST, True)
    finally:
        # Another thread may have put a copy of the list in its place.
        if NO_WARNINGS in filters:
            filters.remove(NO_WARNINGS)


def statements_of(source: bytes | str) -> Tuple[Stretches, Bodies]:
    """Raises what compile() raises."""
    tree = parsed(source)
    return _stretches_of(tree), _bodies_of(tree)


def _stretches_of(tree: Any) -> Stretches:
    """Of all statements, none overlapping another."""
    found = sorted(_statements(tree))
    merged: list[Stretch] = []
    for first, last in found:
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return {line: each for each in merged for line in range(each[0], each[1] + 1)}


def _bodies_of(tree: Any) -> Bodies:
    bodies: Bodies = {}
    for node, _ in _nodes(tree):
        if not hasattr(node, "decorator_list"):
            continue
        first, last = _header_of(node)
        body = node.body[0].lineno, node.body[-1].end_lineno
        if body[0] > last:
            continue
        for line in range(body[0], body[1] + 1):
            bodies[line] = first, body
    return bodies


def _nodes(tree: Any) -> Iterator[Tuple[Any, bool]]:
    """All statements, and whether they hold others."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        is_compound = False
        for field in BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                waiting += block
                is_compound = True
        yield node, is_compound


def _statements(tree: Any) -> Iterator[Stretch]:
    for node, is_compound in _nodes(tree):
        if not is_compound:
            yield node.lineno, node.end_lineno or node.lineno
            continue
        first, last = _header_of(node)
        if last:
            yield first, last


def _header_of(node: Any) -> Stretch:
    first = own = getattr(node, "lineno", 0)
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, decorator.lineno)
    last = max(own, _end_of_header(node))
    # A case of match has no place of its own.
    return (first or _begin_of(node), last) if last else (0, 0)


def _parts_of_header(node: Any) -> Iterator[Any]:
    waiting: list[Any] = [
        getattr(node, field, None) for field in node._fields if field not in BLOCKS
    ]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif hasattr(part, "_fields"):
            if hasattr(part, "end_lineno"):
                yield part
            waiting += [getattr(part, field, None) for field in part._fields]


def _end_of_header(node: Any) -> int:
    return max((int(part.end_lineno or 0) for part in _parts_of_header(node)), default=0)


def _begin_of(node: Any) -> int:
    return min(int(part.lineno) for part in _parts_of_header(node))


def lines_of(code: Any) -> set[int]:
    """The lines that a code object has instructions of."""
    if hasattr(code, "co_lines"):
        return {line for _, _, line in code.co_lines() if line}
    lines = {code.co_firstlineno}
    line = code.co_firstlineno
    table = code.co_lnotab
    for at in range(1, len(table), 2):
        step = table[at]
        line += step - 256 if step > 127 else step
        lines.add(line)
    return lines


def _stretch_of(code: Any, line: int, stretches: Stretches, bodies: Bodies) -> Stretch:
    if line in bodies and code.co_name != "<module>":
        definition, body = bodies[line]
        if definition <= code.co_firstlineno:  # the function, or what it holds
            return body
    return stretches.get(line, (line, line))


class CodeLines:
    """The statements of a code object, numbered from 1 on."""

    __slots__ = ("file", "function", "line", "stretches", "first", "numbers", "written")

    def __init__(self, code: Any, file: str, stretches: Stretches, bodies: Bodies) -> None:
        self.file = file
        self.function: str = getattr(code, "co_qualname", code.co_name)
        self.line: int = code.co_firstlineno
        self.written = False
        own = {_stretch_of(code, line, stretches, bodies) for line in lines_of(code)}
        if code.co_name != "<module>" and len(own) > 1:
            # What defines it is a statement of whoever runs that, not of the function.
            own.discard(stretches.get(self.line, (self.line, self.line)))
        self.stretches = sorted(own)[:MOST]
        self.first = self.stretches[0][0] if self.stretches else 0
        self.numbers = self._number()

    def _number(self) -> bytes:
        """A number for each line from the first on."""
        if not self.stretches:
            return b""
        numbers = [0] * (self.stretches[-1][1] - self.first + 1)
        for number, (first, last) in enumerate(self.stretches, 1):
            for line in range(first, last + 1):
                numbers[line - self.first] = number
        return struct.pack("=%dH" % len(numbers), *numbers)

    def lengths(self) -> bytes:
        lengths = [min(last - first + 1, 0xFFFF) for first, last in self.stretches]
        return struct.pack("=%dH" % len(lengths), *lengths)
