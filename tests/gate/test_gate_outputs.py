"""`isotherm gate --json --junit --html` against two commands: three files of one run, without the key that it used."""

import json
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
from test_gate_reports import SCHEMA
from typer.testing import CliRunner

from isotherm.cli.main import app

FAKE = shlex.join([sys.executable, str(Path(__file__).with_name("fake_server.py")), "--port", "{port}"])


@pytest.mark.parametrize(("fault", "exit_code"), [("", 0), ("bit", 1)])
def test_the_files_and_the_exit_code_tell_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, exit_code: int
) -> None:
    battery, out = tmp_path / "two.jsonl", {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "html")}
    messages = [{"role": "system", "content": "s" * 150}, {"role": "user", "content": "why"}]
    battery.write_text("\n".join(json.dumps({"id": name, "messages": messages}) for name in ("one", "two")))
    words = ["gate", "--battery", str(battery), "--api-key", "sk-secret"]
    words += ["--off-cmd", f"{FAKE} --no-enable-prefix-caching", "--on-cmd", f"{FAKE} --fault {shlex.quote(fault)}"]
    words += [word for kind, path in out.items() for word in (f"--{kind}", str(path))]
    monkeypatch.setattr(sys, "argv", ["isotherm", *words])
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == exit_code, ran.output
    record = json.loads(out["json"].read_text(encoding="utf-8"))
    jsonschema.validate(record, SCHEMA)
    assert record["exit_code"] == exit_code and record["command"][:2] == ["isotherm", "gate"]
    assert int(Xml.parse(out["junit"]).getroot().attrib["failures"]) == exit_code
    headline = "RED: on" if exit_code else "PASS: "
    assert f"<h1>{headline}" in out["html"].read_text(encoding="utf-8") and headline in ran.output
    assert not any("sk-secret" in path.read_text(encoding="utf-8") for path in out.values())


def test_a_file_that_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["gate", "--html", str(tmp_path / "no" / "folder" / "x.html")])
    assert ran.exit_code != 0 and "not a file in a folder that exists" in f"{ran.exception}{ran.output}"
