"""The ledger: one durable row per child of this repository, whichever session it belongs to.

A row is written before anything of the child exists and at each change of its state, so that another terminal can read
it, a review can find a kept checkout, and the next start after a crash can tell what was under way. SQLite does the
locking and the durability; a row is one struct, and nothing else is stored. Knows no process and no checkout.
"""

import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from merge.files.file_locks import alone
from merge.store.repository import Repository
from orchestrator.faults import CantRecord, UserError
from worker.protocol import ChildId, Kind
from worker.sayable import encode_sayable

State = Literal["queued", "starting", "working", "finished", "landing", "landed", "kept", "dropped", "ended"]
"""Where a child stands: `finished` is before its landing was begun, `ended` means that there was nothing to land."""

OPEN_STATES: frozenset[State] = frozenset({"queued", "starting", "working", "finished", "landing"})
"""States that a child only leaves by the hand of its session, or of whoever finds that session dead."""


class Process(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A process that can't be mistaken for a later one: its id, and when it started (`worker.processes`)."""

    pid: int
    start_time: float


class LedgerRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one child.

    `base` and `commit` are object ids: of the tree it started from, and of the commit that its checkout began at;
    without `commit` its checkout was never whole. `head` and `branch` are where the parent was then. `checkout` is its
    folder as it is told (`worker.path_text`). `reason` and `conflicts` say why it is kept, `landing` is the id that
    `covey undo` takes. Times are seconds since the epoch.
    """

    child: ChildId
    session: str
    owner: Process
    kind: Kind
    title: str
    task: str
    state: State
    began_at: float
    changed_at: float
    worker: Process | None = None
    checkout: str | None = None
    base: str | None = None
    commit: str | None = None
    shared: tuple[str, ...] = ()
    head: str | None = None
    branch: str | None = None
    reason: str = ""
    conflicts: tuple[str, ...] = ()
    landing: str | None = None
    last_action: str = ""
    steps: int = 0
    tokens: int = 0
    agent: str = ""


class LedgerUnreadable(UserError):
    """Raised when the ledger is no database of ours. `str()` names the file and the remedy."""


_SCHEMA = """
CREATE TABLE IF NOT EXISTS children (
    child TEXT PRIMARY KEY,
    began_at REAL NOT NULL,
    state TEXT NOT NULL,
    row TEXT NOT NULL
) STRICT
"""

_BUSY_SECONDS = 10.0
"""How long a writer waits for another session's; each holds the lock for about a millisecond."""


class Ledger:
    """The rows of one repository, made by `open_ledger` and used by the thread that made it.

    A call blocks for half a millisecond, so a session's loop may make it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def write(self, row: LedgerRow) -> None:
        """Put a row in, or in the place of the child's last one. It is on the disk when this returns.

        Raises:
            CantRecord: when it can't be written.
        """
        with self._writing():
            self._put(row)

    def change(self, row: LedgerRow, **changes: object) -> LedgerRow:
        """Write `row` with these fields changed, and return it."""
        changed = msgspec.structs.replace(row, changed_at=time.time(), **changes)
        self.write(changed)
        return changed

    def swap(self, expected: LedgerRow, row: LedgerRow) -> bool:
        """Put `row` in the place of `expected`; False, and nothing is written, when the child's row is another now."""
        with self._writing():
            self._connection.execute("BEGIN IMMEDIATE")  # from here on no other process writes
            if self.read(expected.child) != expected:
                return False
            self._put(row)
        return True

    def claim(self, row: LedgerRow, owner: Process) -> LedgerRow | None:
        """Make `owner` the owner of a child whose own is dead. None when the row has changed since it was read."""
        claimed = msgspec.structs.replace(row, owner=owner)
        return claimed if self.swap(row, claimed) else None

    def put_back(self, row: LedgerRow) -> bool:
        """Put a row in that was lost; False, and nothing is written, when there is one that can be read."""
        with self._writing():
            self._connection.execute("BEGIN IMMEDIATE")
            if self.read(row.child) is not None:
                return False
            self._put(row)
        return True

    def read(self, child: ChildId) -> LedgerRow | None:
        """The child's row, or None when there is none that can be read."""
        return next((row for _, row in self._select("WHERE child = ?", (child,))), None)

    def holds(self, child: ChildId) -> bool:
        """Whether there is a row of that child, though it may be damaged."""
        return bool(self._select("WHERE child = ?", (child,)))

    def rows(self, states: Iterable[State] | None = None) -> list[LedgerRow]:
        """Every row that can be read, or those in one of `states`, oldest first."""
        wanted = None if states is None else frozenset(states)
        rows = (row for _, row in self._select())
        return [row for row in rows if row is not None and (wanted is None or row.state in wanted)]

    def damaged(self) -> list[ChildId]:
        """The children whose rows can't be read, oldest first."""
        return [child for child, row in self._select() if row is None]

    def forget(self, children: Iterable[ChildId]) -> None:
        """Take rows out: what `covey gc` does with children that landed or were dropped."""
        with self._writing():
            self._connection.executemany(
                "DELETE FROM children WHERE child = ?", [(child,) for child in children]
            )

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            with self._connection:
                yield
        except sqlite3.OperationalError as error:
            raise CantRecord(
                f"The ledger {self._path} can't be written ({error}). Make room there and begin again;"
                " what children did is in their checkouts."
            ) from error
        except sqlite3.DatabaseError as error:
            raise _unreadable(self._path, str(error)) from error

    def _put(self, row: LedgerRow) -> None:
        values = (row.child, row.began_at, row.state, encode_sayable(row, msgspec.json.encode).decode())
        self._connection.execute("INSERT OR REPLACE INTO children VALUES (?, ?, ?, ?)", values)

    def _select(
        self, where: str = "", values: tuple[str, ...] = ()
    ) -> list[tuple[ChildId, LedgerRow | None]]:
        """Each child with its row, or with None where that is damaged."""
        # As bytes: text that is none must not hide the rows beside it.
        query = f"SELECT child, CAST(row AS BLOB) FROM children {where} ORDER BY began_at, child"
        try:
            found = self._connection.execute(query, values).fetchall()
        except sqlite3.OperationalError as error:
            raise CantRecord(f"The ledger {self._path} can't be read just now: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise _unreadable(self._path, str(error)) from error
        return [(ChildId(child), _row_or_none(text)) for child, text in found]


def _row_or_none(text: bytes) -> LedgerRow | None:
    try:
        return msgspec.json.decode(text, type=LedgerRow)
    except msgspec.MsgspecError:
        return None


def ledger_path(repository: Repository) -> Path:
    """Where the ledger is, or will be once a session delegates."""
    return repository.common_dir / "covey" / "ledger.sqlite"


@contextmanager
def open_ledger(repository: Repository) -> Generator[Ledger]:
    """The ledger of a repository: one for all its worktrees and sessions.

    Raises:
        LedgerUnreadable: when the file there is none of ours.
        CantRecord: when git's own folder can't be written.
    """
    path = ledger_path(repository)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CantRecord(f"{path.parent} can't be made: {error.strerror}.") from error
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
        try:
            # SQLite does not wait where two switch a new database to WAL mode at once, but says that it is locked.
            with alone(path.with_name("ledger.lock")):
                # In WAL mode a reader in another terminal never holds up the session that writes.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute(_SCHEMA)
        except OSError as error:
            raise CantRecord(f"{path.parent} can't be written: {error.strerror}.") from error
        except sqlite3.OperationalError as error:
            raise CantRecord(f"The ledger {path} can't be opened: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise _unreadable(path, str(error)) from error
        yield Ledger(path, connection)


def _unreadable(path: Path, why: str) -> LedgerUnreadable:
    return LedgerUnreadable(
        f"The ledger {path} can't be read ({why}); move it away: the next start finds what is kept by its folder."
    )
