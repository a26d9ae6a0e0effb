"""A batch on the GPU: the same index arrays, and the plans that kernels derive from them once a pass."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeVar, cast

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch

_Plan = TypeVar("_Plan")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceBatch(Batch):
    """`host` is the batch on the CPU, from which plans are made: no kernel launch waits for the device.

    It is None for a recorded pass, which comes with the plans that it has. tokens: [M] int32 on the CPU, where they are known
    there. plans: what `plan` has made so far; layers of one kind share a plan. idle: some rows only fill a recorded pass and no
    plan names them: attention and the delta rule give zeros there.
    """

    host: Batch | None
    tokens: Tensor | None = field(default=None, compare=False, repr=False)
    idle: bool = False
    plans: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def of(host: Batch, device: torch.device) -> "DeviceBatch":
        """Copies a batch's arrays to the device."""
        values = {f.name: getattr(host, f.name) for f in fields(host)}
        return DeviceBatch(**{name: moved(x, device) for name, x in values.items()}, host=host)

    def plan(self, key: object, make: Callable[[Batch], _Plan]) -> _Plan:
        """make(host) with its tensors on the device, made once for `key`. `make` returns a dataclass.

        KeyError: a recorded pass that did not come with this plan.
        """
        if key not in self.plans:
            if self.host is None:
                raise KeyError(f"a recorded pass has no plan {key!r}")
            self.plans[key] = moved(make(self.host), self.positions.device)
        return cast(_Plan, self.plans[key])


def moved(plan: _Plan, device: torch.device) -> _Plan:
    """A dataclass with its tensors, and those of dataclasses in it, on the device."""
    if isinstance(plan, Tensor):
        return cast(_Plan, plan.to(device))
    if is_dataclass(plan) and not isinstance(plan, type):
        return replace(plan, **{f.name: moved(getattr(plan, f.name), device) for f in fields(plan)})
    return plan


def on_device(batch: Batch, device: torch.device) -> DeviceBatch:
    """The batch as a DeviceBatch: itself, or a copy of one that is on the CPU."""
    return batch if isinstance(batch, DeviceBatch) else DeviceBatch.of(batch, device)
