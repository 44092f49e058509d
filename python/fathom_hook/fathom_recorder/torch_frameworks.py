"""What frameworks on top of torch know of the run and torch does not: the module that Lightning
trains, the precision and the accumulation that it or Accelerate was asked for."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from .failures import note, quietly

_NAMES = ("lightning", "pytorch_lightning", "accelerate", "transformers", "deepspeed", "timm")
_TRAINERS = ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")
_PRECISIONS = {"bf16": "bfloat16", "fp16": "float16"}


class Frameworks:
    def __init__(self) -> None:
        self._lightning: dict[str, Any] | None = None

    def install(self, finder: Any, model: Callable[[Any], None]) -> None:
        """`model` gets the module that a framework trains."""

        def watch(module: Any) -> None:
            try:
                self._watch_trainer(module.Trainer, model)
            except Exception as error:
                note("Lightning's trainer", repr(error))

        for name in _TRAINERS:
            finder.when_imported(name, watch)

    def _watch_trainer(self, kind: Any, model: Callable[[Any], None]) -> None:
        original = kind.fit

        @functools.wraps(original)
        def fit(this: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
            self._learn(this)
            model(module)
            return original(this, module, *args, **kwargs)

        kind.fit = fit

    @quietly
    def _learn(self, trainer: Any) -> None:
        names = ("accumulate_grad_batches", "precision", "max_epochs", "num_devices", "num_nodes")
        self._lightning = {name: getattr(trainer, name, None) for name in names}
        self._lightning["strategy"] = type(getattr(trainer, "strategy", None)).__name__

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {"frameworks": [name for name in _NAMES if name in sys.modules]}
        if self._lightning is not None:
            found["lightning"] = self._lightning
        accelerate = _accelerate()
        if accelerate is not None:
            found["accelerate"] = accelerate
        return found


def autocast_by_framework() -> str | None:
    """Accelerate turns autocast on inside of the model's forward, where nobody looks."""
    said = _accelerate()
    return None if said is None else _PRECISIONS.get(str(said["mixed_precision"]))


def _accelerate() -> dict[str, Any] | None:
    """None where no Accelerator was made."""
    module: Any = sys.modules.get("accelerate.state")
    try:
        state = dict(module.AcceleratorState._shared_state) if module is not None else {}
        if "_mixed_precision" not in state:
            return None
        gradients = dict(module.GradientState._shared_state).get("plugin_kwargs") or {}
        return {
            "mixed_precision": state["_mixed_precision"],
            "gradient_accumulation_steps": gradients.get("num_steps", 1),
            "distributed_type": str(state.get("distributed_type", "")).rpartition(".")[2],
        }
    except Exception as error:
        note("what Accelerate was asked for", repr(error))
        return None
