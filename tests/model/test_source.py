"""MODEL as the user wrote it: the embedded model, a folder, or a hub id in a fabricated cache, offline."""

from pathlib import Path

import pytest

from isotherm.core.errors import CheckpointError
from isotherm.model.source import EMBEDDED, locate

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_nothing_is_the_embedded_model() -> None:
    assert locate("") == EMBEDDED
    assert (EMBEDDED / "config.json").is_file() and (EMBEDDED / "model.safetensors").is_file()


def test_a_folder_is_itself(tmp_path: Path) -> None:
    assert locate(str(tmp_path)) == tmp_path


def test_a_folder_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="revision"):
        locate(str(tmp_path), "main")


def test_a_path_that_is_not_there_is_named() -> None:
    with pytest.raises(CheckpointError, match="/no/such/folder: no such folder"):
        locate("/no/such/folder")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache with one snapshot of owner/name, branch main."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repo = tmp_path / "models--owner--name"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(COMMIT)
    snapshot = repo / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    return snapshot


def test_a_hub_id_is_found_in_the_cache_without_a_network(hub: Path) -> None:
    assert locate("owner/name") == hub
    assert locate("owner/name", "main") == hub
    assert locate("owner/name", COMMIT) == hub


def test_a_hub_id_that_is_not_cached_is_an_error_offline(hub: Path) -> None:
    with pytest.raises(CheckpointError, match="owner/other"):
        locate("owner/other")
