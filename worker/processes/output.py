"""What a command wrote, as a reader can use it: its first and last lines as text, whatever the bytes were.

`Ends` keeps the two ends of a stream of any length in constant memory; `show` makes a text of them. What a
byte means is `worker.processes.plain_text`'s affair. Pure: knows no process, no file and no tool.
"""

from dataclasses import dataclass

from worker.processes.plain_text import amount, describe_binary, guess_encoding, plain_text

HEAD_BYTES = 25 * 1024
TAIL_BYTES = 25 * 1024
LINE_BYTES = 8 * 1024
"""A longer line shows its two ends."""

# So much is kept of each end as it came: colours and progress bars may make little text of it.
_RAW_BYTES = 256 * 1024


class Ends:
    """The first and the last bytes of a stream, and how much there was in all."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.total_bytes = 0
        self.line_ends = 0
        self._tail = bytearray()

    @property
    def tail(self) -> bytes:
        """The last bytes; those that are in `head` are not among them."""
        return bytes(self._tail[-_RAW_BYTES:])

    @property
    def left_out_bytes(self) -> int:
        """How many bytes lie between `head` and `tail`."""
        return self.total_bytes - len(self.head) - min(len(self._tail), _RAW_BYTES)

    def add(self, data: bytes) -> None:
        self.total_bytes += len(data)
        self.line_ends += data.count(b"\n")
        room = _RAW_BYTES - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self._tail += data[-_RAW_BYTES:]
        if len(self._tail) > 2 * _RAW_BYTES:
            del self._tail[:-_RAW_BYTES]


@dataclass(frozen=True)
class Shown:
    """A text for the model. `cut` is true when something of the output is not in it."""

    text: str
    cut: bool


def show(ends: Ends) -> Shown:
    """The output as text of about 50 KB at most, with a line that says so where something was left out."""
    head, tail = bytes(ends.head), ends.tail
    if ends.left_out_bytes == 0:
        head, tail = head + tail, b""
    encoding = guess_encoding(head)
    if encoding == "binary":
        return Shown(describe_binary(head, ends.total_bytes), cut=True)
    start = _lines(plain_text(head, encoding, goes_on=ends.left_out_bytes > 0))
    if ends.left_out_bytes == 0:
        lines = [_shorten(line) for line in start]
        if sum(map(_size, lines)) > HEAD_BYTES + TAIL_BYTES:
            return _show_ends(lines, lines, len(lines), ends.total_bytes)
        return Shown("\n".join(lines), cut=lines != start)
    end = _lines(plain_text(tail, encoding, offset=ends.total_bytes - len(tail)))
    start[-1] = _first_part(start[-1])  # both were broken somewhere in a line
    end[0] = _last_part(end[0])
    total_lines = ends.line_ends + (not tail.endswith(b"\n"))
    return _show_ends(list(map(_shorten, start)), list(map(_shorten, end)), total_lines, ends.total_bytes)


def _show_ends(start: list[str], end: list[str], total_lines: int, total_bytes: int) -> Shown:
    """As many lines from the beginning of `start` and from the end of `end` as have room."""
    head = _fitting(start, HEAD_BYTES)
    tail = _fitting(end[::-1], TAIL_BYTES)[::-1]
    missing = total_lines - len(head) - len(tail)
    what = f"{missing:,} of {total_lines:,} lines" if missing > 0 else "part of a line"
    return Shown(
        "\n".join([*head, f"[… {what} left out here, {amount(total_bytes)} in all …]", *tail]), cut=True
    )


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _fitting(lines: list[str], room: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        room -= _size(line)
        if room < 0:
            break
        taken.append(line)
    return taken


def _size(line: str) -> int:
    return len(line.encode()) + 1


def _shorten(line: str) -> str:
    """The line, or its two ends where it is longer than `LINE_BYTES`."""
    if len(line) * 4 <= LINE_BYTES or (size := len(line.encode())) <= LINE_BYTES:
        return line
    start, end = _first_part(line), _last_part(line)
    left_out = size - len(start.encode()) - len(end.encode())
    return f"{start} [… {left_out:,} bytes of this line left out …] {end}"


def _first_part(line: str) -> str:
    return line.encode()[: LINE_BYTES // 2].decode(errors="ignore")


def _last_part(line: str) -> str:
    return line.encode()[-(LINE_BYTES // 2) :].decode(errors="ignore")
