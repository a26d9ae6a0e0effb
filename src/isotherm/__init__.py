"""Isotherm: how a token was computed never changes what it is."""

from typing import TYPE_CHECKING, Any

from isotherm.core.version import VERSION as __version__

if TYPE_CHECKING:
    from isotherm.core.sampling import SamplingParams
    from isotherm.engine.llm import LLM

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
