"""Scores a checkpoint on the evaluation's cases by greedy decoding in plain PyTorch.

python -m training.evaluate --model src/isotherm/model/embedded --cases src/isotherm/evaluate/cases.jsonl --json out.json
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file

from isotherm.engine.outputs import CompletionOutput
from isotherm.evaluate.answering import read_answer
from isotherm.evaluate.case import EvalCase, load_cases
from isotherm.gate.expect import unmet
from isotherm.text.chat import ChatPrompt
from training.decode import draft_acceptance, greedy
from training.export import from_checkpoint
from training.network import Network, Shape
from training.packing import load_tokenizer
from training.template import render


def judge(case: EvalCase, text: str) -> str | None:
    """Why an answer's text does not meet its case, by the rules of `isotherm eval`; None when it does."""
    output = CompletionOutput(0, text, (), None, "stop", None)
    return unmet(case.expect, read_answer(case, ChatPrompt((), 0, "", in_reasoning=False), output))


def load_network(folder: Path) -> Network:
    """The network of a checkpoint: bfloat16 activations on a GPU, float32 elsewhere."""
    cuda = torch.cuda.is_available()
    network = Network(Shape(), torch.bfloat16 if cuda else torch.float32)
    network.load_state_dict(from_checkpoint(load_file(folder / "model.safetensors")))
    return network.to("cuda" if cuda else "cpu").eval()


def answer_all(network: Network, cases: Sequence[EvalCase], rows: int, limit: int) -> list[tuple[list[int], list[int]]]:
    """(prompt, written tokens) of each case, decoded `rows` at a time by length."""
    tokenizer = load_tokenizer()
    end = tokenizer.token_to_id("<|im_end|>")
    prompts = [
        tokenizer.encode(render(list(c.messages), list(c.tools), prompt=True), add_special_tokens=False).ids
        for c in cases
    ]
    order = sorted(range(len(cases)), key=lambda i: len(prompts[i]))
    answers: list[list[int]] = [[] for _ in cases]
    for start in range(0, len(order), rows):
        chosen = order[start : start + rows]
        for index, written in zip(chosen, greedy(network, [prompts[i] for i in chosen], end, limit), strict=True):
            answers[index] = written
    return list(zip(prompts, answers, strict=True))


def evaluate(network: Network, cases: Sequence[EvalCase], rows: int = 16, show: int = 0) -> dict[str, float]:
    """The figures of `isotherm eval`."""
    scores: dict[str, list[bool]] = defaultdict(list)
    right = total = 0
    for case, (prompt, written) in zip(cases, answer_all(network, cases, rows, 260), strict=True):
        text = load_tokenizer().decode(written, skip_special_tokens=False).removesuffix("<|im_end|>")
        why = judge(case, text)
        scores[case.group].append(why is None)
        if why and sum(not s for s in scores[case.group]) <= show:
            print(f"--- {case.id}\nuser: {case.messages[-1]['content'][-400:]}\n{why}\nsaid: {text}", flush=True)
        if len(scores[case.group]) % 3 == 1:
            accepted, drafted = draft_acceptance(network, prompt, written)
            right, total = right + accepted, total + drafted
    figures = {group: sum(values) / len(values) for group, values in scores.items()}
    return {"cases": len(cases), **figures, "mtp_first_accept": right / max(1, total)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every n-th case")
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--show", type=int, default=0, help="failures to print, of each group")
    args = parser.parse_args()
    figures = evaluate(load_network(args.model), load_cases(args.cases)[:: args.every], args.rows, args.show)
    print(json.dumps(figures, indent=2))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
