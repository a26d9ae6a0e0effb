"""MODEL as the user wrote it -> a local folder: the embedded model, a folder, or a hub id found in the cache or fetched."""

from pathlib import Path

from isotherm.core.errors import CheckpointError

EMBEDDED = Path(__file__).parent / "embedded"
"""The model that ships inside the package: a Hugging Face folder."""

FILES = ("*.safetensors", "*.json", "*.jinja", "*.txt")
"""What is fetched from a hub: weights and text. No code."""


def locate(model: str, revision: str | None = None) -> Path:
    """The folder that holds `model`. Raises CheckpointError saying what was looked for."""
    if not model:
        return EMBEDDED
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise CheckpointError(f"revision: {model} is a local folder, which has no revisions")
        return folder
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise CheckpointError(f"{model}: no such folder, and not a hub id (owner/name)")
    return _from_hub(model, revision)


def _from_hub(model: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        try:
            return Path(snapshot_download(model, revision=revision, allow_patterns=list(FILES), local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(model, revision=revision, allow_patterns=list(FILES)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise CheckpointError(f"{model}: not a folder, not in the hub's cache, and not fetched: {error}") from error
