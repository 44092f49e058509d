"""What could not be recorded, and why. The hook raises nothing into the program: it is noted
here."""

from __future__ import annotations

import errno

from .wrapping import named_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

_MOST = 50

NO_MEMORY = "memory ran out"
MORE_MEMORY = "give the program more memory (ulimit -v, the container's limit), or record less"
_notes: dict[str, dict[str, str]] = {}


def note(what: str, why: str, remedy: str = "") -> None:
    """`what` was not recorded. The first reason for it is kept."""
    if what not in _notes and len(_notes) < _MOST:
        _notes[what] = {"what": what, "why": why, "remedy": remedy}


def withdraw(what: str) -> None:
    """It was recorded after all."""
    _notes.pop(what, None)


def notes() -> list[dict[str, str]]:
    return list(_notes.values())


def is_of_signal(error: BaseException) -> bool:
    """Whether a signal handler of the program raised it, which ran in the middle of ours. Then it
    is the program's, and not to be noted but raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        interrupted = trace.tb_frame
        trace = trace.tb_next
        for value in trace.tb_frame.f_locals.values():
            # A handler is given the frame that it interrupted.
            values = value if type(value) is tuple else (value,)
            if any(each is interrupted for each in values):
                return True
    return False


def clear() -> None:
    """A forked child has failures of its own."""
    _notes.clear()


def _remedy_of(error: Exception) -> str:
    why = error.errno if isinstance(error, OSError) else None
    if isinstance(error, MemoryError) or why == errno.ENOMEM:
        return MORE_MEMORY
    if why in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or name a folder on another disk with -o"
    if why == errno.EFBIG:
        return "ulimit -f unlimited in the shell before: it limits the size of files"
    return "please report this: the recorder failed, the program did not"


def note_beginning(what: str, error: Exception, remedy: str) -> None:
    """It could not begin: `remedy` is for what else than memory it lacks."""
    if isinstance(error, MemoryError):
        note(what, NO_MEMORY, MORE_MEMORY)
    else:
        note(what, str(error) or repr(error), remedy)


def _note_failure(function: Any, arguments: tuple[Any, ...], error: Exception) -> None:
    name = getattr(function, "__qualname__", "the hook")
    # A part of the recorder says what the user calls that which it records.
    what = type(arguments[0]).__dict__.get("RECORDS", "") if arguments else ""
    if not isinstance(what, str):  # the program's own
        what = ""
    why = f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        why = NO_MEMORY
    elif what:
        why = f"{name}: {why}"
    note(what or name, why, _remedy_of(error))


def quietly(function: Function) -> Function:
    """Notes an exception of `function` instead of raising it, and returns None."""

    @named_like(function)
    def quiet(*args: Any, **kwargs: Any) -> Any | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            try:
                _note_failure(function, args, error)
            except Exception:
                pass  # memory ran out here too, or the error has no text
            return None

    return quiet  # type: ignore[no-any-return]
