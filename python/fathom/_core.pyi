"""The engine of Fathom. Use the package fathom instead."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


version: str = '0.1.0'

def redact_command(words: Sequence[str]) -> list[str]:
    """A command line without what looks like a secret."""

class ColumnSpec:
    """A column as its report declares it."""

    @property
    def name(self) -> str:
        """snake_case with the unit as suffix."""

    @property
    def kind(self) -> str:
        """
        text, name, integer, count, duration_ns, time_ns, bytes, real, percent or flag.
        """

    @property
    def unit(self) -> str:
        """ns, bytes, percent, GB/s …, or empty."""

    @property
    def doc(self) -> str:
        """One sentence: what it is."""

    def __repr__(self) -> str: ...

class Report:
    """A table that can be asked for."""

    @property
    def id(self) -> str:
        """What session.report() takes."""

    @property
    def title(self) -> str:
        """One line."""

    @property
    def doc(self) -> str:
        """A paragraph: what a row is, what sums to what."""

    @property
    def columns(self) -> list[ColumnSpec]:
        """All of them, also those that text leaves out."""

    @property
    def group_by(self) -> list[str]:
        """Choices of group_by, the default first; may be empty."""

    @property
    def options(self) -> list[str]:
        """
        Further arguments of session.report() that this report has: torch, metric, peaks …
        """

    def __repr__(self) -> str: ...

def reports() -> list[Report]:
    """Every report, in the order of `fathom --help`."""

class Column:
    """One column of a table. numpy.asarray() takes numbers without a copy."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def doc(self) -> str: ...

    @property
    def null_count(self) -> int:
        """Rows where nothing was recorded or it does not apply."""

    def to_list(self) -> list[Any]:
        """The values; None where there is none."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

    def __dlpack__(self, **options: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __arrow_c_schema__(self) -> object: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...

    def __repr__(self) -> str: ...

class Table:
    """What a report answered. Immutable; outlives its session."""

    @property
    def report(self) -> str: ...

    @property
    def input(self) -> str: ...

    @property
    def columns(self) -> list[ColumnSpec]:
        """What each column is, in order."""

    @property
    def rows_total(self) -> int:
        """Rows before the limit, after the filters."""

    @property
    def notes(self) -> list[str]:
        """Sentences: what was assumed, what abstains and why."""

    def rows(self) -> list[dict[str, Any]]:
        """A dict per row, equal to the rows of `fathom … --json`."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[dict[str, Any]]: ...

    def __getitem__(self, column: str) -> Column:
        """The column of that name, also without its unit."""

    def to_json(self) -> str:
        """Schema fathom.table/1, as `fathom … --json` prints it."""

    def to_csv(self) -> str:
        """As `fathom … --csv` prints it."""

    def to_text(self, limit: int = 30, wide: bool = False) -> str:
        """As a terminal shows it; limit=0 for all rows."""

    def __str__(self) -> str: ...

    def to_html(self, limit: int = 30) -> str:
        """As a notebook shows it; limit=0 for all rows."""

    def __repr__(self) -> str: ...

    def __arrow_c_schema__(self) -> object: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Diagnosis:
    """A diagnosis, to be rendered."""

    def to_json(self) -> str: ...

    def to_html(self) -> str: ...

    def to_page(self, most_bytes: int, redact: bool) -> str: ...

    def to_text(self, all: bool) -> str: ...

class Recording:
    """One recording in memory."""

    @property
    def input(self) -> str: ...

    @property
    def threads(self) -> int:
        """To work with; 0: one per usable core."""

    @property
    def format(self) -> str: ...

    @property
    def rank(self) -> int | None:
        """Its rank in a distributed program."""

    @property
    def span_ns(self) -> int: ...

    def report(self, id: str, *, steps: str | None, device: int | None, window: str | None, filters: Sequence[str], sort: str, columns: Sequence[str], limit: int | None, group_by: str, options: Mapping[str, str]) -> Table: ...

    def diagnose(self, *, steps: str | None, device: int | None, window: str | None, peaks: str | None, focus: str, exclude_warmup: bool) -> Diagnosis: ...

class InputFile:
    """What one recording is read from."""

    @property
    def shown(self) -> str: ...

    @property
    def found(self) -> bool: ...

    @property
    def folder(self) -> str:
        """The session folder that it is a recording of, or ''."""

    @property
    def program(self) -> str:
        """Of several programs in that folder, the one that it is a recording of."""

def open(file: InputFile, threads: int) -> Recording:
    """Reads one of the inputs that expand() found, to its end."""

def join(input: str, tables: Sequence[Table], recordings: Sequence[Recording]) -> Table:
    """
    The tables of several recordings as one, with the columns input and input_rank.
    """

def diagnose_ranks(input: str, recordings: Sequence[Recording], *, steps: str | None, device: int | None, window: str | None, peaks: str | None, focus: str, exclude_warmup: bool, rank: int | None) -> Diagnosis:
    """The diagnosis of the ranks of one program, compared."""

def are_ranks_of_one_program(recordings: Sequence[Recording]) -> bool:
    """Do these recordings say that they are different ranks of one program?"""

def are_of_one_session(files: Sequence[InputFile]) -> bool:
    """Are these the recordings of one program in one session folder?"""

def expand(inputs: Sequence[str]) -> list[InputFile]:
    """What files, '-', folders and patterns stand for."""

def page_file(files: Sequence[InputFile], most_bytes: int, redact: bool, threads: int) -> str:
    """
    The page of these inputs as one HTML file, which carries what it shows.
    """

class Measured:
    """What fathom.bench() measured."""

    def json(self, runs: bool = True) -> str:
        """Schema fathom.bench/1; without runs their list is empty."""

    def text(self, width: int = 100) -> str:
        """One screen."""

    def html(self) -> str:
        """A table, for notebooks."""

    def claim(self) -> str:
        """The verdict in a line; empty for one side."""

    def values(self) -> tuple[list[float], list[float]]:
        """Nanoseconds per call of complete pairs, of both sides."""

    def add_facts(self, facts: Sequence[tuple[str, str]], notes: Sequence[str]) -> None:
        """Of the program, which the engine does not know."""

    def join(self, later: Measured) -> None:
        """Adds what was measured of the same function later."""

    def take_raised(self) -> object:
        """What a call raised, or None; once."""

    @property
    def place(self) -> str:
        """Where it was raised."""

class Knee:
    """Which values are as good as the best."""

    @property
    def best(self) -> int | None:
        """The place of the least median cost."""

    @property
    def knee(self) -> int | None:
        """Of the smallest value that is certainly as good within the resolution."""

    @property
    def perhaps(self) -> list[int]:
        """Of smaller ones for which that is unknown."""

    def withhold(self, places: Sequence[int], values: Sequence[float]) -> None:
        """For these the result is unknown: the knee is found without them."""

    def standing(self, place: int) -> str | None:
        """best, within, worse or cannot_tell."""

def find_knee(values: Sequence[float], costs: Sequence[Sequence[float]], resolution: float) -> Knee:
    """
    Of as many values as lists of costs, one a round, in each of which all were measured.
    """

def clocks_forbid(best: Measured, best_costs: Sequence[float], here: Measured, costs: Sequence[float], standing: str, resolution: float) -> str:
    """
    Why clocks do not allow that standing of a value against the best; empty where they do.
    """

def judge_together(verdicts: Sequence[str], p: Sequence[float | None]) -> list[str]:
    """
    Verdicts of several rows at a false discovery rate of 5 % over all of them.
    """

class CrossoverSearch:
    """Doubles sizes, then halves the stretch."""

    def __init__(self, least: int, most: int, resolution: float) -> None: ...

    def next(self) -> int | None:
        """The next size; None when it is over."""

    def add(self, base: Sequence[float], new: Sequence[float], certain: bool = True) -> bool:
        """
        Values of pairs at next(); False where they have no ratio, and it is over. Unless they are certain, nothing is sure of that size.
        """

    @property
    def slower_up_to(self) -> int | None: ...

    @property
    def faster_from(self) -> int | None: ...

    @property
    def surely_slower(self) -> int | None: ...

    @property
    def surely_faster(self) -> int | None: ...

def median_ratio(base: Sequence[float], new: Sequence[float]) -> tuple[float, tuple[float, float] | None] | None:
    """
    Of samples that were not taken in pairs: the ratio of medians, and its interval at 95 %.
    """

def value_text(ns: float) -> str:
    """12.34 µs"""

def bench(function: object, against: object | None, setup: object | None, *, name: str, against_name: str, mode: str, l2: str | None, launches: str, stream: int, runs: int | None, seconds: float | None, resolution: float | None, warmup: int, calls: int | None, seed: int | None, items: bool, nvml: str, say: object | None) -> Measured:
    """What fathom.bench() calls."""

class Check:
    """One thing that decides what may be recorded here."""

    @property
    def section(self) -> str:
        """GPU, Telemetry, Python …"""

    @property
    def what(self) -> str: ...

    @property
    def state(self) -> str:
        """ok, limited, missing, or info: neither good nor bad."""

    @property
    def detail(self) -> str:
        """What was found."""

    @property
    def lost(self) -> str:
        """What cannot be recorded in consequence, or empty."""

    @property
    def remedy(self) -> str:
        """What would allow it, or empty."""

def doctor() -> list[Check]:
    """The checks of `fathom doctor`."""
