"""One page of the lines that a search hits: `path:N:col:line`, or with tags `path:N:hash|line`, and context round them.

The files come with the number of their hits, so that a page far into a result is found without showing what lies before
it. Lines are fetched file by file, in the order of the result, until the page is full.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import trio

from worker.tools.lines import hash_of, show_zeros
from worker.tools.ripgrep import run_ripgrep
from worker.tools.ripgrep_output import Stretch, Stretches
from worker.tools.ripgrep_runs import pattern_arguments
from worker.tools.search_files import Found
from worker.tools.search_query import Query

# Of a long line, so many characters round the hit are shown.
_SHOWN_CHARACTERS = 400
_SHOWN_BEFORE = 100

# A page of 50 KB holds fewer hits than this, since each takes a path and three more characters.
_MOST_HITS = 8_000

# So much of file names is given to one run: what a system takes as arguments is ten times that, or more.
_NAMES_BYTES = 100_000


class LinePage:
    """The lines of a page as they are fetched, up to `limit_bytes`. `entries` counts the hits that it shows."""

    def __init__(self, query: Query, show: Callable[[str], str], limit_bytes: int) -> None:
        self.lines: list[str] = []
        self.entries = 0
        self.is_full = False
        self._query = query
        self._show = show
        self._left = limit_bytes
        self._to_skip = 0
        self._path: bytes = b""
        self._shown = ""
        self._next_line: int = 0

    async def fetch(self, files: Sequence[Found], skipped: int) -> None:
        """Fill the page with the hits of `files`, but for the first `skipped` hits of the first one."""
        self._to_skip = skipped
        for batch in _batches(files):
            regular = await trio.to_thread.run_sync(_still_files, batch, abandon_on_cancel=True)
            if not regular:
                continue
            # In order and one after the other, so that a full page ends the run.
            arguments = ["--json", "--threads=1", *pattern_arguments(self._query)]
            arguments += [f"--before-context={self._query.before}", f"--after-context={self._query.after}"]
            if not self._query.multiline:
                arguments.append(f"--max-count={self._to_skip + _MOST_HITS}")
            await run_ripgrep([*arguments, "--", *regular], Stretches(self._take).take)
            if self.is_full:
                break

    def _take(self, stretch: Stretch) -> bool:
        hits = len(stretch.hits) if self._query.multiline else min(len(stretch.hits), 1)
        if self._to_skip and self._to_skip >= hits:
            self._to_skip -= hits
            return True
        self._to_skip = 0
        apart = stretch.path != self._path or stretch.first_line != self._next_line
        if stretch.path != self._path:
            self._path, self._shown = stretch.path, self._show(stretch.path.decode(errors="surrogateescape"))
        lines = list(_lines(self._shown, stretch, tags=self._query.tags))
        self._next_line = stretch.first_line + len(lines)
        if apart and self.lines and (self._query.before or self._query.after):
            lines.insert(0, "--")
        size = sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
        if size > self._left and self.lines:
            self.is_full = True
            return False
        for line in lines:
            # Only a hit over very many lines is larger than a page; it is cut, and counts as shown.
            self._left -= len(line.encode("utf-8", "replace")) + 1
            if self._left < 0 and self.lines:
                break
            self.lines.append(line)
        self.entries += hits
        return True


def _batches(files: Sequence[Found]) -> Iterator[list[str]]:
    """The paths of the files, as many at a time as fit into one run and may be needed for a page."""
    batch: list[str] = []
    size = hits = 0
    for file in files:
        batch.append(file.path)
        size += len(file.path) * 2 + 16
        hits += file.hits
        if size > _NAMES_BYTES or hits > _MOST_HITS:
            yield batch
            batch, size, hits = [], 0, 0
    if batch:
        yield batch


def _still_files(paths: Sequence[str]) -> list[str]:
    """Those that are files: one may have become a pipe since it was found, and opening that waits for a writer."""
    return [path for path in paths if Path(path).is_file()]


def _lines(shown: str, stretch: Stretch, *, tags: bool) -> Iterator[str]:
    """The lines of a stretch as they are told. A line that no hit begins in has dashes, as grep has them."""
    start = 0
    for offset, raw in enumerate(stretch.lines.removesuffix(b"\n").split(b"\n")):
        line = raw.removesuffix(b"\r")
        number = stretch.first_line + offset
        end = start + len(raw)
        hit = next((at - start for at, _ in stretch.hits if start <= at <= end), None)
        start = end + 1
        text, columns = _text_of(line)
        window = _window(text, hit and len(columns(hit)))
        if hit is None:
            yield f"{shown}-{number}:{hash_of(line)}|{window}" if tags else f"{shown}-{number}-{window}"
        elif tags:
            yield f"{shown}:{number}:{hash_of(line)}|{window}"
        else:
            column = len(columns(hit).encode("utf-16-le", "surrogatepass")) // 2 + 1
            yield f"{shown}:{number}:{column}:{window}"


def _text_of(line: bytes) -> tuple[str, Callable[[int], str]]:
    """A line as text, and what of it stands before a byte."""
    try:
        return show_zeros(line.decode()), lambda end: line[:end].decode(errors="replace")
    except UnicodeDecodeError:
        return show_zeros(line.decode("latin-1")), lambda end: line[:end].decode("latin-1")


def _window(text: str, hit: int | None) -> str:
    """As much of a line as is shown of it, with the hit, which begins at a character, in sight."""
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    start = max(0, min((hit or 0) - _SHOWN_BEFORE, len(text) - _SHOWN_CHARACTERS))
    end = start + _SHOWN_CHARACTERS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
