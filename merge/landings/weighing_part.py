"""What the merge of one part of a change would come to on the disk as it is now: clear, open conflicts, barred.

Nothing is changed by asking. Knows nothing of other parts: `merge.landings.weighing` puts them together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from merge.landings.landing_plan import Impossible, InTheWay, Outdated, Ready, compare_with_disk
from merge.merging.conflict import Conflict
from merge.merging.present import OnDisk
from merge.merging.resolving import Choices, decide
from merge.merging.three_way import Clashed, CouldNotMerge, merge_trees
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId, RepoPath


@dataclass(frozen=True)
class Clear:
    """It can be landed as `ready` says, which may be that there is nothing to do.

    `whole` is all of what the parent has, where the merge had to look at it. `plainly` is as for `Merged`.
    """

    ready: Ready
    notes: tuple[str, ...]
    whole: ObjectId | None = None
    plainly: bool = False


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
    changes: Sequence[Change] | None = None,
    follow_folders: bool = True,
) -> Clear | Open | Barred | Moving:
    """Merge the change from `base` to `theirs` with what is on the disk, and compare the outcome with it.

    `changes` and `follow_folders` are as for `merge_trees`.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        GitFailed, Unreadable, OSError: when something can't be read.
    """
    merged = merge_trees(repository, base, present, theirs, changes=changes, follow_folders=follow_folders)
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
            return Clear(found, merged.notes, merged.whole, merged.plainly)
        case Impossible(reason):
            return Barred(reason)
        case Outdated(path):
            return Moving(path)
        case InTheWay(conflicts):
            return Moving(conflicts[0].path)
