"""Draws the pictures in the README: plays `covey demo` in a real terminal and keeps what the terminal showed.

`make pictures`. tmux is the terminal, rich turns what it captured into SVG. Nothing is drawn by hand.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from orchestrator.demo.run import REQUEST
from orchestrator.demo.sample import make_sample
from tests.end_to_end.tmux import open_terminal

ROOT = Path(__file__).parents[1]
PICTURES = Path(__file__).with_name("pictures")
COVEY = Path(sys.executable).with_name("covey")

_COLUMNS, _ROWS = 118, 46
_WINDOW_ROWS = 38

# rich's own frame, but with fonts that are on the reader's machine: a picture in a README may load nothing.
_FRAME = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)


def draw(screen: str, name: str, title: str) -> None:
    """Write a captured screen as `pictures/NAME.svg`."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in screen.rstrip().splitlines():
        console.print(Text.from_ansi(line), overflow="crop", no_wrap=True)
    svg = console.export_svg(title=title, unique_id=name, code_format=_FRAME)
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="demo-") as name:
        folder = Path(name)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": name,
            "TMPDIR": name,
            "LANG": "C.UTF-8",
            "TERM": "tmux-256color",
            "COLORTERM": "truecolor",
        }
        with open_terminal(
            [str(COVEY), "demo"],
            folder=folder,
            environment=environment,
            socket=folder / "tmux",
            columns=_COLUMNS,
            rows=_ROWS,
        ) as terminal:
            fan_out = terminal.wait_for(r"(running.*){4}", colours=True)
            draw(fan_out, "fan-out", "covey demo, while its children work")
            ended = terminal.wait_for(r"What to type next.*ended with", above=200, colours=True)
            draw(_what_is_left(ended), "receipt", "how covey demo ends")
        _draw_window(folder, environment)


def _draw_window(folder: Path, environment: dict[str, str]) -> None:
    """The same turn as the demo's, held at a window: while its children work, and the review of what was kept."""
    sample = folder / "tally"
    make_sample(sample)
    with (
        _scripted_model() as url,
        open_terminal(
            [str(COVEY), "--endpoint", url, "--model", "scripted"],
            folder=sample,
            environment=environment,
            socket=folder / "tmux-window",
            columns=_COLUMNS,
            rows=_WINDOW_ROWS,
        ) as terminal,
    ):
        terminal.wait_for("ready · F1 help")
        terminal.type(REQUEST)
        terminal.press("Enter")
        working = terminal.wait_for(r"[4-6] at work, [2-4] ended", colours=True)
        draw(working, "window", "covey, while its children work")
        terminal.wait_for(r"8 children: .*ready ·")
        terminal.type("/review longer")
        terminal.press("Enter")
        terminal.wait_for("place 1 of 1")
        terminal.type("c")
        draw(
            terminal.wait_for(r"\[x\] the child", colours=True),
            "review",
            "a conflict, decided place by place",
        )
        terminal.press("C-d")
        terminal.wait_for("ready ·")
        terminal.press("C-d")
        terminal.wait_for("ended with")


@contextmanager
def _scripted_model() -> Generator[str]:
    """The demo's model on this machine, until the block is left; its address."""
    command = [str(COVEY), "scripted", str(ROOT / "orchestrator" / "demo" / "scenario.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None, "it says where it listens"
            yield found[0].rstrip(".,")
        finally:
            server.terminate()


def _what_is_left(screen: str) -> str:
    """From the parent's answer to the program's end: what a person is left with."""
    lines = screen.splitlines()
    plain = [Text.from_ansi(line).plain for line in lines]
    begin = next(number for number, line in enumerate(plain) if "The release work is in your tree" in line)
    end = next(number for number, line in enumerate(plain) if line.startswith("ended with"))
    return "\n".join(lines[begin:end])


if __name__ == "__main__":
    main()
