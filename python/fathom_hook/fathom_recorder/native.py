"""libfathom_python.so: the function profile by code of C, for a twentieth of the time that callbacks in
Python take."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict

from .calls import Calls
from .failures import note
from .function_sums import LOST, Key, Sums, is_ours, key_of
from .parts import Parts

LIBRARY = "libfathom_python.so"
# Those whose objects the library knows how to read; it looks whether it is right.
OLDEST, NEWEST = (3, 8), (3, 14)

ENTER = ("PY_START", "PY_RESUME", "PY_THROW")
LEAVE = ("PY_RETURN", "PY_YIELD", "PY_UNWIND")
ENTER_C = ("CALL",)
LEAVE_C = ("C_RETURN", "C_RAISE")

# Of a part: label, calls, own and total time.
FUNCTION_ROW = "<QQqq"

NAME = "fathom"
OTHER = "the program has a profile function"
ASK = "run without another profiler in the same program"
REPLACED = "the program set a profile function of its own, which replaced ours"


def load(session: str) -> Any:
    """The module, or why there is none."""
    flags = getattr(sys, "abiflags", "")
    version = sys.version_info[:2]
    if sys.implementation.name != "cpython" or "t" in flags or hasattr(sys, "getobjects"):
        return "this interpreter's objects are not those of a usual CPython"
    if not OLDEST <= version <= NEWEST:
        return "the native recorder does not know Python %d.%d" % version
    path = os.path.join(session, "lib", LIBRARY)
    if not os.path.exists(path):
        return f"there is no {LIBRARY} in the session"
    import _imp
    from _frozen_importlib import ModuleSpec

    try:
        spec = ModuleSpec("fathom_python", None, origin=path)
        module: Any = _imp.create_dynamic(spec)
        _imp.exec_dynamic(module)
        frame = sys._getframe()
        if not module.knows(len, str.upper, frame, frame.f_code):
            return "this interpreter's objects lie otherwise in memory than the recorder thinks"
        return module
    except ImportError as error:
        return f"{LIBRARY} cannot be loaded: {error}"


class Native:
    """The profile of all threads. From 3.12 on by sys.monitoring; before, by the profile function
    of each thread."""

    def __init__(self, module: Any, with_c: bool, most_bytes: int) -> None:
        self._module = module
        self._with_c = with_c
        self._most_bytes = most_bytes
        self._tool = -1
        # By the address of a label, which stays as long as the process.
        self._keys: Dict[int, Key] = {}
        self._titles: Dict[int, str | None] = {}

    def begin(self) -> None:
        module = self._module
        if not hasattr(sys, "monitoring"):
            self._begin_old()
            return
        monitoring: Any = sys.monitoring
        self._tool = free_tool()
        enter, leave, enter_c, leave_c = module.callbacks()
        module.begin(int(self._with_c), self._most_bytes, monitoring.MISSING)
        listen(self._tool, ENTER, enter)
        listen(self._tool, LEAVE, leave)
        if self._with_c:
            listen(self._tool, ENTER_C, enter_c)
            listen(self._tool, LEAVE_C, leave_c)
        # Those of functions of C come with CALL.
        switch_on(self._tool, *ENTER, *LEAVE, *(ENTER_C if self._with_c else ()))

    def _begin_old(self) -> None:
        import threading

        if sys.getprofile() is not None:
            raise RuntimeError(OTHER)
        self._module.begin(int(self._with_c), self._most_bytes, None)
        threading.setprofile(self._resume)
        self._module.listen(self._resume, None)

    def _resume(self, frame: Any, event: str, _argument: Any) -> None:
        """What sys.getprofile() gives. Called in a new thread, and where a program that took our
        place gives it back: from here on the native function is in it."""
        self._module.listen(self._resume, frame if event == "call" else None)

    def tick(self) -> None:
        # Threads that no Python began: autograd's.
        if self._tool < 0:
            self._module.listen_to_others()

    def ignore_thread(self) -> None:
        self._module.ignore()

    def forked(self) -> None:
        self._module.forked()

    def end(self) -> None:
        if self._tool < 0:
            if not self._module.listens():
                note("functions", REPLACED, ASK)
        elif switch_off(self._tool):
            give_back(self._tool)
        self._module.end()

    def parts(self) -> Parts | None:
        return Parts("functions", FUNCTION_ROW, self._module.part, self._name_of)

    def calls(self, least_ns: int) -> Calls | None:
        return Calls(self._module, least_ns, self._title_of)

    def _key_at(self, label: int) -> Key:
        key = self._keys.get(label)
        if key is None:
            key = self._keys[label] = key_of(self._module.label_at(label))
        return key

    def _title_of(self, label: int) -> str | None:
        """As torch.profiler calls its frames of Python."""
        title = self._titles.get(label, "")
        if title == "":
            key = self._key_at(label)
            title = f"{key[0]}({key[1]}): {key[2]}" if key[0] else key[2]
            self._titles[label] = title = None if is_ours(key) else title
        return title

    def _name_of(self, label: int, calls: int, own: int, total: int) -> Any:
        key = self._key_at(label)
        if is_ours(key):
            return None
        return key[0], max(key[1], 0), key[2], calls, total, own

    def take(self, part_ends: bool) -> Sums:
        lost, unmatched = self._module.losses(int(part_ends))
        edges, functions = self._module.take(int(part_ends))
        sums = Sums()
        for caller, label, calls, recursive, own, total in edges:
            key = key_of(label)
            sums.add_call(key, calls, own)
            if caller != "":
                sums.add_caller(key, key_of(caller), calls, recursive, own, total)
        for label, recursive, total in functions:
            sums.add_outermost(key_of(label), recursive, total)
        if lost > 0:
            # Part of them had no place in the sums at all.
            sums.add_call(LOST, max(0, lost - sums.calls_of(LOST)), 0)
            note("functions", f"memory did not suffice for {lost} calls", "--max-memory")
        limits = "calls are right; times and primitive calls may not be"
        note_disorder("times of functions", unmatched, "calls ended", limits)
        return sums


def note_disorder(what: str, unmatched: int, ended: str, limits: str) -> None:
    """Where calls switch without a word, as greenlets do."""
    if unmatched > 0:
        note(what, f"{unmatched} {ended} out of order", limits)
    elif "greenlet" in sys.modules:
        note(what, "the program loaded greenlet, which switches in the middle of calls", limits)


def free_tool() -> int:
    """A number of sys.monitoring that nobody has, now ours."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    for tool in (3, 4):
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, NAME)
            return tool
    raise RuntimeError("all numbers of sys.monitoring are taken")


def _events(names: tuple[str, ...]) -> list[int]:
    events: Any = sys.monitoring.events  # type: ignore[attr-defined]
    return [getattr(events, name) for name in names]


def events_of(names: tuple[str, ...]) -> int:
    """The set of these events."""
    return sum(_events(names))


def listen(tool: int, names: tuple[str, ...], callback: Any) -> None:
    for event in _events(names):
        sys.monitoring.register_callback(tool, event, callback)  # type: ignore[attr-defined]


def switch_on(tool: int, *names: str) -> None:
    sys.monitoring.set_events(tool, events_of(names))  # type: ignore[attr-defined]


def switch_off(tool: int, what: str = "functions") -> bool:
    """False where the number is no longer ours."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    if monitoring.get_tool(tool) != NAME:
        note(what, "the program took our number of sys.monitoring for something else")
        return False
    monitoring.set_events(tool, 0)
    return True


def give_back(tool: int) -> None:
    sys.monitoring.free_tool_id(tool)  # type: ignore[attr-defined]
