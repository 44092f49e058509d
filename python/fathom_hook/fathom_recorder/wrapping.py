"""Functions that stand in for others and are called like them, without importing `functools`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def named_like(original: Any) -> Callable[[Any], Any]:
    """A decorator: the function shows the name, the documentation and the signature of
    `original`."""

    def name(function: Any) -> Any:
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            try:
                setattr(function, attribute, getattr(original, attribute))
            except AttributeError:
                pass
        function.__wrapped__ = original
        return function

    return name
