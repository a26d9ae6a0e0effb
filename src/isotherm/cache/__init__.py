"""What of a prompt need not be computed again: ids of blocks and state slots, a radix tree over tokens, eviction. No torch.

Policy: docs/cache-policy.md.
"""

from isotherm.cache.hit import DeclineReason, Hit, Place, Published
from isotherm.cache.observer import Observer
from isotherm.cache.prefix import PrefixCache
from isotherm.cache.tiered import TieredPrefixCache
from isotherm.cache.tree import Namespace

__all__ = ["DeclineReason", "Hit", "Namespace", "Observer", "Place", "PrefixCache", "Published", "TieredPrefixCache"]
