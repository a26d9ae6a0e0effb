"""The build's fingerprint: what decides bits is in it, and changes its id."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from isotherm.engine import fingerprint
from isotherm.engine.fingerprint import build_fingerprint, processor_vendor


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
