"""A response's text to reasoning, answer and tool calls, as it is generated."""

import secrets
from collections.abc import Callable
from typing import Any, Literal

from isotherm.text.calls import ToolFormat, answer, plain
from isotherm.text.delta import Delta, Sink, ToolCallDelta
from isotherm.text.hermes import HermesFormat
from isotherm.text.qwen3_coder import Qwen3CoderFormat
from isotherm.text.reasoning import reasoning
from isotherm.text.schema import ParameterTypes
from isotherm.text.source import Source, Steps

__all__ = ["REASONING_FORMATS", "TOOL_FORMATS", "Delta", "OutputParser", "ToolCallDelta", "random_call_id"]

ToolFormatName = Literal["qwen3_coder", "hermes"]
TOOL_FORMATS: tuple[ToolFormatName, ...] = ("qwen3_coder", "hermes")
REASONING_FORMATS = ("qwen3",)


def random_call_id() -> str:
    """A tool call's id in OpenAI's form."""
    return "call_" + secrets.token_hex(12)


class OutputParser:
    """Parses one response; owned by it. However the text is cut, the deltas add up to the same.

    tool_format: how calls are written, None to leave them in the text. reasoning: whether <think> is read, as the qwen3 format
    has it. in_reasoning: the prompt ended inside it. tools: the request's, whose schemas give parameters their types. No text
    is lost and no text raises; what is dropped is what the formats write around calls and reasoning (see calls, reasoning).
    """

    def __init__(
        self,
        tool_format: ToolFormatName | None,
        reasoning: bool,
        in_reasoning: bool,
        tools: list[dict[str, Any]] | None,
        new_id: Callable[[], str] = random_call_id,
    ):
        self._source = Source()
        self._sink = Sink(new_id)
        self._steps = _response(self._source, self._sink, _format(tool_format, tools), reasoning, in_reasoning)
        self._ended = False

    def push(self, text: str) -> Delta:
        """What is certain once `text` has arrived."""
        self._source.push(text)
        return self._run()

    def finish(self) -> Delta:
        """The rest, once the text has ended."""
        self._source.ended = True
        return self._run()

    def _run(self) -> Delta:
        if not self._ended:
            self._ended = next(self._steps, True) is True
        return self._sink.take()


def _format(name: ToolFormatName | None, tools: list[dict[str, Any]] | None) -> ToolFormat | None:
    if name is None:
        return None
    return HermesFormat() if name == "hermes" else Qwen3CoderFormat(ParameterTypes(tools))


def _response(
    source: Source, sink: Sink, form: ToolFormat | None, with_reasoning: bool, in_reasoning: bool
) -> Steps[None]:
    if with_reasoning:
        yield from reasoning(source, sink, in_reasoning)
    yield from plain(source, sink) if form is None else answer(source, sink, form)
