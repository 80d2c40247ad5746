"""Landing: one child's result merged into the parent's working tree, all of it or none.

The words of it stand here, and the one function that does it. What it takes (git's libraries, the merge, the
journal) is imported when the first landing begins: every part of the program speaks of landings, and few land.
"""

from typing import TYPE_CHECKING

import msgspec

from merge.store.repository import Repository, operation_in_progress
from merge.store.trees import ObjectId

if TYPE_CHECKING:
    from merge.landings.carrying_out import Tell
    from merge.merging.resolving import Choices


class Landing(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what became of a child's result. Paths are as `show_path` tells them."""


class Landed(Landing, frozen=True):
    """Every path is in the parent's working tree, durably. `landing` is the id that `covey undo` takes.

    `notes` tell what a reader would not expect: a file moved with a renamed folder, a branch that was switched.
    """

    landing: str
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()


class NothingToLand(Landing, frozen=True):
    """The child changed nothing that lands, or the parent has it all already."""


class Conflicted(Landing, frozen=True):
    """Parent and child changed the same places; the parent is as it was and the checkout stays.

    `conflicts` are lines such as `src/a.py: both changed it`, one or more a path.
    """

    checkout: str
    conflicts: tuple[str, ...]


class Held(Landing, frozen=True):
    """Not merged now, for a reason that is no conflict (`a rebase is in progress`); the checkout stays."""

    checkout: str
    reason: str


AnyLanding = Landed | NothingToLand | Conflicted | Held


class Began(msgspec.Struct, frozen=True):
    """Where the parent's HEAD was when the child began, as its snapshot tells."""

    head: ObjectId | None
    branch: str | None


def land(
    repository: Repository,
    *,
    child: str,
    checkout: str,
    base: ObjectId,
    result: ObjectId,
    began: Began | None = None,
    choices: "Choices | None" = None,
    tell: "Tell | None" = None,
) -> AnyLanding:
    """Merge the change from `base` to `result` into the working tree of `repository`.

    Waits for other landings in the repository, in whichever session; completes or takes back one that was
    interrupted. `choices` decide conflicts by path. `tell` hears of each change to the disk before it is made.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        JournalUnreadable: when an interrupted landing can't be told of any more.
        ObjectMissing: when the repository does not hold one of the trees.
    """
    from merge.files.lock import landing_lock
    from merge.landings.carrying_out import nobody
    from merge.landings.landing_course import Clash, Done, Nothing, Refused, run_course
    from merge.landings.landing_records import facts_of
    from merge.landings.recovery import recover_locked
    from merge.merging.conflict import describe
    from merge.store.object_store import keep_open

    repository = keep_open(repository)
    heard = tell if tell is not None else nobody
    with landing_lock(repository):
        recover_locked(repository, tell=heard)
        busy = operation_in_progress(repository)
        if busy is not None:
            return Held(checkout, f"{busy} is in progress; finish or abort it, then land again")
        course = run_course(
            repository, base, result, facts_of(repository, child), choices=choices or {}, tell=heard
        )
    match course:
        case Done(landing, paths, notes):
            return Landed(landing, paths, (*notes, *_since(repository, began)))
        case Nothing():
            return NothingToLand()
        case Clash(conflicts):
            return Conflicted(checkout, tuple(describe(conflict) for conflict in conflicts))
        case Refused(reason):
            return Held(checkout, reason)


def _since(repository: Repository, began: Began | None) -> tuple[str, ...]:
    """What happened to HEAD while the child worked."""
    from merge.store.head import read_head

    if began is None:
        return ()
    now = read_head(repository)
    if now.branch != began.branch:
        names = [name if name is not None else "a detached HEAD" for name in (began.branch, now.branch)]
        return (
            f"the branch was switched from {names[0]} to {names[1]} meanwhile; it landed on what is there now",
        )
    if now.commit != began.head:
        return ("HEAD moved meanwhile; it landed on what is there now",)
    return ()
