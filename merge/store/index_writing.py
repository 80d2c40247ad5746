"""An index file that is written while its parts are made; its checksum is made beside.

Of a large index both take longer than all else of a checkout, and neither needs the interpreter.
"""

import hashlib
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

Part = bytes | memoryview


class IndexWriting:
    """What is put is written, in order."""

    def __init__(self, lines: "tuple[SimpleQueue[Part | None], ...]") -> None:
        self._lines = lines

    def put(self, parts: Iterable[Part]) -> None:
        """Returns when all parts are made; they are written meanwhile, and after that."""
        for part in parts:
            for line in self._lines:
                line.put(part)


@contextmanager
def open_index_writing(file: Path, id_bytes: int) -> Generator[IndexWriting]:
    """Make an index file of what is put in the block, and of its checksum; it is whole when the block is left.

    Raises:
        OSError: when it can't be written.
    """
    digest = hashlib.sha256() if id_bytes == 32 else hashlib.sha1(usedforsecurity=False)
    lines: tuple[SimpleQueue[Part | None], ...] = (SimpleQueue(), SimpleQueue())
    with file.open("wb", buffering=0) as opened, ThreadPoolExecutor(2) as beside:
        written = beside.submit(_take, lines[0], lambda part: _write(opened.write, part))
        hashed = beside.submit(_take, lines[1], digest.update)
        try:
            yield IndexWriting(lines)
        finally:
            for line in lines:
                line.put(None)
        hashed.result()
        written.result()
        _write(opened.write, digest.digest())


def _take(line: "SimpleQueue[Part | None]", act: Callable[[Part], object]) -> None:
    while (part := line.get()) is not None:
        act(part)


def _write(write: Callable[[Part], int | None], part: Part) -> None:
    rest = memoryview(part)
    while rest:
        rest = rest[write(rest) or 0 :]
