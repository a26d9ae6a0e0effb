"""A report of the gate without the responses that are equal: `python trim.py REPORT.json > results/NAME.json`."""

import json
import sys
from pathlib import Path

KEPT = ("case", "turn", "verdict", "twin_differs", "cached_tokens", "first_differing_token", "differences")


def main() -> None:
    report = json.loads(Path(sys.argv[1]).read_text())
    report["logs"] = None
    for arm in report["arms"]:
        unequal = [response for response in arm["details"] if response["verdict"] != "equal"]
        arm["details"] = [{name: response[name] for name in KEPT} for response in unequal]
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
