"""What a run has found, in words that the terminal, the page and JUnit share. None of it is escaped yet."""

from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response


def headline(report: GateReport) -> str:
    """The outcome in one sentence."""
    if report.passed:
        allowed = [result.arm.name for result in report.arms if result.verdict != "pass"]
        if allowed:
            differ = "differ, as they may" if len(allowed) > 1 else "differs, as it may"
            return f"PASS: {', '.join(allowed)} {differ}; everything else is equal"
        if report.not_compared:
            return "PASS: every answer is the same in all that this server lets be compared"
        return "PASS: every answer is the same bit for bit, and every hit is as computed"
    what = "RED" if report.exit_code == 1 else "ERROR: the gate could not be carried out"
    red = [result.arm.name for result in report.arms if result.exit_code == 1]
    left = report.planned[len(report.arms) :]
    return what + (f": {', '.join(red)}" if red else "") + (f" (not run: {', '.join(left)})" if left else "")


def faults(result: ArmResult) -> list[str]:
    """What is wrong with the arm apart from its responses' differences, in words."""
    told = []
    if "must differ" in result.findings:
        told.append("nothing differs in an arm that is there to differ: a gate that cannot fail shows nothing")
    if "no hits" in result.findings:
        told.append("no hits: nothing was taken from the cache, so nothing was tested")
    if result.checksums is not None and "checksums" in result.findings:
        told.append(f"only {result.checksums[0]} of {result.checksums[1]} states were restored as they were saved")
    if result.unreached:
        first = result.unreached[0]
        told.append(
            f"{len(result.unreached)} responses' cached_tokens are not as computed; the first is {where(first)}: "
            f"{first.answer.cached_tokens}, computed {first.expected_cached_tokens}, "
            f"of {len(first.answer.prompt_ids)} prompt tokens"
        )
    return told


def where(response: Response) -> str:
    """Which response it is."""
    again = f", repeat {response.repeat + 1}" if response.repeat else ""
    return f"{response.case}, turn {response.turn + 1}{again}"


def tally(result: ArmResult) -> str:
    """How many responses got each verdict other than equal, gravest last."""
    return ", ".join(f"{count} {verdict}" for verdict, count in result.verdicts.items() if verdict != "equal")
