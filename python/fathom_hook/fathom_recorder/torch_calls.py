"""Wraps the few functions of torch that show steps: optimizers, outermost modules,
annotations, backward.

Submodules cost nothing: the call of a module is wrapped only in the classes of modules that were
seen outermost, and those are found by wrapping Module's call until it happens once. Nothing is
left in instances, so that pickles stay as they were. While no recording is near, `rest` takes all
of it out again but the end of an optimizer's step.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable

from .failures import note

get_ident = threading.get_ident

# How often a new outermost module is looked for: each time changes torch.nn.Module twice.
MOST_SEARCHES = 12

# Annotations of torch itself are no sign of a step.
_OF_TORCH = ("Optimizer.", "enumerate(", "DistributedDataParallel.", "FSDP", "Torch-Compiled")
_OF_PROFILER = "ProfilerStep#"


class Calls:
    """`watch` gets the calls optimizer_made, optimizer_done, module_begin, module_done, annotation,
    range_…, mode_set, backward_done."""

    def __init__(self, watch: Any, torch: Any) -> None:
        self._watch = watch
        self._torch = torch
        self._searches = 0
        self._searching = False
        self._depth = threading.local()
        # Classes whose calls are seen: with the call that was theirs, and ours.
        self._wrapped: list[tuple[Any, Any, Any]] = []
        self._scope: tuple[Any, Any] | None = None
        self.resting = False
        self._in_scaler = False
        self._annotations = 0
        self._owner = get_ident()
        self._is_compiling = _is_compiling(torch)

    def install(self) -> None:
        for part in (
            self._optimizers,
            self._scalers,
            self._annotate,
            self._backward,
            self._modes,
            self.search,
        ):
            try:
                part()
            except Exception as error:
                note("calls of torch: " + part.__name__.strip("_"), repr(error))

    # Optimizers

    def _optimizers(self) -> None:
        optimizer = self._torch.optim.Optimizer
        make = optimizer.__init__
        watch = self._watch
        done = self._optimizer_done
        is_compiling = self._is_compiling
        calls = self

        @functools.wraps(make)
        def __init__(this: Any, *args: Any, **kwargs: Any) -> None:
            make(this, *args, **kwargs)
            watch.optimizer_made(this)

        optimizer.__init__ = __init__
        hook = getattr(optimizer, "profile_hook_step", None)
        if hook is None:
            note("steps by optimizers", "this torch has no Optimizer.profile_hook_step")
            return

        def profile_hook_step(function: Any) -> Any:
            hooked = hook(function)

            @functools.wraps(hooked)
            def step(*args: Any, **kwargs: Any) -> Any:
                result = hooked(*args, **kwargs)
                if is_compiling():
                    return result
                if not calls.resting or calls._in_scaler or not watch.step_at_rest(args[0]):
                    done(args[0])
                return result

            return step

        optimizer.profile_hook_step = staticmethod(profile_hook_step)

    def _optimizer_done(self, optimizer: Any) -> None:
        if not self._in_scaler:
            self._watch.optimizer_done(optimizer)

    def _scalers(self) -> None:
        """A gradient scaler leaves out the optimizer's step when gradients overflow: it is a step
        all the same."""
        amp = getattr(self._torch, "amp", None)
        scaler = getattr(amp, "GradScaler", None) or self._torch.cuda.amp.GradScaler
        original = scaler.step

        @functools.wraps(original)
        def step(this: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._in_scaler = True
            try:
                result = original(this, optimizer, *args, **kwargs)
            finally:
                self._in_scaler = False
            self._watch.scaler_used(this)
            self._watch.optimizer_done(optimizer)
            return result

        scaler.step = step

    def _backward(self) -> None:
        if self._watch.memory is None:
            return
        autograd = self._torch.autograd
        original = autograd.backward
        watch = self._watch

        @functools.wraps(original)
        def backward(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            watch.backward_done()
            return result

        autograd.backward = backward

    # Modules

    def _modes(self) -> None:
        kind = self._torch.nn.Module
        original = kind.eval
        watch = self._watch
        is_compiling = self._is_compiling

        @functools.wraps(original)
        def eval(this: Any) -> Any:
            result = original(this)
            if not is_compiling():
                watch.mode_set()
            return result

        kind.eval = eval

    def search(self) -> None:
        """Looks for the class of the next outermost module."""
        if self.resting or self._searching or self._searches >= MOST_SEARCHES:
            return
        self._searches += 1
        self._searching = True
        module = self._torch.nn.Module
        original = module._call_impl
        is_compiling = self._is_compiling

        def _call_impl(this: Any, *args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return original(this, *args, **kwargs)
            if self._searching:
                self._stop_searching()
            if getattr(self._depth, "open", False):
                return original(this, *args, **kwargs)
            self._wrap_class(type(this))
            return self._outermost(this, original, args, kwargs)

        self._unsearched = original
        module._call_impl = _call_impl

    def _stop_searching(self) -> None:
        self._searching = False
        self._torch.nn.Module._call_impl = self._unsearched

    def _wrap_class(self, kind: Any) -> None:
        """From now on calls of this class are seen, wherever they stand."""
        try:
            if kind is self._torch.nn.Module or any(kind is known for known, _, _ in self._wrapped):
                return
            original = kind.__call__
            is_compiling = self._is_compiling
            depth = self._depth
            calls = self

            @functools.wraps(original)
            def __call__(this: Any, *args: Any, **kwargs: Any) -> Any:
                if is_compiling() or getattr(depth, "open", False):
                    return original(this, *args, **kwargs)
                if calls.resting:
                    return calls._outermost_at_rest(this, original, args, kwargs)
                return calls._outermost(this, original, args, kwargs)

            own = vars(kind).get("__call__")
            kind.__call__ = __call__
            self._wrapped.append((kind, own, __call__))
        except Exception as error:
            note("calls of " + getattr(kind, "__name__", "a module"), repr(error))

    def _outermost(self, module: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        watch = self._watch
        watch.module_begin(module, args, kwargs)
        self._depth.open = True
        try:
            return original(module, *args, **kwargs)
        finally:
            self._depth.open = False
            watch.module_done(module)

    def _outermost_at_rest(self, module: Any, original: Any, args: Any, kwargs: Any) -> Any:
        self._depth.open = True
        try:
            return original(module, *args, **kwargs)
        finally:
            self._depth.open = False
            if not self._watch.step_at_rest(module):
                self._watch.module_done(module)

    # Annotations

    def _annotate(self) -> None:
        scope = self._torch.autograd.profiler.record_function
        enter, leave = scope.__enter__, scope.__exit__
        watch = self._watch

        # Not made with functools.wraps' usual names alone: TorchScript reads the source of the
        # original.
        @functools.wraps(enter)
        def __enter__(self: Any) -> Any:
            name = self.name
            if get_ident() == calls._owner and not name.startswith(_OF_PROFILER):
                if not calls._annotations and not name.startswith(_OF_TORCH):
                    watch.annotation()
                calls._annotations += 1
                if name == watch.range_name:
                    watch.range_begin()
            return enter(self)

        @functools.wraps(leave)
        def __exit__(self: Any, *error: Any) -> Any:
            result = leave(self, *error)
            name = self.name
            if get_ident() == calls._owner and not name.startswith(_OF_PROFILER):
                calls._annotations = max(0, calls._annotations - 1)
                if name == watch.range_name:
                    watch.range_end()
                if not calls._annotations and not name.startswith(_OF_TORCH):
                    watch.annotation()
            return result

        calls = self
        # TorchScript resolves names in the globals of what it finds.
        globals().setdefault("torch", self._torch)
        for name in ("Any", "_active_cuspy_profiler_observer"):
            globals().setdefault(name, getattr(self._torch.autograd.profiler, name, None))
        scope.__enter__, scope.__exit__ = __enter__, __exit__
        self._scope = (enter, leave), (__enter__, __exit__)

    def unseen(self) -> Any:
        """How an annotation of ours is entered and left, without being a sign of a step."""
        if self._scope is not None:
            return self._scope[0]
        scope = self._torch.autograd.profiler.record_function
        return scope.__enter__, scope.__exit__

    # While no recording is near

    def rest(self, modules: bool) -> bool:
        """Annotations are seen no longer, and, with `modules`, neither are calls of modules. To be
        called between steps; False inside of either, where nothing is done."""
        if self._annotations or getattr(self._depth, "open", False):
            return False
        self.resting = True
        if self._searching:
            self._stop_searching()
        self._use_scope(0)
        for kind, own, wrapped in self._wrapped if modules else ():
            if vars(kind).get("__call__") is not wrapped:
                continue  # somebody else has wrapped it since
            if own is None:
                del kind.__call__
            else:
                kind.__call__ = own
        return True

    def wake(self) -> None:
        """Undoes `rest`."""
        if not self.resting:
            return
        self.resting = False
        # Those that are open now close unseen, or are the outermost.
        self._annotations = 0
        self._use_scope(1)
        for kind, own, wrapped in self._wrapped:
            if vars(kind).get("__call__") is own:
                kind.__call__ = wrapped

    def _use_scope(self, which: int) -> None:
        scope = self._torch.autograd.profiler.record_function
        if self._scope is None or scope.__enter__ is not self._scope[1 - which][0]:
            return
        scope.__enter__, scope.__exit__ = self._scope[which]


def _is_compiling(torch: Any) -> Callable[[], bool]:
    compiler = getattr(torch, "compiler", None)
    found = getattr(compiler, "is_compiling", None)
    return found if found is not None else (lambda: False)
