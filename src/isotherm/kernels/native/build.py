"""Compiles every C file of the operations into one shared library, once for each (sources, flags, compiler)."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from isotherm.core.errors import ConfigError
from isotherm.core.folders import cache_folder
from isotherm.kernels.native.isa import FLAGS, Isa

_ROOT = Path(__file__).parents[1]
_COMMON = (
    "-std=gnu11",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-pthread",
    "-fPIC",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
)
_HELP = "install gcc (for example `apt install gcc`), or choose the torch kernels, which need no compiler"


@dataclass(frozen=True, slots=True)
class Build:
    """A compiled library and what fixes its bits."""

    path: Path
    compiler: str
    flags: str
    sources: str
    isa: Isa
    dtype: torch.dtype


def find_compiler() -> str:
    """The C compiler: $CC, cc, gcc or clang. Raises ConfigError when there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise ConfigError("kernels", f"the C kernels need a C compiler and none of $CC, cc, gcc, clang was found: {_HELP}")


def source_hash() -> str:
    """Hash of every C source and header, by relative name and content."""
    digest = hashlib.sha256()
    for path in _sources("*.[ch]"):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def build(isa: Isa, dtype: torch.dtype) -> Build:
    """The library for `isa` and `dtype`, compiled now unless the cache has it. Two processes may do so at once.

    Raises ConfigError, with the compiler's own words, when there is no compiler or it fails.
    """
    compiler = find_compiler()
    flags = (*_COMMON, *FLAGS[isa], f"-DISO_BF16={int(dtype == torch.bfloat16)}")
    version = _version(compiler)
    sources = source_hash()
    key = hashlib.sha256("\0".join((sources, *flags, version)).encode()).hexdigest()[:24]
    path = cache_folder() / "kernels" / key / "libisotherm.so"
    if not path.exists():
        _compile(compiler, flags, path)
    return Build(path, version, " ".join(flags), sources, isa, dtype)


def _sources(pattern: str) -> list[Path]:
    return sorted(_ROOT.glob(f"*/{pattern}"))


@cache
def _version(compiler: str) -> str:
    text = _run([compiler, "--version"]).splitlines()[0]
    return f"{text} {_run([compiler, '-dumpmachine']).strip()}"


def _compile(compiler: str, flags: tuple[str, ...], path: Path) -> None:
    """Compile into a private folder beside `path`, then rename: whoever comes second replaces equal bytes with equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        sources = sorted(_sources("*.c"), key=lambda source: -source.stat().st_size)
        objects = [Path(scratch, f"{source.parent.name}.{source.stem}.o") for source in sources]
        include = f"-I{_ROOT / 'native'}"
        commands = [
            [compiler, *flags, include, "-c", str(source), "-o", str(target)]
            for source, target in zip(sources, objects, strict=True)
        ]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(_run, commands))
        library = Path(scratch, path.name)
        _run([compiler, *flags, "-shared", *map(str, objects), "-lm", "-o", str(library)])
        library.replace(path)


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise ConfigError("kernels", f"the C compiler {command[0]} could not be run ({error}): {_HELP}") from error
    except subprocess.CalledProcessError as error:
        words = error.stderr.strip() or f"exit code {error.returncode}"
        raise ConfigError("kernels", f"the C compiler {command[0]} failed: {_HELP}\n{words}") from error
