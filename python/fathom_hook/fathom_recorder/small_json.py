"""JSON by the interpreter's own scanner and encoder, without the modules that `json` imports: they
would take longer than all the rest of the recorder's start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Plain:
    """What the scanner asks of a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> Any:
    """Raises ValueError where the text is no JSON."""
    try:
        from _json import make_scanner

        return make_scanner(_Plain)(text, 0)[0]  # type: ignore[arg-type]
    except (ImportError, StopIteration, SystemError):
        import json

        return json.loads(text)


def dumps(value: Any) -> str:
    """What JSON does not know becomes its text."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        encode = make_encoder(
            {}, str, encode_basestring_ascii, None, ": ", ", ", False, False, True
        )
        return "".join(encode(value, 0))
    except (ImportError, TypeError):
        import json

        return json.dumps(value, default=str)
