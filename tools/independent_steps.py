"""Finds the steps of a trace and their windows from its events: what docs/metrics.md says of them, written once more.

Plain Python over the events of independent_events.py; nothing is asked of Fathom. Used by independent_sums.py.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from independent_events import CALLS, Events, Slice, union

ANNOTATIONS = ("user_annotation", "user_defined")
OPERATORS = ("", "cpu_op", "Operator", "operator")
LIBRARY = re.compile(
    r"ProfilerStep#|Optimizer\.|DistributedDataParallel\.|enumerate\(DataLoader\)|nccl:|gloo:|c10d::|## Call CompiledFxGraph"
    r"|Torch-Compiled Region|TorchDynamo|autograd::|FullyShardedDataParallel\.|FSDP::|record_param_comms"
)
FEWEST_FOR_OUTLIERS = 4
IDLE = "_context_0(0)_generation_0(0)"


@dataclass(eq=False)
class Step:
    process: str
    begin: int  # of its host span
    end: int
    window_begin: int = 0
    window_end: int = 0
    edge: bool = False
    outlier: bool = False
    idle: bool = False  # a server's pass without any work

    def __post_init__(self) -> None:
        self.window_begin, self.window_end = self.begin, self.end

    @property
    def length(self) -> int:
        return self.window_end - self.window_begin


def counted_steps(events: Events) -> list[Step]:
    """The steps that count, with those marked that are outliers."""
    marks = profiler_steps(events)
    annotated = [] if marks else annotated_steps(events)
    marks = marks or annotated or optimizer_steps(events)
    if any(step.end > step.begin for step in marks):
        set_windows(events, marks, bool(annotated))
        marks = without_empty_last(events, marks)
    else:
        marks = [whole_trace(events)]
    counted = [step for step in marks if not step.edge and not step.idle] or marks
    mark_outliers(counted)
    return counted


def busiest_thread(slices: list[Slice]) -> list[Slice]:
    """Of each process, the thread with most of them, in time; one inside the one before is its copy."""
    threads: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    for each in sorted(slices, key=lambda s: (s.begin, -s.end)):
        threads[each.thread].append(each)
    best: dict[str, list[Slice]] = {}
    for (process, _), of in threads.items():
        if len(of) > len(best.get(process, [])):
            best[process] = of
    found: list[Slice] = []
    for _, of in sorted(best.items()):
        end = None
        for each in of:
            if end is None or each.begin >= end:
                found.append(each)
                end = each.end
    return found


def profiler_steps(events: Events) -> list[Step]:
    marks = [each for each in events.work if each.name.startswith("ProfilerStep#") and each.category not in CALLS]
    steps = [Step(each.thread[0], each.begin, each.end) for each in busiest_thread(marks)]
    return [] if len(steps) == 1 and only_ends(events, steps[0]) else steps


def only_ends(events: Events, step: Step) -> bool:
    """Is all work over before this only mark begins? Then the recording began inside the step before it."""
    work = [each for each in events.work if not each.name.startswith("ProfilerStep#") and not each.name.endswith("DeviceSynchronize")]
    return any(each.category in OPERATORS for each in work) and all(each.end <= step.begin for each in work)


def annotated_steps(events: Events) -> list[Step]:
    """Of the annotations that repeat at the top of their thread and fill half of their time, those that take longest."""
    groups: dict[str, list[Slice]] = defaultdict(list)
    covered: dict[tuple[str, str], int] = {}
    for each in events.work:
        if each.category not in ANNOTATIONS:
            continue
        if each.begin >= covered.get(each.thread, each.begin) and not LIBRARY.match(each.name):
            groups[re.sub(r"[\d#]+", "#", each.name)].append(each)
        covered[each.thread] = max(covered.get(each.thread, each.end), each.end)
    candidates = []
    for of in groups.values():
        run = busiest_thread(of)
        time = sum(each.length for each in run)
        span = run[-1].end - run[0].begin
        if len(run) > 1 and time > 0 and 2 * time >= span and not one_is_all(run) and not inside_one_operator(events, run):
            candidates.append((time, run))
    if not candidates:
        return []
    run = max(candidates, key=lambda each: each[0])[1]
    return [Step(each.thread[0], each.begin, each.end, idle=each.name.endswith(IDLE)) for each in run]


def one_is_all(run: list[Slice]) -> bool:
    lengths = sorted(each.length for each in run)
    return 100 * (sum(lengths) - lengths[-1]) < sum(lengths) and lengths[-1] > 1000 * lengths[len(lengths) // 2]


def inside_one_operator(events: Events, run: list[Slice]) -> bool:
    first, last = run[0], run[-1]
    return any(
        each.thread == first.thread and each.begin <= first.begin and each.end >= last.end and each.category in OPERATORS
        for each in events.work
    )


def optimizer_steps(events: Events) -> list[Step]:
    """From the end of one to the end of the next; nobody knows when the first began."""
    by_name: dict[str, list[Slice]] = defaultdict(list)
    for each in events.work:
        if each.name.startswith("Optimizer.step#"):
            by_name[each.name].append(each)
    most = max(by_name.values(), key=len, default=[])
    if len(most) < 2:
        return []
    steps: list[Step] = []
    for each in busiest_thread(most):
        process = each.thread[0]
        first = not steps or steps[-1].process != process
        begin = min(s.begin for s in events.work if s.thread[0] == process) if first else steps[-1].end
        steps.append(Step(process, begin, each.end, edge=first))
    return steps


def whole_trace(events: Events) -> Step:
    """From the first to the last operator, call or activity, and from before where an annotation is around the first of them."""
    for_nothing = not events.activities
    spans = [(each.begin, each.end) for each in events.activities]
    for each in events.work:
        waits = for_nothing and each.category in CALLS and each.name.endswith("DeviceSynchronize")
        if each.category in (*OPERATORS, *CALLS) and not waits:
            spans.append((each.begin, each.end))
    if not spans:
        spans = [(each.begin, each.end) for each in [*events.work, *events.frames, *events.other]] or [(0, 0)]
    first, end = min(begin for begin, _ in spans), max(end for _, end in spans)
    around = [each.begin for each in events.work if each.category in ANNOTATIONS and each.begin < first < each.end]
    return Step("", min([first, *around]), end)


def holds(steps: list[Step], moment: int, process: str) -> Step | None:
    return next((step for step in steps if step.process == process and step.begin <= moment < step.end), None)


def set_windows(events: Events, steps: list[Step], annotated: bool) -> None:
    """Each window ends with the last of: its host span, the window before it, what it launched.

    What is launched between two annotated steps is the loop's in each round."""
    first = {step.process: step.begin for step in reversed(steps)}
    for each in events.activities:
        if each.launch is not None and (step := holds(steps, each.launch.begin, each.launch.thread[0])):
            step.window_end = max(step.window_end, each.end)
    breaks = [s for s in events.work if s.name == "evaluation" and s.category in ANNOTATIONS]
    for before, step in pairwise(steps):
        if before.process == step.process:
            between = [s.end for s in breaks if before.end <= s.begin and s.end <= step.begin]
            step.window_begin = max([before.window_end, *between])
            step.window_end = max(step.window_end, step.window_begin)
    processes = {step.process for step in steps}
    for each in events.activities:
        launch = each.launch
        if launch is not None and holds(steps, launch.begin, launch.thread[0]) is not None:
            continue
        if annotated and launch is not None and launch.begin >= first.get(launch.thread[0], launch.begin + 1):
            continue
        for step in steps:
            mine = launch is None or step.process == launch.thread[0]
            early = launch is None or launch.begin < step.begin
            if mine and early and step.window_begin < each.end and each.begin < step.window_end and processes:
                step.edge = True


def without_empty_last(events: Events, steps: list[Step]) -> list[Step]:
    """A last mark behind which the program does nothing is none."""
    last = steps[-1]
    if len(steps) < 2:
        return steps
    launching = {id(each.launch) for each in events.activities}

    def works(each: Slice) -> bool:
        if each.thread[0] != last.process:
            return False
        if each.category in CALLS:
            return id(each) in launching
        return not each.name.startswith("ProfilerStep#")

    if steps is None or not any(works(each) and each.end <= last.begin for each in events.work):
        return steps
    return steps if any(works(each) and each.end > last.begin for each in events.work) else steps[:-1]


def mark_outliers(steps: list[Step]) -> None:
    """Beyond Tukey's fence and 1.5 times the median."""
    lengths = sorted(step.length for step in steps)
    if len(lengths) < FEWEST_FOR_OUTLIERS:
        return
    lower, _, upper = statistics.quantiles(lengths, n=4, method="inclusive")
    limit = max(upper + 1.5 * (upper - lower), 1.5 * statistics.median(lengths))
    for step in steps:
        step.outlier = step.length > limit


def windows(steps: list[Step]) -> list[tuple[int, int]]:
    """Of the steps that are no outliers."""
    return union([(step.window_begin, step.window_end) for step in steps if not step.outlier])
