"""How a model's Markdown looks on a terminal: headings, lists, tables, code.

Makes strings and writes none. Apart from `orchestrator.drawing.ink` because it is slow to import, and
nothing is said in Markdown before the first reply.
"""

import io

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from orchestrator.drawing.lines import answered, plain
from orchestrator.drawing.look import Look


class _LeftHeading(Heading):
    """A heading at the left margin; rich would centre it, and put the first level into a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text
        text.justify = "left"
        yield text


class _CodeBlock(CodeBlock):
    """A fenced block between the blank lines that every block has; rich would add a second pair."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1))


class _Markdown(Markdown):
    elements = {  # noqa: RUF012 - this is how rich is extended
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
    }


# rich puts inline code on black, which is a hole in a light terminal.
_THEME = Theme({"markdown.code": "bold cyan", "markdown.code_block": "cyan"})


def draw_markdown(text: str, look: Look, width: int) -> str:
    """`text`, which is tame, as Markdown in lines of at most `width`, with a newline at its end."""
    if not look.unicode:  # rich's bullets and rules have no ASCII form
        return "".join(f"{plain(part)}\n" for part in answered(text))
    console = _console(width, colour=look.colour)
    with console.capture() as capture:
        console.print(_markdown(text))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().strip("\n").split("\n"))


def markdown_segments(text: str, width: int) -> list[list[Segment]]:
    """`text`, which is tame, as lines of segments, for whoever draws these itself."""
    console = _console(width, colour=True)
    lines = console.render_lines(_markdown(text), pad=False)
    while lines and not any(segment.text.strip() for segment in lines[-1]):
        lines.pop()
    return lines


def _console(width: int, *, colour: bool) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        no_color=not colour,
        width=width,
        highlight=False,
        legacy_windows=False,
        theme=_THEME,
    )


def _markdown(text: str) -> Markdown:
    # A theme of the sixteen colours and no ground of its own; links as text, since not every terminal can click.
    return _Markdown(text, code_theme="ansi_dark", hyperlinks=False)
