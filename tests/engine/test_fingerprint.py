"""The build's fingerprint: what decides bits is in it, and changes its id."""

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from isotherm.engine import file_digests, fingerprint
from isotherm.engine.file_digests import FileDigests
from isotherm.engine.fingerprint import build_fingerprint, processor_vendor, weights_hash


@dataclass
class Named:
    """Kernels that have a fingerprint and nothing else."""

    parts: dict[str, str] = field(default_factory=lambda: {"kernels": "c", "isa": "avx2"})

    def fingerprint(self) -> dict[str, str]:
        return self.parts


@pytest.mark.parametrize(
    ("cpuinfo", "vendor"),
    [
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n", "AuthenticAMD"),
        ("processor\t: 0\nvendor_id\t: GenuineIntel\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\n", "GenuineIntel"),
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "0x41"),
    ],
    ids=["amd", "intel", "arm"],
)
def test_the_processor_names_its_vendor(tmp_path: Path, cpuinfo: str, vendor: str) -> None:
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    assert processor_vendor(tmp_path / "cpuinfo") == vendor


@pytest.mark.parametrize("text", [None, "processor\t: 0\n", "vendor_id\t:\n"], ids=["no file", "not said", "empty"])
def test_where_it_does_not_the_platform_is_asked(tmp_path: Path, monkeypatch, text: str | None) -> None:
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert processor_vendor(tmp_path / "cpuinfo") == "riscv64"


def test_another_vendor_is_another_build(monkeypatch) -> None:
    ids = set()
    for vendor in ("AuthenticAMD", "GenuineIntel"):
        monkeypatch.setattr(fingerprint, "processor_vendor", lambda vendor=vendor: vendor)
        build = build_fingerprint(Named(), "weights")
        assert build["vendor"] == vendor
        ids.add(build["id"])
    assert len(ids) == 2


def test_equal_builds_have_equal_ids_and_every_part_counts() -> None:
    build = build_fingerprint(Named(), "weights")
    assert build_fingerprint(Named(), "weights") == build
    assert build_fingerprint(Named(), "others")["id"] != build["id"]
    assert build_fingerprint(Named({"kernels": "c", "isa": "avx512"}), "weights")["id"] != build["id"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint of two files, long enough ago to be remembered."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    for name in ("a", "b"):
        (folder / f"{name}.safetensors").write_bytes(name.encode() * 10_000)
    time.sleep(0.05)
    return folder


@pytest.fixture
def digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileDigests:
    monkeypatch.setattr(file_digests, "SETTLED", 0.02)
    return FileDigests(tmp_path / "cache" / "digests.json", least=1000)


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read: list[str] = []
    true = hashlib.file_digest

    def counted(file, name):
        read.append(Path(file.name).name)
        return true(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    return read


def by_definition(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in ("config.json", "a.safetensors", "b.safetensors"):
        digest.update(name.encode() + hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()[:16]


def test_large_files_are_read_once_and_the_hash_is_that_of_all_bytes(folder, digests, monkeypatch) -> None:
    read = count_reads(monkeypatch)
    assert weights_hash(folder, digests) == weights_hash(folder, digests) == by_definition(folder)
    assert sorted(read) == ["a.safetensors", "b.safetensors", "config.json", "config.json"]


@pytest.mark.parametrize("place", [0, 5_000, 9_999])
def test_any_byte_that_changes_is_seen_though_size_and_time_are_put_back(folder, digests, place: int) -> None:
    before, file = weights_hash(folder, digests), folder / "b.safetensors"
    times = file.stat()
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(b"x")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_mtime_ns == times.st_mtime_ns
    assert weights_hash(folder, digests) == by_definition(folder) != before


def test_another_file_in_its_place_is_seen(folder, digests) -> None:
    weights_hash(folder, digests)
    (folder / "a.safetensors").replace(folder / "b.safetensors")
    (folder / "a.safetensors").write_bytes(b"c" * 10_000)
    assert weights_hash(folder, digests) == by_definition(folder)


def test_a_file_that_has_just_changed_is_not_remembered(folder, tmp_path, monkeypatch) -> None:
    """Its next state could bear the same times."""
    read = count_reads(monkeypatch)
    digests = FileDigests(tmp_path / "digests.json", least=0)
    assert weights_hash(folder, digests) == weights_hash(folder, digests)
    assert len(read) == 6 and not digests.where.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": [[1, 2, 3, 4, 5], "00"]}', '{"a": [[1], "zz"]}', None])
def test_what_is_remembered_wrongly_or_cannot_be_kept_is_made_again(folder, digests, text: str | None) -> None:
    if text is None:
        digests.where.mkdir(parents=True)
    else:
        digests.where.parent.mkdir(parents=True)
        digests.where.write_text(text)
    assert weights_hash(folder, digests) == weights_hash(folder, digests) == by_definition(folder)


def test_files_that_are_gone_are_forgotten(folder, digests) -> None:
    weights_hash(folder, digests)
    (folder / "a.safetensors").unlink()
    (folder / "c.safetensors").write_bytes(b"c" * 10_000)
    time.sleep(0.05)
    weights_hash(folder, digests)
    assert {Path(path).name for path in json.loads(digests.where.read_text())} == {"b.safetensors", "c.safetensors"}
