"""The comparison of modes in the terminal."""

from rich.table import Table
from rich.text import Text

from isotherm.evaluate.modes import ModesReport


def modes_table(report: ModesReport) -> Table:
    """A row a mode: how many cases are right, how many answered otherwise than alone, and what the mode made use of."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("mode", no_wrap=True)
    for name in ("right", "differ", "tokens", "cached", "preempted", "accepted", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in report.results:
        counts = (result.tokens, result.cached, result.preemptions, result.accepted)
        table.add_row(
            result.mode.name,
            f"{result.right}/{report.cases}",
            Text(str(len(result.differ)), "red" if result.differ else "green"),
            *(f"{count:,}" if count else "" for count in counts),
            f"{result.seconds:.0f}",
        )
    return table
