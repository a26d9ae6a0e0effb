"""The report as JUnit XML: a suite an arm, a case a response."""

from xml.etree import ElementTree as Xml

from isotherm.gate.findings import faults, headline, where
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response
from isotherm.gate.safe import visible


def junit_xml(report: GateReport) -> str:
    """An XML document. Differences that an arm may show are told in the case's output and are no failures.

    A response that did not come is an error. What is wrong with an arm as a whole is a case of its own, named `arm`.
    """
    suites = [_suite(result) for result in report.arms]
    if not report.complete:
        suites.append(_not_run(report))
    root = Xml.Element("testsuites", {"name": "isotherm gate", **_sums(suites)})
    root.extend(suites)
    Xml.indent(root, " ")
    return Xml.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _suite(result: ArmResult) -> Xml.Element:
    cases = [_case(result, response) for response in result.responses]
    wrong = [(words, "failure") for words in faults(result)] + ([(result.error, "error")] if result.error else [])
    if wrong or not cases:
        whole = Xml.Element("testcase", _attributes(name="arm", classname=result.arm.name, time="0"))
        for words, kind in wrong[:1]:
            _outcome(whole, kind, result.verdict, "\n".join(words for words, _ in wrong))
        cases.append(whole)
    return _gathered(result.arm.name, cases, result.seconds, {"setting": result.arm.setting, "verdict": result.verdict})


def _gathered(name: str, cases: list[Xml.Element], seconds: float, properties: dict[str, str]) -> Xml.Element:
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    suite = Xml.Element("testsuite", _attributes(name=name, time=f"{seconds:.3f}", **counts))
    told = Xml.SubElement(suite, "properties")
    for key, value in properties.items():
        Xml.SubElement(told, "property", _attributes(name=key, value=value))
    suite.extend(cases)
    return suite


def _case(result: ArmResult, response: Response) -> Xml.Element:
    time = f"{response.answer.total_s:.3f}"
    case = Xml.Element("testcase", _attributes(name=where(response), classname=result.arm.name, time=time))
    if response.verdict == "error":
        _outcome(case, "error", "error", response.answer.error or "")
    elif response.verdict != "equal":
        kind = "failure" if result.exit_code and not response.twin_differs else "system-out"
        _outcome(case, kind, response.verdict, _story(response))
    return case


def _outcome(case: Xml.Element, kind: str, verdict: str, story: str) -> None:
    attributes = {} if kind == "system-out" else _attributes(type=verdict, message=story.split("\n", 1)[0][:200])
    Xml.SubElement(case, kind, attributes).text = visible(f"{verdict}\n{story}" if not attributes else story, keep="\n")


def _story(response: Response) -> str:
    lines = []
    for difference in response.comparison.differences:
        lines += [difference.heading, f"  expected  {difference.expected}", f"  got       {difference.actual}"]
    return "\n".join(lines)


def _not_run(report: GateReport) -> Xml.Element:
    """Why the run ended early, and the arms that it did not come to."""
    kind = "error" if report.exit_code == 2 else "failure"
    why = Xml.Element("testcase", _attributes(name="run", classname="run", time="0"))
    _outcome(why, kind, "ended early", report.error or headline(report))
    cases = [why]
    for name in report.planned[len(report.arms) :]:
        case = Xml.Element("testcase", _attributes(name=name, classname="run", time="0"))
        Xml.SubElement(case, "skipped", _attributes(message="the run ended before this arm"))
        cases.append(case)
    return _gathered("run", cases, 0.0, {"error": report.error or ""})


def _sums(suites: list[Xml.Element]) -> dict[str, str]:
    keys = ("tests", "failures", "errors")
    sums = {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in keys}
    return sums | {"time": f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}"}


def _attributes(**values: str) -> dict[str, str]:
    return {key: visible(value) for key, value in values.items()}
