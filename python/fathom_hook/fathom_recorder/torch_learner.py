"""Decides whether the program can learn from what it does now, or evaluates."""

from __future__ import annotations

import weakref
from typing import Any

from .steps import EVALUATION, LOUD, NO_GRADIENTS, OTHER


class Learner:
    """Knows the outermost modules that were called, with gradients, before an optimizer stepped."""

    def __init__(self, torch: Any) -> None:
        self._has_gradients = torch.is_grad_enabled
        # Since the optimizer's last step: each such module, and whether it was in training mode.
        self._called: dict[int, tuple[Any, bool]] = {}
        # By the module's identity. Some programs train in evaluation mode, for the sake of batch
        # normalisation.
        self._trains: dict[int, bool] = {}
        self._latest: Any = None

    def call(self, module: Any) -> int:
        """An outermost module is called: how quiet that is."""
        gradients = self._has_gradients()
        key = id(module)
        trains = self._trains.get(key)
        if trains and not module.training:
            return EVALUATION
        if gradients:
            self._called[key] = module, module.training
            return LOUD
        return OTHER if trains is None else NO_GRADIENTS

    def learnt(self) -> None:
        """An optimizer has stepped."""
        if not self._called:
            return
        for key, (module, training) in self._called.items():
            self._trains[key] = training
            self._latest = weakref.ref(module)
        self._called.clear()

    def quiet(self) -> int:
        """How quiet everything else is now."""
        module = None if self._latest is None else self._latest()
        if module is not None and self._trains.get(id(module)) and not module.training:
            return EVALUATION
        return LOUD if self._has_gradients() else NO_GRADIENTS
