"""Cases through the engine: prompts in, answers out, as the server would give them."""

from collections.abc import Sequence

from isotherm.core.sampling import SamplingParams
from isotherm.engine.llm import LLM
from isotherm.engine.outputs import CompletionOutput
from isotherm.evaluate.case import EvalCase
from isotherm.gate.answer import Answer, ToolCall
from isotherm.text.chat import ChatPrompt
from isotherm.text.delta import Delta
from isotherm.text.output import OutputParser, ToolFormatName


def answer_cases(
    llm: LLM, cases: Sequence[EvalCase], max_tokens: int, tool_format: ToolFormatName = "qwen3_coder"
) -> list[Answer]:
    """The answers at temperature 0, generated together."""
    prompts = [llm.template.prompt(list(case.messages), list(case.tools) or None) for case in cases]
    params = SamplingParams(temperature=0.0, max_tokens=max_tokens)
    outputs = llm.generate([prompt.tokens for prompt in prompts], params)
    return [
        read_answer(case, prompt, output.outputs[0], tool_format)
        for case, prompt, output in zip(cases, prompts, outputs, strict=True)
    ]


def read_answer(
    case: EvalCase, prompt: ChatPrompt, output: CompletionOutput, tool_format: ToolFormatName = "qwen3_coder"
) -> Answer:
    """One generated answer, its reasoning and calls told apart."""
    parser = OutputParser(tool_format if case.tools else None, True, prompt.in_reasoning, list(case.tools))
    deltas = (parser.push(output.text), parser.finish())
    calls = _calls(deltas)
    return Answer(
        text="".join(delta.content for delta in deltas),
        reasoning="".join(delta.reasoning for delta in deltas),
        tool_calls=calls,
        finish_reason="tool_calls" if calls and output.finish_reason == "stop" else output.finish_reason,
        prompt_ids=prompt.tokens,
        token_ids=output.token_ids,
        completion_tokens=len(output.token_ids),
    )


def _calls(deltas: Sequence[Delta]) -> tuple[ToolCall, ...]:
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for delta in deltas:
        for piece in delta.tool_calls:
            names[piece.index] = names.get(piece.index, "") + (piece.name or "")
            arguments[piece.index] = arguments.get(piece.index, "") + piece.arguments
    return tuple(ToolCall(names[index], arguments[index]) for index in sorted(names))
