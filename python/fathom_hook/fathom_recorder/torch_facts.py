"""Which model, optimizer, precision and settings this process trains or runs with."""

from __future__ import annotations

import collections
import os
from typing import Any

from .failures import note, quietly
from .torch_frameworks import autocast_by_framework

# Arguments are described down to this depth and number.
_DEPTH = 3
_MOST = 12
# Calls of the outermost module are looked at in the beginning, and then now and again: those that
# learn apart from those that do not, since some programs validate before they train.
_LOOKS = 8
_LOOK_EVERY = 64
# How often things happen in a step is what they do in most of so many.
_STEPS = 200


class TorchFacts:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._model: dict[str, Any] | None = None
        # Whether the model described learns, and its parameters; and the inputs' model likewise.
        self._largest = (-1, -1)
        self._fullest = (-1, -1)
        self._inputs: Any = None
        self._batch: int | None = None
        self._autocast: str | None = None
        self._modes = {"train": 0, "eval": 0}
        self._without_grad = 0
        self._optimizers: dict[int, dict[str, Any]] = {}
        self._scaler = False
        self._compile: dict[str, Any] | None = None
        self._calls = [0, 0]
        self._key = 0
        self._calls_in_step = 0
        self._per_step: dict[str, collections.deque[int]] = {}

    def install(self) -> None:
        self._watch_compile()

    def _watch_compile(self) -> None:
        torch = self._torch
        original = getattr(torch, "compile", None)
        if original is None:
            return
        import functools

        @functools.wraps(original)
        def compile(*args: Any, **kwargs: Any) -> Any:
            names = ("mode", "backend", "fullgraph", "dynamic")
            self._compile = {"backend": "inductor"}
            self._compile.update({name: kwargs[name] for name in names if name in kwargs})
            return original(*args, **kwargs)

        torch.compile = compile

    # What is seen

    @quietly
    def module_call(self, module: Any, args: Any, kwargs: Any) -> None:
        torch = self._torch
        learns = bool(module.training and torch.is_grad_enabled())
        self._calls[learns] += 1
        calls = self._calls[learns]
        if calls <= _LOOKS:
            self._describe(module, args, kwargs, learns)
        if id(module) == self._key:
            self._calls_in_step += 1
        if calls > _LOOKS and calls % _LOOK_EVERY:
            return
        self._modes["train" if module.training else "eval"] += 1
        if not torch.is_grad_enabled():
            self._without_grad += 1
        if torch.is_autocast_enabled():
            get = getattr(torch, "get_autocast_dtype", None)
            self._autocast = _name(get("cuda") if get else torch.get_autocast_gpu_dtype())
        elif _autocast_cpu(torch):
            self._autocast = _name(torch.get_autocast_cpu_dtype())

    def _describe(self, module: Any, args: Any, kwargs: Any, learns: bool) -> None:
        """The largest of the outermost modules that learn is the model; where none does, the
        largest."""
        fullness = int(learns), self._describe_model(module, int(learns))
        if fullness <= self._fullest:
            return
        self._fullest = fullness
        self._key = id(module)
        self._calls_in_step = 0
        self._inputs = [self._input(value, 0) for value in args[:_MOST]]
        self._inputs += [
            {"name": name, "value": self._input(value, 0)}
            for name, value in list(kwargs.items())[:_MOST]
        ]
        self._batch = self._first_size(list(args) + list(kwargs.values()))

    @quietly
    def trains(self, module: Any) -> None:
        """A framework trains this module, whichever part of it is called."""
        self._describe_model(module, 2)

    def _describe_model(self, module: Any, rank: int) -> int:
        """Returns how many parameters it has."""
        parameters = list(module.parameters())
        count = int(sum(p.numel() for p in parameters))
        if (rank, count) <= self._largest:
            return count
        self._largest = rank, count
        inner = _unwrapped(module)
        self._model = {
            "class": type(inner).__name__,
            "wrapped_in": [type(w).__name__ for w in _wrappers(module)],
            "parameters": count,
            "trainable_parameters": sum(p.numel() for p in parameters if p.requires_grad),
            "parameter_bytes": sum(p.numel() * p.element_size() for p in parameters),
            "dtypes": sorted({_name(p.dtype) for p in parameters}),
            "devices": sorted({str(p.device) for p in parameters}),
            "modules": sum(1 for _ in inner.modules()),
        }
        return count

    def _input(self, value: Any, depth: int) -> Any:
        if isinstance(value, self._torch.Tensor):
            shape, dtype = list(value.shape), _name(value.dtype)
            return {"shape": shape, "dtype": dtype, "device": str(value.device)}
        if depth < _DEPTH and isinstance(value, (list, tuple)):
            return [self._input(inner, depth + 1) for inner in value[:_MOST]]
        if depth < _DEPTH and isinstance(value, dict):
            items = list(value.items())[:_MOST]
            return {str(key): self._input(inner, depth + 1) for key, inner in items}
        return type(value).__name__

    def _first_size(self, values: list[Any]) -> int | None:
        """The first dimension of the first tensor."""
        for value in values[:_MOST]:
            if isinstance(value, self._torch.Tensor):
                if value.dim():
                    return int(value.shape[0])
            elif isinstance(value, (list, tuple, dict)):
                found = self._first_size(list(value.values() if isinstance(value, dict) else value))
                if found is not None:
                    return found
        return None

    @quietly
    def optimizer(self, optimizer: Any) -> None:
        if id(optimizer) in self._optimizers or len(self._optimizers) >= _MOST:
            return
        names = ("lr", "momentum", "weight_decay", "foreach", "fused", "capturable", "amsgrad")
        defaults = getattr(optimizer, "defaults", {})
        found = {name: defaults[name] for name in names if name in defaults}
        found["class"] = type(optimizer).__name__
        found["groups"] = len(optimizer.param_groups)
        found["tensors"] = sum(len(group["params"]) for group in optimizer.param_groups)
        self._optimizers[id(optimizer)] = found

    def step(self, batches: int) -> None:
        """A step is over, in which so many batches were fetched."""
        for what, count in (("batches", batches), ("calls", self._calls_in_step)):
            if count:
                self._per_step.setdefault(what, collections.deque(maxlen=_STEPS)).append(count)
        self._calls_in_step = 0

    def skip_calls(self) -> None:
        """Calls since the last step are no part of the next."""
        self._calls_in_step = 0

    def _usually(self, what: str) -> int | None:
        counts = collections.Counter(self._per_step.get(what, ()))
        return counts.most_common(1)[0][0] if counts else None

    def scaler(self, scaler: Any) -> None:
        self._scaler = self._scaler or bool(scaler.is_enabled())

    # What is recorded

    def facts(self) -> dict[str, Any]:
        torch = self._torch
        found: dict[str, Any] = {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version() if _initialised(torch) else None,
            "model": self._model,
            "inputs": self._inputs,
            "batch_size": self._batch,
            # More than one batch in a step: gradients are accumulated.
            "batches_per_step": self._usually("batches"),
            "calls_per_step": self._usually("calls"),
            "mode": self._mode(),
            "grad": self._grad(),
            "amp": {
                "autocast": self._autocast or autocast_by_framework(),
                "scaler": self._scaler,
            },
            "optimizers": list(self._optimizers.values()),
            "compile": self._compiled(),
            "seed": _seed(torch),
            "threads": torch.get_num_threads(),
            "interop_threads": torch.get_num_interop_threads(),
            "world_size": _world_size(torch),
            "devices": _devices(torch),
        }
        found.update(_switches(torch))
        return found

    def _mode(self) -> str | None:
        return max(self._modes, key=lambda mode: self._modes[mode]) if any(self._calls) else None

    def _grad(self) -> str:
        looks = sum(self._modes.values())
        return "disabled" if 2 * self._without_grad > looks else "enabled"

    def _compiled(self) -> dict[str, Any] | None:
        if self._compile is None:
            return None
        return {**self._compile, "frames": _compiled_frames()}


def _wrappers(module: Any) -> list[Any]:
    """DistributedDataParallel, the module that torch.compile makes, and the like, outermost
    first."""
    found: list[Any] = []
    while len(found) < _DEPTH:
        inner = getattr(module, "_orig_mod", None)
        if inner is None and type(module).__name__ in (
            "DistributedDataParallel",
            "DataParallel",
            "FullyShardedDataParallel",
        ):
            inner = module.module
        if inner is None:
            break
        found.append(module)
        module = inner
    return found


def _unwrapped(module: Any) -> Any:
    for wrapper in _wrappers(module):
        module = getattr(wrapper, "_orig_mod", None) or wrapper.module
    return module


def _name(dtype: Any) -> str:
    return str(dtype).replace("torch.", "")


def _autocast_cpu(torch: Any) -> bool:
    try:
        return bool(torch.is_autocast_enabled("cpu"))
    except TypeError:
        return bool(torch.is_autocast_cpu_enabled())


def _initialised(torch: Any) -> bool:
    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def _seed(torch: Any) -> int | None:
    """The seed that the program gave; None while torch has the one it starts with."""
    default = 67280421310721
    seed = int(torch.initial_seed())
    return None if seed == default else seed


def _world_size(torch: Any) -> int:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_world_size())
    return int(os.environ.get("WORLD_SIZE", "1"))


def _devices(torch: Any) -> list[str]:
    if not _initialised(torch):
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def _switches(torch: Any) -> dict[str, Any]:
    backends = torch.backends
    return {
        "cudnn_benchmark": backends.cudnn.benchmark,
        "cudnn_deterministic": backends.cudnn.deterministic,
        "tf32_matmul": _quietly(lambda: backends.cuda.matmul.allow_tf32),
        "tf32_cudnn": _quietly(lambda: backends.cudnn.allow_tf32),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "matmul_precision": _quietly(torch.get_float32_matmul_precision),
    }


def _compiled_frames() -> int:
    from .torch_profile import compiles_so_far

    return compiles_so_far()


def _quietly(call: Any) -> Any:
    try:
        return call()
    except Exception as error:
        note("a setting of torch", repr(error))
        return None
