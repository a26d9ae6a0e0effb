"""The oracle: each request alone on fresh memory with caching off, and each state from one prefill."""

from isotherm.core.constants import BLOCK
from isotherm.core.request import Request
from isotherm.fuzz.play import Answer
from isotherm.fuzz.script import Setting
from isotherm.fuzz.subject import Model, Subject, digests, poison
from isotherm.runner.drafter import Drafter
from isotherm.runner.forward import Sequenced

ALONE = Setting(caching=False, budget=1 << 20, seqs=1, spare_blocks=0, slots=2)


def answer_alone(model: Model, request: Request) -> Answer:
    """What the request is answered when it is the only one there ever was."""
    subject = Subject(model, ALONE)
    subject.add(request)
    answer = Answer()
    while subject.has_work:
        for output in subject.step():
            answer.add(output)
    return answer


def state_along(model: Model, tokens: tuple[int, ...], drafter: Drafter | None = None) -> dict[int, dict[str, str]]:
    """Digests of the last block and of the state at every boundary of `tokens` (whole blocks), from one pass on NaN."""
    sequence = Sequenced(model.decoder, len(tokens), drafter)
    poison(sequence.state)
    sequence.extend(tokens)
    blocks, slots = sequence.state.by_block(), sequence.state.by_slot()
    return {
        end * BLOCK: digests("block", blocks, end) | digests("slot", slots, end)
        for end in range(1, len(tokens) // BLOCK + 1)
    }
