"""Reach: how many tokens of each request the cache must have skipped, by the written policy (docs/cache-policy.md).

A small simulator over token ids. It shares no code with the cache, so that neither can hide the other's mistake, and it
assumes that nothing was evicted and no sequence preempted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy's parameters, from the server's /version. block: tokens. interval: 0 for no periodic snapshots."""

    block: int = 64
    interval: int = 2048

    def floor(self, tokens: int) -> int:
        """The last block boundary at or before `tokens`."""
        return tokens // self.block * self.block

    def deepest(self, prompt_tokens: int) -> int:
        """The deepest hit: one token at least is always computed."""
        return self.floor(prompt_tokens - 1)


@dataclass(frozen=True, slots=True)
class Served:
    """One request that a server has answered. hint: tokens before the first user message.

    generated: the tokens that followed the prompt. sampled: how many were sampled, an unreported end token included.
    """

    prompt: tuple[int, ...]
    hint: int = 0
    generated: tuple[int, ...] = ()
    sampled: int = 0

    @property
    def computed(self) -> tuple[int, ...]:
        """The tokens that went through a pass: the last sampled one did not."""
        passed = max(self.sampled, len(self.generated), 1) - 1
        return self.prompt + self.generated[:passed]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a request finds. hit: tokens skipped. matched: tokens whose blocks are there, capped at the deepest hit."""

    hit: int
    matched: int

    @property
    def junction(self) -> int:
        """Where the prompt was seen to part from another, when that is deeper than the hit; else 0."""
        return self.matched if self.matched > self.hit else 0


@dataclass(slots=True)
class _Node:
    children: dict[tuple[int, ...], "_Node"] = field(default_factory=dict)
    snapshot: bool = False


class PublishedTree:
    """Published blocks and snapshots, a tree over blocks of tokens. Only grows."""

    def __init__(self, policy: Policy):
        self._policy = policy
        self._root = _Node()

    def lookup(self, prompt: tuple[int, ...]) -> Lookup:
        """What `prompt` would find now."""
        deepest, node, hit, depth = self._policy.deepest(len(prompt)), self._root, 0, 0
        while depth < deepest:
            child = node.children.get(prompt[depth : depth + self._policy.block])
            if child is None:
                break
            node, depth = child, depth + self._policy.block
            if node.snapshot:
                hit = depth
        return Lookup(hit, depth)

    def publish(self, served: Served, found: Lookup) -> None:
        """Add what a finished request leaves behind, given what it found when it was looked up."""
        tokens, end = served.computed, self._policy.floor(len(served.computed))
        points = set(_snapshot_points(self._policy, len(served.prompt), served.hint, found)) | {end}
        node = self._root
        for depth in range(self._policy.block, end + 1, self._policy.block):
            node = node.children.setdefault(tokens[depth - self._policy.block : depth], _Node())
            if depth in points:
                node.snapshot = True


def _snapshot_points(policy: Policy, prompt_tokens: int, hint: int, found: Lookup) -> Iterable[int]:
    end, deepest = policy.floor(prompt_tokens), policy.deepest(prompt_tokens)
    points = [end, deepest, policy.floor(min(hint, prompt_tokens)), found.junction]
    if policy.interval:
        points += range(policy.interval, prompt_tokens + 1, policy.interval)
    return (point for point in points if point > found.hit)


def expected_hits(policy: Policy, waves: Sequence[Sequence[Served]]) -> list[int]:
    """The hit of every request, in order. The requests of a wave are looked up before any of them is published."""
    tree, hits = PublishedTree(policy), []
    for wave in waves:
        found = [tree.lookup(served.prompt) for served in wave]
        for served, lookup in zip(wave, found, strict=True):
            tree.publish(served, lookup)
        hits += [lookup.hit for lookup in found]
    return hits


def plan_waves(policy: Policy, requests: Sequence[Served], size: int) -> list[int]:
    """Cut `requests`, keeping their order, into waves of at most `size`; returns the waves' lengths.

    Requests of one wave run at once, so any of them may or may not be published, in part or whole, before another is looked
    up. A wave therefore holds only requests that find the same whichever mates came first: then each hit, and all that the
    wave leaves behind, is one number and not a range.
    """
    tree, lengths, start = PublishedTree(policy), [], 0
    while start < len(requests):
        wave: list[tuple[Served, Lookup, PublishedTree]] = []
        for served in requests[start : start + size]:
            lookup = tree.lookup(served.prompt)
            own = PublishedTree(policy)
            own.publish(served, lookup)
            if not all(_independent(served, lookup, own, mate) for mate in wave):
                break
            wave.append((served, lookup, own))
        for served, lookup, _ in wave:
            tree.publish(served, lookup)
        lengths.append(len(wave))
        start += len(wave)
    return lengths


def _independent(served: Served, found: Lookup, own: PublishedTree, mate: tuple[Served, Lookup, PublishedTree]) -> bool:
    """Neither finds more when the other is published first. Finding is monotone, so the extremes stand for every order."""
    other, other_found, other_tree = mate
    return _adds_nothing(other_tree.lookup(served.prompt), found) and _adds_nothing(
        own.lookup(other.prompt), other_found
    )


def _adds_nothing(extra: Lookup, found: Lookup) -> bool:
    return extra.hit <= found.hit and extra.matched <= found.matched
