"""Where an arm's server is: started for it, or up already."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isotherm.gate.arm_rules import log_name
from isotherm.gate.arms import PORT, Arm, Launch, Url
from isotherm.gate.config import GateConfig
from isotherm.gate.process import free_port, running_server


@contextmanager
def serving(config: GateConfig, arm: Arm, logs: Path) -> Iterator[str]:
    """The base URL of the arm's server, which is ended afterwards if it was started here. Raises StartError."""
    if isinstance(arm.target, Url):
        yield arm.target.base_url
        return
    log = logs / log_name(arm)
    port = free_port()
    if arm.target is None:
        with running_server(config.command(arm, port), port, log, config.start_timeout_s) as url:
            yield url
        return
    command, url = _placed(arm.target, port)
    with running_server(command, port, log, config.start_timeout_s, url, dict(arm.target.env)) as base_url:
        yield base_url


def _placed(target: Launch, port: int) -> tuple[list[str], str]:
    """The words of the command and the URL, with `{port}` filled in."""
    return [word.replace(PORT, str(port)) for word in target.command], target.url.replace(PORT, str(port))
