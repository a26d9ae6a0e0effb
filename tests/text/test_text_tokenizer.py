"""The tokenizer: bytes, special tokens, ends of sequence, and agreement with transformers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_builders import ADDED, SPECIAL, backend_json, write_folder
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers

from isotherm.core.errors import CheckpointError, RequestError
from isotherm.text.byte_level import token_bytes
from isotherm.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer.load(write_folder(tmp_path_factory.mktemp("model")))


@given(text=st.lists(st.sampled_from([*"ab <|>é你🙂\n", "\u0301", *SPECIAL, *ADDED])).map("".join) | st.text())
def test_it_encodes_and_decodes_as_transformers_does(text: str, tokenizer: Tokenizer, oracle: object) -> None:
    expected = oracle(text, add_special_tokens=True).input_ids  # type: ignore[operator]
    assert list(tokenizer.encode(text)) == expected
    for skip in (False, True):
        decoded = oracle.decode(expected, skip_special_tokens=skip)  # type: ignore[attr-defined]
        assert tokenizer.decode(expected, skip_special=skip) == decoded


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> object:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast.from_pretrained(write_folder(tmp_path_factory.mktemp("oracle")))


def test_the_bytes_of_its_tokens_add_up_to_the_text(tokenizer: Tokenizer) -> None:
    text = "Grüße 你好 🙂👍🏽\x00\x7f<|im_start|><think>"
    table = tokenizer.vocabulary.token_bytes
    assert b"".join(table[id] for id in tokenizer.encode(text)) == text.encode()
    assert set(range(256)) <= {entry[0] for entry in table if len(entry) == 1}


def test_a_token_with_a_character_that_stands_for_no_byte_is_its_own_text() -> None:
    assert token_bytes("Ġaé") == b" a\xe9"
    for text in ("a b", "\xad", "\x7f", "｜end｜"):
        assert token_bytes(text) == text.encode()


def test_only_special_tokens_are_special(tokenizer: Tokenizer) -> None:
    table = tokenizer.vocabulary.token_bytes
    assert {table[id].decode() for id in tokenizer.vocabulary.special_ids} == set(SPECIAL)


@given(text=st.lists(st.sampled_from([*SPECIAL, *ADDED, "a", " "])).map("".join))
def test_plain_encoding_knows_no_added_token(text: str, tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(text, special=False)
    assert not set(ids) & set(tokenizer.added)
    assert tokenizer.decode(ids, skip_special=True) == text


def test_another_spelling_of_an_added_token_is_not_that_token(tmp_path: Path) -> None:
    written = json.loads(backend_json())
    last = max(entry["id"] for entry in written["added_tokens"]) + 1
    token = {"id": last, "content": "<KEY>", "special": False, "normalized": True}
    written["added_tokens"].append({"single_word": False, "lstrip": False, "rstrip": False, **token})
    write_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps(written))
    loaded = Tokenizer.load(tmp_path)
    kelvin = "<\u212aEY>"  # NFC turns the Kelvin sign into K
    assert loaded.encode("<KEY>") == (last,)
    assert last not in loaded.encode(kelvin)
    assert loaded.decode(loaded.encode(kelvin)) == "<KEY>"


def test_ends_of_sequence_are_the_union_of_every_place_that_names_one(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path,
        generation_config={"eos_token_id": [7, 5]},
        config={"eos_token_id": 5, "text_config": {"eos_token_id": 9}},
    )
    loaded = Tokenizer.load(folder)
    assert loaded.vocabulary.eos_ids == (7, 5, 9, loaded.encode("<|im_end|>")[0])


def test_a_folder_without_any_end_of_sequence_has_none(tmp_path: Path) -> None:
    assert Tokenizer.load(write_folder(tmp_path, tokenizer_config={"eos_token": None})).vocabulary.eos_ids == ()


def test_the_vocabulary_covers_rows_of_the_embedding_without_a_token(tmp_path: Path) -> None:
    loaded = Tokenizer.load(write_folder(tmp_path, config={"text_config": {"vocab_size": 2000}}))
    assert loaded.vocab_size == 2000
    assert loaded.vocabulary.token_bytes[1999] == b""
    assert loaded.decode([1999, *loaded.encode("hi"), 5000]) == "hi"


def test_a_token_named_in_the_config_becomes_special(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, tokenizer_config={"extra_special_tokens": ["<think>", "<not in it>"]})
    loaded = Tokenizer.load(folder)
    (think,) = loaded.encode("<think>")
    assert think in loaded.vocabulary.special_ids
    assert len(loaded.encode("<not in it>")) > 1


def test_a_token_that_only_the_config_declares_is_added(tmp_path: Path) -> None:
    top = max(entry["id"] for entry in json.loads(backend_json())["added_tokens"])
    declared = {str(top + 1): {"content": "<late>", "special": True}}
    loaded = Tokenizer.load(write_folder(tmp_path, tokenizer_config={"added_tokens_decoder": declared}))
    assert loaded.encode("<late>") == (top + 1,)
    with pytest.raises(CheckpointError, match="<late>"):
        declared = {str(top + 7): declared[str(top + 1)]}
        Tokenizer.load(write_folder(tmp_path, tokenizer_config={"added_tokens_decoder": declared}))


@pytest.mark.parametrize("part", ["model", "decoder"])
def test_a_tokenizer_that_is_not_byte_level_is_refused_by_name(part: str, tmp_path: Path) -> None:
    made = Backend(models.WordLevel({"a": 0}, unk_token="a") if part == "model" else models.BPE({"a": 0}, []))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.ByteLevel() if part == "model" else decoders.Metaspace()
    write_folder(tmp_path)
    made.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json.*" + ("WordLevel" if part == "model" else "decoder")):
        Tokenizer.load(tmp_path)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path)
    write_folder(tmp_path)
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"generation_config\.json"):
        Tokenizer.load(tmp_path)


def test_half_a_surrogate_pair_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(RequestError) as caught:
        tokenizer.encode("a\ud83d")
    assert caught.value.param == "prompt"


def test_the_room_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, isotherm.text.chat, isotherm.text.output, isotherm.text.stop, isotherm.text.detokenizer as d\n"
    code += "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
