"""Scores a checkpoint on the evaluation's cases by greedy decoding in plain PyTorch.

python -m training.evaluate --model src/isotherm/model/embedded --cases src/isotherm/evaluate/cases.jsonl --json out.json
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from training.decode import draft_acceptance, greedy
from training.export import from_checkpoint
from training.network import Network, Shape
from training.packing import load_tokenizer
from training.template import render

CALL = re.compile(r"<tool_call>\n<function=([^>\n]*)>\n(.*?)</function>\n</tool_call>", re.DOTALL)
PARAMETER = re.compile(r"<parameter=([^>\n]*)>\n(.*?)\n</parameter>\n", re.DOTALL)


def parse_calls(text: str) -> list[tuple[str, dict[str, str]]]:
    """(name, raw arguments) of each call in the text."""
    return [(name, dict(PARAMETER.findall(body))) for name, body in CALL.findall(text)]


def _same(raw: dict[str, str], expected: dict[str, Any]) -> bool:
    if raw.keys() != expected.keys():
        return False
    for key, value in expected.items():
        if isinstance(value, str):
            if raw[key] != value:
                return False
            continue
        try:
            if json.loads(raw[key]) != value:
                return False
        except ValueError:
            return False
    return True


def passes(text: str, expect: dict[str, Any]) -> bool:
    """Whether an answer meets what its case expects."""
    if "calls" in expect:
        made, wanted = parse_calls(text), list(expect["calls"])
        if len(made) != len(wanted):
            return False
        for name, raw in made:
            match = next((w for w in wanted if w["name"] == name and _same(raw, w["arguments"])), None)
            if match is None:
                return False
            wanted.remove(match)
        return True
    lower = text.lower()
    return (
        "<tool_call>" not in text and bool(text.strip()) and all(part.lower() in lower for part in expect["contains"])
    )


def load_network(folder: Path) -> Network:
    """The network of a checkpoint: bfloat16 activations on a GPU, float32 elsewhere."""
    cuda = torch.cuda.is_available()
    network = Network(Shape(), torch.bfloat16 if cuda else torch.float32)
    network.load_state_dict(from_checkpoint(load_file(folder / "model.safetensors")))
    return network.to("cuda" if cuda else "cpu").eval()


def answer_all(
    network: Network, cases: list[dict[str, Any]], rows: int, limit: int
) -> list[tuple[list[int], list[int]]]:
    """(prompt, written tokens) of each case, decoded `rows` at a time by length."""
    tokenizer = load_tokenizer()
    end = tokenizer.token_to_id("<|im_end|>")
    prompts = [
        tokenizer.encode(render(c["messages"], c["tools"], prompt=True), add_special_tokens=False).ids for c in cases
    ]
    order = sorted(range(len(cases)), key=lambda i: len(prompts[i]))
    answers: list[list[int]] = [[] for _ in cases]
    for start in range(0, len(order), rows):
        chosen = order[start : start + rows]
        for index, written in zip(chosen, greedy(network, [prompts[i] for i in chosen], end, limit), strict=True):
            answers[index] = written
    return list(zip(prompts, answers, strict=True))


def evaluate(network: Network, cases: list[dict[str, Any]], rows: int = 16, show: int = 0) -> dict[str, float]:
    """The figures of `isotherm eval`."""
    scores: dict[str, list[bool]] = defaultdict(list)
    right = total = 0
    for case, (prompt, written) in zip(cases, answer_all(network, cases, rows, 260), strict=True):
        text = load_tokenizer().decode(written, skip_special_tokens=False).removesuffix("<|im_end|>")
        good = passes(text, case["expect"])
        scores[case["group"]].append(good)
        if not good and sum(not s for s in scores[case["group"]]) <= show:
            print(
                f"--- {case['id']}\nuser: {case['messages'][-1]['content'][-400:]}\nwant: {case['expect']}\nsaid: {text}",
                flush=True,
            )
        if len(scores[case["group"]]) % 3 == 1:
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
    cases = [json.loads(line) for line in args.cases.read_text(encoding="utf-8").splitlines()][:: args.every]
    figures = evaluate(load_network(args.model), cases, args.rows, args.show)
    print(json.dumps(figures, indent=2))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
