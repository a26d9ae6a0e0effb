"""Arms from a TOML file: a table [[arm]] for each, in running order."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from isotherm.core.errors import ConfigError
from isotherm.gate.arms import Arm, Launch, Target
from isotherm.gate.targets import target

_TYPES: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "setting": str,
    "url": str,
    "cmd": str,
    "env": dict,
    "flags": list,
    "kind": str,
    "caching": bool,
    "concurrency": int,
    "repeat": int,
    "pressure": int,
    "against": str,
    "twin": str,
    "control": bool,
    "may_differ": bool,
    "must_differ_bits": bool,
    "extra_body": dict,
}
_AS_THEY_ARE = ("against", "twin", *(key for key, kind in _TYPES.items() if kind in (bool, int)))


def read_arms(path: str) -> tuple[Arm, ...]:
    """The arms of a TOML file. An arm without `url` and `cmd` is our own server, started with `flags`.

    Raises ConfigError naming the file and the arm.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError("arms", f"{path}: {error}") from error
    arms = document.get("arm")
    if document.keys() != {"arm"} or not isinstance(arms, list) or not all(isinstance(arm, dict) for arm in arms):
        raise ConfigError("arms", f"{path}: expected tables [[arm]] and nothing else")
    try:
        return tuple(_arm(arm) for arm in arms)
    except ConfigError as error:
        raise ConfigError("arms", f"{path}: {error}") from error


def _arm(record: Mapping[str, Any]) -> Arm:
    name = str(record.get("name", ""))
    for key, value in record.items():
        if key not in _TYPES:
            raise ConfigError("arms", f"{name!r}: unknown {key!r}; there are {', '.join(_TYPES)}")
        if not isinstance(value, _TYPES[key]) or (_TYPES[key] is int and isinstance(value, bool)):
            raise ConfigError("arms", f"{name!r}: {key} is {value!r}")
    if record.get("kind", "chat") not in ("chat", "rescore"):
        raise ConfigError("arms", f"{name!r}: kind must be chat or rescore")
    return Arm(
        name=name,
        setting=record.get("setting", _setting(record)),
        flags=tuple(map(str, record.get("flags", ()))),
        kind=record.get("kind", "chat"),
        target=_target(record),
        extra_body=tuple(record.get("extra_body", {}).items()),
        **{key: record[key] for key in _AS_THEY_ARE if key in record},
    )


def _target(record: Mapping[str, Any]) -> Target | None:
    url, command = record.get("url", ""), record.get("cmd", "")
    if not url and not command:
        return None
    found = target(str(record.get("name", "")), url, command)
    env = tuple((key, str(value)) for key, value in record.get("env", {}).items())
    return replace(found, env=env) if isinstance(found, Launch) else found


def _setting(record: Mapping[str, Any]) -> str:
    words = [f"caching {'on' if record.get('caching') else 'off'}"]
    words += [f"{record['concurrency']} at once"] if record.get("concurrency", 1) > 1 else []
    words += [f"{record['pressure']} fillers"] if record.get("pressure") else []
    return ", ".join(words)
