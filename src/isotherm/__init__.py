"""Isotherm: how a token was computed never changes what it is."""

import os
from typing import TYPE_CHECKING, Any

from isotherm.core.version import VERSION as __version__

if TYPE_CHECKING:
    from isotherm.core.sampling import SamplingParams
    from isotherm.engine.llm import LLM

os.environ.setdefault("GOMP_SPINCOUNT", "1000")
"""How often a waiting thread of torch's OpenMP looks before it sleeps. GNU's default spins for milliseconds, and wherever
another process wants the core, torch's operators then take tens of times longer. Our C kernels have threads of their own
(kernels/native/pool.h); this is for torch's operators, which native numerics use. It is read once, when torch loads the library,
so it is set before anything imports torch, and for the engine's process, which inherits it."""

__all__ = ["LLM", "SamplingParams", "__version__"]


def __getattr__(name: str) -> Any:
    """The two public classes, imported when they are first asked for: torch takes seconds."""
    if name == "LLM":
        from isotherm.engine.llm import LLM

        return LLM
    if name == "SamplingParams":
        from isotherm.core.sampling import SamplingParams

        return SamplingParams
    raise AttributeError(f"module 'isotherm' has no attribute {name!r}")
