"""What is written after a run: the JSON is as its schema says, JUnit's XML is sound, and the page needs and trusts nothing."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
from sample_report import HOSTILE, WEATHER, answer, arm_result, depart, flip, hostile, published, reference_answers

import isotherm.gate
from isotherm.gate.arms import Arm
from isotherm.gate.findings import headline
from isotherm.gate.html import html_page
from isotherm.gate.junit import junit_xml
from isotherm.gate.report import GateReport

SCHEMA = json.loads((Path(isotherm.gate.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))
REPORTS = [published, hostile]
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


@pytest.mark.parametrize("report", REPORTS)
def test_the_json_is_what_its_schema_says(report: object) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    record = json.loads(json.dumps(report().to_record()))  # type: ignore[operator]
    jsonschema.validate(record, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_the_schema_allows_nothing_that_it_does_not_name_and_needs_all_that_it_names() -> None:
    objects = [SCHEMA, *(SCHEMA["$defs"][name] for name in ("arm", "response", "difference", "times"))]
    for described in objects:
        assert described["additionalProperties"] is False
        assert set(described["required"]) == set(described["properties"])


def test_the_json_of_schema_1_can_still_be_read() -> None:
    row = published().to_record()["arms"][3]
    assert (row["text_differs"], row["bits_differ"], row["hits"], row["expected_hits"]) == (3, 5, 16, 16)
    assert row["hits_ttft_ms_p50"] == row["ttft_ms"]["warm"]["p50"] < row["hits_reference_ttft_ms_p50"]
    assert row["ttft_ms"]["warm"]["p50"] <= row["ttft_ms"]["warm"]["p95"] and row["ttft_ms"]["warm"]["count"] == 16


def elements(report: GateReport) -> Xml.Element:
    return Xml.fromstring(junit_xml(report).encode("utf-8"))


ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"name", "classname", "time"},
    "properties": set(),
    "property": {"name", "value"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
    "properties": {"property"},
}


@pytest.mark.parametrize("report", REPORTS)
def test_junit_has_only_the_elements_attributes_and_counts_that_the_common_schema_knows(report: object) -> None:
    root = elements(report())  # type: ignore[operator]
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", element.get("time", "0"))
    for suite in root:
        cases = suite.findall("testcase")
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[key]) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.attrib["tests"]) == len(cases)
        assert len({case.get("name") for case in cases}) == len(cases)
    assert int(root.attrib["tests"]) == sum(int(suite.attrib["tests"]) for suite in root)


def test_in_junit_an_arm_that_may_differ_tells_its_differences_and_fails_nothing() -> None:
    root = elements(published())
    assert root.get("failures") == root.get("errors") == "0"
    told = [case for case in root.iter("testcase") if case.find("system-out") is not None]
    assert {case.get("classname") for case in told} == {"A2", "A3"} and len(told) == 8


def test_in_junit_an_arm_that_may_not_differ_fails_by_response_with_the_verdict_as_its_type() -> None:
    report = published()
    strict = replace(report.arms[3], arm=Arm("A3", "strict", caching=True))
    failures = list(elements(replace(report, arms=(*report.arms[:3], strict, report.arms[4]))).iter("failure"))
    assert [failure.get("type") for failure in failures].count("repeats the call") == 1
    assert len(failures) == 5 and "which was answered before" in (failures[-1].text or "")


def test_in_junit_what_is_wrong_with_an_arm_as_a_whole_is_a_case_of_its_own() -> None:
    known = reference_answers()
    arm = arm_result(Arm("A2", "must differ", may_differ=True, must_differ_bits=True), known)
    reference = arm_result(Arm("off", "off"), known)
    root = elements(GateReport((reference, arm), ("off", "A2"), ("a",)))
    (failure,) = root.iter("failure")
    assert failure.get("type") == "must differ"
    ended = GateReport((reference,), ("off", "on"), ("a",), error="it ended")
    assert [case.get("name") for case in elements(ended).iter("testcase")][-2:] == ["run", "on"]


class Page(HTMLParser):
    """What a browser would make of the page: elements, their attributes, and the text outside script and style."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data


@pytest.mark.parametrize("report", REPORTS)
def test_the_page_names_no_resource_outside_itself(report: object) -> None:
    source = html_page(report())  # type: ignore[operator]
    page = Page(source)
    assert not {tag for tag, _ in page.tags} & {"img", "link", "iframe", "object", "embed", "base", "form"}
    for _, attributes in page.tags:
        assert not {"src", "srcset", "onclick", "onload", "onerror"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "http:" not in source and "https:" not in source and "url(" not in source


def test_what_a_server_wrote_is_text_on_the_page_and_never_markup() -> None:
    source = html_page(hostile())
    page = Page(source)
    assert len(page.scripts) == 1 and "alert" not in page.scripts[0]
    assert "</pre><script>alert(1)</script>&\"'" in page.text
    assert not FORBIDDEN.search(source) and source.encode("utf-8")
    assert "\\u202egnp.exe" in page.text and "\\ud800" in page.text and "\\u001b[31m" in page.text


def test_only_the_script_whose_hash_the_page_names_may_run() -> None:
    import base64
    import hashlib

    source = html_page(hostile())
    script = source[source.index("<script>") + len("<script>") : source.index("</script>", source.index("<script>"))]
    named = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{named}'" in source


def test_every_response_has_a_cell_and_every_cell_that_is_not_equal_leads_to_its_diff() -> None:
    page = Page(html_page(published()))
    cells = [
        attributes for tag, attributes in page.tags if "cell" in (attributes.get("class") or "").split() and tag != "i"
    ]
    assert len(cells) == 5 * 18
    links = [str(attributes["href"])[1:] for attributes in cells if "href" in attributes]
    assert links == [attributes["id"] for tag, attributes in page.tags if tag == "details"] and len(links) == 8
    titles = [attributes["title"] for attributes in cells if "href" in attributes]
    assert "a-stock, turn 1: tool arguments differ after 20 of 48 tokens" in titles


def test_the_page_shows_both_answers_with_what_differs_marked() -> None:
    source = html_page(published())
    assert "with <ins>some </ins>light snow" in source
    assert "<em>none</em>" in source and "Not as the case asks: &#39;-38.5&#39; is not in the answer" in source


def test_a_report_with_nothing_in_it_has_a_page_a_record_and_an_xml() -> None:
    empty = GateReport((), ("off",), ("a",), error="it did not start")
    assert "it did not start" in Page(html_page(empty)).text
    assert elements(empty).get("errors") == "1"
    jsonschema.validate(empty.to_record(), SCHEMA)


def test_the_headline_names_what_failed_and_claims_no_more_than_was_compared() -> None:
    report = published()
    assert headline(report).startswith("PASS: A2, A3 differ, as they may")
    partial = replace(report.arms[0], not_compared=("token ids: not given",))
    alone = GateReport((partial,), ("off",), ("a",))
    assert "bit" not in headline(alone) and "lets be compared" in headline(alone)
    strict = replace(report.arms[2], arm=Arm("A2", "strict"))
    assert headline(replace(report, arms=(strict,), planned=("A2", "A3"))) == "RED: A2 (not run: A3)"


def test_the_sample_has_the_differences_that_it_says() -> None:
    known = answer("x", (WEATHER,))
    assert flip(known, 3).token_ids == known.token_ids and depart(known, 5, "y").token_ids[:5] == known.token_ids[:5]
    assert HOSTILE in hostile().batteries
