"""Copies of the source files whose lines are recorded, in the session's folder: `sources` and then
the file's own path."""

from __future__ import annotations

import _thread
import os
from _io import FileIO  # the program may put another open() in its place

from .failures import is_of_signal, note
from .statements import parsed

MOST_OF_ONE = 1 << 20
MOST_OF_ALL = 32 << 20


def read(path: str) -> bytes | None:
    """The first MiB and a byte, or nothing."""
    try:
        with FileIO(path) as file:
            return _read_up_to(file, MOST_OF_ONE + 1)
    except (OSError, ValueError) as error:
        if is_of_signal(error):
            raise
        return None


def _read_up_to(file: FileIO, most: int) -> bytes:
    parts = []
    while most > 0:
        part = file.read(most)
        if not part:
            break
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


class Sources:
    """`how` is "on": without secrets that stand in the files; "off"; or "redacted": without what
    texts and comments say."""

    def __init__(self, session: str, how: str) -> None:
        self._folder = os.path.join(session, "sources")
        self._how = how
        self._bytes = 0
        if how == "redacted":
            # Not in the middle of the program's own imports.
            import tokenize  # noqa: F401
        elif how == "on":
            from . import source_secrets  # noqa: F401

    def keep(self, path: str, source: bytes) -> None:
        """Of a file that none of the session's processes has kept yet."""
        if self._how == "off":
            return
        target = self._folder + os.path.normpath(path)
        if os.path.exists(target):
            return
        if len(source) > MOST_OF_ONE or self._bytes + len(source) > MOST_OF_ALL:
            why = "they are larger than 1 MiB, or 32 MiB together"
            note("the text of some source files", why)
            return
        text = text_of(source)
        if self._how == "redacted":
            text = redacted(text)
        else:
            from .source_secrets import without_secrets

            text = without_secrets(text)
        self._bytes += len(source)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            temporary = f"{target}.{os.getpid()}.{_thread.get_ident()}.new"
            with FileIO(temporary, "w") as file:
                file.write(text.encode("utf-8", "replace"))
            os.replace(temporary, target)
        except OSError as error:
            if is_of_signal(error):
                raise
            note("the text of some source files", error.strerror or repr(error))


def text_of(source: bytes) -> str:
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = source.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def redacted(text: str) -> str:
    """The same lines, with … for what texts and comments say. Nothing of a file that cannot be
    understood."""
    import io
    import tokenize

    lines = text.split("\n")
    hidden: list[tuple[tuple[int, int], tuple[int, int]]] = []
    names = ("STRING", "COMMENT", "FSTRING_MIDDLE", "TSTRING_MIDDLE")
    kinds = {getattr(tokenize, name, -1) for name in names}
    try:
        # Of what is not Python the tokens say little of what is a text.
        parsed(text)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                hidden.append((token.start, token.end))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if is_of_signal(error):
            raise
        return "\n" * (len(lines) - 1)
    for (first, begin), (last, end) in reversed(hidden):
        head, tail = lines[first - 1][:begin], lines[last - 1][end:]
        lines[first - 1 : last] = _hide(head, tail, last - first)
    return "\n".join(lines)


def _hide(head: str, tail: str, more: int) -> list[str]:
    if more == 0:
        return [head + "…" + tail]
    return [head + "…", *("…" for _ in range(more - 1)), "…" + tail]
