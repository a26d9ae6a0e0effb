"""What a server of ours says about itself at /metrics."""

from contextlib import suppress

import httpx

from isotherm.bench.client import BenchError

SERVER_MEMORY, ENGINE_MEMORY = "process_resident_memory_bytes", "isotherm:engine_resident_memory_bytes"
RUNNING, WAITING = "isotherm:num_requests_running", "isotherm:num_requests_waiting"
OPEN_FILES = "process_open_fds"
NEEDED = (SERVER_MEMORY, ENGINE_MEMORY, RUNNING, WAITING, OPEN_FILES)


async def read_gauges(http: httpx.AsyncClient) -> dict[str, float]:
    """The gauges named above. Raises BenchError for a server that does not have them."""
    try:
        text = (await http.get("/metrics")).text
    except httpx.HTTPError as error:
        raise BenchError(f"/metrics: {type(error).__name__}: {error}") from error
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.replace("{", " ").partition(" ")
        if name in NEEDED:
            with suppress(ValueError):
                found[name] = float(value.split()[-1])
    if not all(found.get(name) for name in (SERVER_MEMORY, ENGINE_MEMORY)):
        raise BenchError(
            "/metrics does not tell how much memory the server holds: this needs a server of ours, on Linux"
        )
    return found
