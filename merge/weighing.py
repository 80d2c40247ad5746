"""What a merge would come to on the disk as it is now: clear, open conflicts, barred. Nothing is changed by asking.

The first half of every landing, and all of a look ahead: a kept checkout is weighed to say whether it would land
now. What is decided on open conflicts (`fix_decision`) is a change of its own, which is merged like any other: so
whatever the person does to a file after the decision is never overwritten by it.
"""

from dataclasses import dataclass

import msgspec

from merge.conflict import Conflict
from merge.git import GitFailed
from merge.landing_plan import Impossible, InTheWay, Outdated, Ready, compare_with_disk
from merge.objects import edit_tree
from merge.present import OnDisk, Unreadable, open_on_disk
from merge.repository import Repository, operation_in_progress
from merge.resolving import Choices, decide
from merge.three_way import Clashed, CouldNotMerge, Merged, merge_trees
from merge.trees import ObjectId, RepoPath


@dataclass(frozen=True)
class Clear:
    """It can be landed as `ready` says, which may be that there is nothing to do.

    `whole` is all of what the parent has, where the merge had to look at it.
    """

    ready: Ready
    notes: tuple[str, ...]
    whole: ObjectId | None = None


@dataclass(frozen=True)
class Open:
    """Conflicts are open."""

    clashed: Clashed

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.clashed.conflicts


@dataclass(frozen=True)
class Barred:
    """It can't be landed now, for a reason that is no conflict."""

    reason: str


@dataclass(frozen=True)
class Moving:
    """`path` changed while it was looked at; a second look may tell more."""

    path: RepoPath


def weigh(
    repository: Repository,
    base: ObjectId,
    present: OnDisk,
    theirs: ObjectId,
    choices: Choices,
    *,
    follow_folders: bool = True,
) -> Clear | Open | Barred | Moving:
    """Merge the change from `base` to `theirs` with what is on the disk, and compare the outcome with it.

    `follow_folders` is as for `merge_trees`.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        GitFailed, Unreadable, OSError: when something can't be read.
    """
    merged = merge_trees(repository, base, present, theirs, follow_folders=follow_folders)
    if isinstance(merged, CouldNotMerge):
        return Barred(merged.reason)
    if isinstance(merged, Clashed):
        merged = decide(repository, merged, choices)
    if isinstance(merged, Clashed):
        return Open(merged)
    found = compare_with_disk(present, merged.changes)
    if isinstance(found, InTheWay):
        decided = decide(
            repository, Clashed(found.conflicts, found.rest, merged.notes, merged.whole), choices
        )
        if isinstance(decided, Clashed):
            return Open(decided)
        merged, found = decided, compare_with_disk(present, decided.changes)
    match found:
        case Ready():
            return Clear(found, merged.notes, merged.whole)
        case Impossible(reason):
            return Barred(reason)
        case Outdated(path):
            return Moving(path)
        case InTheWay(conflicts):
            return Moving(conflicts[0].path)


_LOOKS = 3


def look_ahead(
    repository: Repository, base: ObjectId, theirs: ObjectId, choices: Choices
) -> Clear | Open | Barred:
    """What landing the change from `base` to `theirs` would come to now. Takes no lock and waits for nothing.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
    """
    busy = operation_in_progress(repository)
    if busy is not None:
        return Barred(f"{busy} is in progress")
    for _ in range(_LOOKS):
        try:
            found = weigh(repository, base, open_on_disk(repository, base), theirs, choices)
        except (GitFailed, Unreadable, OSError) as fault:
            return Barred(str(fault))
        if not isinstance(found, Moving):
            return found
    return Barred("its files keep changing")


class Decision(msgspec.Struct, frozen=True):
    """A merge whose conflicts are decided, as a change from what was seen here (`base`) to `result`, two trees."""

    base: ObjectId
    result: ObjectId


def fix_decision(
    repository: Repository, base: ObjectId, clashed: Clashed, choices: Choices
) -> Decision | tuple[Conflict, ...]:
    """The decision that `choices` make on `clashed`, or the conflicts that they leave open.

    Raises:
        ChoiceImpossible: when they ask for what can't be had.
    """
    decided = decide(repository, clashed, choices)
    if not isinstance(decided, Merged):
        return decided.conflicts
    known = decided.whole or base
    seen = edit_tree(repository, known, [(change.path, change.before) for change in decided.changes])
    result = edit_tree(repository, seen, [(change.path, change.after) for change in decided.changes])
    return Decision(seen, result)
