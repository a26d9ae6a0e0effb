"""Faults that public engines have had, put back one at a time behind the seams. Each breaks one rule of the contract."""

from dataclasses import replace

import pytest
import torch

from isotherm.cache import PrefixCache
from isotherm.cache.tree import RadixTree
from isotherm.core.constants import BLOCK
from isotherm.core.plan import StateWrite
from isotherm.kernels.api import Routing
from isotherm.kernels.c_provider import CKernels
from isotherm.runner.host import HostPool, Shelf
from isotherm.runner.sampler import Sampler
from isotherm.scheduler import admission, holding


def linear_sums_in_another_order_for_one_row(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.linear

    def broken(self, x, weight, residual=None):
        if x.shape[0] != 1:
            return true(self, x, weight, residual)
        front, back = x.clone(), x.clone()
        front[:, x.shape[1] // 2 :] = 0
        back[:, : x.shape[1] // 2] = 0
        return true(self, front, weight, true(self, back, weight, residual))

    patch.setattr(CKernels, "linear", broken)


def norm_changes_its_sum_at_256_rows(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.rms_norm

    def broken(self, x, weight, eps):
        if x.shape[0] < 256:
            return true(self, x, weight, eps)
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(1, keepdim=True) + eps) * weight).to(x.dtype)

    patch.setattr(CKernels, "rms_norm", broken)


def state_is_rounded_to_16_bits_at_a_boundary(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.gated_delta

    def broken(self, batch, qkv, b, a, decay, dt_bias, state):
        out = true(self, batch, qkv, b, a, decay, dt_bias, state)
        written = batch.write_slots.long()
        state.state[written] = state.state[written].bfloat16().float()
        return out

    patch.setattr(CKernels, "gated_delta", broken)


def snapshots_lack_the_convolution_history(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.causal_conv

    def broken(self, batch, x, weight, state):
        out = true(self, batch, x, weight, state)
        state.history[batch.write_slots.long()] = 0
        return out

    patch.setattr(CKernels, "causal_conv", broken)


def keys_are_used_unrounded_in_the_pass_that_makes_them(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.attention

    def broken(self, batch, q, store, scale, skip=0):
        """Decode reads what was cached; a prefill sees keys with a little more in them."""
        if batch.rows == batch.segments:
            return true(self, batch, q, store, scale, skip)
        finer = replace(store, k=store.k * 1.004)
        return true(self, batch, q, finer, scale, skip)

    patch.setattr(CKernels, "attention", broken)


def the_last_token_of_a_hit_is_applied_twice(patch: pytest.MonkeyPatch) -> None:
    true = holding.enter

    def broken(cache, layout, sequence, hit):
        true(cache, layout, sequence, hit)
        if hit.tokens:
            sequence.computed -= 1

    patch.setattr(holding, "enter", broken)
    patch.setattr(admission, "enter", broken, raising=False)


def noise_is_keyed_by_place_in_the_batch(patch: pytest.MonkeyPatch) -> None:
    true = Sampler.results

    def broken(self, logits, rows, positions):
        return true(self, logits, rows, [position + place for place, position in enumerate(positions)])

    patch.setattr(Sampler, "results", broken)


def keys_of_a_full_block_are_published_unwritten(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.write_kv

    def broken(self, batch, k, v, store):
        true(self, batch, k, v, store)
        if batch.rows == batch.segments == 1 and int(batch.positions[0]) % 64 == 63:
            store.k[int(batch.blocks[-1])] = float("nan")

    patch.setattr(CKernels, "write_kv", broken)


def the_salt_is_ignored(patch: pytest.MonkeyPatch) -> None:
    true = RadixTree.path
    patch.setattr(RadixTree, "path", lambda self, space, *rest: true(self, space._replace(salt="a"), *rest))


def a_hash_decides(patch: pytest.MonkeyPatch) -> None:
    def broken(self, node, _):
        return next(iter(node.offspring()), None)

    patch.setattr(RadixTree, "child", broken)


def logits_depend_on_who_else_is_in_the_pass(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.gated_delta

    def broken(self, batch, qkv, b, a, decay, dt_bias, state):
        out = true(self, batch, qkv, b, a, decay, dt_bias, state)
        return out if batch.segments == 1 else (out.float() * 1.004).to(out.dtype)

    patch.setattr(CKernels, "gated_delta", broken)


def a_snapshot_is_kept_under_the_boundary_before_its_own(patch: pytest.MonkeyPatch) -> None:
    """An off-block checkpoint: the state holds 64 tokens more than its key says."""
    true = PrefixCache.publish

    def broken(self, place, tokens, blocks, snapshots=()):
        moved = [
            StateWrite(write.position - 64, write.slot) if write.position - 64 > place.tokens else write
            for write in snapshots
        ]
        return true(self, place, tokens, blocks, moved)

    patch.setattr(PrefixCache, "publish", broken)


def a_row_sees_one_key_beyond_its_own(patch: pytest.MonkeyPatch) -> None:
    """Stale memory: in decode that key is whatever the block held before."""
    true = CKernels.attention

    def broken(self, batch, q, store, scale, skip=0):
        if batch.rows > batch.segments or int(batch.positions[0]) % 64 == 63:
            return true(self, batch, q, store, scale, skip)
        return true(self, replace(batch, positions=batch.positions + 1, starts=batch.starts + 1), q, store, scale, skip)

    patch.setattr(CKernels, "attention", broken)


def a_slot_is_given_away_while_it_is_read(patch: pytest.MonkeyPatch) -> None:
    """Every second slot handed out is one that somebody holds."""
    true = PrefixCache.allocate_slot
    last: list[int] = []

    def broken(self):
        if last and self.slots.holders(last[-1]):
            slot = last.pop()
            self.slots.retain(slot)
            return slot
        slot = true(self)
        if slot is not None:
            last.append(slot)
        return slot

    patch.setattr(PrefixCache, "allocate_slot", broken)


def ties_are_broken_by_arrival(patch: pytest.MonkeyPatch) -> None:
    def broken(self, logits, k):
        values, ids = torch.topk(logits.flip(1), k)
        return (logits.shape[1] - 1 - ids).int(), values

    patch.setattr(CKernels, "top", broken)


def router_ties_go_to_the_higher_expert(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.route

    def broken(self, logits, k, renormalize):
        routing = true(self, logits.flip(1).contiguous(), k, renormalize)
        return Routing((logits.shape[1] - 1 - routing.experts).flip(1), routing.weights.flip(1))

    patch.setattr(CKernels, "route", broken)


def noise_is_keyed_by_rank(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.sample

    def broken(self, logits, *rest):
        order = torch.argsort(logits, descending=True, stable=True)
        return int(order[true(self, logits[order].contiguous(), *rest)])

    patch.setattr(CKernels, "sample", broken)


def two_sequences_share_a_lane(patch: pytest.MonkeyPatch) -> None:
    """Rows since the last boundary are kept in one place for all."""
    true = CKernels.gated_delta

    def broken(self, batch, qkv, b, a, decay, dt_bias, state):
        return true(self, replace(batch, lanes=batch.lanes.clamp(max=0)), qkv, b, a, decay, dt_bias, state)

    patch.setattr(CKernels, "gated_delta", broken)


def the_drafters_row_is_not_in_a_snapshot(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.shift

    def broken(self, batch, x, state):
        out = true(self, batch, x, state)
        state.history[batch.write_slots.long()] = 0
        return out

    patch.setattr(CKernels, "shift", broken)


def snapshots_lack_the_ngram_history(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.ngrams

    def broken(self, batch, ids, hashing, state):
        out = true(self, batch, ids, hashing, state)
        state.history[batch.write_slots.long()] = 0
        return out

    patch.setattr(CKernels, "ngrams", broken)


def snapshots_lack_the_history_of_the_ngrams_convolution(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.causal_conv

    def broken(self, batch, x, weight, state):
        out = true(self, batch, x, weight, state)
        if state.shape.dilation > 1:
            state.history[batch.write_slots.long()] = 0
        return out

    patch.setattr(CKernels, "causal_conv", broken)


def a_group_is_pooled_from_the_keys_of_one_pass(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.write_indexed

    def broken(self, batch, k, v, index_key, weight, eps, table, store):
        start = int(batch.starts[0])
        if batch.segments == 1 and start % store.index.ratio:
            store.keys[int(batch.blocks[start // BLOCK]), start // 8 * 8 % BLOCK : start % BLOCK] = 0
        true(self, batch, k, v, index_key, weight, eps, table, store)

    patch.setattr(CKernels, "write_indexed", broken)


def the_choice_of_keys_follows_the_pass(patch: pytest.MonkeyPatch) -> None:
    """A pass that begins late enough attends to all keys; one that begins early has the budget."""
    true = CKernels.select

    def broken(self, batch, q, store, most):
        return true(self, batch, q, store, most if int(batch.starts[0]) == 0 else most + 1)

    patch.setattr(CKernels, "select", broken)


def the_drafters_groups_are_pooled_from_the_keys_of_one_pass(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.write_indexed

    def broken(self, batch, k, v, index_key, weight, eps, table, store):
        start = int(batch.starts[0])
        if store.index.skip and start % store.index.ratio:
            store.keys[int(batch.blocks[start // BLOCK]), start // 8 * 8 % BLOCK : start % BLOCK] = 0
        true(self, batch, k, v, index_key, weight, eps, table, store)

    patch.setattr(CKernels, "write_indexed", broken)


def token_0_is_left_out_in_passes_of_many_rows_alone(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.write_indexed

    def broken(self, batch, k, v, index_key, weight, eps, table, store):
        if batch.rows < 64:
            store = replace(store, index=replace(store.index, skip=0))
        true(self, batch, k, v, index_key, weight, eps, table, store)

    patch.setattr(CKernels, "write_indexed", broken)


def a_copy_to_the_host_misses_a_tensor(patch: pytest.MonkeyPatch) -> None:
    true = Shelf.store

    def broken(self, pairs):
        true(self, pairs)
        for _, target in pairs:
            self.parts(target)[-1].fill_(0)

    patch.setattr(Shelf, "store", broken)


def an_id_is_freed_before_its_copy_has_completed(patch: pytest.MonkeyPatch) -> None:
    """Copies out run after the pass of their plan, which may have written to what they read."""
    true = HostPool.take
    late = []

    def broken(self, copies):
        late.append(copies)
        if len(late) > 1:
            true(self, late.pop(0))

    patch.setattr(HostPool, "take", broken)


def a_copy_from_the_host_brings_the_state_of_another(patch: pytest.MonkeyPatch) -> None:
    """Two states of one plan, or of the plans before, are exchanged."""
    true = Shelf.fetch
    patch.setattr(
        Shelf, "fetch", lambda self, pairs: true(self, tuple((max(1, source - 1), to) for source, to in pairs))
    )
