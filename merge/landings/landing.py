"""Landing: one child's result merged into the parent's working tree, all of it or none.

The words of it stand here, and the one function that does it. What it takes (git's libraries, the merge, the
journal) is imported when the first landing begins: every part of the program speaks of landings, and few land.
"""

from typing import TYPE_CHECKING

import msgspec

from merge.store.repository import Repository, operation_in_progress
from merge.store.trees import ObjectId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from merge.landings.candidates import AnyCourse
    from merge.landings.carrying_out import Tell
    from merge.merging.resolving import Choices
    from merge.store.head import Head


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


class Offer(msgspec.Struct, frozen=True):
    """One child's result, offered for landing: the change from `base` to `result`.

    `choices` decide conflicts by path.
    """

    child: str
    checkout: str
    base: ObjectId
    result: ObjectId
    began: Began | None = None
    choices: "Choices | None" = None


TOGETHER = 128
"""So many land under one hold of the lock, and at most in one group: the first of them is told of when the last has
landed, about two tenths of a second later."""


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
    (answer,) = _land(repository, [Offer(child, checkout, base, result, began, choices)], tell)
    if isinstance(answer, Exception):
        raise answer
    return answer


def land_together(
    repository: Repository, offers: "Sequence[Offer]", *, tell: "Tell | None" = None
) -> tuple[AnyLanding, ...]:
    """Land results as if one by one, in their order; those that have nothing to do with one another share their waits.

    As for `land`, and each has an answer of its own: what `land` would raise is the reason why it is held.
    """
    answers: list[AnyLanding] = []
    for first in range(0, len(offers), TOGETHER):
        some = offers[first : first + TOGETHER]
        for offer, answer in zip(some, _land(repository, some, tell), strict=True):
            if isinstance(answer, Exception):
                answer = Held(offer.checkout, f"its edits could not be merged: {answer}")
            answers.append(answer)
    return tuple(answers)


def _land(
    repository: Repository, offers: "Sequence[Offer]", tell: "Tell | None"
) -> "list[AnyLanding | Exception]":
    from merge.files.lock import landing_lock
    from merge.landings.candidates import Wanted
    from merge.landings.carrying_out import nobody
    from merge.landings.landing_course import run_courses
    from merge.landings.landing_records import facts_of
    from merge.landings.recovery import recover_locked
    from merge.store.head import read_head
    from merge.store.object_store import keep_open

    repository = keep_open(repository)
    heard = tell if tell is not None else nobody
    courses: dict[int, AnyCourse] = {}
    fault: Exception | None = None
    try:
        with landing_lock(repository):
            recover_locked(repository, tell=heard)
            busy = operation_in_progress(repository)
            if busy is not None:
                reason = f"{busy} is in progress; finish or abort it, then land again"
                return [Held(offer.checkout, reason) for offer in offers]
            wanted = [
                Wanted(offer.base, offer.result, facts_of(repository, offer.child), offer.choices or {})
                for offer in offers
            ]
            for order, course in run_courses(repository, wanted, heard):
                courses[order] = course
    except Exception as error:
        # Whatever it is, it is told to those that it kept from an end; what has landed has landed.
        fault = error
    now = read_head(repository)
    answers: list[AnyLanding | Exception] = []
    for order, offer in enumerate(offers):
        if order not in courses:
            assert fault is not None, "every course has an end"
            answers.append(fault)
        else:
            answers.append(_answer(offer, courses[order], now))
    return answers


def _answer(offer: Offer, course: "AnyCourse", now: "Head") -> AnyLanding | Exception:
    from merge.landings.candidates import Clash, Done, Failed, Nothing, Refused
    from merge.merging.conflict import describe

    match course:
        case Done(landing, paths, notes):
            return Landed(landing, paths, (*notes, *_since(offer.began, now)))
        case Nothing():
            return NothingToLand()
        case Clash(conflicts):
            return Conflicted(offer.checkout, tuple(describe(conflict) for conflict in conflicts))
        case Refused(reason):
            return Held(offer.checkout, reason)
        case Failed(fault):
            return fault


def _since(began: Began | None, now: "Head") -> tuple[str, ...]:
    """What happened to HEAD while the child worked."""
    if began is None:
        return ()
    if now.branch != began.branch:
        names = [name if name is not None else "a detached HEAD" for name in (began.branch, now.branch)]
        return (
            f"the branch was switched from {names[0]} to {names[1]} meanwhile; it landed on what is there now",
        )
    if now.commit != began.head:
        return ("HEAD moved meanwhile; it landed on what is there now",)
    return ()
