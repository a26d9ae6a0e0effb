"""Writes the documents of the gate's battery c: 8,000 and 30,000 tokens of filler with facts at 10, 50 and 90 %.

python -m training.gate_documents --out src/isotherm/gate/cases

The questions and what their answers must hold are in c.jsonl, written by hand; a test checks where the facts stand.
"""

import argparse
import random
from pathlib import Path

from training.documents import Fact, filler
from training.packing import load_tokenizer

LEAD = "Answer from this text."
DOCUMENTS = {
    "c_8k": (
        8_000,
        {
            10: Fact("the western turbine", "serial number", "KX-44719"),
            50: Fact("the Lisbon museum", "closing time", "19:45"),
            90: Fact("project Verdano", "manager", "Ingrid Halvorsen"),
        },
    ),
    "c_30k": (
        30_000,
        {
            10: Fact("the copper lighthouse", "owner", "Marek Lindqvist"),
            50: Fact("the Tromsø harbour", "temperature", "-17.25"),
            90: Fact("the grand kettle", "access code", "ZB-90382"),
        },
    ),
}


def document(rng: random.Random, tokens: int, facts: dict[int, Fact]) -> str:
    """Prose of about `tokens` tokens in which each fact stands at its depth, in percent, and its value nowhere else."""
    tokenizer = load_tokenizer()
    parts, size, waiting = [LEAD + "\n\n"], 0, sorted(facts.items())
    values = [fact.value for fact in facts.values()]
    while size < tokens:
        if waiting and size >= tokens * waiting[0][0] / 100:
            line = waiting.pop(0)[1].put("The {a} of {s} is {v}.")
        else:
            line = filler(rng)
            if any(value in line for value in values):
                continue
        parts.append(line + " ")
        size += len(tokenizer.encode(" " + line, add_special_tokens=False).ids)
    return "".join(parts).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for name, (tokens, facts) in DOCUMENTS.items():
        text = document(random.Random(f"gate/{args.seed}/{name}"), tokens, facts)
        (args.out / f"{name}.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
