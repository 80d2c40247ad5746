"""Where the child of a row stands on the disk and among the processes now, and which working tree it belongs to.

A child whose session lives is that session's; what is left of any other is the person's to review. Changes nothing.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from merge.checkouts.checkout import is_begun
from merge.checkouts.unwritten import is_unwritten
from merge.store.repository import NotARepository, Repository, children_folder, find_repository
from merge.store.trees import ObjectId
from orchestrator.children.ledger import OPEN_STATES, LedgerRow, Process
from worker.path_text import unquote_path
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


def stand(repository: Repository, row: LedgerRow) -> Known:
    """Where the child of `row` stands now."""
    folder, is_written = _folder_of(repository, row), not is_unwritten(repository, row.child)
    if row.state in OPEN_STATES:
        alive = is_alive(row.owner) or (row.worker is not None and is_alive(row.worker))
        return Known(row, "at work" if alive else "interrupted", folder, alive or is_written)
    if folder is None:
        return Known(row, "over", None)
    return Known(row, "kept" if row.state == "kept" else "left over", folder, is_written)


def home_of(row: LedgerRow) -> Path | None:
    """The working tree that the child's session was in, by where its checkout is."""
    return parent_of_checkout(Path(unquote_path(row.checkout))) if row.checkout is not None else None


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


def parent_of_checkout(folder: Path) -> Path | None:
    """The working tree `X` beside `X-children`, when `folder` is directly in the latter."""
    name = folder.parent.name.removesuffix("-children")
    return folder.parent.with_name(name) if name and name != folder.parent.name else None


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
