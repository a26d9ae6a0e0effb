"""Trains the tokenizer: byte-level BPE whose words split the same way after a space as anywhere else.

Merges are learned on words without their space. After them come merges that put a space before a token which often begins a
word. A name therefore has one split in a schema, a sentence and a call, but for its first token, and copying it is easy. Digits
stand alone, as in Qwen's tokenizers, whose pre-tokenizing pattern is used.

    python -m training.tokenizer --out src/isotherm/model/embedded
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from training.conversation import conversation
from training.template import EMBEDDED, pieces

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPLIT = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LEARNING_SPLIT = CONTRACTIONS + r"|[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPACE = "Ġ"


def _pre_tokenizer(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def texts(seed: int, count: int) -> Iterator[str]:
    """The text of training conversations, without the marks."""
    for index in range(count):
        scene = conversation(seed, index)
        for text, _ in pieces(scene.messages, scene.schemas):
            for mark in (*SPECIAL, *MARKS):
                text = text.replace(mark, "\n")
            yield text


def train(seed: int, count: int, size: int, spaced: int) -> Tokenizer:
    """A tokenizer of `size` entries, marks included, of which `spaced` are a token with a space before it."""
    corpus = list(texts(seed, count))
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = _pre_tokenizer(LEARNING_SPLIT)
    trainer = trainers.BpeTrainer(
        vocab_size=size - spaced - len(SPECIAL) - len(MARKS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=14,
        show_progress=False,
    )
    learner.train_from_iterator(corpus, trainer)
    learned = json.loads(learner.to_str())["model"]
    vocabulary, merges = dict(learned["vocab"]), [tuple(pair) for pair in learned["merges"]]
    counts: Counter[str] = Counter()
    for encoding in learner.encode_batch(corpus[:: max(1, len(corpus) // 20000)], add_special_tokens=False):
        for before, after in zip(encoding.tokens, encoding.tokens[1:], strict=False):
            if before == SPACE and after[0].isalpha() and after[0] != SPACE:
                counts[after] += 1
    for token, _ in counts.most_common():
        if len(vocabulary) == size - len(SPECIAL) - len(MARKS):
            break
        if SPACE + token not in vocabulary:
            vocabulary[SPACE + token] = len(vocabulary)
            merges.append((SPACE, token))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = _pre_tokenizer(SPLIT)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in MARKS])
    return tokenizer


def save(tokenizer: Tokenizer, folder: Path) -> None:
    """tokenizer.json and tokenizer_config.json."""
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "add_bos_token": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 32768,
        "added_tokens_decoder": {
            str(tokenizer.token_to_id(text)): {
                "content": text, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
                "special": text in SPECIAL,
            }
            for text in (*SPECIAL, *MARKS)
        },
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=EMBEDDED)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--conversations", type=int, default=6000)
    parser.add_argument("--size", type=int, default=6144)
    parser.add_argument("--spaced", type=int, default=2200)
    args = parser.parse_args()
    save(train(args.seed, args.conversations, args.size, args.spaced), args.out)


if __name__ == "__main__":
    main()
