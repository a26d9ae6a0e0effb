"""A comparison as one HTML page that needs nothing else."""

from html import escape

from isotherm.trace.comparison import Comparison
from isotherm.trace.describe import place
from isotherm.trace.first import first_difference
from isotherm.trace.map import draw

STYLE = """
:root { --ink: #1d2530; --paper: #fff; --quiet: #6b7684; --line: #0003; --equal: #8fc7a3; --differs: #c8322b;
  --only-a: #b9c3d6; --only-b: #d9cbb2; --prefill: #4a7fb5; --decode: #9dbfdf; --replay: #e08a2b; --verify: #8a63b8;
  --skipped: #d4d9df; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181d; --quiet: #98a3b0; --line: #fff4; --equal: #3d7a54;
  --differs: #ef5a50; --only-a: #4d5a72; --only-b: #6e6249; --prefill: #3f74ab; --decode: #7fa7cd; --skipped: #3a424c; } }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.25rem; } pre { overflow-x: auto; font-size: 12.5px; line-height: 1.4; }
.map { overflow-x: auto; } svg { min-width: 60rem; width: 100%; height: auto; font: 10px system-ui, sans-serif; }
.name { text-anchor: end; fill: var(--ink); } .position { text-anchor: middle; fill: var(--quiet); }
.boundary { stroke: var(--line); stroke-width: .5; }
circle.first, path.first { fill: none; stroke: var(--ink); stroke-width: 1.5; }
path.first { stroke-dasharray: 2 3; stroke-width: 1; } text.first { fill: var(--ink); font-weight: 600; }
.equal { fill: var(--equal); background: var(--equal); } .differs { fill: var(--differs); background: var(--differs); }
.only-a { fill: var(--only-a); background: var(--only-a); } .only-b { fill: var(--only-b); background: var(--only-b); }
.span { stroke: var(--paper); stroke-width: .6; } .prefill { fill: var(--prefill); background: var(--prefill); }
.decode { fill: var(--decode); background: var(--decode); } .replay { fill: var(--replay); background: var(--replay); }
.verify { fill: var(--verify); background: var(--verify); } .skipped { fill: var(--skipped); background: var(--skipped); }
.legend span { display: inline-block; margin-right: 1.1rem; color: var(--quiet); }
.legend i { display: inline-block; width: .9rem; height: .7rem; margin-right: .35rem; }
"""
LEGEND = {
    "equal": "equal",
    "differs": "differs",
    "only-a": "only in A",
    "only-b": "only in B",
    "skipped": "given by the cache",
    "prefill": "prefill",
    "replay": "replay",
    "decode": "decode",
    "verify": "verify",
}


def page(comparison: Comparison, text: str) -> str:
    """The whole page, `text` below the picture. Everything that comes from a file is escaped."""
    first = first_difference(comparison)
    verdict = "Equal" if first is None else f"Different, first at {place(first, comparison.layers)}"
    legend = "".join(f'<span><i class="{name}"></i>{text}</span>' for name, text in LEGEND.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>isotherm trace diff</title><style>{STYLE}</style></head>
<body><h1>{escape(verdict)}</h1>
<p class="legend">{legend}</p>
<p>Layers from top to bottom, positions from left to right; thin bars are KV blocks and states at block boundaries.</p>
<div class="map">{draw(comparison, first)}</div>
<pre>{escape(text)}</pre>
</body></html>
"""
