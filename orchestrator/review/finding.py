"""The children of a repository as a person asks for them: by id, with where each stands on the disk now.

Reads the ledger, the process table and the disk; changes none of them. A child whose session lives is that session's;
what is left of any other is the person's to review.
"""

import difflib
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from merge.checkouts.checkout import is_begun
from merge.checkouts.unwritten import begun_checkouts, is_unwritten
from merge.landings.unfinished import has_unfinished
from merge.store.repository import (
    NotARepository,
    Repository,
    children_folder,
    find_repository,
)
from merge.store.trees import ObjectId
from orchestrator.children.ledger import (
    OPEN_STATES,
    Ledger,
    LedgerRow,
    LedgerUnreadable,
    Process,
    ledger_path,
    open_ledger,
)
from orchestrator.children.lost_rows import lost_rows, put_back_lost_rows
from orchestrator.faults import UserError
from orchestrator.parent.workspace_folder import find_known_workspace, is_workspace
from worker.path_text import quote_path, unquote_path
from worker.processes.process_table import look_up

Standing = Literal["at work", "interrupted", "kept", "left over", "over"]
"""Whose a child is: its session's (`at work`), the person's (the next three), or nobody's any more.

`interrupted`: its session died under way. `left over`: it landed or was dropped, and its folder is there all the same,
for what in it could not land.
"""

FOR_REVIEW: frozenset[Standing] = frozenset({"interrupted", "kept", "left over"})


class Known(msgspec.Struct, frozen=True):
    """A child as it stands. `folder` is its checkout, None when there is no such folder.

    `is_written` is false while that folder is empty because what the child did is in a layer still.
    """

    row: LedgerRow
    standing: Standing
    folder: Path | None
    is_written: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether what it did can be told: its checkout is there, and was once finished being made."""
        return self.folder is not None and self.row.base is not None and self.row.commit is not None

    @property
    def is_for_review(self) -> bool:
        return self.standing in FOR_REVIEW and self.folder is not None

    @property
    def base(self) -> ObjectId:
        assert self.row.base is not None
        return ObjectId(self.row.base)


def find_repository_here(folder: Path) -> Repository:
    """The repository that holds `folder`.

    Raises:
        UserError: when there is none, or the folder is in a child's checkout.
    """
    repository = find_known_workspace(folder, os.environ)
    parent = _parent_of_checkout(repository.root)
    if parent is not None and is_workspace(parent, os.environ):
        raise UserError(f"{repository.root} is a child's checkout; run this in {parent}.")
    return repository


@contextmanager
def open_book(repository: Repository) -> Generator[Ledger | None]:
    """The ledger, or None where no session has ever delegated: asking must not leave anything behind.

    What it has lost of children that stand is put back before.

    Raises:
        UserError: when it can't be read.
    """
    try:
        if not ledger_path(repository).exists() and not begun_checkouts(repository):
            yield None
        else:
            with open_ledger(repository) as ledger:
                # A landing that was cut short tells of its child only when it is put right.
                if not has_unfinished(repository) and lost_rows(repository, ledger):
                    put_back_lost_rows(repository, ledger)
                yield ledger
    except (LedgerUnreadable, OSError) as error:
        raise UserError(str(error)) from error


def list_children(repository: Repository, ledger: Ledger | None) -> list[Known]:
    """Every child of the ledger, oldest first."""
    return [stand(repository, row) for row in ledger.rows()] if ledger is not None else []


def stand(repository: Repository, row: LedgerRow) -> Known:
    """Where the child of `row` stands now."""
    folder, is_written = _folder_of(repository, row), not is_unwritten(repository, row.child)
    if row.state in OPEN_STATES:
        alive = is_alive(row.owner) or (row.worker is not None and is_alive(row.worker))
        return Known(row, "at work" if alive else "interrupted", folder, alive or is_written)
    if folder is None:
        return Known(row, "over", None)
    return Known(row, "kept" if row.state == "kept" else "left over", folder, is_written)


def find_child(repository: Repository, ledger: Ledger | None, name: str) -> Known:
    """The child whose id is `name`, or begins with it and is the only one; those for review come first.

    Raises:
        UserError: when there is none or more than one, with the names that are near.
    """
    known = list_children(repository, ledger)
    exact = [child for child in known if child.row.child == name]
    if exact:
        return exact[0]
    begin = [child for child in known if name and child.row.child.startswith(name)]
    found = [child for child in begin if child.is_for_review] or begin
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{name!r} begins several ids: {_ids(found)}; type more of the one you mean.")
    if ledger is not None and name in ledger.damaged():
        raise UserError(f"What the ledger holds of {name} is damaged; its session runs, and goes on with it.")
    raise UserError(f"There is no child {name!r} in this repository.{_near(name, known)}")


def require_for_review(child: Known) -> Known:
    """`child`, when it is the person's to deal with.

    Raises:
        UserError: when it is its session's, or nothing of it is left; what became of it is said.
    """
    row = child.row
    if child.standing == "at work":
        raise UserError(
            f"{row.child} is at work (process {row.owner.pid}, session {row.session}); review it when it has ended."
        )
    if child.is_for_review or child.standing == "interrupted":
        return child
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.changed_at))
    if row.state == "landed" and row.landing is not None:
        undo = f"`covey undo {row.landing}` takes it back"
        what = f"landed as {row.landing} on {when}; {row.reason or undo}"
    elif row.state == "dropped":
        what = f"was dropped on {when}"
    elif row.state == "kept":
        what = f"was kept, and its folder {row.checkout} is gone; `covey gc` forgets it"
    else:
        what = f"ended on {when} with nothing to land"
    raise UserError(f"{row.child} {what}.")


def require_home(repository: Repository, child: Known) -> None:
    """See to it that the child's own working tree is the one at hand.

    Raises:
        UserError: when it is another one that is there.
    """
    home = own_repository(repository, child.row).root
    if home != repository.root:
        raise UserError(
            f"{child.row.child} belongs to the working tree {quote_path(str(home))}; run this there."
        )


def home_of(row: LedgerRow) -> Path | None:
    """The working tree that the child's session was in, by where its checkout is."""
    return _parent_of_checkout(Path(unquote_path(row.checkout))) if row.checkout is not None else None


def own_repository(repository: Repository, row: LedgerRow) -> Repository:
    """The working tree that the child lands in: its session's, or the one at hand where that is not there now."""
    home = home_of(row)
    if home is None or home.resolve() == repository.root:
        return repository
    try:
        own = find_repository(home)
    except NotARepository:
        return repository
    return own if own.root == home.resolve() and own.common_dir == repository.common_dir else repository


def is_alive(process: Process) -> bool:
    """Whether this very process runs, and not a later one of its id."""
    entry = look_up(process.pid)
    return entry is not None and entry.key.start_time == process.start_time and not entry.ended


def is_anothers(owner: Process) -> bool:
    """Whether a process that runs, and is not this one, holds what is its."""
    return owner.pid != os.getpid() and is_alive(owner)


def _folder_of(repository: Repository, row: LedgerRow) -> Path | None:
    if row.checkout is None:
        return None
    if row.commit is None and not is_begun(repository, row.child):
        return None  # something that stood there before the child could have a folder
    # The repository may have been moved since, its children's folder with it.
    for folder in (Path(unquote_path(row.checkout)), children_folder(repository) / row.child):
        if folder.is_dir() and not folder.is_symlink():
            return folder
    # An empty place may have been removed; what belongs there is in a layer.
    return Path(unquote_path(row.checkout)) if is_unwritten(repository, row.child) else None


def _parent_of_checkout(folder: Path) -> Path | None:
    """The working tree `X` beside `X-children`, when `folder` is directly in the latter."""
    name = folder.parent.name.removesuffix("-children")
    return folder.parent.with_name(name) if name and name != folder.parent.name else None


def _ids(children: Sequence[Known]) -> str:
    return ", ".join(child.row.child for child in children)


def _near(name: str, known: Sequence[Known]) -> str:
    near = difflib.get_close_matches(name, [child.row.child for child in known], n=3, cutoff=0.5)
    if near:
        return f" Did you mean {' or '.join(near)}?"
    kept = [child for child in known if child.is_for_review]
    return f" For review: {_ids(kept)}." if kept else " Nothing is kept for review."
