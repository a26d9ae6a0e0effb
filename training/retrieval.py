"""Facts at 10, 50 and 90 % of documents of 8,000 and 30,000 tokens: how many of them a checkpoint finds.

python -m training.retrieval --model src/isotherm/model/embedded
"""

import argparse
import json
import random
from pathlib import Path

from training.decode import greedy
from training.documents import Fact, distinct_facts, draw_fact, filler
from training.evaluate import load_network
from training.network import Network
from training.packing import load_tokenizer
from training.template import render

DEPTHS = (10, 50, 90)
BUDGETS = {"8k": 8_000, "30k": 30_000}


def document(rng: random.Random, tokens: int) -> tuple[str, list[Fact]]:
    """Prose of about `tokens` tokens with one fact at each depth."""
    tokenizer = load_tokenizer()
    facts = distinct_facts(rng, len(DEPTHS))
    parts: list[str] = []
    size, waiting = 0, list(zip(DEPTHS, facts, strict=True))
    while size < tokens:
        if waiting and size >= tokens * waiting[0][0] / 100:
            line = waiting.pop(0)[1].put("The {a} of {s} is {v}.")
        else:
            line = draw_fact(rng).put("The {a} of {s} is {v}.") if rng.random() < 0.02 else filler(rng)
        parts.append(line)
        size += len(tokenizer.encode(" " + line, add_special_tokens=False).ids)
    return " ".join(parts), facts


def measure(network: Network, documents: int, seed: int = 5, show: bool = False) -> dict[str, dict[str, float]]:
    """The share of facts found, by length and depth."""
    tokenizer = load_tokenizer()
    end = tokenizer.token_to_id("<|im_end|>")
    found: dict[str, dict[str, float]] = {}
    for name, budget in BUDGETS.items():
        found[name] = {str(depth): 0.0 for depth in DEPTHS}
        for index in range(documents):
            text, facts = document(random.Random(f"retrieval/{seed}/{name}/{index}"), budget)
            prompts = [
                tokenizer.encode(
                    render(
                        [{"role": "user", "content": text + "\n\n" + f.put("What is the {a} of {s}?")}],
                        None,
                        prompt=True,
                    )
                ).ids
                for f in facts
            ]
            for depth, fact, written in zip(DEPTHS, facts, greedy(network, prompts, end, 60), strict=True):
                answer = tokenizer.decode(written)
                good = fact.value in answer
                found[name][str(depth)] += good / documents
                if show and not good:
                    print(name, depth, fact, "->", answer, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=16)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    print(json.dumps(measure(load_network(args.model), args.documents, show=args.show)))


if __name__ == "__main__":
    main()
