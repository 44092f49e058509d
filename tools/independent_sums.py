"""Sums the events that findings are about, without Fathom: plain Python over the trace's JSON.

Each rule's sum is written here once more, from what `fathom explain` says that it counts, and so is which steps count
(independent_steps.py). A finding agrees where the first time that its title names (else what it observed) is within 2 % of the sum. Used by
tools/eval --sums.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from independent_events import (
    CALLS,
    COMMUNICATION,
    FETCH,
    Activity,
    Events,
    Interval,
    Slice,
    both,
    length,
    read,
    union,
    without,
)
from independent_host_sums import (
    attention,
    chains,
    changing_copies,
    compilation,
    constants,
    doubles,
    has_doubles,
    is_operator,
    loops,
    made_and_moved,
    median_step,
    operators,
    own_time_of,
    own_times,
    phase,
    plain_python,
    recording_cost,
    relayouts,
    short_calls,
    small_copies,
    zero_fills,
)
from independent_steps import Step, counted_steps, windows
from label_sums import said, within

Finding = dict[str, Any]
Span = tuple[int, int]

SYNC = re.compile(r"Synchronize|^(cuda|hip)Memcpy(2D|3D)?$|hipMemcpyWithStream")
ALLOCATION = re.compile(
    r"Malloc|(cuda|hip)(Free|HostAlloc|HostFree|FreeHost|HostRegister|HostUnregister)"
    r"|^cuMem(Alloc|Free|Create|Map|Release|Unmap|Address)"
)
PRODUCT = re.compile(
    r"gemm|gemv|conv|scudnn|wgrad|dgrad|winograd|fmha|attention|flash|cutlass.*(tensorop|simt)|nvjet"
    r"|compute\w*OffsetsKernel|epilogue::impl::globalKernel",
    re.IGNORECASE,
)
NOT_PRODUCT = re.compile(
    r"splitKreduce|nchwTo|nhwcTo|im2col|col2im|convert|elementwise|triton_(poi|per|red)_|fbgemm_gpu::(permute|_offsets)",
    re.IGNORECASE,
)
MATRIX_UNITS = re.compile(
    r"[shi]\d{3,5}(gemm|fprop|wgrad|dgrad|cudnn|_|$)|tensor_?op|hmma|imma|wgmma|mma_|xmma|nvjet|flash|fmha_cutlass|fmha_v"
    r"|tf32|_bf16",
    re.IGNORECASE,
)
COLLECTIVE = re.compile(r"^(nccl|gloo|mpi|c10d):|record_param_comms", re.IGNORECASE)
FIRST_LAUNCH = 1_000_000  # ns
CONVERSION = re.compile(r"nchwToNhwc|nhwcToNchw|batched_transpose|convertTensor_kernel", re.IGNORECASE)
ANNOTATIONS = ("user_annotation", "user_defined")
LONG_CALL = 1_000_000  # ns
SHORT_CALL = 20_000  # ns
LONG_AFTER_STEPS = 10_000_000  # ns: shorter, another program may have had the processor
NEARLY = 0.75  # of the most that a sum may be: what is known less well is a bound
RELAYOUT = {"aten::contiguous", "aten::clone", "aten::reshape", "aten::transpose_copy", "aten::permute_copy"}


class Recording:
    """The events of one trace, in the steps that count."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.counted = of_one_device(events, counted_steps(events))
        usual = [step for step in self.counted if not step.outlier]
        self.step_spans = [(step.window_begin, step.window_end) for step in usual]
        self.steps = len(usual)
        self.windows = windows(self.counted)
        self.all_windows = union([(step.window_begin, step.window_end) for step in self.counted])
        self.device = idlest_device(events, self.windows)
        on_device = sorted((each for each in events.activities if each.device == self.device), key=lambda a: a.begin)
        self.all_activities = on_device
        self.activities = [each for each in on_device if self.holds(each.begin)]
        self.busy = union([(each.begin, each.end) for each in on_device])
        self.idle = without(self.windows, self.busy)

    def holds(self, moment: int) -> bool:
        return any(begin <= moment < end for begin, end in self.windows)

    def holds_any(self, moment: int) -> bool:
        """In outliers, too."""
        return any(begin <= moment < end for begin, end in self.all_windows)

    def work(self, wanted: Callable[[Slice], bool]) -> list[Slice]:
        return [each for each in self.events.work if wanted(each) and self.holds(each.begin)]

    def gaps(self) -> list[tuple[Interval, Activity]]:
        """Idle stretches, with the activity that ends each."""
        found, end = [], None
        for each in self.all_activities:
            if end is not None and each.begin > end:
                found.append(((end, each.begin), each))
            end = max(end or each.end, each.end)
        return found

    def inside(self, interval: Interval) -> int:
        return length(both([interval], self.windows))


def of_one_device(events: Events, counted: list[Step]) -> list[Step]:
    """Where several processes were recorded, the steps of those that launch onto the idlest device: each has its own."""
    if len({step.process for step in counted}) < 2:
        return counted
    device = idlest_device(events, windows(counted))
    launching = {each.launch.thread[0] for each in events.activities if each.device == device and each.launch is not None}
    return [step for step in counted if step.process in launching] or counted


def idlest_device(events: Events, counted: list[Interval]) -> int | None:
    """Of the devices that work was launched for, the one that is busy least."""
    busy = {
        device: length(both(union([(a.begin, a.end) for a in events.activities if a.device == device]), counted))
        for device in {each.device for each in events.activities}
    }
    working = {device: time for device, time in busy.items() if 20 * time >= max(busy.values())}
    return min(working, key=lambda device: (working[device], device), default=None)


# One sum per rule: (recording, finding) → ns over the counted steps, least and most; or None where it does not apply


def credited(recording: Recording, wanted: Callable[[Activity], bool]) -> int:
    return sum(each.credited for each in recording.activities if wanted(each))


def late_launches(recording: Recording, finding: Finding) -> Span | int | None:
    """Idle time between activities that were launched when the device had run dry, where the host did not wait for it.

    At least up to the launch and its usual delay, at most up to the activity. At most, too, what is left of the usual
    delay of a launch just before the device ran dry.
    """
    if recording.device is None:
        return short_calls(recording, finding)
    if not recording.all_activities:  # none at all, or of a kind that this script does not know
        return None
    waited = [(each.begin, each.end) for each in waiting_calls(recording)]
    other = [(s.begin, s.end) for s in recording.events.work if FETCH.search(s.name) or ALLOCATION.search(s.name)]
    elsewhere = union([*other, *done_once(recording)])
    usual = launch_delay(recording)
    least = most = 0
    for (begin, end), following in recording.gaps():
        launch = following.launch
        if launch is None or any(b <= begin < e <= launch.begin for b, e in waited):
            continue
        if launch.begin <= begin:
            most += recording.inside((begin, max(begin, min(end, launch.begin + usual))))
            continue
        launched = min(launch.begin, end)
        late = without([(begin, launched)], elsewhere)
        least += length(both(union([*late, (launched, min(end, launched + usual))]), recording.windows))
        # A launch that takes milliseconds loads something for the first time.
        until = end if end - launch.begin < FIRST_LAUNCH else launched
        most += length(both(union([*late, (launched, until)]), recording.windows))
    return least, max(least, most)


def done_once(recording: Recording) -> list[Interval]:
    """Operators and calls of at least a millisecond, up to their last launch of a kernel that was not launched before.

    Convolutions, too, for which a library chooses an algorithm when it meets their sizes for the first time.
    """
    seen: set[str] = set()
    ends: dict[int, tuple[Slice, int]] = {}
    numbers = [int(found[1]) for each in recording.events.work if (found := re.match(r"ProfilerStep#(\d+)$", each.name))]
    long_call = LONG_AFTER_STEPS if numbers and min(numbers) >= 2 else LONG_CALL
    launches = [(a.launch, a.name) for a in recording.all_activities if a.launch is not None and a.kind == "kernel"]
    for launch, name in sorted(launches, key=lambda each: each[0].begin):
        if name in seen:
            continue
        seen.add(name)
        for around in launch.ancestors():
            if around.length >= long_call and (around is launch or around.name.startswith("aten::")):
                ends[id(around)] = (around, launch.end)
    loading = [(each.begin, each.end) for each in recording.events.other if each.name.startswith("Lazy Function Loading")]
    return [*((each.begin, end) for each, end in ends.values()), *loading, *choices(recording, long_call)]


def choices(recording: Recording, long_call: int) -> list[Interval]:
    """First calls of a library's operators with new arguments, far longer than calls with known ones."""
    found: list[Interval] = []
    by_name: dict[str, list[Slice]] = {}
    for each in recording.events.work:
        if each.name.startswith(("aten::cudnn_", "aten::miopen_")) and "Input Dims" in each.arguments:
            by_name.setdefault(each.name, []).append(each)
    for calls in by_name.values():
        firsts: dict[str, Slice] = {}
        for each in calls:  # by time
            firsts.setdefault(str([each.arguments.get(key) for key in ("Input Dims", "Input type", "Concrete Inputs")]), each)
        again = [each.length for each in calls if all(each is not first for first in firsts.values())]
        usual = statistics.median(again) if again else None
        found += [(s.begin, s.end) for s in firsts.values() if usual is not None and s.length >= max(long_call, 3 * usual)]
    return found


def waiting_calls(recording: Recording) -> list[Slice]:
    """Calls that synchronise, and copies that return when they are done: those to or from pageable memory."""
    copies = [each for each in recording.all_activities if each.kind == "memcpy" and "ageable" in each.name]
    waiting = {
        id(each.launch) for each in copies if each.launch is not None and ("DtoH" in each.name or each.launch.end >= each.end)
    }
    return [each for each in recording.events.work if SYNC.search(each.name) or id(each) in waiting]


def launch_delay(recording: Recording) -> int:
    """Median delay from a launch to its activity where nothing ran."""
    delays = [
        following.begin - following.launch.begin
        for (begin, _), following in recording.gaps()
        if following.launch is not None and following.launch.begin >= begin
    ]
    return max(0, int(statistics.median(delays))) if delays else 0


def sync_points(recording: Recording, finding: Finding) -> Span | None:
    """Idle time from each call that waits to the next one, at most as long as it and those before have waited; all sites together."""
    calls = sorted((each for each in waiting_calls(recording) if recording.holds(each.begin)), key=lambda each: each.begin)
    idle = recording.idle
    found = waited = 0
    if not calls:
        return None
    untils = [*(each.begin for each in calls[1:]), max(end for _, end in recording.windows)]
    for call, until in zip(calls, untils, strict=True):
        behind = min(waited + call.length, length(both(idle, [(call.begin, max(until, call.end))])))
        waited += call.length - behind
        found += behind
    return 0, found


def key_of(finding: Finding) -> str:
    return str(finding["id"])[len(finding["rule"]) + 1 :]


def launch_shape(recording: Recording, finding: Finding) -> int | None:
    name, _, kind = key_of(finding).rpartition("/")
    device = next((p for p in recording.events.properties if p.get("id") == recording.device), None)
    if device is None:
        return None
    sms = device.get("numSms") or device.get("numSMs") or 0

    def blocks(each: Activity) -> int:
        grid = each.arguments.get("grid") or [1]
        product = 1
        for size in grid:
            product *= int(size)
        return product

    shared = shared_time(recording) if kind != "ragged-block" else []

    def wanted(each: Activity) -> bool:
        if each.kind != "kernel" or each.name != name:
            return False
        small = blocks(each) < sms
        alone = 2 * length(both([(each.begin, each.end)], shared)) <= each.length
        return alone and (small if kind == "small-grid" else not small)

    launches = re.match(r"[\d,]+", finding["evidence"][0]["text"])
    return sum_of_launches([a for a in recording.activities if wanted(a)], int((launches or ["0"])[0].replace(",", "")))


def shared_time(recording: Recording) -> list[Interval]:
    """When at least two kernels run on the device."""
    found, last = [], 0
    for each in sorted((a for a in recording.all_activities if a.kind == "kernel"), key=lambda a: a.begin):
        if each.begin < last:
            found.append((each.begin, min(each.end, last)))
        last = max(last, each.end)
    return union(found)


def sum_of_launches(launches: list[Activity], count: int) -> int | None:
    """Of launches of one kernel, those of the grids and blocks that make up the number; None where that is not clear."""
    shapes: dict[str, tuple[int, int]] = {}
    for each in launches:
        shape = str([each.arguments.get(key) for key in ("grid", "block", "registers per thread", "shared memory")])
        calls, time = shapes.get(shape, (0, 0))
        shapes[shape] = (calls + 1, time + each.credited)
    sums: dict[int, set[int]] = {0: {0}}
    for calls, time in shapes.values():
        more: dict[int, set[int]] = {}
        for known, times in sums.items():
            more.setdefault(known, set()).update(times)
            if known + calls <= count:
                more.setdefault(known + calls, set()).update(each + time for each in times)
        sums = more
        if sum(len(times) for times in sums.values()) > 5000:
            return None
    possible = sums.get(count, set())
    return possible.pop() if len(possible) == 1 else None


def hot_kernel(recording: Recording, finding: Finding) -> int | None:
    if recording.device is None:
        by_index = re.compile(r"aten::(index$|index_|_index_put|gather|scatter|take)")
        own = own_times(recording)
        if key_of(finding) != "by-index":
            return sum(own[id(e)] for e in operators(recording) if e.name == key_of(finding) and own[id(e)] >= SHORT_CALL)
        return sum(own[id(e)] for e in operators(recording) if by_index.match(e.name) and own[id(e)] >= SHORT_CALL)
    name, _, rest = key_of(finding).partition(" ")
    shapes = re.sub(r'\s*\["[^\]]*\].*$', "", rest) if '["' in rest else rest

    def flat(value: Any) -> str:
        return re.sub(r"\s", "", str(value)).replace("'", "")

    def wanted(each: Activity) -> bool:
        for around in each.around():
            if around.name == name:
                return re.sub(r"[\[\]\s]", "", flat(around.arguments.get("Input Dims"))).strip(",") == re.sub(
                    r"[\[\]\s×x]", "", shapes.replace("×", ",").replace(" ", ",")
                ).strip(",")
        return False

    return credited(recording, wanted) or None


def tensor_cores_unused(recording: Recording, finding: Finding) -> int | None:
    def wanted(each: Activity) -> bool:
        name = each.name
        matrix = MATRIX_UNITS.search(name) and "_ffma_" not in name  # fused multiply-add: the ordinary units
        return each.kind == "kernel" and bool(PRODUCT.search(name)) and not NOT_PRODUCT.search(name) and not matrix

    return credited(recording, wanted)


def exposed_communication(recording: Recording, finding: Finding) -> Span | int | None:
    if recording.device is None:
        calls = [(e.begin, e.end) for e in recording.events.work if COLLECTIVE.search(e.name)]
        return 0, length(both(union(calls), recording.windows))
    return credited(recording, lambda each: each.kind == "kernel" and bool(COMMUNICATION.search(each.name)))


def waits_for_ranks(recording: Recording, finding: Finding) -> Span | None:
    """At most what nothing hides of collectives: one rank does not show what their transfer takes."""
    found = exposed_communication(recording, finding)
    return found if isinstance(found, tuple) or found is None else (0, found)


def calls_of(recording: Recording, pattern: re.Pattern[str]) -> list[Interval]:
    found = recording.work(lambda each: each.category != "user_annotation" and bool(pattern.search(each.name)))
    return union([(each.begin, each.end) for each in found])


def allocator_activity(recording: Recording, finding: Finding) -> int | None:
    """Idle until the next launch, inside calls that allocate or free; without a device all of these calls."""
    if recording.device is None:
        return length(both(recording.windows, calls_of(recording, ALLOCATION)))
    return length(both(host_idle(recording), calls_of(recording, ALLOCATION)))


def host_idle(recording: Recording) -> list[Interval]:
    """Idle time before the next launch."""
    stretches = []
    for (begin, end), following in recording.gaps():
        if following.launch is not None:
            stretches.append((begin, min(max(following.launch.begin, begin), end)))
    if recording.all_activities:
        last = max(each.end for each in recording.all_activities)
        stretches.append((last, max(last, *(end for _, end in recording.windows))))
        stretches.append((min(begin for begin, _ in recording.windows), recording.all_activities[0].begin))
    return both(union(stretches), recording.windows)


def fetches(recording: Recording) -> list[Interval]:
    """Also the part of one that began before the steps that count."""
    found = [(each.begin, each.end) for each in recording.events.work if FETCH.search(each.name)]
    return both(union(found), recording.windows)


def data_loader_workers(recording: Recording, finding: Finding) -> int | None:
    spans = fetches(recording)
    return length(both(host_idle(recording), spans)) if recording.device is not None else length(spans)


def data_loading(recording: Recording, finding: Finding) -> int | None:
    found = fetches(recording)
    if not found:
        return None
    if finding["title"].startswith(("Samples", "The only batch")):
        return length(found)
    return data_loader_workers(recording, finding)


def pageable_copies(recording: Recording, finding: Finding) -> Span | None:
    """The copies, and the idle time inside the operators that upload; at most also that behind each wait in them.

    Between kernels that were queued before the copy the device idles by itself. Behind a wait counts as much as it
    took, until the next copy.
    """

    def operator(call: Slice) -> Slice:
        around = [each for each in call.ancestors()[1:] if "annotation" not in each.category]
        return next((each for each in around if not each.name.startswith("ProfilerStep")), call)

    copies = [each for each in recording.activities if each.kind == "memcpy" and "ageable" in each.name]
    if not copies:
        return None
    uploads = [operator(each.launch) for each in copies if each.launch is not None and "HtoD" in each.name]
    spans = union([(each.begin, each.end) for each in uploads])
    queued = [
        gap
        for gap, following in recording.gaps()
        if following.launch is not None and any(begin <= gap[0] < end and following.launch.begin < begin for begin, end in spans)
    ]
    found = sum(each.credited for each in copies) + length(both(without(recording.idle, queued), spans))
    waits = recording.work(lambda each: bool(SYNC.search(each.name)) and length(both([(each.begin, each.end)], spans)) == each.length > 0)
    begins = sorted(each.begin for each in uploads)
    behind = 0
    for wait in waits:
        until = next((begin for begin in begins if begin >= wait.end), max(end for _, end in recording.windows))
        rest = without([(wait.end, until)], spans)
        behind += min(wait.length, length(both(recording.idle, rest)))
    return found, found + behind


def layout_copies(recording: Recording, finding: Finding) -> int | None:
    if recording.device is None:
        return relayouts(recording, RELAYOUT)
    changing = changing_copies(recording, RELAYOUT)
    return credited(
        recording,
        lambda each: any(a.name in RELAYOUT and (a.parent is None or a.parent.name not in changing) for a in each.around())
        and not COMMUNICATION.search(each.name),
    )


def unfused_optimizer(recording: Recording, finding: Finding) -> int | None:
    found = recording.work(lambda each: each.name.startswith("Optimizer.step"))
    return length(union([(each.begin, each.end) for each in found]))


def conv_layout(recording: Recording, finding: Finding) -> int | None:
    return credited(recording, lambda each: bool(CONVERSION.search(each.name)))


def fp64(recording: Recording, finding: Finding) -> int | None:
    if recording.device is None:
        return doubles(recording)
    return credited(recording, lambda each: next((has_doubles(op) for op in each.around()), False))


def shape_alignment(recording: Recording, finding: Finding) -> int | None:
    """Products whose dense sizes do not fit; kernels that name what they load are believed."""

    def misfits(each: Activity) -> bool:
        align = re.search(r"tensorop.*_align(\d+)", each.name)
        if align:
            return int(align[1]) < (8 if "f16_" in each.name else 4)
        op = next((a for a in each.around() if "annotation" not in a.category), None)
        if "_ldg8_" in each.name or op is None:
            return False
        if op.name not in ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"):
            return False
        types, dims = op.arguments.get("Input type") or [], op.arguments.get("Input Dims") or []
        strides = op.arguments.get("Input Strides") or [[] for _ in dims]
        halves = [
            (size, step)
            for kind, size, step in zip(types, dims, strides, strict=False)
            if kind in ("c10::Half", "c10::BFloat16") and len(size) >= 2
        ][-2:]
        if len(halves) < 2:
            return False

        def dense(size: list[int], step: list[int]) -> int:
            return size[-2] if len(step) == len(size) and step[-2] == 1 != step[-1] else size[-1]

        sizes = {dense(*halves[0]), dense(*halves[1]), halves[1][0][-1]}
        return any(size > 1 and size % 8 for size in sizes)

    return credited(recording, misfits)


def zero_grad(recording: Recording, finding: Finding) -> Span | int | None:
    """The idle time meanwhile, and the fills; at most all additions: some may be needed."""
    ranges = union([(each.begin, each.end) for each in recording.work(lambda each: "zero_grad" in each.name)])
    if recording.device is None:
        return zero_fills(recording, finding)
    if not ranges:
        return None

    def fills(each: Activity) -> bool:
        names = [around.name for around in each.around()]
        return "aten::zero_" in names and any("zero_grad" in name for name in names)

    idle = length(both(recording.idle, ranges))
    filled = credited(recording, fills)
    added = credited(recording, lambda each: any("AccumulateGrad" in around.name for around in each.around()))
    return idle + filled, idle + filled + added


# Bounds: what a finding says is at most this


def host_work(recording: Recording, finding: Finding) -> Span | None:
    """Idle time before launches, while the launching thread is in no operator."""
    if recording.device is None:
        return plain_python(recording, finding)
    threads = {each.launch.thread for each in recording.activities if each.launch is not None}
    if len(threads) != 1:
        return None
    (thread,) = threads
    working = union([(b.begin, b.end) for b in recording.events.work if b.thread == thread and b.category not in ANNOTATIONS])
    return (0, length(without(host_idle(recording), working))) if working else None


def first_uses(recording: Recording, finding: Finding) -> Span | None:
    """At most: idle time in calls and operators of at least a millisecond, and in what the profiler marks as its own."""
    if "done only once" not in finding["title"]:
        return None
    marks = [each for each in recording.events.work if each.length >= LONG_CALL and is_operator(each)]
    spans = union([(each.begin, each.end) for each in [*marks, *recording.events.other]])
    compiled = compilation(recording, finding)[1]
    idle = without(recording.all_windows, recording.busy)
    return 0, length(both(spans, idle)) + compiled


def elementwise(recording: Recording, finding: Finding) -> Span | None:
    """All kernels that are neither products nor communication."""
    if recording.device is None:
        return chains(recording, finding)
    kernels = [each for each in recording.activities if each.kind == "kernel" and not COMMUNICATION.search(each.name)]
    return 0, sum(each.credited for each in kernels if not (PRODUCT.search(each.name) and not NOT_PRODUCT.search(each.name)))


LAYOUT = {"aten::contiguous", "aten::clone", "aten::reshape", "aten::transpose_copy", "aten::permute_copy"}
READS = {"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::nonzero", "aten::index", "aten::masked_select"}
READS |= {"aten::equal", "aten::_unique2"}


def exposed_copies(recording: Recording, finding: Finding) -> int:
    """Copies of pinned memory that bring no value; or those on the device that change no layout."""
    if key_of(finding) == "device":
        return credited(
            recording,
            lambda each: each.kind == "memcpy"
            and ("DtoD" in each.name or "PtoP" in each.name)
            and not any(around.name in LAYOUT for around in each.around()),
        )
    return credited(
        recording,
        lambda each: each.kind == "memcpy"
        and "inned" in each.name
        and ("HtoD" in each.name or "DtoH" in each.name)
        and not any(around.name in READS for around in each.around()),
    )


def small_collectives(recording: Recording, finding: Finding) -> Span | None:
    """All communication."""
    if recording.device is None:
        return None
    return 0, credited(recording, lambda each: each.kind == "kernel" and bool(COMMUNICATION.search(each.name)))


def buffer_broadcasts(recording: Recording, finding: Finding) -> Span | None:
    """Broadcasts inside DistributedDataParallel.forward, and all idle time inside it."""
    inside = recording.work(lambda each: "DistributedDataParallel.forward" in each.name)
    spans = union([(each.begin, each.end) for each in inside])
    if recording.device is None:
        return 0, length(both(spans, recording.windows))
    kernels = credited(
        recording,
        lambda each: bool(COMMUNICATION.search(each.name))
        and any("DistributedDataParallel.forward" in around.name for around in each.around()),
    )
    return 0, kernels + length(both(recording.idle, spans))


def operator_called(recording: Recording, finding: Finding) -> int | None:
    """All that runs for the operator that the finding is named after."""
    name = key_of(finding)
    return credited(recording, lambda each: next((a.name for a in each.around() if a.category not in ANNOTATIONS), "") == name) or None


def all_kernels(recording: Recording, finding: Finding) -> Span | None:
    """At most all kernels but communication."""
    if recording.device is None:
        return None
    return 0, credited(recording, lambda each: each.kind == "kernel" and not COMMUNICATION.search(each.name))


def convolutions(recording: Recording, finding: Finding) -> Span | None:
    """At most what runs for convolutions."""
    if recording.device is None:
        return None
    return 0, credited(recording, lambda each: any("conv" in around.name for around in each.around()))


def concatenations(recording: Recording, finding: Finding) -> Span:
    """At most what runs for joining tensors."""
    if recording.device is None:
        return 0, own_time_of(recording, [e for e in operators(recording) if any(a.name == "aten::cat" for a in e.ancestors())])
    return 0, credited(recording, lambda each: any(around.name == "aten::cat" for around in each.around()))


def conversions(recording: Recording, finding: Finding) -> Span:
    """At most what runs for converting from one type to another."""
    if recording.device is None:
        return 0, own_time_of(recording, [e for e in operators(recording) if any(a.name == "aten::_to_copy" for a in e.ancestors())])
    return 0, credited(recording, lambda each: any(around.name == "aten::_to_copy" for around in each.around()))


def products_of_vectors(recording: Recording, finding: Finding) -> Span:
    """At most what runs for making one-hot vectors, converting and multiplying."""
    part = re.compile(r"aten::(one_hot|scatter_?|to|_to_copy|copy_|mm|bmm|addmm|matmul|linear|einsum|baddbmm)$")
    if recording.device is None:
        return 0, own_time_of(recording, [e for e in operators(recording) if any(part.match(a.name) for a in e.ancestors())])
    return 0, credited(recording, lambda each: any(part.match(around.name) for around in each.around()))


def whole_tables(recording: Recording, finding: Finding) -> Span | None:
    """Backward passes of embeddings of whose table at most an eighth of the rows is looked up, and what has the table first among its arguments."""
    rows_at = {"aten::embedding_dense_backward": 2, "aten::_embedding_bag_dense_backward": 5}
    lookups = re.compile(r"aten::(embedding.*|_embedding_bag.*|index_select|index)$")

    def dims(each: Slice, at: int) -> list[int]:
        sizes = each.arguments.get("Input Dims") or []
        return list(sizes[at]) if len(sizes) > at and isinstance(sizes[at], list) else []

    def table_of(each: Slice) -> tuple[int, int] | None:
        values = each.arguments.get("Concrete Inputs") or []
        at = rows_at.get(each.name, len(values))
        return (int(values[at]), dims(each, 0)[-1]) if at < len(values) and values[at] and dims(each, 0) else None

    most: dict[tuple[int, int], int] = {}
    for each in recording.work(lambda each: each.name in rows_at):
        if table := table_of(each):
            most[table] = max(most.get(table, 0), math.prod(dims(each, 1)))
    tables = {table for table, looked_up in most.items() if looked_up <= table[0] // 8}

    def counts(around: list[Slice]) -> bool:
        backward = next((each for each in around if each.name in rows_at), None)
        if backward is not None:
            return table_of(backward) in tables
        return bool(around) and dims(around[0], 0) in map(list, tables) and not lookups.match(around[0].name)

    if recording.device is None:
        found = own_time_of(recording, [each for each in operators(recording) if counts(each.ancestors())])
        return found, found
    found = credited(recording, lambda each: counts([a for a in each.around() if "annotation" not in a.category]))
    return found, found


def norms_in_inference(recording: Recording, finding: Finding) -> Span:
    """At most what runs for batch normalisation."""
    if recording.device is None:
        return 0, own_time_of(recording, [e for e in operators(recording) if any("batch_norm" in a.name for a in e.ancestors())])
    return 0, credited(recording, lambda each: any("batch_norm" in around.name for around in each.around()))


def recomputed(recording: Recording, finding: Finding) -> Span:
    """At most what runs inside the backward pass for operators that are no nodes of it."""

    def again(around: list[Slice]) -> bool:
        names = [each.name for each in around]
        return any(name.startswith("autograd::engine::evaluate_function") or "CheckpointFunction" in name for name in names)

    if recording.device is None:
        return 0, own_time_of(recording, [e for e in recording.work(is_operator) if again(e.ancestors())])
    return 0, credited(recording, lambda each: again(each.around()))


SUMS: dict[str, Callable[[Recording, Finding], Span | int | None]] = {
    "host-bound": late_launches,
    "cuda-graph-inference": late_launches,
    "sync-points": sync_points,
    "launch-shape": launch_shape,
    "hot-kernel": hot_kernel,
    "tensor-cores-unused": tensor_cores_unused,
    "exposed-communication": exposed_communication,
    "allocator-activity": allocator_activity,
    "data-loader-workers": data_loader_workers,
    "data-loading": data_loading,
    "pageable-copies": pageable_copies,
    "layout-copies": layout_copies,
    "unfused-optimizer": unfused_optimizer,
    "conv-layout": conv_layout,
    "fp64": fp64,
    "shape-alignment": shape_alignment,
    "zero-grad": zero_grad,
    "host-work-between-launches": host_work,
    "warmup-in-window": first_uses,
    "fusable-elementwise": elementwise,
    "exposed-copies": exposed_copies,
    "small-collectives": small_collectives,
    "buffer-broadcasts": buffer_broadcasts,
    "unfused-attention": attention,
    "model-cost": operator_called,
    "low-occupancy": all_kernels,
    "small-channels": convolutions,
    "growing-tensors": concatenations,
    "autocast-casts": conversions,
    "one-hot-products": products_of_vectors,
    "dense-embedding-gradients": whole_tables,
    "norm-folding": norms_in_inference,
    "recomputation": recomputed,
    "late-rank": waits_for_ranks,
    "redundant-ops": constants,
    "python-loop": loops,
    "small-copies": small_copies,
    "cpu-created-tensors": made_and_moved,
    "step-outliers": median_step,
    "dominant-phase": phase,
    "profiler-overhead": recording_cost,
    "recompilation": compilation,
}
ON_ANY_DEVICE = ("unfused-optimizer", "data-loading", "data-loader-workers", "step-outliers")
# About the recording: steps that are outliers count, too.
ABOUT_EVERY_STEP = ("warmup-in-window", "step-outliers", "profiler-overhead", "recompilation")


@dataclass
class Compared:
    trace: str
    finding: Finding
    said_ns: float  # per step
    rounding_ns: float
    least_ns: float  # per step: the sum, or where its ends are
    most_ns: float

    @property
    def rule(self) -> str:
        return str(self.finding["rule"])

    @property
    def bounded(self) -> bool:
        """Is it only known what it may be at most, or roughly?"""
        return self.least_ns < NEARLY * self.most_ns

    @property
    def agrees(self) -> bool:
        return within((self.said_ns, self.rounding_ns), self.least_ns, self.most_ns)

    def __str__(self) -> str:
        most = f" to {self.most_ns / 1e6:.3f}" if self.most_ns != self.least_ns else ""
        said = f"{self.trace}: {self.finding['id'][:60]}: says {self.said_ns / 1e6:.3f} ms, its events sum to"
        return f"{said} {self.least_ns / 1e6:.3f}{most} ms"


def compare(trace: Path, findings: list[Finding], events: Events | None = None) -> list[Compared]:
    """The findings that have a sum, beside it."""
    wanted = [finding for finding in findings if finding["rule"] in SUMS]
    if not wanted:
        return []
    recording = Recording(events or read(trace))
    compared = []
    foreign = any(each.category.endswith("_runtime") for each in recording.events.other)
    for finding in wanted:
        if foreign and finding["rule"] not in ON_ANY_DEVICE:
            continue  # its device's work is of kinds that this script does not know
        total = SUMS[finding["rule"]](recording, finding)
        steps = len(recording.counted) if finding["rule"] in ABOUT_EVERY_STEP else recording.steps
        if total is not None and steps:
            least, most = total if isinstance(total, tuple) else (total, total)
            compared.append(Compared(trace.name, finding, *said(finding), least / steps, most / steps))
    return compared


def by_rule(compared: list[Compared]) -> list[tuple[str, bool, int, int]]:
    """Rule, whether there is only a bound, findings that agree, findings; sums first."""
    every = Counter((each.rule, each.bounded) for each in compared)
    agreeing = Counter((each.rule, each.bounded) for each in compared if each.agrees)
    order = sorted(every, key=lambda key: (key[1], -every[key], key[0]))
    return [(*key, agreeing[key], every[key]) for key in order]


def report(compared: list[Compared], listed: bool) -> str:
    lines = [str(each) for each in sorted(compared, key=lambda each: (each.rule, each.trace)) if listed and not each.agrees]
    for rule, bounded, agreeing, count in by_rule(compared):
        lines.append(f"{rule}: {agreeing} of {count} findings {'keep the bound' if bounded else 'agree'}")
    for bounded, words in ((False, "agree with a sum over the events within 2 %"), (True, "say at most what events sum to")):
        of = [each for each in compared if each.bounded == bounded]
        lines.append(f"{sum(each.agrees for each in of)} of {len(of)} findings {words}")
    return "\n".join(lines)
