"""docs/cache-policy.md from token ids alone: what `cached_tokens` must be, one request at a time, memory being enough."""

from isotherm.core.request import Request

INTERVAL = 256


def floor64(position: int) -> int:
    return position // 64 * 64


class Policy:
    """Prefixes that the cache holds, and at which of them it keeps a snapshot."""

    def __init__(self, interval: int = INTERVAL):
        self.interval = interval
        self.held: set[tuple[str, tuple[int, ...]]] = set()
        self.snapshots: set[tuple[str, tuple[int, ...]]] = set()

    def expect(self, request: Request) -> tuple[int, int]:
        """(cached_tokens, matched_tokens)."""
        limit = floor64(len(request.prompt) - 1)
        if request.skip_reading_prefix_cache or request.sampling.prompt_logprobs is not None:
            return 0, 0
        hit = matched = 0
        for position in range(64, limit + 1, 64):
            key = (request.cache_salt, request.prompt[:position])
            if key not in self.held:
                break
            matched = position
            hit = position if key in self.snapshots else hit
        return hit, matched

    def record(self, request: Request, generated: tuple[int, ...]) -> None:
        """The request has finished: what it published. Call `expect` before."""
        hit, matched = self.expect(request)
        n = len(request.prompt)
        points = {floor64(n), floor64(n - 1), floor64(min(request.hint, n)), matched if matched > hit else 0}
        points.update(range(self.interval, n + 1, self.interval))
        tokens = (request.prompt + generated)[: n + len(generated) - 1]
        points = {point for point in points if point > hit} | {floor64(len(tokens))}
        for position in range(64, len(tokens) + 1, 64):
            self.held.add((request.cache_salt, tokens[:position]))
        self.snapshots.update((request.cache_salt, tokens[:point]) for point in points if point >= 64)
