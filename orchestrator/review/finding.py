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

from merge.checkouts.unwritten import begun_checkouts
from merge.landings.unfinished import has_unfinished
from merge.store.repository import (
    Repository,
)
from orchestrator.children.ledger import (
    Ledger,
    LedgerUnreadable,
    ledger_path,
    open_ledger,
)
from orchestrator.children.lost_rows import lost_rows, put_back_lost_rows
from orchestrator.children.standing import Known, own_repository, parent_of_checkout, stand
from orchestrator.faults import UserError
from orchestrator.parent.workspace_folder import find_known_workspace, is_workspace
from worker.path_text import quote_path


def find_repository_here(folder: Path) -> Repository:
    """The repository that holds `folder`.

    Raises:
        UserError: when there is none, or the folder is in a child's checkout.
    """
    repository = find_known_workspace(folder, os.environ)
    parent = parent_of_checkout(repository.root)
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


def _ids(children: Sequence[Known]) -> str:
    return ", ".join(child.row.child for child in children)


def _near(name: str, known: Sequence[Known]) -> str:
    near = difflib.get_close_matches(name, [child.row.child for child in known], n=3, cutoff=0.5)
    if near:
        return f" Did you mean {' or '.join(near)}?"
    kept = [child for child in known if child.is_for_review]
    return f" For review: {_ids(kept)}." if kept else " Nothing is kept for review."
