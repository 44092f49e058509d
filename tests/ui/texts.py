"""Values as the page writes them, by the definitions of docs/metrics.md; apart from the page's own code."""

from __future__ import annotations

import math


def significant(number: float) -> str:
    size = abs(number)
    return f"{number:.{3 if size < 9.9995 else 2 if size < 99.995 else 1 if size < 999.95 else 0}f}"


def count_text(number: float) -> str:
    return f"{round(number):,}"


def scaled(number: float, unit: str) -> str:
    return f"{count_text(number) if abs(number) >= 999.95 else significant(number)} {unit}"


def duration_text(ns: float) -> str:
    size = abs(ns)
    if size < 1e3:
        return f"{round(ns)} ns"
    for limit, factor, unit in ((999.95e3, 1e3, "µs"), (999.95e6, 1e6, "ms")):
        if size < limit:
            return scaled(ns / factor, unit)
    return scaled(ns / 1e9, "s")


def bytes_text(number: float) -> str:
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    unit = 0
    while abs(number) >= 1024 and unit + 1 < len(units):
        number /= 1024
        unit += 1
    return f"{int(number) if number == int(number) else significant(number)} {units[unit]}"


def real_text(number: float) -> str:
    size = abs(number)
    if size == 0:
        return "0"
    if size >= 1e15 or size < 1e-3:
        return f"{number:.3e}"
    return count_text(number) if size >= 999.95 else significant(number)


def percent_text(number: float) -> str:
    size = abs(number)
    if size != 0 and size < 0.005:
        return "> −0.01 %" if number < 0 else "< 0.01 %"
    return f"{number:.{2 if size != 0 and size < 0.095 else 1}f} %"


WRITERS = {
    "duration_ns": duration_text,
    "time_ns": duration_text,
    "bytes": bytes_text,
    "percent": percent_text,
    "count": count_text,
    "integer": str,
    "real": real_text,
}


def near(shown: str, value: object, kind: str, unit: str | None) -> bool:
    """Does the page write this? Half of a last digit may be rounded either way by the two languages."""
    if value is None:
        return shown == "–"
    if isinstance(value, bool):
        return shown == ("yes" if value else "no")
    if not isinstance(value, (int, float)):
        return shown == str(value)
    if isinstance(value, int) and abs(value) >= 2**53:
        return shown == str(value)  # digit by digit
    if unit is not None:
        named = {"ns": "duration_ns", "bytes": "bytes", "percent": "percent", "count": "count"}.get(unit)
        if named is None:
            tail = f" {unit}" if unit else ""
            return any(shown == real_text(each) + tail for each in around(value))
        kind = named
    writer = WRITERS.get(kind, real_text)
    return any(shown == writer(each) for each in ([value] if kind == "integer" else around(value)))


def around(value: float) -> list[float]:
    tiny = math.ulp(float(value)) * 4
    return [value, value + tiny, value - tiny]
