"""stream, stream_options and response_format: small contradictions caught in one place."""

from dataclasses import dataclass

from isotherm.server.body import GenerationBody
from isotherm.server.errors import bad_request

_KNOWN = ("include_usage", "continuous_usage_stats", "include_obfuscation")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """include_usage: a last chunk with the usage. continuous_usage_stats: every chunk carries the usage so far (vLLM)."""

    include_usage: bool = False
    continuous_usage_stats: bool = False


def stream_options(body: GenerationBody) -> StreamOptions:
    """Raises ApiError for unknown options, and for options that need `stream` or exclude it."""
    if body.stream and body.prompt_logprobs is not None:
        raise bad_request("prompt_logprobs", "prompt_logprobs cannot be streamed", "unsupported_parameter")
    options = body.stream_options
    if options is None:
        return StreamOptions()
    if not body.stream:
        raise bad_request("stream_options", "stream_options needs stream to be true")
    for name, value in options.items():
        if name not in _KNOWN:
            raise bad_request("stream_options", f"unknown stream option: {name}", "unknown_parameter")
        if value is not None and not isinstance(value, bool):
            raise bad_request("stream_options", f"stream_options.{name} must be true or false", "invalid_type")
    if options.get("include_obfuscation"):
        raise bad_request("stream_options", "include_obfuscation is not supported", "unsupported_value")
    continuous = bool(options.get("continuous_usage_stats"))
    return StreamOptions(bool(options.get("include_usage")) or continuous, continuous)


def check_response_format(body: GenerationBody) -> None:
    """Raises ApiError for anything but plain text."""
    kind = "text" if body.response_format is None else body.response_format.get("type")
    if kind != "text":
        message = f"response_format {kind!r} needs constrained output, which comes with grammars"
        raise bad_request("response_format", message, "unsupported_value")


def check_salt(body: GenerationBody) -> None:
    """Raises ApiError for a salt that would separate nothing."""
    if body.cache_salt == "":
        raise bad_request("cache_salt", "cache_salt must not be empty")
