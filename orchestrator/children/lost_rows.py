"""Children whose row the ledger has lost, or holds damaged: each gets a row again, from what else stands of it.

That is the twin of its checkout, its part of a journal, and the record of its landing. What can't be told is taken for
the less: a child of which nothing says that it landed was interrupted, and is kept. One whose session runs is left
alone: that writes the row anew with the child's next step.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from merge.checkouts.unwritten import begun_checkouts, is_unwritten, layer_of
from merge.files.hidden_place import leave
from merge.landings.landing import Landed
from merge.store.repository import (
    Repository,
    children_folder,
    places_of_children,
    repository_at,
    working_trees,
)
from orchestrator.children.child_story import story_of
from orchestrator.children.ledger import Ledger, LedgerRow, Process
from orchestrator.journal import Entry, is_being_written, readable_entries
from orchestrator.sandbox.environment import child_marker
from worker.path_text import quote_path
from worker.processes.process_tree import marked_processes
from worker.protocol import ChildId

NOBODY = Process(0, 0.0)
"""The owner of a row that was put back: no process, so that the next session claims it."""

_DAMAGED = "what the ledger held of it was damaged"
_BEGINNING_LOST = "it can't be told any more what it began at; its files are in"


class _Telling(msgspec.Struct, frozen=True):
    """A journal that tells of a child: whose it is, in which working tree, and the child's entries in it."""

    session: str
    root: Path
    entries: Sequence[Entry]


def lost_rows(repository: Repository, ledger: Ledger) -> tuple[ChildId, ...]:
    """The children whose rows can't be read, and those of whom a checkout stands and no row.

    Costs a look where there is none.
    """
    begun = begun_checkouts(repository)  # before the rows: a child has its row before anything else
    damaged = ledger.damaged()
    missing = begun - {row.child for row in ledger.rows()} - set(damaged)
    standing = sorted(child for child in missing if _place_of(repository, child) is not None)
    return (*damaged, *map(ChildId, standing))


def put_back_lost_rows(repository: Repository, ledger: Ledger) -> list[str]:
    """Put a row into the ledger for each child that has lost its own; a sentence about each, for the person."""
    told: list[str] = []
    for child in lost_rows(repository, ledger):
        lost = "holds of child {child} is damaged" if ledger.holds(child) else "held of child {child} is lost"
        lost = f"What the ledger {lost.format(child=child)}"
        tellings = _tellings_of(repository, child)
        if tellings is None:
            told.append(f"{lost}; its session runs, and goes on with it.")
        elif ledger.put_back(_row_of(repository, child, tellings)):
            place = _place_of(repository, child)
            where = (
                f"what it did is in {quote_path(str(place))}"
                if place is not None
                else "no folder of it stands"
            )
            told.append(f"{lost}; {where}.")
    return told


def folders_of_nobody(repository: Repository, ledger: Ledger | None) -> list[Path]:
    """What stands among the checkouts and is of no child that is known: its records are gone, or it never was one."""
    folders = [
        folder
        for place in places_of_children(repository)
        if place.is_dir()
        for folder in sorted(place.iterdir())
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
    ]
    known = begun_checkouts(repository)
    if ledger is not None:
        # A row has its checkout before that is made: one without tells of no folder, as one that was put back may.
        known |= {*(row.child for row in ledger.rows() if row.checkout is not None), *ledger.damaged()}
    return [folder for folder in folders if folder.name not in known]


def remove_empty_places(repository: Repository, ledger: Ledger) -> None:
    """Remove those folders of nobody in which nothing is: places that were claimed by who was killed then."""
    for folder in folders_of_nobody(repository, ledger):
        with suppress(OSError):  # not empty
            folder.rmdir()
            leave(folder.parent)


def _place_of(repository: Repository, child: str) -> Path | None:
    """Where what the child did is: its layer, or its folder; None where there is neither."""
    if is_unwritten(repository, child):
        return layer_of(repository, child)
    return _folder_of(repository, child)


def _folder_of(repository: Repository, child: str) -> Path | None:
    if child not in begun_checkouts(repository):
        return None  # a damaged ledger may hold anything for an id
    folders = [place / child for place in places_of_children(repository)]
    return next((folder for folder in folders if folder.is_dir() and not folder.is_symlink()), None)


def _tellings_of(repository: Repository, child: ChildId) -> list[_Telling] | None:
    """The journals that tell of a child, the newest last; None where its session runs."""
    found: list[_Telling] = []
    for root in working_trees(repository):
        for path in (root / ".covey" / "sessions").glob("*/journal.jsonl"):
            with suppress(OSError), path.open("rb") as file:  # one that can't be read tells nothing
                if child.encode() not in file.read():
                    continue
                entries = [entry for entry in readable_entries(path) if entry.who == child]
                if entries and is_being_written(file):
                    return None
                if entries:
                    found.append(_Telling(path.parent.name, root, entries))
    if not found and marked_processes(child_marker(repository.common_dir, child)):
        return None  # its session runs, and has its journal elsewhere
    return sorted(found, key=lambda telling: telling.session)


def _row_of(repository: Repository, child: ChildId, tellings: Sequence[_Telling]) -> LedgerRow:
    """What can still be told of a child, as a row."""
    last = tellings[-1] if tellings else _Telling("", repository.root, ())
    story = story_of(last.entries, child)
    stands = _place_of(repository, child) is not None
    began_at = last.entries[0].at if last.entries else _made_at(repository, child)
    row = LedgerRow(
        child,
        last.session,
        NOBODY,
        "implement" if stands else "research",
        child,
        "",
        "working",
        began_at,
        last.entries[-1].at if last.entries else began_at,
        tokens=story.usage.total_tokens,
    )
    if (start := story.start) is not None:
        row = msgspec.structs.replace(
            row, kind=start.kind, title=start.title, task=start.task, agent=start.agent
        )
    home = _repository_at(repository, last.root)
    return _as_it_stands(home, row) if stands else _as_it_is_over(home, row)


def _as_it_stands(home: Repository, row: LedgerRow) -> LedgerRow:
    """With the checkout that stands, which the next session deals with as with any that died."""
    found = _with_beginning(home, row, whole=True)
    if found.commit is None:
        reason = f"{_BEGINNING_LOST} {quote_path(str(_place_of(home, row.child) or found.checkout))}"
        return msgspec.structs.replace(found, state="kept", reason=reason)
    return msgspec.structs.replace(found, state="landing" if _landing(home, row) is not None else "working")


def with_what_stands(home: Repository, row: LedgerRow, *, worked: bool) -> LedgerRow:
    """A row that may be older than the checkout of its child, with what it does not tell of that.

    `worked` says that a worker was in it; else what is half made stays so.
    """
    if row.commit is not None or _place_of(home, row.child) is None:
        return row
    return _with_beginning(home, row, whole=worked)


def _with_beginning(home: Repository, row: LedgerRow, *, whole: bool) -> LedgerRow:
    from merge.checkouts.found_again import find_again  # these bring git's libraries
    from merge.store.head import read_head

    folder = _folder_of(home, row.child) or children_folder(home) / row.child
    row = msgspec.structs.replace(row, checkout=quote_path(str(folder)))
    found = find_again(home, row.child)
    if found is None or not (whole or found.is_pinned):
        return row
    return msgspec.structs.replace(
        row,
        base=found.base,
        commit=found.commit,
        head=found.head,
        # One that can't be told any more is not to count as switched.
        branch=found.branch or read_head(home).branch,
        shared=found.shared,
    )


def _as_it_is_over(home: Repository, row: LedgerRow) -> LedgerRow:
    """Closed: no checkout of it is there."""
    landed = _landing(home, row)
    if landed is not None:
        return msgspec.structs.replace(row, kind="implement", state="landed", landing=landed.landing)
    return msgspec.structs.replace(row, state="ended", reason=_DAMAGED)


def _landing(home: Repository, row: LedgerRow) -> Landed | None:
    from merge.store.git import GitFailed  # brings git's libraries
    from orchestrator.children.on_record import landing_in_force

    try:
        return landing_in_force(home, row.child, 0.0)  # no id is given twice
    except GitFailed:
        return None  # then it is kept


def _made_at(repository: Repository, child: str) -> float:
    """When its checkout was begun; now, where there is none."""
    try:
        return (layer_of(repository, child).with_name("HEAD")).stat().st_mtime
    except OSError:
        return time.time()


def _repository_at(repository: Repository, root: Path) -> Repository:
    return repository if root == repository.root else repository_at(root) or repository
