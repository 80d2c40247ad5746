"""How lines and Markdown look on a terminal: tones become colours, Markdown becomes headings, lists and code.

The one file that draws with rich; it makes strings and writes none of them. Colours are the sixteen that a
person's own theme defines, so that they can be read on a light and on a dark ground.
"""

import io
from collections.abc import Mapping

from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from orchestrator.terminal.lines import Line, Tone, answered, plain
from orchestrator.terminal.look import Look

_STYLES: Mapping[Tone, Style] = {
    "plain": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "good": Style(color="green"),
    "bad": Style(color="red", bold=True),
    "warn": Style(color="yellow"),
    "accent": Style(color="cyan"),
}


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


def draw_line(line: Line, look: Look) -> str:
    """`line` in its tones, without a newline."""
    if not look.live:
        return plain(line)
    styles = {tone: style if look.colour else style.without_color for tone, style in _STYLES.items()}
    return "".join(
        styles[span.tone].render(span.text, color_system=ColorSystem.STANDARD) for span in line if span.text
    )


def draw_markdown(text: str, look: Look, width: int) -> str:
    """`text`, which is tame, as Markdown in lines of at most `width`, with a newline at its end."""
    if not look.unicode:  # rich's bullets and rules have no ASCII form
        return "".join(f"{plain(part)}\n" for part in answered(text))
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        no_color=not look.colour,
        width=width,
        highlight=False,
        legacy_windows=False,
        theme=_THEME,
    )
    # A theme of the sixteen colours and no ground of its own; links as text, since not every terminal can
    # click.
    markdown = _Markdown(text, code_theme="ansi_dark", hyperlinks=False)
    with console.capture() as capture:
        console.print(markdown)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().strip("\n").split("\n"))
