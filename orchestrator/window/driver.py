"""textual's driver for covey: a terminal that is slow or gone holds up nobody.

textual writes from a thread with a short queue and gives up with a traceback when the terminal has gone. Here the queue
has no end, so the session goes on whatever the terminal does; the window leaves out drawings while it `lags`.
"""

import codecs
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TextIO, cast

from textual.app import App
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver

_LAST_WORDS_SECONDS = 2.0

_LAGS_FROM = 12
"""Drawings that wait: from then on the next is left out."""


class _Forgiving:
    """Standard error as textual writes to it; what can't be written any more is dropped."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._try(lambda: self._file.write(text.encode(errors="replace").decode()))

    def flush(self) -> None:
        self._try(self._file.flush)

    def fileno(self) -> int:
        return self._file.fileno()

    def _try(self, write: Callable[[], object]) -> None:
        with suppress(OSError, ValueError):
            write()


class PatientWriter(WriterThread):
    """textual's writer with a queue that never blocks who writes."""

    def __init__(self, file: object) -> None:
        super().__init__(cast("TextIO", file))
        self._queue.maxsize = 0

    @property
    def waiting(self) -> int:
        """How many drawings wait to be written."""
        return self._queue.qsize()

    def stop(self) -> None:
        """End the thread; a terminal that takes nothing any more is not waited for."""
        self._queue.put(None)
        self.join(_LAST_WORDS_SECONDS)


def _decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class PatientDriver(LinuxDriver):
    """A terminal that may be slow or gone."""

    def __init__(self, app: "App[object]", **options: object) -> None:
        super().__init__(app, **options)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
        self._file = cast("TextIO", _Forgiving(self._file))

    def start_application_mode(self) -> None:
        # The driver offers no other way to choose these two. A byte that is no UTF-8 must not end the session.
        linux_driver.WriterThread = PatientWriter  # pyright: ignore[reportPrivateImportUsage]
        linux_driver.getincrementaldecoder = _decoder  # pyright: ignore[reportPrivateImportUsage]
        super().start_application_mode()

    @property
    def lags(self) -> bool:
        """Whether so much waits to be written that another drawing would only wait as well."""
        writer = self._writer_thread
        return isinstance(writer, PatientWriter) and writer.waiting > _LAGS_FROM

    @property
    def is_gone(self) -> bool:
        """Whether the terminal does not exist any more."""
        try:
            os.get_terminal_size(self.fileno)
        except OSError:
            return True
        return False
