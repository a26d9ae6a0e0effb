"""Text to token ids and back, over a folder's tokenizer.json.

Only the `tokenizers` library is imported: transformers' import alone takes longer than the rest of the server's start.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isotherm.core.errors import CheckpointError, RequestError
from isotherm.core.vocabulary import Vocabulary
from isotherm.text.byte_level import require_byte_level, token_bytes
from isotherm.text.folder import read_object

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""The roles under which a tokenizer_config.json names special tokens, and templates read them."""


class Tokenizer:
    """A byte-level BPE tokenizer. Immutable after loading.

    vocabulary: bytes by id, special ids and end-of-sequence ids. named: special tokens by role ("eos_token", ...).
    added: the added tokens' text by id: what is matched whole, before BPE; the special ones are among them.
    """

    def __init__(self, backend: Any, vocabulary: Vocabulary, named: dict[str, str]):
        self._backend = backend
        self.vocabulary = vocabulary
        self.named = named
        self.added: dict[int, str] = {id: token.content for id, token in backend.get_added_tokens_decoder().items()}

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Reads tokenizer.json, tokenizer_config.json, generation_config.json and config.json; runs no code of the folder's.

        Raises CheckpointError naming the file when there is no tokenizer.json or it is not a byte-level BPE.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise CheckpointError(f"{path}: no such file")
        config = read_object(folder / "special_tokens_map.json") | read_object(folder / "tokenizer_config.json")
        backend = _backend(path)
        require_byte_level(backend, path)
        _add_declared(backend, config.get("added_tokens_decoder", {}), folder / "tokenizer_config.json")
        named = {role: text for role in NAMED if (text := _content(config.get(role))) is not None}
        special = _specials(backend, [*named.values(), *_extra(config)])
        _match_as_written(backend)
        model = read_object(folder / "config.json")
        eos = _eos_ids(folder, model, backend.token_to_id(named.get("eos_token", "")))
        return cls(backend, Vocabulary(_bytes_by_id(backend, model), special, eos), named)

    @property
    def vocab_size(self) -> int:
        """Ids that the vocabulary covers, counting those that config.json declares without a token."""
        return len(self.vocabulary.token_bytes)

    def encode(self, text: str, special: bool = True) -> tuple[int, ...]:
        """Token ids of a text.

        special: added tokens in the text are recognised, and those of the post-processor (such as BOS) are added.
        Otherwise every character is ordinary text. Raises RequestError for a lone surrogate.
        """
        if not is_text(text):
            raise RequestError("prompt", "contains half of a surrogate pair, which is not text")
        if special:
            return tuple(self._backend.encode(text, add_special_tokens=True).ids)
        return self._plain(text)

    def encode_rendered(self, text: str) -> tuple[int, ...]:
        """Token ids of a rendered template: added tokens are recognised, none is added."""
        return tuple(self._backend.encode(text, add_special_tokens=False).ids)

    def added_spans(self, text: str) -> list[tuple[int, int, int]]:
        """(id, start, end) in characters of each added token in the text, ascending."""
        encoding = self._backend.encode(text, add_special_tokens=False)
        spans = zip(encoding.ids, encoding.offsets, strict=True)
        return [(id, start, end) for id, (start, end) in spans if id in self.added]

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """The tokens' bytes as UTF-8; what is not UTF-8 becomes U+FFFD."""
        return self.decode_bytes(ids, skip_special).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Iterable[int], skip_special: bool = True) -> bytes:
        """The tokens' bytes. skip_special: special tokens have none. Ids without a token have none."""
        table = self.vocabulary.token_bytes
        skip = self.vocabulary.special_ids if skip_special else frozenset()
        return b"".join(table[id] for id in ids if id not in skip and 0 <= id < len(table))

    def _plain(self, text: str) -> tuple[int, ...]:
        backend = self._backend
        if backend.normalizer is not None:
            text = backend.normalizer.normalize_str(text)
        pieces = (
            [text] if backend.pre_tokenizer is None else [s for s, _ in backend.pre_tokenizer.pre_tokenize_str(text)]
        )
        return tuple(token.id for piece in pieces for token in backend.model.tokenize(piece))


def is_text(text: str) -> bool:
    """Whether a string can be written in UTF-8; one from JSON may hold half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _backend(path: Path) -> Any:
    from tokenizers import Tokenizer as Backend

    try:
        backend = Backend.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise CheckpointError(f"{path}: {error}") from error
    backend.no_truncation()
    backend.no_padding()
    return backend


def _content(token: object) -> str | None:
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else None


def _extra(config: dict[str, Any]) -> list[str]:
    """Special tokens that have no role, under their older and newer names."""
    found: list[str] = []
    for key in ("additional_special_tokens", "extra_special_tokens"):
        listed = config.get(key) or []
        values = listed.values() if isinstance(listed, dict) else listed
        found += [text for value in values if (text := _content(value)) is not None]
    return found


def _add_declared(backend: Any, declared: dict[str, Any], source: Path) -> None:
    """Adds tokens that tokenizer_config.json declares and tokenizer.json lacks; their ids must come out as declared."""
    from tokenizers import AddedToken

    known = backend.get_added_tokens_decoder()
    for id, fields in sorted(declared.items(), key=lambda item: int(item[0])):
        if int(id) in known:
            continue
        flags = {
            key: bool(fields.get(key, False)) for key in ("single_word", "lstrip", "rstrip", "normalized", "special")
        }
        backend.add_tokens([AddedToken(fields["content"], **flags)])
        if backend.token_to_id(fields["content"]) != int(id):
            raise CheckpointError(f"{source}: added token {fields['content']!r} cannot have the id {id}")


def _specials(backend: Any, texts: list[str]) -> frozenset[int]:
    """Makes the named tokens special where the vocabulary has them; the ids of every special token."""
    from tokenizers import AddedToken

    known = {token.content: token for token in backend.get_added_tokens_decoder().values()}
    for text in texts:
        if backend.token_to_id(text) is None or (text in known and known[text].special):
            continue
        backend.add_special_tokens([AddedToken(text, special=True, normalized=False)])
    return frozenset(id for id, token in backend.get_added_tokens_decoder().items() if token.special)


def _match_as_written(backend: Any) -> None:
    """Added tokens are matched in the text as it is written, never after normalisation.

    Otherwise another spelling (a Kelvin sign for K under NFC) would stand for a control token unseen.
    """
    from tokenizers import AddedToken

    for token in backend.get_added_tokens_decoder().values():
        if token.normalized:
            flags = {key: getattr(token, key) for key in ("single_word", "lstrip", "rstrip", "special")}
            backend.add_tokens([AddedToken(token.content, normalized=False, **flags)])


def _bytes_by_id(backend: Any, model: dict[str, Any]) -> tuple[bytes, ...]:
    entries = {id: token_bytes(text) for text, id in backend.get_vocab(with_added_tokens=False).items()}
    entries |= {id: token.content.encode("utf-8") for id, token in backend.get_added_tokens_decoder().items()}
    declared = [scope["vocab_size"] for scope in _scopes(model) if isinstance(scope.get("vocab_size"), int)]
    size = max([max(entries, default=-1) + 1, *declared])
    return tuple(entries.get(id, b"") for id in range(size))


def _scopes(model: dict[str, Any]) -> list[dict[str, Any]]:
    """config.json itself and, for a multimodal model, the part that describes its text."""
    text = model.get("text_config")
    return [model, text] if isinstance(text, dict) else [model]


def _eos_ids(folder: Path, model: dict[str, Any], named: int | None) -> tuple[int, ...]:
    """The union, in order, of generation_config.json, config.json, its text_config and the tokenizer's eos token."""
    found: list[int] = []
    for scope in [read_object(folder / "generation_config.json"), *_scopes(model), {"eos_token_id": named}]:
        value = scope.get("eos_token_id")
        found += value if isinstance(value, list) else [] if value is None else [value]
    return tuple(dict.fromkeys(found))
