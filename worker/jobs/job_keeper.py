"""The process that keeps one job: it takes in what the command writes, and records how it ended, whoever is alive then.

A program of its own (arguments: FOLDER TOTAL MARKER REPORTS CONTROL OUTPUT LOCK; the last four are file descriptors).
It takes the place of covey as the owner of the command's guard (`worker.processes.command_guard`) and tells it to
keep: when the shell has ended, what the shell started is waited for. The end is recorded when nothing of the command
is alive.

Keeper and guard watch each other. When the keeper is killed the guard's pipe ends, and the guard ends the command; when
the guard is killed the keeper ends what carries the command's marker. The lock says that the keeper lives: it came
with the descriptor and goes with the process, so neither a reused id nor a restart of the machine can hold it.

SIGTERM means stop. In the folder: `lock` holds the keeper's id and start, `output*.log` the output, and `ended.json`
the end. It imports little, because it may live for weeks.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

from worker.jobs.job_log import LogWriter
from worker.processes.process_table import carries, list_processes, look_up

_DEAF_TO = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)

_CHUNK = 64 * 1024

# What escaped its guard may hold the output open for ever.
_MARGIN_SECONDS = 2.0

# A killed guard: what it had started is looked for and killed, until nothing is found; a fork may be faster once.
_ROUNDS = 50
_ROUND_SECONDS = 0.05

_PART = "ended.json.part"
_END_BYTES = 4096


class Keeper:
    """One job, from when its keeper starts to the record of its end."""

    def __init__(
        self, folder: str, total_bytes: int, marker: str, reports: int, control: int, output: int
    ) -> None:
        self._folder = folder
        self._marker = marker
        self._reports = reports
        self._control = control
        self._output = output
        self._log = LogWriter(folder, total_bytes)
        self._words = b""
        self._stopped = False
        # A disk that is full when the job ends must not keep its end from being recorded.
        self._end = os.open(f"{folder}/{_PART}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with suppress(OSError):
            os.write(self._end, b" " * _END_BYTES)
        self._wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def run(self) -> None:
        """Stay until nothing of the command is alive, then record how it ended."""
        with suppress(OSError):  # the guard has ended already
            os.write(self._control, b"k")
        news = select.poll()
        for file in (self._wake, self._reports, self._output):
            news.register(file, select.POLLIN)
        open_files = {self._reports, self._output}
        deadline = None
        while open_files and (deadline is None or time.monotonic() < deadline):
            patience = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000 + 1
            for file, _ in news.poll(patience):
                if file == self._wake:
                    os.read(self._wake, 64)
                    self._stop()
                elif not self._take_in(file):
                    news.unregister(file)
                    open_files.discard(file)
            if self._reports not in open_files and deadline is None:
                deadline = time.monotonic() + _MARGIN_SECONDS
        self._log.close()
        self._record()

    def _stop(self) -> None:
        if not self._stopped:
            self._stopped = True
            os.close(self._control)

    def _take_in(self, file: int) -> bool:
        """Read what has come; whether more may."""
        try:
            data = os.read(file, _CHUNK)
        except BlockingIOError:
            return True
        if file == self._output:
            if data:
                self._log.add(data)
        else:
            self._words += data
            if not data and not self._is_proved():
                self._end_what_is_marked()
        return bool(data)

    def _is_proved(self) -> bool:
        return any(
            line.split()[:1] in ([b"clean"], [b"left"], [b"unsure"]) for line in self._words.splitlines()
        )

    def _end_what_is_marked(self) -> None:
        """The guard was killed: end what it owned, found by the variable that it gave to all of it."""
        name, _, value = self._marker.partition("=")
        for _ in range(_ROUNDS):
            found = [entry.key.pid for entry in list_processes() if carries(entry.key.pid, name, value)]
            if not found:
                return
            for pid in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_ROUND_SECONDS)

    def _record(self) -> None:
        """Write the end down so that it is on the disk, whole or not at all."""
        import json

        status = killed_by = None
        left: list[int] = []
        for line in self._words.decode().splitlines():
            match line.split():
                case ["exited", number]:
                    status = int(number)
                case ["signalled", number]:
                    killed_by = int(number)
                case ["left", *pids]:
                    left = [int(pid) for pid in pids]
                case _:
                    pass
        end = {
            "status": status,
            "signal": killed_by,
            "stopped": self._stopped,
            "left": left,
            "ended_at": time.time(),
            "total_bytes": self._log.total_bytes,
            "log_fault": self._log.fault,
        }
        os.pwrite(self._end, json.dumps(end).encode().ljust(_END_BYTES), 0)
        os.fsync(self._end)
        os.rename(f"{self._folder}/{_PART}", f"{self._folder}/ended.json")  # noqa: PTH104
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def main() -> None:
    for number in _DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    folder, total, marker = sys.argv[1:4]
    reports, control, output, lock = map(int, sys.argv[4:8])
    keeper = Keeper(folder, int(total), marker, reports, control, output)
    own = look_up(os.getpid())
    os.write(lock, f"{os.getpid()} {own.key.start_time if own else 0}\n".encode())
    with suppress(OSError):  # covey may be gone already
        os.write(1, b"kept\n")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        os.dup2(nowhere, file)
    keeper.run()


if __name__ == "__main__":
    main()
