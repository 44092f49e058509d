"""Sums of findings about the host: operators of the main thread where there is no device, copies, phases, steps, the recording itself.

Plain Python over the events of independent_events.py, like independent_sums.py, which uses it.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from independent_events import CALLS, FETCH, Activity, Interval, Slice, both, length, union, without
from independent_steps import ANNOTATIONS

if TYPE_CHECKING:
    from independent_sums import Recording

Finding = dict[str, Any]
Span = tuple[int, int]

CALL = 5_000  # ns: what calling an operator costs
LONGEST_CALLER = 200_000  # ns: Python that calls an operator
SMALL_COPY = 64 << 10
OPERATOR_COST, FRAME_COST = 600, 400  # ns, of recording one
# What CUPTI calls overhead, and CUDA does without a profiler, too.
OF_CUDA = ("Lazy Function Loading", "Runtime Triggered Module Loading", "Driver Compiler", "Command Buffer Full")
NEW_TENSOR = re.compile(r"aten::(zeros|ones|full|rand|randn|randint|arange|linspace|eye|empty|tensor|scalar_tensor|_efficientzerotensor)")
FILLING = re.compile(r"aten::(zeros|ones|full|rand|arange|linspace|logspace|eye|tri[lu]|normal_|uniform_|random_|bernoulli_|new_|scalar_tensor)")
MOVES = ("aten::to", "aten::_to_copy", "aten::copy_")
READS_VALUE = re.compile(r"aten::(item|_local_scalar_dense|is_nonzero|nonzero)$")
BATCHED = ("aten::bmm", "aten::baddbmm")
SOFTMAX = ("aten::_softmax", "aten::_softmax_backward_data")
FUSED_ATTENTION = re.compile("scaled_dot_product|_flash_attention")
FILLS = ("aten::zero_", "aten::_foreach_zero_")
VIEW = re.compile(
    r"aten::(view|_unsafe_view|expand|expand_as|reshape|_reshape_alias|transpose|t|permute|as_strided|slice|select|unsqueeze|squeeze"
    r"|empty.*|resolve_\w+|contiguous|clone|to|_to_copy|detach.*|lift_fresh|result_type|alias|set_|flatten|unflatten|softmax|dropout"
    r"|matmul|type_as|narrow|split.*|chunk|unbind|sum_to_size|ones_like|zeros_like|is_nonzero|item|_local_scalar_dense)$"
)
REACH = 12
SLICING = ("aten::select", "aten::slice", "aten::narrow", "aten::index", "aten::unbind")
JOINING = ("aten::stack", "aten::cat")
COMPILES = re.compile(
    r"compile_fx|_compile\b|compile_inner|aot_|AOTAutograd|AotAutograd|Inductor|inductor|dynamo|Dynamo|autotun|triton.*compile|codegen"
    r"|PyCodeCache|GraphLowering|OutputGraph|build_guards|pad_mm|backward\.compile",
)


# The main thread


def is_operator(each: Slice) -> bool:
    return each.category not in ANNOTATIONS and not FETCH.search(each.name) and not each.name.startswith("ProfilerStep#")


def main_thread(recording: Recording) -> tuple[str, str] | None:
    """The one with the steps, else the one that spends most time in operators."""
    marks = Counter(each.thread for each in recording.events.work if each.name.startswith("ProfilerStep#"))
    if marks:
        return marks.most_common(1)[0][0]
    spent: Counter[tuple[str, str]] = Counter()
    for each in recording.events.work:
        if each.parent is None and not any(a.name.startswith("autograd::engine") for a in each.ancestors()):
            spent[each.thread] += each.length
    return spent.most_common(1)[0][0] if spent else None


def own_times(recording: Recording) -> dict[int, int]:
    """By id(): a slice's time without what lies in it."""
    own = {id(each): each.length for each in recording.events.work}
    for each in recording.events.work:
        if each.parent is not None:
            own[id(each.parent)] -= each.length
    return own


def operators(recording: Recording) -> list[Slice]:
    """Of the main thread, in counted steps."""
    thread = main_thread(recording)
    return [e for e in recording.events.work if e.thread == thread and is_operator(e) and recording.holds(e.begin)]


def own_time_of(recording: Recording, wanted: list[Slice]) -> int:
    own = own_times(recording)
    return sum(own[id(each)] for each in wanted)


def outside_operators(recording: Recording) -> list[Interval]:
    """Stretches in which the main thread is in no operator, call or loader."""
    thread = main_thread(recording)
    busy = union([(e.begin, e.end) for e in recording.events.work if e.thread == thread and e.category not in ANNOTATIONS])
    fetching = union([(e.begin, e.end) for e in recording.events.work if FETCH.search(e.name)])
    return without(without(recording.windows, busy), fetching)


# Without a device


def short_calls(recording: Recording, finding: Finding) -> int:
    own = own_times(recording)
    called = sum(min(own[id(each)], CALL) for each in operators(recording) if each.category not in CALLS)
    stretches = [(begin, end) for begin, end in outside_operators(recording) if end - begin <= LONGEST_CALLER]
    return called + length(stretches)


def changing_copies(recording: Recording, names: set[str]) -> set[str]:
    """Operators that copy their operand and change the copy by their twin: aten::masked_fill by aten::masked_fill_."""
    called = {each.name for each in recording.events.work}
    return {name for name in called if name.startswith("aten::") and name + "_" in called and name not in names}


def relayouts(recording: Recording, names: set[str]) -> int:
    """Those that copy: reshape and contiguous may only make a view."""
    changing = changing_copies(recording, names)
    copying = {id(around) for each in operators(recording) if each.name == "aten::copy_" for around in each.ancestors()}
    return own_time_of(
        recording,
        [
            e
            for e in operators(recording)
            if any(a.name in names and id(a) in copying and (a.parent is None or a.parent.name not in changing) for a in e.ancestors())
        ],
    )


def has_doubles(op: Slice) -> bool:
    types, dims = op.arguments.get("Input type") or [], op.arguments.get("Input Dims") or []
    return any(
        kind == "double" and (dims[i : i + 1] or [[0]])[0] not in ([], ["[]"]) for i, kind in enumerate(types)
    )


def doubles(recording: Recording) -> int:
    """Of all threads: backward passes may have their own."""
    found = recording.work(lambda each: each.category not in CALLS and each.category not in ANNOTATIONS and has_doubles(each))
    return own_time_of(recording, found)


def zero_fills(recording: Recording, finding: Finding) -> int:
    """What zero_grad takes by itself, the fills, and as many additions as there were fills."""
    work = recording.events.work
    ranges = [e for e in work if "zero_grad" in e.name and recording.holds(e.begin)]
    if not ranges:
        ranges = [e for e in recording.events.frames if "zero_grad" in e.name and recording.holds(e.begin)]
    spans = union([(e.begin, e.end) for e in ranges])
    mine = {id(each) for each in ranges}
    inside = [e for e in work if is_operator(e) and id(e) not in mine and length(both([(e.begin, e.end)], spans)) == e.length > 0]
    fills = [e for e in inside if any(a.name in FILLS for a in e.ancestors())]
    count = sum(tensors_of(e) for e in fills if e.name in FILLS and not (e.parent and e.parent.name in FILLS))
    added = [
        e for e in operators(recording)
        if e.name == "aten::add_" and any("AccumulateGrad" in a.name for a in e.ancestors())
    ]  # fmt: skip
    filled = own_time_of(recording, fills)
    calling = length(spans) - own_time_of(recording, inside)
    sums = own_time_of(recording, added)
    return calling + filled + sums * min(count, len(added)) // max(1, len(added))


def tensors_of(fill: Slice) -> int:
    """That it fills: one, or those of a list."""
    listed = (fill.arguments.get("Input Dims") or [[]])[0]
    return len(listed) if "foreach" in fill.name and listed and isinstance(listed[0], list) else 1


def chains(recording: Recording, finding: Finding) -> Span:
    """At most all that no operator with an inner product takes."""
    product = re.compile(r"mm$|matmul|conv|linear|bmm|addmv|attention|lstm|gru|einsum")
    found = [e for e in operators(recording) if not any(product.search(a.name) for a in e.ancestors() if is_operator(a))]
    return 0, own_time_of(recording, found) + length(outside_operators(recording))


def constants(recording: Recording, finding: Finding) -> Span:
    """Making the same tensor again, at least; at most also what is not a product."""
    seen: dict[str, list[int]] = defaultdict(list)
    for each in operators(recording):
        if re.search(r"aten::(arange|linspace|eye|tril_indices|zeros|ones|full)$", each.name) and not (
            each.parent and re.search(r"aten::(arange|linspace)$", each.parent.name)
        ):
            step = next(i for i, (b, e) in enumerate(recording.step_spans) if b <= each.begin < e)
            kind = (step, each.name, each.arguments.get("Input Dims"), each.arguments.get("Concrete Inputs"))
            seen[json.dumps(kind, default=str)].append(each.length)
    repeated = sum(sum(of[1:]) for of in seen.values() if len(of) >= 4)
    return repeated, max(repeated, chains(recording, finding)[1])


def without_short_gaps(spans: list[Interval]) -> list[Interval]:
    """What is between two stretches within the time of a call belongs to them."""
    joined: list[Interval] = []
    for begin, end in spans:
        if joined and begin - joined[-1][1] <= LONGEST_CALLER:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def loops(recording: Recording, finding: Finding) -> Span:
    """At most the stretches from the first to the last slicing call of at least ten under one parent, what joins results, and the backward pass."""
    groups: dict[tuple[int, int], list[Slice]] = defaultdict(list)
    for each in recording.work(lambda e: e.name in SLICING):
        step = next(i for i, (b, e) in enumerate(recording.step_spans) if b <= each.begin < e)
        groups[(id(each.parent), step)].append(each)
    spans = [(of[0].begin, of[-1].end + (of[-1].begin - of[0].begin) // (len(of) - 1) * 2) for of in groups.values() if len(of) >= 10]
    for each in recording.work(lambda e: e.name == "aten::unbind"):  # what follows goes through its results
        spans += [(each.begin, end) for begin, end in recording.step_spans if begin <= each.begin < end]
    spans += [(each.begin, each.end) for each in recording.work(lambda e: e.name in JOINING)]
    nodes = recording.work(lambda e: e.name.startswith("autograd::engine::evaluate_function") or e.name.endswith("Backward0"))
    found = without_short_gaps(union([*spans, *((each.begin, each.end) for each in nodes)]))
    if recording.device is None:
        return 0, length(found)
    return 0, length(both(recording.idle, found)) + sum(a.credited for a in recording.activities if a.kind != "memcpy")


def attention(recording: Recording, finding: Finding) -> int:
    """Operators between a batched product and the next, where a softmax lies between them."""
    own = own_times(recording)
    blamed: set[int] = set()
    launching: dict[int, int] = defaultdict(int)
    for activity in recording.activities:
        op = next((a for a in activity.around() if a.category not in ANNOTATIONS), None)
        if op is not None:
            launching[id(op)] += activity.credited
    threads: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    for each in recording.work(lambda e: is_operator(e) and e.category not in CALLS):
        works = id(each) in launching if recording.device is not None else bool(each.name.startswith("aten::") and not VIEW.match(each.name))
        if works:
            threads[each.thread].append(each)
    for leaves in threads.values():
        for i, each in enumerate(leaves):
            if each.name not in SOFTMAX or any(FUSED_ATTENTION.search(a.name) for a in each.ancestors()):
                continue
            first, last = i, i
            while first > 0 and i - first < REACH and leaves[first].name not in BATCHED:
                first -= 1
            while last + 1 < len(leaves) and last - i < REACH and leaves[last].name not in BATCHED:
                last += 1
            if leaves[first].name in BATCHED and leaves[last].name in BATCHED and multiplies(leaves[last], each):
                blamed |= {id(leaf) for leaf in leaves[first + 1 : last]}
    if recording.device is not None:
        return sum(time for op, time in launching.items() if op in blamed)
    return sum(own[op] for op in blamed)


def elements(dims: Any) -> int:
    product = 1
    for size in dims if isinstance(dims, list) else []:
        product *= size if isinstance(size, int) else 0
    return product


def multiplies(product: Slice, softmax: Slice) -> bool:
    """Is the softmax's result an operand of the product?"""
    scores, operands = softmax.arguments.get("Input Dims"), product.arguments.get("Input Dims")
    if not scores or not operands:
        return True
    return any(dims and elements(dims) == elements(scores[0]) for dims in operands)


def plain_python(recording: Recording, finding: Finding) -> Span:
    """Stretches of at least 200 µs and 0.5 % of a step; a finding with a place is about some of them."""
    least = max(LONGEST_CALLER, statistics.mean(e - b for b, e in recording.step_spans) * 0.005)
    found = length([(b, e) for b, e in outside_operators(recording) if e - b >= least])
    placed = ":" in str(finding["id"]) or "/" in str(finding["id"])
    return (0 if placed else found), found


def compilation(recording: Recording, finding: Finding) -> Span:
    marked = [e for e in [*recording.events.work, *recording.events.frames, *recording.events.other] if COMPILES.search(e.name)]
    return 0, length(both(union([(e.begin, e.end) for e in marked]), recording.all_windows))


# Copies


def small_copies(recording: Recording, finding: Finding) -> Span | None:
    """The copies, and at most the idle time in the operators that ask for them."""
    copies = [a for a in recording.activities if a.kind == "memcpy" and re.search("HtoD|DtoH|Host.*Device|Device.*Host", a.name)]
    small = [a for a in copies if int(a.arguments.get("bytes", -1)) in range(SMALL_COPY + 1) and not reads_value(a)]
    askers = [max((a for a in each.around() if a.category not in ANNOTATIONS), key=lambda a: a.length, default=None) for each in small]
    spans = union([(a.begin, a.end) for a in askers if a is not None])
    copied = sum(a.credited for a in small)
    return copied, copied + length(both(recording.idle, spans))


def reads_value(copy: Activity) -> bool:
    return any(READS_VALUE.match(around.name) for around in copy.around())


def made_and_moved(recording: Recording, finding: Finding) -> Span:
    """Copies to the device within 1 ms after a tensor was made beside them, and the idle time meanwhile. Without a device: making."""
    if recording.device is None and str(finding["id"]).endswith("/host"):
        made = [e for e in operators(recording) if any(FILLING.match(a.name) for a in e.ancestors())]
        return 0, own_time_of(recording, made)
    makers = [e for e in recording.events.work if NEW_TENSOR.match(e.name)]
    if recording.device is None:
        moving = recording.work(lambda each: each.name in MOVES)
        pairs = [(m, next((t for t in moving if t.thread == m.thread and t.begin >= m.end), None)) for m in makers]
        soon = [(m, t) for m, t in pairs if t is not None and t.begin - m.end <= max(1_000_000, m.length // 100)]
        return 0, length(union([(m.begin, t.end) for m, t in soon]))
    found, spans = 0, []
    for copy in recording.activities:
        if copy.kind != "memcpy" or "HtoD" not in copy.name:
            continue
        moves = [a for a in copy.around() if a.name in MOVES]
        if not moves:
            continue
        made = [m for m in makers if m.thread == moves[-1].thread and m.end <= moves[-1].begin and moves[-1].begin - m.end <= 1_000_000]
        if made:
            found += copy.credited
            spans.append((min(m.begin for m in made), moves[-1].end))
    return 0, found + length(both(recording.idle, union(spans)))


# Steps, phases, and the recording


def median_step(recording: Recording, finding: Finding) -> int:
    """The median that outliers are compared with: not per step, but the same in all."""
    return int(statistics.median([step.length for step in recording.counted])) * len(recording.counted)


def leading_steps(recording: Recording) -> float:
    """Percent of the counted time that the leading long steps take."""
    lengths = [step.length for step in recording.counted]
    limit = 1.5 * statistics.median(lengths)
    leading = next((i for i, each in enumerate(lengths) if each <= limit), len(lengths))
    return 100 * sum(lengths[:leading]) / sum(lengths)


def phase(recording: Recording, finding: Finding) -> int | None:
    """The optimizer's kernels, or its ranges where there is no device."""
    if not str(finding["id"]).endswith("/optimizer"):
        return None
    ranges = union([(e.begin, e.end) for e in recording.work(lambda e: e.name.startswith("Optimizer."))])
    if not ranges:
        return None
    if recording.device is None:
        return length(ranges)
    return sum(a.credited for a in recording.activities if any(o.name.startswith("Optimizer.") for o in a.around()))


def recording_cost(recording: Recording, finding: Finding) -> Span:
    """What the profiler marks as its own; beside that, at most the estimated cost of the busiest thread's events."""
    marked = union([(e.begin, e.end) for e in recording.events.other if e.category == "overhead" and e.name not in OF_CUDA])
    own = length(both(marked, recording.all_windows))
    spent: Counter[tuple[str, str]] = Counter()
    for each in recording.events.work:
        if recording.holds_any(each.begin):
            spent[each.thread] += OPERATOR_COST
    for each in recording.events.frames:
        if recording.holds_any(each.begin):
            spent[each.thread] += FRAME_COST
    most = max(spent.values(), default=0)
    if recording.device is None:
        total = min(own + min(most, length(recording.all_windows)), length(recording.all_windows))
        return total, total
    return own, own + most
