"""Names for parts of a program."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ParamSpec, TypeVar, cast

from fathom._backends import scope

P = ParamSpec("P")
R = TypeVar("R")


class annotate:
    """`with fathom.annotate("forward"):` or `@fathom.annotate("forward")`, also on `async def`.

    In torch's trace once torch is imported, in the capture file under `fathom run` and
    fathom.profile; costs little and does nothing where nothing records.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # One object may be entered again inside itself.
        self._open: list[AbstractContextManager[object]] = []

    def __enter__(self) -> annotate:
        opened = scope(self.name)
        opened.__enter__()
        self._open.append(opened)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.pop().__exit__(None, None, None)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        name = self.name
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> object:
                with scope(name):
                    return await function(*args, **kwargs)

            return cast(Callable[P, R], awaited)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with scope(name):
                return function(*args, **kwargs)

        return called
