"""Notices when a module has been imported, and when the program stopped importing.

A finder at the head of sys.meta_path sees each module that is looked for. It finds nothing
itself, except the few modules that somebody waits for: for those it asks the others, and lends
the loader an ear.
"""

from __future__ import annotations

import _thread
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

monotonic_ns = time.monotonic_ns

# The longest silence between two modules of one burst of imports.
QUIET_NS = 250_000_000
# Later bursts that are shorter are not worth a word.
SHORT_NS = 10_000_000


class Finder:
    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[Any], None]]] = {}
        self._asking = False
        # When a module was last looked for: in the first burst, and at all.
        self.last_ns = self.seen_ns = monotonic_ns()
        self._first_quiet: int | None = None
        # The module of ours that is being imported.
        self._ours = ""
        self._loading = 0
        # The first and the last module of a later burst in the thread that began.
        self._main = _thread.get_ident()
        self._late: tuple[int, int] | None = None
        self._bursts: list[tuple[int, int]] = []

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def when_imported(self, name: str, call: Callable[[Any], None]) -> None:
        """Calls `call(module)` as soon as the module is there. `call` must not raise."""
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            call(module)
        else:
            self._waiting.setdefault(name, []).append(call)

    def first_quiet(self, now: int) -> int | None:
        """When the first burst of imports ended, once that is known."""
        quiet = not self._loading and now - self.last_ns >= QUIET_NS
        if self._first_quiet is None and quiet:
            self._first_quiet = self.last_ns
        return self._first_quiet

    def settle(self) -> int:
        """The burst of imports is over by now, since the program works."""
        if self._first_quiet is None:
            self._first_quiet = self.last_ns
        return self._first_quiet

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        now = self.seen_ns = monotonic_ns()
        if self._first_quiet is None:
            self.first_quiet(now)
            if not self._is_for_us(name):
                self.last_ns = now
        if self._first_quiet is not None and _thread.get_ident() == self._main:
            self._see_late(now)
        if name not in self._waiting or self._asking:
            return None
        self._asking = True
        try:
            return self._spec(name, path, target)
        finally:
            self._asking = False

    def _is_for_us(self, name: str) -> bool:
        """Whether a module is ours, or looked for by one of ours: what the program calls of ours is
        imported when it is called, in the first step."""
        outer = sys.modules.get(self._ours)
        if outer is not None and getattr(outer.__spec__, "_initializing", False):
            return True
        ours = name.startswith("fathom_recorder")
        if ours:
            self._ours = name
        return ours

    def _see_late(self, now: int) -> None:
        late = self._late
        if late is not None and now - late[1] < QUIET_NS:
            self._late = late[0], now
            return
        self._late = now, now
        if late is not None and late[1] - late[0] >= SHORT_NS:
            self._bursts.append(late)

    def late_bursts(self, now: int, ended: bool = False) -> list[tuple[int, int]]:
        """Bursts of imports after the first that are over, each once. Another thread asks, or at
        the end this one."""
        late = self._late
        if late is not None and not ended:
            frame = sys._current_frames().get(self._main)
            if _imports(frame):
                self._late = late[0], now
        late = self._late
        if late is not None and (ended or now - late[1] >= QUIET_NS):
            self._late = None
            if late[1] - late[0] >= SHORT_NS:
                self._bursts.append(late)
        bursts, self._bursts = self._bursts, []
        return bursts

    def forked(self) -> None:
        """In the child: what was seen is the parent's, and the thread that forked is the main one."""
        self._main = _thread.get_ident()
        self._late, self._bursts = None, []

    def _spec(self, name: str, path: Any, target: Any) -> Any:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Ear(spec.loader, self)
                return spec
        return None

    def begin(self) -> None:
        """A module that somebody waits for is being loaded: silence is not the end of importing."""
        self._loading += 1

    def end(self, module: Any, loaded: bool) -> None:
        self._loading -= 1
        if self._first_quiet is None:
            self.last_ns = monotonic_ns()
        if not loaded:
            return
        for call in self._waiting.pop(module.__name__, []):
            call(module)


def is_importing() -> bool:
    """Whether the calling thread is in the middle of an import, where nothing else can be
    imported safely."""
    return _imports(sys._getframe(1))


def _imports(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


class _Ear:
    """A loader that reports when its module is ready, and is not seen by the module."""

    def __init__(self, loader: Any, finder: Finder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = self._loader
        if getattr(module, "__spec__", None) is not None:
            module.__spec__.loader = self._loader
        loaded = False
        self._finder.begin()
        try:
            self._loader.exec_module(module)
            loaded = True
        finally:
            self._finder.end(module, loaded)
