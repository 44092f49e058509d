"""Ends the ranges that are open when a profile of torch ends.

A range writes its end into memory of the profile under which it began (`event_->end_time_` in
`onFunctionExit` of torch's profiler_kineto.cpp), and looks only whether some profile runs. So one
that is open from one profile into the next, such as `record_function("epoch")`, writes into memory
that was freed.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

from .failures import quietly

# Processes may begin there; they open no range.
_LAUNCHERS = ("torch.multiprocessing", "torch.distributed")


@quietly
def end_open_ranges(torch: Any) -> None:
    """While their profile still runs. To end a range twice does nothing, so those that are over do
    not matter, nor that the program ends the others, too."""
    kind = torch.autograd.profiler.record_function
    end = torch.ops.profiler._record_function_exit._RecordFunction
    for scope in [each for each in gc.get_objects() if type(each) is kind]:
        record = getattr(scope, "record", None)
        if record is not None:
            with torch._C.DisableTorchFunctionSubclass():
                end(record)


def is_inside_torch() -> bool:
    """Whether this thread is in a function of torch: an operator of C++ may be open below it."""
    frame = sys._getframe()
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name.split(".", 1)[0] == "torch" and not name.startswith(_LAUNCHERS):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
