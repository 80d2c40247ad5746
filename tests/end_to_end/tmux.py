"""A real terminal that a program can look at: a tmux server of one's own with one window."""

import os
import re
import select
import shlex
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_PATIENCE_SECONDS = 60
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m|\x1b\(B|\x0f")


class Terminal:
    """A terminal of `columns` by `rows` in which one program runs. Made by `open_terminal`."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ("tmux", "-S", str(socket), "-f", os.devnull)
        # All that the program writes goes there as well: so the terminal tells when there is something new to see.
        self._told = socket.with_name(f"{socket.name}-told")
        os.mkfifo(self._told)
        self._news = os.open(self._told, os.O_RDWR | os.O_NONBLOCK)

    def run(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], columns: int, rows: int
    ) -> None:
        """Run `command`; after its end the terminal stays and says `ended with STATUS`."""
        words = shlex.join(
            ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command]
        )
        # Ctrl-C reaches this shell, too, and must not end it.
        shell = f'trap : INT; {words}; printf "\\nended with %s\\n" $?; exec sleep {_PATIENCE_SECONDS}'
        size = ("-x", str(columns), "-y", str(rows))
        self._call("new-session", "-d", *size, "-c", str(folder), "sh", "-c", shell)
        self._call("set-option", "-s", "escape-time", "0")
        self._call("pipe-pane", "-o", f"exec cat > {shlex.quote(str(self._told))}")

    def type(self, text: str) -> None:
        """Type `text` as it is."""
        self._call("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: `Enter`, `Escape`, `C-c`, `C-d`, `Up`."""
        self._call("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._call("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *, above: int = 0, colours: bool = False) -> str:
        """What it shows now, and so many lines of what has scrolled away."""
        shown = self._call("capture-pane", "-p", "-e", "-S", str(-above))
        return shown if colours else _COLOURS.sub("", shown)

    def wait_for(self, pattern: str, *, above: int = 0, colours: bool = False) -> str:
        """The screen, as soon as its plain text matches `pattern`.

        Raises:
            TimeoutError: with what it shows instead.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            shown = self._call("capture-pane", "-p", "-e", "-S", str(-above))
            plain = _COLOURS.sub("", shown)
            if re.search(pattern, plain, re.DOTALL):
                return shown if colours else plain
            if not self._wait_for_news(deadline - time.monotonic()):
                raise TimeoutError(f"The terminal never showed {pattern!r}:\n{plain}")

    def close(self) -> None:
        """End the terminal and what runs in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
        os.close(self._news)

    def _wait_for_news(self, seconds: float) -> bool:
        """Wait until the program has written something; False when it did not in so many seconds."""
        if seconds <= 0 or not select.select([self._news], [], [], seconds)[0]:
            return False
        os.read(self._news, 65_536)
        return True

    def _call(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def open_terminal(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    socket: Path,
    columns: int = 100,
    rows: int = 40,
) -> Generator[Terminal]:
    """A terminal in which `command` runs; `socket` is a short path for tmux to listen on."""
    terminal = Terminal(socket)
    try:
        terminal.run(command, folder=folder, environment=environment, columns=columns, rows=rows)
        yield terminal
    finally:
        terminal.close()
