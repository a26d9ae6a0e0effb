"""The cache's policy in dictionaries keyed by whole prefixes: slow, flat, and written from docs/cache-policy.md."""

from collections import Counter

Key = tuple[str, str]
"""(salt, prefix in symbols): each symbol stands for one block."""


class DictCache:
    """What PrefixCache should hold after the same calls. Ids are those that the real cache handed out."""

    def __init__(self, blocks: int, slots: int):
        self.capacity = {"block": blocks, "slot": slots}
        self.block: dict[Key, int] = {}
        self.slot: dict[Key, int] = {}
        self.used: dict[Key, tuple[int, int]] = {}
        self.held_blocks: Counter[int] = Counter()
        self.held_slots: Counter[int] = Counter()
        self.clock = 0
        self.uses = 0

    def lookup(self, salt: str, prompt: str, limit: int) -> tuple[int, int]:
        """(hit, matched) in blocks."""
        held = [depth for depth in range(1, limit + 1) if (salt, prompt[:depth]) in self.block]
        hits = [depth for depth in held if (salt, prompt[:depth]) in self.slot]
        return max(hits, default=0), max(held, default=0)

    def touch(self, key: Key) -> None:
        self.uses += 1
        self.used[key] = (self.clock, self.uses)

    def take_slot(self) -> bool:
        """Evict as a wanted slot would; whether there is one."""
        if self._free("slot") == 0:
            self._evict([key for key, slot in self.slot.items() if not self.held_slots[slot]])
        return self._free("slot") > 0

    def take_blocks(self, count: int) -> bool:
        idle = sum(1 for block in self.block.values() if not self.held_blocks[block])
        if self._free("block") + idle < count:
            return False
        while self._free("block") < count:
            self._evict([key for key in self.slot if not self._below(key) and not self.held_blocks[self.block[key]]])
        return True

    def publish(self, salt: str, prompt: str, first: int, blocks: list[int], snapshots: dict[int, int]) -> list[int]:
        """Blocks after `first`, and slots by depth. The blocks that the caller holds afterwards."""
        kept = []
        for depth, block in enumerate(blocks, first + 1):
            mine = self.block.setdefault((salt, prompt[:depth]), block)
            if mine != block:
                self.held_blocks[mine] += 1
                self.held_blocks[block] -= 1
            kept.append(mine)
        for depth, slot in sorted(snapshots.items()):
            key = (salt, prompt[:depth])
            mine = self.slot.setdefault(key, slot)
            if mine != slot:
                self.held_slots[mine] += 1
                self.held_slots[slot] -= 1
            snapshots[depth] = mine
            self.touch(key)
        return kept

    def withdraw(self, salt: str, prompt: str) -> None:
        _, depth = self.lookup(salt, prompt, len(prompt))
        while depth:
            key = (salt, prompt[:depth])
            if self._below(key) or self.held_blocks[self.block[key]]:
                return
            self.slot.pop(key, None)
            del self.block[key]
            depth -= 1

    def prune(self) -> None:
        """Blocks that nobody holds, with no snapshot at or below, do not stay."""
        for key in sorted(self.block, key=lambda key: -len(key[1])):
            if not self._below(key) and key not in self.slot and not self.held_blocks[self.block[key]]:
                del self.block[key]

    def _free(self, kind: str) -> int:
        kept = self.block if kind == "block" else self.slot
        held = self.held_blocks if kind == "block" else self.held_slots
        return self.capacity[kind] - len({*kept.values(), *(+held)})

    def _below(self, key: Key) -> bool:
        return any(
            other[0] == key[0] and len(other[1]) > len(key[1]) and other[1].startswith(key[1]) for other in self.block
        )

    def _priority(self, key: Key) -> tuple[int, int]:
        salt, prefix = key
        above = max((depth for depth in range(1, len(prefix)) if (salt, prefix[:depth]) in self.slot), default=0)
        base, use = self.used[key]
        followers = sum(1 for other in self.block if other[0] == salt and other[1][:-1] == prefix)
        return base + 64 * (len(prefix) - above) // (4 if followers == 1 else 1), use

    def _evict(self, candidates: list[Key]) -> None:
        if candidates:
            victim = min(candidates, key=self._priority)
            self.clock = max(self.clock, self._priority(victim)[0])
            del self.slot[victim]
            self.prune()
