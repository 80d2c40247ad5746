"""`covey gc`: what is over is forgotten, and nothing else. A kept child, and whatever a session lives with, stays.

Over is a child that landed, ended or was dropped, and whose folder is gone; also one that was kept and whose folder
the person removed. A folder that can't be looked for, since its working tree is not there now, counts as kept.
"""

import os

import msgspec

from merge.files.lock import landing_lock
from merge.landings.forgetting import (
    forget_children,
    forget_landings,
    pinned_children,
    recorded_landings,
)
from merge.landings.landing_journal import JournalUnreadable
from merge.store.git import GitFailed
from merge.store.repository import Repository, places_of_children
from orchestrator.children.ledger import Ledger
from orchestrator.children.standing import Known, home_of, is_alive
from orchestrator.drawing.figures import count
from orchestrator.drawing.lines import Line, dim, line
from orchestrator.faults import UserError
from orchestrator.printing.once import show_json, show_lines
from orchestrator.review.drafts import all_drafts, remove_drafts
from orchestrator.review.finding import list_children
from worker.protocol import ChildId


class Forgotten(msgspec.Struct, frozen=True):
    """What was forgotten, or would be: rows of the ledger, landings, refs and twins and drafts by child.

    `kept` are the children that stay.
    """

    children: tuple[str, ...]
    landings: tuple[str, ...]
    pins: tuple[str, ...]
    drafts: tuple[str, ...]
    kept: tuple[str, ...]


def collect(repository: Repository, ledger: Ledger | None, *, dry_run: bool, as_json: bool) -> int:
    """Forget what is over and print what that was; the exit code.

    Raises:
        UserError: when something can't be read or removed.
    """
    try:
        if not (repository.common_dir / "covey").is_dir():
            forgotten = Forgotten((), (), (), (), ())
        else:
            with landing_lock(repository):
                forgotten = _choose(repository, ledger)
                if not dry_run:
                    _forget(repository, ledger, forgotten)
    except (GitFailed, JournalUnreadable, OSError) as error:
        raise UserError(str(error)) from error
    if as_json:
        show_json(forgotten)
    else:
        show_lines(told(forgotten, dry_run=dry_run))
    return 0


def told(forgotten: Forgotten, *, dry_run: bool) -> list[Line]:
    """What was forgotten, as lines. A child is named once: with its row goes all that there is of it."""
    verb = "would forget" if dry_run else "forgot"
    children = set(forgotten.children)
    pins = [child for child in forgotten.pins if child not in children]
    drafts = [child for child in forgotten.drafts if child not in {*children, *pins}]
    lines: list[Line] = []
    for names, thing, note in (
        (forgotten.children, "child", ""),
        (forgotten.landings, "landing", "; they can't be taken back any more" if not dry_run else ""),
        (pins, "child", ", refs and twin"),
        (drafts, "child", ", half-done edits"),
    ):
        if names:
            lines.append(line(f"{verb} {count(len(names), thing)}{note}: {', '.join(names)}"))
    if not lines:
        lines.append(line("There is nothing to forget."))
    if forgotten.kept:
        lines.append(dim(f"stays: {', '.join(forgotten.kept)}"))
    return lines


def _choose(repository: Repository, ledger: Ledger | None) -> Forgotten:
    # Pins before rows: a child has its row before anything else, so that none is taken for an orphan.
    pins, drafts = pinned_children(repository), all_drafts(repository)
    records = recorded_landings(repository)
    known = list_children(repository, ledger)
    over = {each.row.child for each in known if _is_over(each)}
    rows = {each.row.child for each in known}
    folders = _folders(repository)

    def may_go(child: str) -> bool:
        return child in over if child in rows else child not in folders

    return Forgotten(
        tuple(sorted(over)),
        tuple(record.landing for record in records if may_go(record.facts.child)),
        tuple(child for child in pins if may_go(child)),
        tuple(child for child in drafts if may_go(child)),
        tuple(each.row.child for each in known if not _is_over(each)),
    )


def _is_over(known: Known) -> bool:
    if known.standing != "over" or is_alive(known.row.owner):
        return False
    home = home_of(known.row)
    return home is None or home.is_dir()


def _folders(repository: Repository) -> set[str]:
    """The names of all folders that are, or look like, checkouts beside one of the working trees."""
    names: set[str] = set()
    for folder in places_of_children(repository):
        names |= set(os.listdir(folder)) if folder.is_dir() else set()
    return names


def _forget(repository: Repository, ledger: Ledger | None, forgotten: Forgotten) -> None:
    forget_landings(repository, forgotten.landings)
    forget_children(repository, forgotten.pins)
    for child in forgotten.drafts:
        remove_drafts(repository, child)
    # The rows last: whatever is cut short here is found again by them.
    if ledger is not None:
        ledger.forget(map(ChildId, forgotten.children))
