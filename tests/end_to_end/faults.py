"""Faults as values: what is done to a running session from outside, and what is damaged once it is gone.

Each takes the session as it stands at an event of its journal. `inflict` does the harm, and what can be taken back
(a stopped process, a full disk) is taken back by `mend`. Knows processes and files, and no law.
"""

import os
import resource
import signal
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

import trio

from merge.store.repository import find_repository
from orchestrator.children.ledger import OPEN_STATES, ledger_path, open_ledger
from tests.process_trees import list_tree
from worker.processes.process_tree import ProcessKey, is_alive, signal_all


class Sufferer:
    """A running `covey` in `repository`: its process, and those of its children."""

    def __init__(self, repository: Path, process: trio.Process) -> None:
        self.repository = repository
        self.process = process

    @property
    def journal(self) -> Path:
        (path,) = (self.repository / ".covey" / "sessions").glob("*/journal.jsonl")
        return path

    def workers(self) -> list[ProcessKey]:
        """The workers that run."""
        with open_ledger(find_repository(self.repository)) as ledger:
            rows = ledger.rows(OPEN_STATES)
        keys = [ProcessKey(row.worker.pid, row.worker.start_time) for row in rows if row.worker is not None]
        return [key for key in keys if is_alive(key)]

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


class Fault(Protocol):
    """One kind of harm. `is_deadly` says that no session is left after `inflict`."""

    is_deadly: bool

    async def inflict(self, session: Sufferer) -> None: ...

    async def mend(self, session: Sufferer) -> None: ...


class Kill:
    """The parent is killed."""

    is_deadly = True

    async def inflict(self, session: Sufferer) -> None:
        await session.kill()

    async def mend(self, session: Sufferer) -> None:
        pass


class Stop:
    """The parent, or all workers, stand still until they are told to go on."""

    is_deadly = False

    def __init__(self, *, workers: bool) -> None:
        self._workers = workers
        self._stopped: list[ProcessKey] = []

    async def inflict(self, session: Sufferer) -> None:
        parent = [key for key in list_tree(session.process.pid) if key.pid == session.process.pid]
        self._stopped = session.workers() if self._workers else parent
        signal_all(self._stopped, signal.SIGSTOP)

    async def mend(self, session: Sufferer) -> None:
        signal_all(self._stopped, signal.SIGCONT)


class StopAndKill:
    """The workers stand still, so that they notice nothing, and the parent is killed."""

    is_deadly = True

    async def inflict(self, session: Sufferer) -> None:
        signal_all(session.workers(), signal.SIGSTOP)
        await session.kill()

    async def mend(self, session: Sufferer) -> None:
        pass


class KillWorkers:
    """Every worker is killed."""

    is_deadly = False

    async def inflict(self, session: Sufferer) -> None:
        signal_all(session.workers(), signal.SIGKILL)

    async def mend(self, session: Sufferer) -> None:
        pass


class Fill:
    """No file can grow any more, for the parent and for all it has started or will start."""

    is_deadly = False

    async def inflict(self, session: Sufferer) -> None:
        self._limit(session, 0)

    async def mend(self, session: Sufferer) -> None:
        self._limit(session, resource.RLIM_INFINITY)

    @staticmethod
    def _limit(session: Sufferer, size: int) -> None:
        for key in list_tree(session.process.pid):
            with suppress(ProcessLookupError):
                resource.prlimit(key.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class FillDisk:
    """The file system that everything is on is really full; only for one that is ours alone."""

    is_deadly = False

    async def inflict(self, session: Sufferer) -> None:
        with suppress(OSError), _filler(session).open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while file.write(b"\0" * size):
                        pass

    async def mend(self, session: Sufferer) -> None:
        _filler(session).unlink(missing_ok=True)


def _filler(session: Sufferer) -> Path:
    return session.repository.with_name("filler")


class GarblePipe:
    """What no message begins with is put into each worker's pipe to the parent."""

    is_deadly = False

    async def inflict(self, session: Sufferer) -> None:
        for key in session.workers():
            for name in _pipes_written_by(key.pid):
                with suppress(OSError):
                    descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK)
                    os.write(descriptor, b"\xff" * 16)
                    os.close(descriptor)

    async def mend(self, session: Sufferer) -> None:
        pass


def _pipes_written_by(pid: int) -> Iterable[str]:
    """The pipes that a process writes to, its standard streams left out."""
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                info = Path(f"/proc/{pid}/fdinfo/{name}").read_text()
                mode = int(info.partition("flags:")[2].split()[0], 8)
                is_pipe = os.readlink(f"/proc/{pid}/fd/{name}").startswith("pipe:")
                if int(name) > 2 and is_pipe and mode & os.O_ACCMODE == os.O_WRONLY:
                    yield f"/proc/{pid}/fd/{name}"


class KillAndGarble:
    """The parent is killed, and a file that it left is damaged.

    `what` is journal, tail, story, ledger, no ledger or landing.
    """

    is_deadly = True

    def __init__(self, what: str) -> None:
        self._what = what

    async def inflict(self, session: Sufferer) -> None:
        await session.kill()
        match self._what:
            case "tail":  # the last entry was never written whole, and something else is there
                data = session.journal.read_bytes()
                session.journal.write_bytes(data[:-30] + os.urandom(20).replace(b"\n", b"x"))
            case "story":  # it ends where the first child's begins, as if nothing had been written since
                lines = session.journal.read_bytes().splitlines(keepends=True)
                starts = (n for n, line in enumerate(lines) if b'"ChildStarted"' in line)
                session.journal.write_bytes(b"".join(lines[: next(starts, len(lines))]))
            case "journal":
                lines = session.journal.read_bytes().splitlines(keepends=True)
                lines[len(lines) // 2] = b'{"number": ' + b"\xff\n"
                session.journal.write_bytes(b"".join(lines))
            case "ledger":
                with (
                    closing(sqlite3.connect(ledger_path(find_repository(session.repository)))) as ledger,
                    ledger,
                ):
                    ledger.execute("UPDATE children SET row = substr(row, 1, 100)")
            case "no ledger":
                for path in ledger_path(find_repository(session.repository)).parent.glob("ledger.sqlite*"):
                    path.unlink()
            case _:
                for path in landing_journals(session.repository):
                    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    async def mend(self, session: Sufferer) -> None:
        pass


def landing_journals(repository: Path) -> list[Path]:
    """The plans of landings that were under way."""
    folder = find_repository(repository).common_dir / "covey" / "landings"
    return [path for path in folder.iterdir() if path.suffix == ".json"] if folder.is_dir() else []


def length_of(repository: Path) -> tuple[int, bool]:
    """How many events the journal of the one session holds, and whether its turn is over."""
    paths = list((repository / ".covey" / "sessions").glob("*/journal.jsonl"))
    if not paths:
        return 0, False
    data = paths[0].read_bytes()
    return data.count(b"\n"), b'"TurnFinished"' in data
