"""What would become of a kept child if it were landed now: looked at, never tried.

The values are what the table and `--json` show. Reading the checkout updates what git knows of it, in places of
covey's own; the person's tree, index and refs are only read.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from merge.checkouts.checkout import Checkout, CheckoutFailed
from merge.checkouts.result import Result, take_result
from merge.landings.weighing import Barred, Clear, Open, look_ahead
from merge.merging.conflict import Conflict, Why, describe
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import ObjectId, show_path
from orchestrator.children.doubts import doubt_about
from orchestrator.children.standing import Known, own_repository

_AT_ONCE = 4
"""Checkouts looked at at the same time: each keeps a git process busy."""


class Outlook(msgspec.Struct, frozen=True, tag=True):
    """Base of what landing now would come to. Paths are as git shows them."""


class LandsNow(Outlook, frozen=True):
    """It lands. `paths` are those that would change here; `doubt` is what else should be known before, if anything."""

    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()
    doubt: str = ""


class Conflicts(Outlook, frozen=True):
    """It conflicts. Each of `conflicts` is one path and, in words, why."""

    conflicts: tuple["PathConflict", ...]


class PathConflict(msgspec.Struct, frozen=True):
    """One path that conflicts; `says` tells it in a line."""

    path: str
    why: Why
    says: str


class IsHeld(Outlook, frozen=True):
    """It can't land just now, whatever it holds; `reason` says why."""

    reason: str


class NothingLeft(Outlook, frozen=True):
    """There is nothing that would land: nothing was changed, or all of it is here already."""


class Unclear(Outlook, frozen=True):
    """It can't be told what was done; `reason` says why."""

    reason: str


AnyOutlook = LandsNow | Conflicts | IsHeld | NothingLeft | Unclear


class Weighed(msgspec.Struct, frozen=True):
    """A child with what it made and what landing that would come to. `result` is None where that can't be told."""

    known: Known
    outlook: AnyOutlook
    result: Result | None = None
    clashed: Open | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that it changed."""
        return tuple(show_path(change.path) for change in self.result.changes) if self.result else ()


def checkout_of(known: Known) -> Checkout:
    """The child's checkout as the merge room knows it; `known.folder` is there."""
    row = known.row
    assert known.folder is not None
    # A checkout that was being made when its session died has neither yet, and can only be removed.
    base, commit = ObjectId(row.base or ""), ObjectId(row.commit or "")
    return Checkout(row.child, str(known.folder), base, commit, row.shared)


def weigh_child(repository: Repository, known: Known) -> Weighed:
    """Look at one child that is for review."""
    if not known.is_whole:
        none, unfinished = "it has no folder", "its checkout was never finished, nothing was done in it"
        why = known.row.reason if known.standing == "kept" and known.row.reason else unfinished
        return Weighed(known, Unclear(none if known.folder is None else why))
    own = own_repository(repository, known.row)
    try:
        result = take_result(own, checkout_of(known))
        found = look_ahead(own, known.base, result.tree, {})
        head = ObjectId(known.row.head) if known.row.head is not None else None
        doubt = doubt_about(own, head, known.base, result) if isinstance(found, Clear) else ""
    except (CheckoutFailed, GitFailed, OSError) as error:
        return Weighed(known, Unclear(str(error)))
    match found:
        case Clear(ready, notes):
            paths = tuple(show_path(change.path) for change in ready.changes)
            outlook = LandsNow(paths, (*notes, *ready.notes), doubt) if paths else NothingLeft()
            return Weighed(known, outlook, result)
        case Open(clashed):
            return Weighed(known, Conflicts(tuple(map(tell_conflict, clashed.conflicts))), result, found)
        case Barred(reason):
            return Weighed(known, IsHeld(reason), result)


def weigh_all(repository: Repository, children: Sequence[Known]) -> list[Weighed]:
    """Look at several children, in their order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(partial(weigh_child, repository), children))


def tell_conflict(conflict: Conflict) -> PathConflict:
    return PathConflict(show_path(conflict.path), conflict.why, describe(conflict))


def in_words(outlook: AnyOutlook) -> str:
    """The outlook in a few words, for a table."""
    match outlook:
        case LandsNow(doubt=""):
            return "lands now"
        case LandsNow(doubt=doubt):
            return f"lands when asked, but {doubt}"
        case Conflicts(conflicts):
            return "conflicts: " + ", ".join(dict.fromkeys(conflict.path for conflict in conflicts))
        case IsHeld(reason):
            return f"held: {reason}"
        case NothingLeft():
            return "nothing left to land"
        case Unclear(reason):
            return f"unclear: {reason}"
