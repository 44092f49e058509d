"""JSON read without losing anything: numbers as written, duplicate keys kept, bytes that are not UTF-8 marked."""
from __future__ import annotations

import codecs
import json
from typing import Any


class Number(str):
    """A number (or NaN, Infinity, -Infinity) as written."""


class Pairs(list[tuple[str, Any]]):
    """The members of an object in their order; a key may occur twice."""

    def last(self, *keys: str) -> Any:
        """The value of the last member with one of these keys; MISSING when there is none."""
        for key, value in reversed(self):
            if key in keys:
                return value
        return MISSING


MISSING = object()


def _mark_one_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + 1


codecs.register_error("fathom-repair", _mark_one_byte)

_DECODER = json.JSONDecoder(
    object_pairs_hook=Pairs, parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
)


def decode(data: bytes) -> Any:
    """The document in `data`; each byte that is not UTF-8 becomes U+FFFD, lone surrogates too."""
    text = data.decode("utf-8", errors="fathom-repair")
    value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    if text[end:].strip(" \t\r\n"):
        raise ValueError("bytes follow the document")
    return value


def repaired(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON escapes can make and UTF-8 cannot hold."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def canonical(value: Any) -> str:
    """JSON text without white space: what json.dumps(separators=(",", ":"), ensure_ascii=False) writes,
    with numbers as they were written and duplicate keys kept."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return repaired(json.dumps(value, ensure_ascii=False))
    if isinstance(value, Pairs):
        return "{" + ",".join(canonical(str(k)) + ":" + canonical(v) for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return {None: "null", True: "true", False: "false"}[value]
