"""Draws the pictures in the README: plays `covey demo` in a real terminal and keeps what the terminal showed.

`make pictures`. tmux is the terminal, rich turns what it captured into SVG. Nothing is drawn by hand.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURES = Path(__file__).with_name("pictures")
COVEY = Path(sys.executable).with_name("covey")

_COLUMNS, _ROWS = 118, 46

_PATIENCE_SECONDS = 60

# rich's own frame, but with fonts that are on the reader's machine: a picture in a README may load nothing.
_FRAME = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)
_LOOK_AGAIN_SECONDS = 0.02


class Terminal:
    """A tmux server of our own with one window."""

    def __init__(self, name: str) -> None:
        self._tmux = ("tmux", "-L", name, "-f", os.devnull)

    def run(self, command: str) -> None:
        size = ("-x", str(_COLUMNS), "-y", str(_ROWS))
        # The terminal stays after the program's end, so that its last screen can be taken.
        shell = f"COLORTERM=truecolor {command}; exec sleep {_PATIENCE_SECONDS}"
        self._call("new-session", "-d", *size, shell)

    def screen(self, history: int = 0) -> str:
        """What it shows now with its colours, and so many lines above it."""
        return self._call("capture-pane", "-p", "-e", "-S", str(-history))

    def wait_for(self, pattern: str, history: int = 0) -> str:
        """The screen, as soon as its plain text matches `pattern`."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            screen = self.screen(history)
            if re.search(pattern, Text.from_ansi(screen).plain, re.DOTALL):
                return screen
            time.sleep(_LOOK_AGAIN_SECONDS)
        raise TimeoutError(f"The terminal never showed {pattern!r}:\n{self.screen(history)}")

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _call(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True).stdout


def draw(screen: str, name: str, title: str) -> None:
    """Write a captured screen as `pictures/NAME.svg`."""
    lines = screen.rstrip().splitlines()
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(Text.from_ansi(line), overflow="crop", no_wrap=True)
    svg = console.export_svg(title=title, unique_id=name, code_format=_FRAME)
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    terminal = Terminal(f"covey-pictures-{os.getpid()}")
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        try:
            terminal.run(
                f"cd {shlex.quote(folder)} && TMPDIR={shlex.quote(folder)} {shlex.quote(str(COVEY))} demo"
            )
            draw(terminal.wait_for(r"(running.*){4}"), "fan-out", "covey demo, while its children work")
            draw(
                _ending(terminal.wait_for(r"What to type next.*\n", history=200)),
                "receipt",
                "how covey demo ends",
            )
        finally:
            terminal.close()


def _ending(screen: str) -> str:
    """From the parent's answer on: what a person is left with."""
    lines = screen.splitlines()
    plain = [Text.from_ansi(line).plain for line in lines]
    begin = next(number for number, line in enumerate(plain) if "The release work is in your tree" in line)
    return "\n".join(lines[begin:])


if __name__ == "__main__":
    main()
