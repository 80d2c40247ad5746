"""How a line looks on a terminal: its tones become colours.

Makes strings and writes none. Colours are the sixteen that a person's own theme defines, so that they can
be read on a light and on a dark ground.
"""

from collections.abc import Mapping

from rich.color import ColorSystem
from rich.style import Style

from orchestrator.drawing.lines import Line, Tone, plain
from orchestrator.drawing.look import Look

_STYLES: Mapping[Tone, Style] = {
    "plain": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "good": Style(color="green"),
    "bad": Style(color="red", bold=True),
    "warn": Style(color="yellow"),
    "accent": Style(color="cyan"),
}


def draw_line(line: Line, look: Look) -> str:
    """`line` in its tones, without a newline."""
    if not look.live:
        return plain(line)
    styles = {tone: style if look.colour else style.without_color for tone, style in _STYLES.items()}
    return "".join(
        styles[span.tone].render(span.text, color_system=ColorSystem.STANDARD) for span in line if span.text
    )
