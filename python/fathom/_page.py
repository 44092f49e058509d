"""The page of a recording as one file, and inside a notebook."""

from __future__ import annotations

import os

from fathom._errors import FathomError


class Page:
    """HTML that carries what it shows: it asks no server and needs no network."""

    def __init__(self, html: str, input: str) -> None:
        self.html = html
        self.input = input

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it, for any browser. Raises FathomError."""
        try:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(self.html)
        except OSError as error:
            raise FathomError(f"{os.fspath(path)}: {error.strerror}", "io") from error

    def __repr__(self) -> str:
        return f"<fathom page of {self.input}: {len(self.html):,} bytes>"

    def _repr_html_(self) -> str:
        return in_frame(self.html, 720)


def in_frame(html: str, height: int) -> str:
    """A document within a notebook, apart from the notebook's own styles."""
    source = html.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe srcdoc="{source}" style="width:100%;height:{height}px;border:0"></iframe>'
