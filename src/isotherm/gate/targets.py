"""Where a server is, from a URL or a command line."""

import shlex

from isotherm.core.errors import ConfigError
from isotherm.gate.arms import PORT, Launch, Target, Url


def target(name: str, url: str, command: str) -> Target:
    """Where a server is: `url` alone is up already; a `command` is started, and answers at `url` or at the port it states.

    Raises ConfigError naming the option.
    """
    if url and not url.startswith(("http://", "https://")):
        raise ConfigError(name, f"expected a URL such as http://127.0.0.1:8000, got {url!r}")
    if not command:
        if not url:
            raise ConfigError(name, f"say where its server is: --{name} URL or --{name}-cmd COMMAND")
        return Url(url)
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"{name}_cmd", f"cannot be split into words: {error}") from error
    if not words:
        raise ConfigError(f"{name}_cmd", "there is no command in it")
    if url:
        return Launch(words, url)
    if PORT in command:
        return Launch(words)
    return Launch(words, f"http://127.0.0.1:{_stated_port(name, words)}")


def _stated_port(name: str, words: tuple[str, ...]) -> int:
    for flag, value in zip(words, (*words[1:], ""), strict=True):
        head, equals, tail = flag.partition("=")
        if head == "--port" and (tail if equals else value).isdecimal():
            return int(tail if equals else value)
    raise ConfigError(
        f"{name}_cmd",
        f"where does it answer? Write --port {PORT} in it, which becomes a free port, or add --{name} URL",
    )
