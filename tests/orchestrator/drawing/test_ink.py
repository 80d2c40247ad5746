"""Pure. How a line looks on a terminal: with colours, without, and in a file."""

from orchestrator.drawing.ink import draw_line
from orchestrator.drawing.lines import Span, line
from orchestrator.drawing.look import Look
from tests.orchestrator.drawing.looks import FULL, LOG

COLOURLESS = Look(live=True, colour=False, unicode=True)


def test_tones_become_colours_of_the_persons_own_theme() -> None:
    assert draw_line(line(Span("x", "good"), "y"), FULL) == "\x1b[32mx\x1b[0my"


def test_without_colour_only_weight_is_left() -> None:
    drawn = draw_line(line(Span("a", "bad"), Span("b", "dim"), Span("c", "accent")), COLOURLESS)
    assert drawn == "\x1b[1ma\x1b[0m\x1b[2mb\x1b[0mc"


def test_a_file_gets_no_escape_sequence() -> None:
    assert draw_line(line(Span("a", "bad"), "b"), LOG) == "ab"
