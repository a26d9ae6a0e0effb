"""The runner of native numerics: states are looked at as they are restored, and a drafter has a context of its own."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from isotherm.core.config import EngineConfig
from isotherm.core.plan import PassPlan, PassResult
from isotherm.kernels.batch import Batch
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import AnyMtp, Mtp
from isotherm.native.checksums import Checksums
from isotherm.native.drafter import DrafterContext
from isotherm.native.hidden_rows import HiddenRows
from isotherm.runner.capacity import Capacity
from isotherm.runner.drafter import Drafter
from isotherm.runner.runner import Results, Runner
from isotherm.runner.watch import PassWatch


class NativeRunner(Runner):
    """Hashes states as they are saved and looks at them again as they are restored.

    mtp: the drafter, None for none. anchor: the rows kept for it, None when none are.
    """

    def __init__(self, decoder: Decoder, capacity: Capacity, config: EngineConfig, mtp: AnyMtp | None):
        super().__init__(decoder, capacity, record=not config.model.enforce_eager)
        self.checksums = Checksums(self.state.by_slot())
        native = config.native
        self.anchor = HiddenRows(native.drafter_anchor_bytes) if native.drafter_anchor else None
        self._context: DrafterContext | None = None
        if mtp is not None:
            assert isinstance(mtp, Mtp), "no kind with residual streams is computed in native numerics"
            self._context = DrafterContext(
                mtp, decoder.spec.kv, decoder.kernels.threads, config.most_drafts, self.anchor
            )
            own = replace(decoder, kernels=self._context.kernels)
            self._ahead = Drafter(mtp, own)

    def run(
        self, plan: PassPlan, watch: PassWatch | None = None, meanwhile: Callable[[], None] = lambda: None
    ) -> PassResult:
        """See Runner.run."""
        self.checksums.before(plan)
        result = super().run(plan, watch, meanwhile)
        self.checksums.after(plan)
        return result

    def _drafts(
        self, plan: PassPlan, found: Results, batch: Batch, tokens: Tensor, hidden: Tensor
    ) -> tuple[tuple[int, ...], ...]:
        context = self._context
        if context is None:
            return ()
        normed = self.decoder.normed(hidden)
        context.follow(batch, tokens, normed)
        return self._ahead.propose(context.placed(plan), found, normed, None, context.store, self.sampler)
