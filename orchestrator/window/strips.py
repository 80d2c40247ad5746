"""Lines of the views as strips of the window: tones become colours of its theme, long lines are wrapped.

The door from covey's lines to textual's. A tone is never the only sign of what a line says.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import StringIO

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from orchestrator.drawing.cells import width_of
from orchestrator.drawing.lines import Line, Tone, plain, tame

STYLES: Mapping[Tone, Style] = {
    "plain": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "good": Style(color="green"),
    "bad": Style(color="red", bold=True),
    "warn": Style(color="yellow"),
    "accent": Style(color="cyan"),
}

CHOSEN = Style(reverse=True)
"""The entry that the keys act on. Reversed, so that it shows without colour as well."""


def strip_of(whole: Line) -> Strip:
    """One line that fits."""
    return Strip([Segment(span.text, STYLES[span.tone]) for span in whole if span.text])


def strips_of(lines: Sequence[Line], width: int) -> list[Strip]:
    """The lines, wrapped to `width` between words; what goes on stands below where its line begins."""
    strips: list[Strip] = []
    for each in lines:
        text = plain(each)
        if width_of(text) <= width:
            strips.append(strip_of(each))
        else:
            strips += _wrapped(each, text, max(8, width))
    return strips


def _wrapped(whole: Line, plain_text: str, width: int) -> list[Strip]:
    indent = min(len(plain_text) - len(plain_text.lstrip(" ")), width // 2)
    text = Text()
    for span in whole:
        text.append(span.text, STYLES[span.tone])
    console = _console()
    pieces = text[indent:].wrap(console, width - indent, justify="left", overflow="fold")
    margin = [Segment(" " * indent)] if indent else []
    return [Strip([*margin, *piece.render(console)]) for piece in pieces]


@lru_cache(maxsize=1)
def _console() -> Console:
    """What rich asks for when it wraps; nothing is written to it."""
    return Console(file=StringIO(), width=80, legacy_windows=False)


@lru_cache(maxsize=512)
def markdown_strips(text: str, width: int) -> tuple[Strip, ...]:
    """A model's Markdown as strips of at most `width`."""
    from orchestrator.drawing.markdown import markdown_segments

    return tuple(Strip(segments) for segments in markdown_segments(tame(text), width))


def with_offsets(strip: Strip, y: int) -> Strip:
    """The strip as line `y` of something that can be selected: textual finds the place under the mouse in it."""
    x = 0
    segments: list[Segment] = []
    for segment in strip:
        offset = _offset(x, y)
        segments.append(Segment(segment.text, segment.style + offset if segment.style else offset))
        x += len(segment.text)
    return Strip(segments, strip.cell_length)


@lru_cache(maxsize=16_384)
def _offset(x: int, y: int) -> Style:
    """textual's own `Strip.apply_offsets` makes such a style anew for each segment of each drawing."""
    return Style.from_meta({"offset": (x, y)})
