"""Notices a prefix cache that is never used: matches without a restore, which elsewhere went unseen for a thousand requests."""

import logging

from isotherm.core.stats import EngineStats

log = logging.getLogger("isotherm.server")

LIMIT = 20


class ReuseWatch:
    """Warns once when LIMIT requests in a row matched cached blocks and none of them skipped a token."""

    def __init__(self) -> None:
        self._restored = 0
        self._declined = 0
        self._warned = False

    def read(self, stats: EngineStats) -> None:
        """Look at the counters after a request. Requests that asked not to read the cache do not count."""
        declined = stats.declined.get("no_snapshot", 0)
        if stats.restored > self._restored:
            self._restored, self._declined, self._warned = stats.restored, declined, False
        if declined - self._declined >= LIMIT and not self._warned:
            self._warned = True
            log.warning(
                "%d requests in a row matched cached blocks and none could skip a token; declined so far: %s",
                declined - self._declined,
                ", ".join(f"{reason} {count}" for reason, count in sorted(stats.declined.items())),
            )
