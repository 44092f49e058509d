"""Which code is the program's own: not the standard library, not what was installed, not what was
made while it ran."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
# What torch.compile writes.
GENERATED = (os.sep + "torchinductor_",)
# They run inside a statement of the code around them, whose hits and time hold theirs.
PARTS = frozenset(("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))


class OwnCode:
    """`modules` are taken, too, with all that lies below them, and what `ask` was called with."""

    def __init__(self, session: str, modules: tuple[str, ...] = ()) -> None:
        library = os.path.dirname(os.path.abspath(os.__file__))
        scripts = [os.path.join(prefix, "bin") for prefix in {sys.prefix, sys.base_prefix}]
        places = [library, os.path.abspath(session), *scripts]
        self._others = (HERE, *(place + os.sep for place in places))
        self._modules = modules
        self._known: dict[str, bool] = {}
        # By address; they stay as long as the process.
        self._asked: dict[int, Any] = {}

    def ask(self, code: Any) -> bool:
        """Takes this code object, too. False where it is taken anyway, or cannot be."""
        file = code.co_filename
        if code.co_name in PARTS or file.startswith("<") or not file or file.startswith(HERE):
            return False
        if self.is_own(file) or id(code) in self._asked:
            return False
        self._asked[id(code)] = code
        return True

    def holds(self, code: Any) -> bool:
        """`code` is what a frame above this one begins to run."""
        if code.co_name in PARTS:
            return False
        if self.is_own(code.co_filename) or id(code) in self._asked:
            return True
        return bool(self._modules) and self._is_asked_for(code)

    def is_own(self, file: str) -> bool:
        """`file` as code objects name it."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._is_of_program(file)
        return known

    def _is_of_program(self, file: str) -> bool:
        if file.startswith("<") or not file:
            return False
        try:
            path = os.path.abspath(file)
        except OSError:  # of a relative name, where the working directory is gone
            path = file
        if path.startswith(self._others):
            return False
        return not any(part in path for part in INSTALLED + GENERATED)

    def _is_asked_for(self, code: Any) -> bool:
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is None or code.co_filename.startswith("<"):
            return False
        name = str(frame.f_globals.get("__name__"))
        return any(name == asked or name.startswith(asked + ".") for asked in self._modules)
