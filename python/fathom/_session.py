"""Opening recordings, and asking them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from fathom import _core
from fathom._diagnosis import Diagnosis
from fathom._errors import FathomError
from fathom._page import Page

Path = str | os.PathLike[str]
Steps = int | str | range | tuple[int, int]
Window = str | tuple[int, int]
Option = bool | float | str | os.PathLike[str] | None


def open(path: Path, *, threads: int = 0) -> Session:
    """Reads a recording to its end: a trace file, '-' for standard input, or a session folder.

    A folder or pattern with several recordings (ranks, processes) is one session of all of them:
    its tables have the rows of each, `session.recordings` has each alone. `threads`: to read and
    to analyse with, 0 for one per usable core. The interpreter's lock is free meanwhile. Raises
    FathomError, and MemoryError where there is too little memory.
    """
    files = _core.expand([os.fspath(path)])
    sessions = _open_files(files, threads)
    if not sessions:
        raise _nothing_there(path)
    if len(sessions) == 1:
        return sessions[0]
    recordings = [each._recording for each in sessions]
    one_program = _core.are_of_one_session(files)
    return Session(*recordings, input=os.fspath(path), one_program=one_program)


def open_all(paths: Path | Iterable[Path], *, threads: int = 0) -> list[Session]:
    """Every recording behind a folder of rank files, a pattern, or several paths, in their order.

    All of them are in memory at the same time. Files found in a folder that are no recordings are
    left out. Raises FathomError.
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = _core.expand([os.fspath(path) for path in several])
    sessions = _open_files(files, threads)
    if not sessions:
        raise _nothing_there(", ".join(os.fspath(path) for path in several))
    return sessions


def _open_files(files: Sequence[_core.InputFile], threads: int) -> list[Session]:
    opened = [_open_one(file, threads) for file in files]
    return [session for session in opened if session is not None]


def _open_one(file: _core.InputFile, threads: int) -> Session | None:
    """None for a file that was found in a folder and is no recording."""
    try:
        return Session(_core.open(file, threads))
    except FathomError as error:
        if file.found and error.code in ("unsupported", "corrupt"):
            return None
        raise


def _nothing_there(path: Path) -> FathomError:
    message = f"{os.fspath(path)}: none of its files is a trace that Fathom can read"
    return FathomError(message, "not_found")


def reports() -> list[_core.Report]:
    """Every table that can be asked for, with its columns, in the order of `fathom --help`."""
    return _core.reports()


class Session:
    """One or several recordings in memory. Immutable; may be asked from several threads at a
    time."""

    def __init__(
        self,
        recording: _core.Recording,
        *others: _core.Recording,
        input: str | None = None,
        one_program: bool = False,
    ) -> None:
        self._recording = recording
        self._one_program = one_program
        self._input = recording.input if input is None else input
        alone = () if not others else (Session(recording), *map(Session, others))
        self._several: tuple[Session, ...] = alone

    @property
    def input(self) -> str:
        """What it was opened as."""
        return self._input

    @property
    def recordings(self) -> tuple[Session, ...]:
        """Each recording alone, in the order of ranks, processes and files."""
        return self._several or (self,)

    @property
    def rank(self) -> int | None:
        """Its rank in a distributed program; None without one, and of several recordings."""
        return None if self._several else self._recording.rank

    @property
    def format(self) -> str:
        """How it is stored: `fathom formats` lists them."""
        return self._recording.format

    @property
    def span_ns(self) -> int:
        """From its first event to the end of its last; of several, that of the longest."""
        return max(each._recording.span_ns for each in self.recordings)

    def report(
        self,
        report: str,
        *,
        steps: Steps | None = None,
        device: int | None = None,
        window: Window | None = None,
        sort: str | None = None,
        limit: int | None = None,
        filter: str | Sequence[str] = (),
        group_by: str | None = None,
        columns: str | Sequence[str] = (),
        **options: Option,
    ) -> _core.Table:
        """The table of that id, as `fathom REPORT --json` has it. Of several recordings, the rows
        of each, with the columns `input` and `input_rank` before the others.

        steps: 5, range(3, 8), (3, 7), "3-7", "3-"; the numbers that the recording has.
        window: "10ms:25ms", ":1s", or (begin, end) in ns from the start of the recording.
        sort: a column; "-column" and "+column" choose the direction.
        limit: at most so many rows of each recording; None or 0 for all.
        filter: conditions that all must hold: "total_ns>1ms", "name~gemm".
        group_by: one of the report's choices. columns: names in their order, or "all".
        options: of the reports that have them, see reports(): torch=True, metric="device",
        peaks="H100 SXM", price=0.3; None and False are not given. Raises FathomError.
        """
        if limit is not None and limit < 0:
            raise FathomError(f"limit: {limit} is below 0; None is for all rows")
        tables = [
            each._recording.report(
                report,
                steps=_steps(steps),
                device=device,
                window=_window(window),
                sort=sort or "",
                limit=limit or None,
                filters=[filter] if isinstance(filter, str) else list(filter),
                group_by=group_by or "",
                columns=_names(columns),
                options=_options(options),
            )
            for each in self.recordings
        ]
        if not self._several:
            return tables[0]
        return _core.join(self.input, tables, [each._recording for each in self._several])

    def diagnose(
        self,
        *,
        focus: str | None = None,
        steps: Steps | None = None,
        device: int | None = None,
        window: Window | None = None,
        exclude_warmup: bool = False,
        peaks: Path | None = None,
        rank: int | None = None,
    ) -> Diagnosis:
        """Why it is slow, what to change first, and what that will give: `fathom diagnose`. The
        ranks of one program are compared, and the one that the others wait for is diagnosed, else
        the one with the longest steps; recordings of different programs raise FathomError: ask each
        of `recordings`.

        focus: a module, annotation, operator or phase whose calls are diagnosed instead of the
        steps. exclude_warmup: leave out leading steps longer than 1.5 times the median. rank: of
        several, the one to diagnose. The rest as of report(). Raises FathomError.
        """
        file = None if peaks is None else os.fspath(peaks)
        if self._several or (rank is not None and rank != self.rank):
            recordings = [each._recording for each in self.recordings]
            certain = self._one_program or not self._several
            if not certain and not _core.are_ranks_of_one_program(recordings):
                raise FathomError(
                    f"{self.input}: its {len(recordings)} recordings are not the ranks of one "
                    "program; diagnose each of session.recordings"
                )
            return Diagnosis(
                _core.diagnose_ranks(
                    self.input,
                    recordings,
                    focus=focus or "",
                    steps=_steps(steps),
                    device=device,
                    window=_window(window),
                    exclude_warmup=exclude_warmup,
                    peaks=file,
                    rank=rank,
                )
            )
        return Diagnosis(
            self._recording.diagnose(
                focus=focus or "",
                steps=_steps(steps),
                device=device,
                window=_window(window),
                exclude_warmup=exclude_warmup,
                peaks=file,
            )
        )

    def view(self, *, most_bytes: int = 10_000_000, redact: bool = False) -> Page:
        """The page of `fathom view` as one file: diagnosis, timeline, tables. A notebook shows it,
        `.save(path)` writes it. It reads the recording again from `input`.

        most_bytes: of the file; what does not fit is left out, as the page tells. redact: words
        of the recording become numbers. Raises FathomError.
        """
        if self.input == "-":
            raise FathomError("standard input cannot be read a second time: view() needs a file")
        files = _core.expand([self.input])
        threads = self.recordings[0]._recording.threads
        return Page(_core.page_file(files, most_bytes, redact, threads), self.input)

    def _repr_html_(self) -> str:
        """In a notebook: the first look, as a table."""
        return self.report("overview").to_html(0)

    def __repr__(self) -> str:
        several = f", {len(self._several)} recordings" if self._several else ""
        return f"<fathom session {self.input}: {self.format}{several}>"


def _steps(steps: Steps | None) -> str | None:
    if steps is None or isinstance(steps, str):
        return steps
    if isinstance(steps, int):
        return str(steps)
    if isinstance(steps, tuple):
        return f"{steps[0]}-{steps[1]}"
    if steps.step != 1 or not steps:
        raise FathomError("steps: a range of consecutive numbers is wanted: range(3, 8)")
    return f"{steps.start}-{steps.stop - 1}"


def _window(window: Window | None) -> str | None:
    if window is None or isinstance(window, str):
        return window
    return f"{window[0]}ns:{window[1]}ns"


def _options(options: dict[str, Option]) -> dict[str, str]:
    given = {name: value for name, value in options.items() if value is not None}
    return {name: _option_text(value) for name, value in given.items() if value is not False}


def _option_text(value: bool | float | str | os.PathLike[str]) -> str:
    if value is True:
        return "true"
    return str(value) if isinstance(value, int | float) else os.fspath(value)


def _names(columns: str | Sequence[str]) -> list[str]:
    if isinstance(columns, str):
        return [name for name in columns.split(",") if name]
    return list(columns)
