"""Pure. How Markdown looks on a terminal: with colours, without, in ASCII, at any width."""

import re

import pytest

from orchestrator.drawing.cells import width_of
from orchestrator.drawing.look import Look
from orchestrator.drawing.markdown import draw_markdown
from tests.orchestrator.drawing.looks import ASCII, FULL

COLOURLESS = Look(live=True, colour=False, unicode=True)
REPLY = "# Plan\n\nA *small* `step`:\n\n- one\n- two [docs](http://h/x)\n\n```python\nx = 1\n```\n"


def bare(text: str) -> str:
    """`text` without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_markdown_is_drawn() -> None:
    assert bare(draw_markdown(REPLY, FULL, 40)).split("\n") == [
        "Plan",
        "",
        "A small step:",
        "",
        " • one",
        " • two docs (http://h/x)",
        "",
        " x = 1",
        "",
    ]


def test_code_brings_no_ground_of_its_own() -> None:
    assert re.findall(r"\x1b\[[0-9;]*?(?:4[0-8]|10[0-7])[;m]", draw_markdown(REPLY, FULL, 40)) == []


@pytest.mark.parametrize("look", [FULL, COLOURLESS])
@pytest.mark.parametrize("width", [20, 40, 100])
def test_markdown_fits_the_terminal(look: Look, width: int) -> None:
    drawn = draw_markdown(REPLY + "word " * 60 + "日本" * 60, look, width)
    assert all(width_of(row) <= width for row in bare(drawn).split("\n"))


def test_markdown_without_colour_names_none() -> None:
    assert re.findall(r"\x1b\[[0-9;]*?[349][0-8][;m]", draw_markdown(REPLY, COLOURLESS, 40)) == []


def test_a_plain_terminal_gets_markdown_as_it_was_written() -> None:
    assert draw_markdown("# Plan\n\n- *one*\n", ASCII, 40) == "# Plan\n\n- *one*\n"


def test_markup_of_the_drawing_library_means_nothing() -> None:
    assert bare(draw_markdown("[red]x[/red] :smile: [/]", FULL, 40)) == "[red]x[/red] :smile: [/]\n"
