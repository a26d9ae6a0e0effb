"""The oracle: each request alone on fresh memory with caching off."""

from isotherm.core.request import Request
from isotherm.fuzz.play import Answer
from isotherm.fuzz.script import Setting
from isotherm.fuzz.subject import Model, Subject

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
