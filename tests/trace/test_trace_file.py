"""Trace files: what is written is read, also after a crash; what is damaged is refused."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isotherm.core.errors import ConfigError, TraceError
from isotherm.trace.folder import claim_folder, next_number, trace_files
from isotherm.trace.format import VERSION, encode, prefix
from isotherm.trace.reader import Trace, read_trace
from isotherm.trace.record import Computed, Ended, Header, Phase, Restored
from isotherm.trace.values import values_of
from isotherm.trace.writer import TraceWriter

HEADER = Header(
    request="chatcmpl-é/..",
    prompt=(5, 6, 7),
    layers=("linear_attention", "full_attention"),
    states=("0.conv", "0.delta"),
    blocks=("1.k", "1.v"),
    build={"id": "abc"},
    choice=1,
    seed=2**63 - 1,
)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(0, 2**64, shape, np.uint64)


RESTORED = Restored(3, 128, 128, numbers(2), numbers(2, 2))
COMPUTED = Computed(
    number=3,
    phase=Phase.PREFILL,
    start=128,
    tokens=np.arange(70, dtype=np.int32),
    replay=4,
    segments=2,
    rows_in_pass=71,
    rows=numbers(3, 70),
    logit_offsets=np.array([69], np.int32),
    logits=numbers(1),
    boundaries=np.array([192], np.int32),
    states=numbers(1, 2),
    first_block=2,
    blocks=numbers(1, 2),
)


def same(one: object, other: object) -> bool:
    """Field by field, arrays by content."""
    names = type(one).__slots__
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype for a, b in pairs)


def written(folder: Path) -> Path:
    path = folder / "000000-r.trace"
    writer = TraceWriter(path, HEADER)
    writer.write(RESTORED, COMPUTED)
    writer.finish(Ended("stop", (9, 8)))
    return path


def test_what_is_written_is_read(tmp_path) -> None:
    trace = read_trace(written(tmp_path))
    assert trace.header == HEADER
    assert [type(record) for record in trace.records] == [Restored, Computed]
    assert all(same(a, b) for a, b in zip(trace.records, (RESTORED, COMPUTED), strict=True))
    assert trace.ended == Ended("stop", (9, 8))
    assert trace.tokens.tolist() == [5, 6, 7, 9, 8]


def test_a_file_has_its_name_only_once_it_is_finished(tmp_path) -> None:
    path = tmp_path / "000000-r.trace"
    writer = TraceWriter(path, HEADER)
    writer.write(RESTORED)
    assert [item.name for item in trace_files(tmp_path)] == ["000000-r.trace.part"]
    assert read_trace(tmp_path / "000000-r.trace.part").ended is None
    writer.finish(Ended("stop", ()))
    assert trace_files(tmp_path) == (path,)


def test_a_file_cut_off_anywhere_is_read_up_to_its_last_whole_record(tmp_path) -> None:
    data = written(tmp_path).read_bytes()
    cut = tmp_path / "cut.trace"
    edges = np.cumsum([len(prefix()) + len(encode(HEADER)), len(encode(RESTORED)), len(encode(COMPUTED))]).tolist()
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        if length < edges[0]:
            with pytest.raises(TraceError, match=r"cut\.trace"):
                read_trace(cut)
            continue
        trace = read_trace(cut)
        assert len(trace.records) == sum(edge <= length for edge in edges[1:])
        assert trace.ended is None


def test_a_changed_byte_is_found(tmp_path) -> None:
    path = written(tmp_path)
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(TraceError, match="checksum"):
        read_trace(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a trace file"),
        (b"PK\x03\x04 something else", "not a trace file"),
        (b"ISOTRACE" + struct.pack("<I", VERSION + 1), "version"),
        (prefix(), "no header"),
        (prefix() + encode(Ended("stop", ())), "no header"),
        (prefix() + encode(HEADER).replace(b"multilinear64-1", b"multilinear64-2"), "checksum"),
    ],
    ids=["empty", "other file", "other version", "nothing", "no header", "changed header"],
)
def test_what_is_not_a_trace_is_refused(tmp_path, data: bytes, says: str) -> None:
    path = tmp_path / "x.trace"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=says):
        read_trace(path)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(TraceError, match=r"nowhere\.trace"):
        read_trace(tmp_path / "nowhere.trace")


def test_another_hash_cannot_be_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("isotherm.trace.format.HASH", "other")
    path = written(tmp_path)
    monkeypatch.undo()
    with pytest.raises(TraceError, match="other"):
        read_trace(path)


def test_a_writer_never_overwrites(tmp_path) -> None:
    path = tmp_path / "x.trace"
    TraceWriter(path, HEADER)
    with pytest.raises(FileExistsError):
        TraceWriter(path, replace(HEADER, request="other"))


def test_a_folder_with_traces_is_not_claimed_for_another_run(tmp_path) -> None:
    claim_folder(tmp_path / "new" / "one")
    written(tmp_path)
    with pytest.raises(ConfigError, match=r"trace: .* earlier run"):
        claim_folder(tmp_path)
    with pytest.raises(ConfigError, match="trace"):
        claim_folder(tmp_path / "000000-r.trace")


def test_files_are_numbered_on_from_those_that_are_there(tmp_path) -> None:
    assert next_number(tmp_path) == 0
    for name in ("000007-x.trace", "000012-y.trace.part", "notes.txt", "other.trace"):
        (tmp_path / name).touch()
    assert next_number(tmp_path) == 13


def test_rejected_drafts_and_what_follows_them_are_left_out() -> None:
    """A verify of five tokens at 60..65, of which the fourth is not what came to be; then a decode of the right one at 63."""
    prompt = tuple(range(61))
    verify = replace(
        COMPUTED,
        phase=Phase.VERIFY,
        start=60,
        tokens=np.array([60, 70, 71, 99, 73], np.int32),
        replay=0,
        rows=numbers(3, 5),
        logit_offsets=np.arange(5, dtype=np.int32),
        logits=numbers(5),
        boundaries=np.array([64], np.int32),
        first_block=0,
    )
    decode = replace(
        verify,
        phase=Phase.DECODE,
        start=63,
        tokens=np.array([72], np.int32),
        rows=numbers(3, 1) + np.uint64(1),
        logit_offsets=np.zeros(1, np.int32),
        logits=numbers(1),
    )
    header = replace(HEADER, prompt=prompt)
    values = values_of(Trace("x", header, (verify,), Ended("stop", (70, 71, 72, 73))))
    assert np.flatnonzero(values.known[0]).tolist() == np.flatnonzero(values.known[-1]).tolist() == [60, 61, 62]
    assert not values.states and not values.blocks
    values = values_of(Trace("x", header, (verify, decode), Ended("stop", (70, 71, 72, 73))))
    assert np.flatnonzero(values.known[0]).tolist() == [60, 61, 62, 63]
    assert values.rows[:-1, 63].tolist() == decode.rows[:, 0].tolist()
    assert set(values.states) == {64} and set(values.blocks) == {0} and not values.repeated
    unfinished = values_of(Trace("x", header, (verify, decode), None))
    assert unfinished.trace.tokens[60:64].tolist() == [60, 70, 71, 72]
