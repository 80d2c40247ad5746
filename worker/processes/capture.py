"""Takes in what a command writes: its two ends in memory, and all of it in a log when the text shown is not all.

A log is named by what is in it. So the same output gives the same answer, by which a repeated call is recognised, and
a log that some answer named is never overwritten by another's. The folder is the caller's, who also clears it.
"""

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import trio

from worker.processes.output import Ends, Shown, show
from worker.processes.plain_text import amount

LOG_LIMIT_BYTES = 1_000_000_000
"""A command that writes without end must not fill the disk."""

_READ_BYTES = 256 * 1024
_WRITE_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Captured:
    """What a command wrote. `log` is there when something of it was cut from what is shown.

    `log_fault` says why there is no log, or why it is not complete.
    """

    shown: Shown
    log: Path | None = None
    log_fault: str | None = None


class Capture:
    """One command's output, as it comes. A block around it removes what `finish` did not keep."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ends = Ends()
        self._unwritten = bytearray()
        self._log: Path | None = None
        self._logged_bytes = 0
        self._log_fault: str | None = None
        self._digest = hashlib.blake2b(digest_size=6)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove_log()

    async def read(self, stream: trio.lowlevel.FdStream) -> None:
        """Take in the stream to its end."""
        while data := await stream.receive_some(_READ_BYTES):
            self._ends.add(data)
            if self._log_fault is None:
                self._unwritten += data
                if len(self._unwritten) >= _WRITE_BYTES:
                    await trio.to_thread.run_sync(self._write)

    async def finish(self) -> Captured:
        """What was taken in."""
        return await trio.to_thread.run_sync(self._finish)

    def show(self) -> tuple[Shown, int]:
        """What was taken in so far, as a reader can use it, and how many bytes that is."""
        return show(self._ends), self._ends.total_bytes

    def hand_over(self, log: Path) -> int:
        """Move what was taken in to the file `log`, which a keeper goes on with; how many bytes there were in all.

        Raises:
            OSError: when it can't be written.
        """
        if self._log_fault is None:
            self._write()
        if self._log is None:
            log.touch()
        else:
            shutil.move(self._log, log)
            self._log = None
        self._log_fault = "its beginning was given away"  # should the command come back to this process
        return self._ends.total_bytes

    def _finish(self) -> Captured:
        shown = show(self._ends)
        if not shown.cut:  # too little for a log to have been begun
            return Captured(shown)
        if self._log_fault is None:
            self._write()
        if self._log is None:
            return Captured(shown, log_fault=self._log_fault)
        kept = self._folder / f"command-{self._digest.hexdigest()}.log"
        self._log.replace(kept)
        self._log = None
        return Captured(shown, kept, self._log_fault)

    def _write(self) -> None:
        """Add to the log what is not in it yet; at the first fault, none is written any more."""
        data = bytes(self._unwritten[: LOG_LIMIT_BYTES - self._logged_bytes])
        if len(data) < len(self._unwritten):
            self._log_fault = f"it holds the first {amount(LOG_LIMIT_BYTES)}"
        self._unwritten.clear()
        try:
            if self._log is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                file, name = tempfile.mkstemp(prefix="command-", suffix=".part", dir=self._folder)
                os.close(file)
                self._log = Path(name)
            with self._log.open("ab") as log:
                log.write(data)
        except OSError as error:
            self._log_fault = f"it could not be written: {error.strerror}"
            self._remove_log()  # on a full disk, the room is better used
        self._digest.update(data)
        self._logged_bytes += len(data)

    def _remove_log(self) -> None:
        if self._log is not None:
            self._log.unlink(missing_ok=True)
            self._log = None
