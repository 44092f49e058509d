"""Asks for the lines of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fathom._backends import recorder

F = TypeVar("F", bound=Callable[..., object])


def lines(function: F) -> F:
    """`@fathom.lines`: under `fathom run --with lines` the lines of this function are recorded,
    also where it is a library's: `fathom.lines(json.loads)`.

    Returns the function itself; it costs nothing where no lines are recorded.
    """
    api = recorder()
    if api is not None:
        api.lines(function)
    return function
