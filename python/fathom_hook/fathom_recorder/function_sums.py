"""Sums of a function profile, and the files that they go into: ours, and the one of cProfile, which
pstats and snakeviz read."""

from __future__ import annotations

import os
from typing import Any, Callable, Tuple

from .wire import Writer

HERE = os.path.dirname(__file__) + os.sep

# So many of the program's own functions are kept, and of others', the costliest first; the rest is summed up as one.
MOST = 2000
# Callers stand in a block together.
ROWS = 100

# File, line, name with its class, name without.
Key = Tuple[str, int, str, str]
LOST: Key = ("", 0, "(functions that memory did not suffice for)", "")


def key_of(label: Any) -> Key:
    """Of a code object; of the name of a function of C; of None, for what was lost."""
    if label is None:
        return LOST
    if isinstance(label, str):
        return "", 0, label, label
    name = label.co_name
    return label.co_filename, label.co_firstlineno, getattr(label, "co_qualname", name), name


class Function:
    """Times are in ns."""

    __slots__ = ("calls", "recursive", "own", "total", "callers")

    def __init__(self) -> None:
        self.calls = 0
        self.recursive = 0
        self.own = 0
        # From call to return, of the outermost of a recursion.
        self.total = 0
        # Calls, recursive calls, own and total time, by caller.
        self.callers: dict[Key, list[int]] = {}


class Sums:
    def __init__(self) -> None:
        self.functions: dict[Key, Function] = {}

    def _of(self, key: Key) -> Function:
        function = self.functions.get(key)
        if function is None:
            function = self.functions[key] = Function()
        return function

    def add_call(self, key: Key, calls: int, own: int) -> None:
        function = self._of(key)
        function.calls += calls
        function.own += own

    def add_outermost(self, key: Key, recursive: int, total: int) -> None:
        function = self._of(key)
        function.recursive += recursive
        function.total += total

    def add_caller(
        self, key: Key, caller: Key, calls: int, recursive: int, own: int, total: int
    ) -> None:
        row = self._of(key).callers.setdefault(caller, [0, 0, 0, 0])
        for at, value in enumerate((calls, recursive, own, total)):
            row[at] += value

    def calls_of(self, key: Key) -> int:
        function = self.functions.get(key)
        return 0 if function is None else function.calls

    def merge(self, other: Sums) -> None:
        for key, function in other.functions.items():
            self.add_call(key, function.calls, function.own)
            self.add_outermost(key, function.recursive, function.total)
            for caller, row in function.callers.items():
                self.add_caller(key, caller, *row)

    def of_program(self) -> list[tuple[Key, Function]]:
        """The costliest first. What recording itself does is none of the program's."""
        theirs = [item for item in self.functions.items() if not is_ours(item[0])]
        return sorted(theirs, key=lambda item: -item[1].own)

    def write(self, writer: Writer, is_own: Callable[[str], bool]) -> None:
        kept: list[tuple[Key, Function]] = []
        rest: list[Function] = []
        room = {True: MOST, False: MOST}
        for key, function in self.of_program():
            own_code = is_own(key[0])
            if room[own_code] > 0:
                kept.append((key, function))
            else:
                rest.append(function)
            room[own_code] -= 1
        for (file, line, name, _), function in kept:
            place = file, max(line, 0), name
            writer.function(*place, function.calls, function.total, max(function.own, 0))
            whole = function.calls, function.calls - function.recursive
            # Of all callers: it says how many calls were primitive.
            called = [(*place, "", 0, "", *whole, function.total, max(function.own, 0))]
            for caller, (calls, recursive, own, total) in function.callers.items():
                if not is_ours(caller):
                    by = caller[0], max(caller[1], 0), caller[2] or "?"  # a name may be taken away
                    sums = calls, calls - recursive, max(total, 0), max(own, 0)
                    called.append((*place, *by, *sums))
            for at in range(0, len(called), ROWS):
                writer.function_calls(called[at : at + ROWS])
        if rest:
            own = sum(function.own for function in rest)
            calls = sum(function.calls for function in rest)
            writer.function("", 0, f"({len(rest)} other functions)", calls, own, own)


def is_ours(key: Key) -> bool:
    return key[0].startswith(HERE)


def write_prof(path: str, sums: Sums) -> None:
    """As cProfile's dump_stats: a dict of (file, line, name) to (primitive calls, calls, own time,
    total time, callers), seconds; of callers calls come first. Two functions of one name in one
    line, as lambdas, are one."""
    import marshal

    stats: dict[Any, Any] = {}
    for key, function in sums.of_program():
        primitive = function.calls - function.recursive
        row = (primitive, function.calls, function.own / 1e9, function.total / 1e9)
        callers: dict[Any, Any] = {}
        for caller, (calls, recursive, own, total) in function.callers.items():
            if not is_ours(caller):
                fields = (calls, calls - recursive, own / 1e9, total / 1e9)
                _add(callers, _name_of(caller), fields)
        name = _name_of(key)
        known = stats.get(name)
        if known is not None:
            for caller_name, fields in known[4].items():
                _add(callers, caller_name, fields)
            row = tuple(one + other for one, other in zip(row, known))  # type: ignore[assignment]
        stats[name] = (*row, callers)
    temporary = path + ".new"
    with open(temporary, "wb") as file:
        marshal.dump(stats, file)
    os.replace(temporary, path)


def _name_of(key: Key) -> tuple[str, int, str]:
    file, line, full, name = key
    return (file, line, name) if file else ("~", 0, name or full)


def _add(rows: dict[Any, Any], name: Any, fields: Any) -> None:
    known = rows.get(name)
    rows[name] = fields if known is None else tuple(a + b for a, b in zip(known, fields))
