"""Where things are kept between runs."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """What can be made again: $XDG_CACHE_HOME/isotherm, by default ~/.cache/isotherm."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "isotherm"
