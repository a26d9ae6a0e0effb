"""Which tokens of which sequences the next pass computes: admission, chunked prefill, preemption, completion. No torch."""

from isotherm.scheduler.limits import minimum_blocks, minimum_slots
from isotherm.scheduler.scheduler import Scheduler

__all__ = ["Scheduler", "minimum_blocks", "minimum_slots"]
