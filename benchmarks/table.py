"""Tables of measurements as plain text that also reads as Markdown, and the few ways a number is told."""

from collections.abc import Sequence


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a line for each row; the first column is left-aligned, the others are numbers."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(row, widths) for row in (head, rule, *rows))


def milliseconds(seconds: float) -> str:
    """`1,234 ms`; below ten a decimal more."""
    value = seconds * 1000
    return f"{value:.1f} ms" if value < 10 else f"{value:,.0f} ms"


def megabytes(size_bytes: float) -> str:
    """`20.5 MB`, of a million bytes each."""
    return f"{size_bytes / 1_000_000:,.1f} MB"


def times(value: float, reference: float) -> str:
    """How many times the reference a value is: `0.62 ×`. Of a reference of nothing there is no telling."""
    return f"{value / reference:.2f} ×" if reference else "–"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "| " + " | ".join([first, *others]) + " |"
