"""What the scheduler counts."""

from collections import Counter

from isotherm.cache import Hit


class Counters:
    """Ever-growing, one owner: the scheduler. Fields are those of EngineStats and HostStats."""

    def __init__(self) -> None:
        self.cache_queries = 0
        self.cache_hits = 0
        self.matched = 0
        self.restored = 0
        self.host_hits = 0
        self.host_hit_tokens = 0
        self.declined: Counter[str] = Counter()
        self.preemptions = 0
        self.prompt_tokens = 0
        self.generation_tokens = 0
        self.passes = 0
        self.skipped_snapshots = 0
        self.drafts = 0
        self.drafted_tokens = 0
        self.accepted: list[int] = []

    def drafted(self, guesses: int, accepted: int) -> None:
        """A segment checked so many guesses, of which the first `accepted` were right."""
        self.drafts += 1
        self.drafted_tokens += guesses
        self.accepted += [0] * (guesses - len(self.accepted))
        for position in range(accepted):
            self.accepted[position] += 1

    def admitted(self, prompt_tokens: int, hit: Hit) -> None:
        """A request was admitted for the first time."""
        self.prompt_tokens += prompt_tokens
        if hit.reason not in ("disabled", "opted_out", "prompt_logprobs"):
            self.cache_queries += prompt_tokens
        self.cache_hits += hit.tokens
        self.matched += hit.matched > 0
        if hit.host is not None:
            self.host_hits += 1
            self.host_hit_tokens += hit.tokens - hit.place.tokens
        if hit.reason is None:
            self.restored += 1
        else:
            self.declined[hit.reason] += 1
