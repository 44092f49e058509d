"""Which model, optimizer, precision and settings this process trains or runs with."""

from __future__ import annotations

import os
import sys
from typing import Any

from .failures import note, quietly

# Arguments are described down to this depth and number.
_DEPTH = 3
_MOST = 12
# The precision is looked at in the first calls of the outermost module, and then now and again.
_LOOKS = 8
_LOOK_EVERY = 64


class TorchFacts:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._model: dict[str, Any] | None = None
        self._largest = -1
        self._inputs: Any = None
        self._batch: int | None = None
        self._autocast: str | None = None
        self._modes = {"train": 0, "eval": 0}
        self._without_grad = 0
        self._optimizers: dict[int, dict[str, Any]] = {}
        self._scaler = False
        self._compile: dict[str, Any] | None = None
        self._calls = 0

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
            self._compile = {name: kwargs[name] for name in names if name in kwargs}
            return original(*args, **kwargs)

        torch.compile = compile

    # What is seen

    @quietly
    def module_call(self, module: Any, args: Any, kwargs: Any) -> None:
        self._calls += 1
        if self._calls > _LOOKS and self._calls % _LOOK_EVERY:
            return
        torch = self._torch
        self._modes["train" if module.training else "eval"] += 1
        if not torch.is_grad_enabled():
            self._without_grad += 1
        if torch.is_autocast_enabled():
            get = getattr(torch, "get_autocast_dtype", None)
            self._autocast = _name(get("cuda") if get else torch.get_autocast_gpu_dtype())
        elif _autocast_cpu(torch):
            self._autocast = _name(torch.get_autocast_cpu_dtype())
        if self._calls <= _LOOKS:
            self._describe(module, args, kwargs)

    def _describe(self, module: Any, args: Any, kwargs: Any) -> None:
        """The largest of the outermost modules is the model."""
        parameters = list(module.parameters())
        count = sum(p.numel() for p in parameters)
        if count <= self._largest and self._model is not None:
            return
        self._largest = count
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
        self._inputs = [self._input(value, 0) for value in args[:_MOST]]
        self._inputs += [
            {"name": name, "value": self._input(value, 0)}
            for name, value in list(kwargs.items())[:_MOST]
        ]
        self._batch = self._first_size(list(args) + list(kwargs.values()))

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

    def scaler(self, scaler: Any) -> None:
        self._scaler = self._scaler or bool(scaler.is_enabled())

    # What is told

    def facts(self) -> dict[str, Any]:
        torch = self._torch
        found: dict[str, Any] = {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version() if _initialised(torch) else None,
            "model": self._model,
            "inputs": self._inputs,
            "batch_size": self._batch,
            "mode": max(self._modes, key=lambda mode: self._modes[mode]) if self._calls else None,
            "grad": "disabled" if self._without_grad else "enabled",
            "amp": {"autocast": self._autocast, "scaler": self._scaler},
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


def modules_loaded() -> list[str]:
    """Frameworks on top of torch that this program uses."""
    names = ("lightning", "pytorch_lightning", "accelerate", "transformers", "deepspeed", "timm")
    return [name for name in names if name in sys.modules]
