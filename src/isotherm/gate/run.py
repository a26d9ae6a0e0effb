"""Running the gate: one arm after the other, each on a server of its own, the reference first and the controls next."""

import asyncio
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot, ordered_slots
from isotherm.gate.client import ServerError
from isotherm.gate.config import GateConfig
from isotherm.gate.execute import Ran, Reference, Server, chat_arm, reference_arm, rescore_arm
from isotherm.gate.observer import Observer, Silent
from isotherm.gate.place import serving
from isotherm.gate.process import StartError
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult

NOT_DETERMINISTIC = "this server is not deterministic at rest"


def run_gate(config: GateConfig, observer: Observer | None = None) -> GateReport:
    """Run every arm and report. Ends early when the reference fails or a control differs from it.

    Raises ConfigError for a battery that cannot be read.
    """
    slots = ordered_slots(config.batteries)
    run = _Run(config, slots, observer or Silent(), Path(tempfile.mkdtemp(prefix="isotherm-gate-")))
    error = run.all_arms()
    info = run.reference.ran.info if run.reference else None
    report = GateReport(
        arms=tuple(run.results),
        planned=tuple(arm.name for arm in config.arms),
        batteries=config.batteries,
        model=config.model or (run.reference.model if run.reference and config.arms[0].target else ""),
        version=info.version if info else "",
        build=info.build if info else {},
        error=error,
        deterministic=error != NOT_DETERMINISTIC,
        logs=str(run.logs),
    )
    if report.passed:
        shutil.rmtree(run.logs)
        return replace(report, logs=None)
    return report


@dataclass(slots=True)
class _Run:
    """The arms so far, and what they have left for those that follow."""

    config: GateConfig
    slots: tuple[Slot, ...]
    observer: Observer
    logs: Path
    results: list[ArmResult] = field(default_factory=list)
    reference: Reference | None = None
    ran: dict[str, Ran] = field(default_factory=dict)

    def all_arms(self) -> str | None:
        """Run the arms in order; returns why the run ended early, if it did.

        The reference's server stays up, idle, until its sequences have been scored again.
        """
        arms = self.config.arms
        scored_until = max((i for i, arm in enumerate(arms) if arm.kind == "rescore"), default=0)
        with ExitStack() as kept:
            url = ""
            for number, arm in enumerate(arms):
                self.observer.arm_started(arm, len(self.slots) * arm.repeat)
                try:
                    url = url or kept.enter_context(serving(self.config, arm, self.logs))
                    result = self._arm(arm, url)
                except (StartError, ServerError) as error:
                    result = ArmResult(arm, error=str(error))
                self.results.append(self._beside_its_twin(result))
                self.observer.arm_finished(self.results[-1])
                if reason := self._reason_to_stop():
                    return reason
                if number >= scored_until:
                    kept.close()
        return None

    def _arm(self, arm: Arm, reference_url: str) -> ArmResult:
        tick = partial(self.observer.answered, arm)
        if self.reference is None:
            result, self.reference = asyncio.run(reference_arm(arm, self._server(reference_url), self.slots, tick))
            self.ran[arm.name] = self.reference.ran
            return result
        if arm.kind == "rescore":
            return asyncio.run(rescore_arm(arm, self._server(reference_url), self.reference, tick))
        against = self._against(arm)
        start = time.perf_counter()
        with serving(self.config, arm, self.logs) as url:
            start_s = time.perf_counter() - start
            result, ran = asyncio.run(chat_arm(arm, self._server(url), self.reference, against, tick))
        self.ran[arm.name] = ran
        return replace(result, start_s=start_s)

    def _server(self, url: str) -> Server:
        return Server(url, self.config.api, self.config.request_timeout_s)

    def _against(self, arm: Arm) -> Ran:
        """What the arm is compared with; the first arm's for one that is compared with nothing. Raises ServerError."""
        name = self.config.arms[0].name if arm.against in (None, arm.name) else str(arm.against)
        if name not in self.ran:
            raise ServerError(f"not run: arm {name!r}, with which it is compared, has left nothing")
        return self.ran[name]

    def _beside_its_twin(self, result: ArmResult) -> ArmResult:
        """Mark what cannot be charged to the arm: once batching alone changes answers, a difference may be batching's."""
        twin = next((other for other in self.results if other.arm.name == result.arm.twin), None)
        if twin is None or twin.verdict != "differs":
            return result
        return replace(result, responses=tuple(replace(one, twin_differs=True) for one in result.responses))

    def _reason_to_stop(self) -> str | None:
        """Nothing means anything without a reference, nor before the controls have agreed with it."""
        last = self.results[-1]
        if len(self.results) == 1 and last.verdict == "error":
            return "the reference arm could not be run"
        if last.arm.control and last.verdict == "differs":
            return NOT_DETERMINISTIC
        if last.arm.control and last.verdict == "error":
            return "the control arm could not be run"
        return None
