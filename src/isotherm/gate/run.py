"""Running the gate: one arm after the other, each on a fresh server, the reference first and its control second."""

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot, ordered_slots
from isotherm.gate.client import ServerError
from isotherm.gate.config import GateConfig
from isotherm.gate.execute import Reference, chat_arm, reference_arm, rescore_arm
from isotherm.gate.observer import Observer, Silent
from isotherm.gate.process import StartError, free_port, running_server
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult

NOT_DETERMINISTIC = "this server is not deterministic at rest"


def run_gate(config: GateConfig, observer: Observer | None = None) -> GateReport:
    """Run every arm and report. Ends early when the reference fails or the control differs from it.

    Raises ConfigError for a battery that cannot be read.
    """
    slots = ordered_slots(config.batteries)
    run = _Run(config, slots, observer or Silent(), Path(tempfile.mkdtemp(prefix="isotherm-gate-")))
    error = run.all_arms()
    report = GateReport(
        arms=tuple(run.results),
        planned=tuple(arm.name for arm in config.arms),
        batteries=config.batteries,
        model=config.model,
        version=run.reference.info.version if run.reference else "",
        build=run.reference.info.build if run.reference else {},
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
    """The arms so far, and what the reference has left for those that follow."""

    config: GateConfig
    slots: tuple[Slot, ...]
    observer: Observer
    logs: Path
    results: list[ArmResult] = field(default_factory=list)
    reference: Reference | None = None

    def all_arms(self) -> str | None:
        """Run the arms in order; returns why the run ended early, if it did.

        The reference's server stays up, idle, until its sequences have been scored again.
        """
        arms = self.config.arms
        scored_until = max((i for i, arm in enumerate(arms) if arm.kind == "rescore"), default=0)
        with ExitStack() as kept:
            url = ""
            for number, arm in enumerate(arms):
                self.observer.arm_started(arm, len(self.slots))
                try:
                    url = url or kept.enter_context(self._server(arm))
                    result = self._arm(arm, url)
                except (StartError, ServerError) as error:
                    result = ArmResult(arm, error=str(error))
                self.results.append(result)
                self.observer.arm_finished(result)
                if reason := self._reason_to_stop():
                    return reason
                if number >= scored_until:
                    kept.close()
        return None

    def _arm(self, arm: Arm, reference_url: str) -> ArmResult:
        timeout, tick = self.config.request_timeout_s, partial(self.observer.answered, arm)
        if self.reference is None:
            result, self.reference = asyncio.run(reference_arm(arm, reference_url, self.slots, timeout, tick))
            return result
        if arm.kind == "rescore":
            return asyncio.run(rescore_arm(arm, reference_url, self.reference, timeout, tick))
        start = time.perf_counter()
        with self._server(arm) as url:
            start_s = time.perf_counter() - start
            return replace(asyncio.run(chat_arm(arm, url, self.reference, timeout, tick)), start_s=start_s)

    @contextmanager
    def _server(self, arm: Arm) -> Iterator[str]:
        port = free_port()
        log = self.logs / (re.sub(r"\W+", "-", arm.name) + ".log")
        with running_server(self.config.command(arm, port), port, log, self.config.start_timeout_s) as url:
            yield url

    def _reason_to_stop(self) -> str | None:
        """Nothing means anything without a reference, nor before the control has agreed with it."""
        last = self.results[-1]
        if len(self.results) == 1 and last.verdict == "error":
            return "the reference arm could not be run"
        if len(self.results) == 2:
            if last.verdict == "differs":
                return NOT_DETERMINISTIC
            if last.verdict == "error":
                return "the control arm could not be run"
        return None
