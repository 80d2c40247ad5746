"""The modules as the table that `covey modules` and `/modules` show."""

from orchestrator.config.layers import Settings
from orchestrator.drawing.lines import Line, Span
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.terms.modules import module_rows


def module_lines(settings: Settings, look: Look, width: int | None) -> list[Line]:
    """The modules as a table."""
    rows = [
        [
            Span(row.name, "strong"),
            Span("on" if row.on else "off", "good" if row.on else "warn"),
            Span(row.about),
            Span(row.where or "default", "dim"),
        ]
        for row in module_rows(settings)
    ]
    return table(("module", "state", "what for", "source"), rows, look, width, (("source", 0),))
