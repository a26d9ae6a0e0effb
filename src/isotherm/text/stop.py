"""Stop strings: what may be shown before it is known whether one of them has begun."""


class StopHold:
    """Holds text back while it could be part of a stop string; owned by one sequence.

    The engine decides where a sequence stops, at the token that completes a stop string. So a stop string that ends in the
    latest push may be the end, and is held; one that was already complete before the latest push did not stop the sequence
    (`min_tokens`) and is text like any other. Push all text of the last tokens, the detokenizer's flush included, at once.
    """

    def __init__(self, stop: tuple[str, ...], include: bool):
        self._stop = stop
        self._include = include
        self._held = ""
        self._old = 0

    def push(self, text: str) -> str:
        """Adds text; returns what can be shown now."""
        if not text:
            return ""
        self._old = len(self._held)
        self._held += text
        cut = min(map(self._hold_from, self._stop), default=len(self._held))
        shown, self._held = self._held[:cut], self._held[cut:]
        self._old = max(0, self._old - cut)
        return shown

    def finish(self, matched: str | None) -> str:
        """The rest, once the sequence has ended: up to the stop string that ended it, or all of it when none did."""
        rest, self._held = self._held, ""
        if matched is None:
            return rest
        at = rest.find(matched, max(0, self._old - len(matched) + 1))
        if at < 0:  # matched on bytes of a special token that is left out of the text
            return rest
        return rest[: at + len(matched)] if self._include else rest[:at]

    def _hold_from(self, stop: str) -> int:
        """Where `stop` begins that ends in the latest push, or could be completed by the next one."""
        whole = self._held.find(stop, max(0, self._old - len(stop) + 1))
        if whole >= 0:
            return whole
        longest = min(len(stop) - 1, len(self._held))
        return len(self._held) - next((n for n in range(longest, 0, -1) if self._held.endswith(stop[:n])), 0)
