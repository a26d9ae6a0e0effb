"""One evaluation: load the model, answer every case, judge, count first drafts."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from isotherm.core.config import DType, Provider
from isotherm.core.errors import CheckpointError
from isotherm.engine.drafts import DraftCount, count_first_drafts
from isotherm.engine.llm import LLM
from isotherm.evaluate.answering import answer_cases
from isotherm.evaluate.case import SHIPPED, EvalCase, load_cases
from isotherm.evaluate.result import EvalReport, Row
from isotherm.gate.answer import Answer
from isotherm.gate.expect import unmet
from isotherm.model.mtp import AnyMtp, has_mtp, load_mtp
from isotherm.model.source import locate
from isotherm.text.output import ToolFormatName

TOGETHER = 32
"""Sequences that run at once."""

DRAFTED = 3
"""First drafts are counted in one case out of so many of each group: they cost another prefill."""

Tick = Callable[[Row], None]
"""Is called with each row as it is known."""


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """model: a folder, a hub id, or "" for the embedded model. limit: about how many cases, 0 for all of the file."""

    model: str = ""
    revision: str | None = None
    cases: Path = SHIPPED
    limit: int = 0
    max_tokens: int = 260
    kernels: Provider = "auto"
    dtype: DType = "auto"
    threads: int = 0
    tool_call_parser: ToolFormatName = "qwen3_coder"


def run_eval(config: EvalConfig, opened: Callable[[int], None] | None = None, tick: Tick | None = None) -> EvalReport:
    """Answer and judge every case. opened: called with the number of cases once the model is loaded.

    Raises ConfigError for cases that cannot be read, CheckpointError for a model that cannot.
    """
    cases = load_cases(config.cases, config.limit)
    folder = locate(config.model, config.revision)
    llm = LLM(
        str(folder),
        dtype=config.dtype,
        kernels=config.kernels,
        threads=config.threads,
        max_num_seqs=TOGETHER,
    )
    mtp, drafter = _drafter(folder, llm)
    if opened is not None:
        opened(len(cases))
    start = time.perf_counter()
    rows = []
    for row in _rows(llm, mtp, cases, config):
        rows.append(row)
        if tick is not None:
            tick(row)
    by_id = {row.id: row for row in rows}
    in_order = tuple(by_id[case.id] for case in cases)
    return EvalReport(config.model, in_order, llm.info.build, time.perf_counter() - start, drafter)


def _drafter(folder: Path, llm: LLM) -> tuple[AnyMtp | None, str]:
    """The checkpoint's drafter, and what there is to say about it: a drafter that we cannot run does not end an evaluation."""
    if not has_mtp(folder):
        return None, "the checkpoint has none"
    try:
        return load_mtp(folder, llm.engine.runner.decoder), "measured"
    except CheckpointError as error:
        return None, str(error)


def _rows(llm: LLM, mtp: AnyMtp | None, cases: tuple[EvalCase, ...], config: EvalConfig) -> Iterator[Row]:
    """Cases of like length go together, so that few wait for a long one."""
    seen: Counter[str] = Counter()
    drafted = set()
    for case in cases:
        if seen[case.group] % DRAFTED == 0:
            drafted.add(case.id)
        seen[case.group] += 1
    ordered = sorted(cases, key=lambda case: len(str(case.messages)) + len(str(case.tools)))
    for first in range(0, len(ordered), 2 * TOGETHER):
        chosen = ordered[first : first + 2 * TOGETHER]
        for case, answer in zip(
            chosen, answer_cases(llm, chosen, config.max_tokens, config.tool_call_parser), strict=True
        ):
            count = DraftCount(0, 0)
            if mtp is not None and case.id in drafted:
                count = _drafts(llm, mtp, answer)
            yield Row(case.id, case.group, unmet(case.expect, answer), answer, count.accepted, count.drafted)


def _drafts(llm: LLM, mtp: AnyMtp, answer: Answer) -> DraftCount:
    return count_first_drafts(llm.engine.runner.decoder, mtp, answer.prompt_ids, answer.token_ids)
