"""Ids with reference counts: blocks and state slots are both handed out from here."""

from collections.abc import Callable


class IdPool:
    """Ids 1..capacity; 0 is never handed out.

    An id is in one of three conditions. Free: nobody refers to it. Held: at least one holder (a live sequence, a hit, a pass
    in flight) refers to it. Idle: only the tree keeps it, so that it can be had by evicting. `on_free` is told of every id that
    becomes free; whoever owns the memory may poison it then.
    """

    def __init__(self, capacity: int, on_free: Callable[[int], None] | None = None):
        self.capacity = capacity
        self.idle = 0
        self._holders = [0] * (capacity + 1)
        self._kept = bytearray(capacity + 1)
        self._free = list(range(capacity, 0, -1))
        self._on_free = on_free

    @property
    def free(self) -> int:
        """Ids to which nothing refers."""
        return len(self._free)

    @property
    def used(self) -> int:
        """Ids that are held or idle."""
        return self.capacity - len(self._free)

    @property
    def available(self) -> int:
        """Ids that are free or can be freed by evicting."""
        return len(self._free) + self.idle

    def allocate(self) -> int:
        """A free id with one holder. Raises IndexError when none is free."""
        identity = self._free.pop()
        self._holders[identity] = 1
        return identity

    def holders(self, identity: int) -> int:
        """How many holders refer to the id, the tree not counted."""
        return self._holders[identity]

    def kept(self, identity: int) -> bool:
        """Whether the tree refers to the id."""
        return bool(self._kept[identity])

    def retain(self, identity: int) -> None:
        """One more holder of an id that is not free."""
        if not self._holders[identity]:
            if not self._kept[identity]:
                raise ValueError(f"id {identity} is free")
            self.idle -= 1
        self._holders[identity] += 1

    def release(self, identity: int) -> None:
        """One holder less; the id becomes idle when the tree keeps it, else free."""
        if not self._holders[identity]:
            raise ValueError(f"id {identity} has no holder")
        self._holders[identity] -= 1
        if not self._holders[identity]:
            if self._kept[identity]:
                self.idle += 1
            else:
                self._give_back(identity)

    def keep(self, identity: int) -> None:
        """The tree refers to the id from now on; somebody must hold it at this moment."""
        if self._kept[identity] or not self._holders[identity]:
            raise ValueError(
                f"id {identity} cannot be kept: kept {self.kept(identity)}, holders {self.holders(identity)}"
            )
        self._kept[identity] = 1

    def drop(self, identity: int) -> None:
        """The tree refers to the id no longer; it becomes free when nobody holds it."""
        if not self._kept[identity]:
            raise ValueError(f"id {identity} is not kept")
        self._kept[identity] = 0
        if not self._holders[identity]:
            self.idle -= 1
            self._give_back(identity)

    def check(self, holders: dict[int, int] | None = None) -> None:
        """Assert that counts add up; `holders`, when given, is how many holders each held id should have."""
        assert len(set(self._free)) == len(self._free), "an id is free twice"
        assert all(not self._holders[i] and not self._kept[i] for i in self._free), "a free id is referred to"
        referred = [i for i in range(1, self.capacity + 1) if self._holders[i] or self._kept[i]]
        assert len(referred) + len(self._free) == self.capacity, "free and used ids do not add up to the capacity"
        assert self.idle == sum(1 for i in referred if not self._holders[i]), "the count of idle ids is wrong"
        assert not self._holders[0] and not self._kept[0], "id 0 was handed out"
        if holders is not None:
            counted = {i: self._holders[i] for i in referred if self._holders[i]}
            assert counted == holders, f"holders {counted} should be {holders}"

    def _give_back(self, identity: int) -> None:
        self._free.append(identity)
        if self._on_free is not None:
            self._on_free(identity)
