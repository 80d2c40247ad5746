"""Three-way merge: what a child changed from its base, put onto what the parent has now.

Ids are compared first. Where the parent's file still equals base, the child's is taken; where both made the
same change, nothing is to do. What is left, git decides: on just the files that both sides edited, and on
whole trees only where a rename, a missing folder or a file in a folder's place could make more of it. So a
merge costs what the child changed. Nothing on the disk changes here.
"""

from collections.abc import Sequence

import msgspec

from merge.files.working_files import folders_above
from merge.merging.conflict import Conflict
from merge.merging.git_merge import CannotRun, GitMerge, conflicts_of, merge_by_git, plain_name
from merge.merging.present import IN_THE_WAY, Present, Unreadable
from merge.store.git import GitFailed
from merge.store.objects import changed_paths, edit_tree, read_entries
from merge.store.repository import Repository
from merge.store.trees import Change, Entry, ObjectId, RepoPath, show_path


class Merged(msgspec.Struct, frozen=True):
    """The merge is clean: `changes` lead from what the parent has to the merged tree.

    `notes` tell what a reader would not expect, such as a file that went with its renamed folder. `whole` is all of
    what the parent has, where the merge had to look at it. It is merged `plainly` where ids alone settled every path.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    whole: ObjectId | None = None
    plainly: bool = False


class Clashed(msgspec.Struct, frozen=True):
    """Some paths conflict. `settled` are the changes to the others, good once every conflict is decided.

    `whole` is all of what the parent has, where the merge had to look at it.
    """

    conflicts: tuple[Conflict, ...]
    settled: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    whole: ObjectId | None = None


class CouldNotMerge(msgspec.Struct, frozen=True):
    """There is no answer; `reason` says why."""

    reason: str


AnyMerge = Merged | Clashed | CouldNotMerge


def merge_trees(
    repository: Repository,
    base: ObjectId,
    ours: Present,
    theirs: ObjectId,
    *,
    changes: Sequence[Change] | None = None,
    follow_folders: bool = True,
) -> AnyMerge:
    """Merge the change from `base` to `theirs` into `ours`; `changes` are what `changed_paths` finds, where known.

    With `follow_folders`, a file that one side added in a folder that the other renamed goes to where the folder
    is now, whatever else there is to merge.

    Raises:
        ObjectMissing: when the repository does not hold a tree of it.
    """
    wanted = changed_paths(repository, base, theirs) if changes is None else changes
    if not wanted:
        return Merged((), plainly=True)
    try:
        now = ours.entries({change.path: (change.before, change.after) for change in wanted})
        settled: list[Change] = []
        contested: list[Change] = []
        for change in wanted:
            if now[change.path] == change.before:
                settled.append(change)
            elif change.after is None or now[change.path] != change.after:
                # Deleted on both sides is no agreement yet: here it may have been renamed.
                contested.append(change)
        may_follow = follow_folders and _may_follow_folder(repository, base, ours, theirs, wanted)
        if not may_follow and all(_is_edit(change, now[change.path]) for change in contested):
            return _merge_edits(repository, settled, contested, now)
        whole = ours.whole_tree()
        answer = merge_by_git(repository, base, whole, theirs)
    except (CannotRun, GitFailed, Unreadable) as fault:
        return CouldNotMerge(str(fault))
    merge = _read_answer(repository, answer, whole, [], {change.path for change in wanted})
    return msgspec.structs.replace(merge, whole=whole)


def _is_edit(change: Change, now: Entry | None) -> bool:
    """Whether the path stands on all three sides: then no rename can have to do with it."""
    return None not in (change.before, change.after, now) and now != IN_THE_WAY


def _may_follow_folder(
    repository: Repository, base: ObjectId, ours: Present, theirs: ObjectId, wanted: Sequence[Change]
) -> bool:
    """Whether a folder may have been renamed so that files added in it by the other side belong elsewhere.

    git sees such a rename only where the whole folder is gone. So: the child added files, and a folder that
    it took files from is gone; or it added a file in a folder of base from which the parent took all files.
    """
    added = [change.path for change in wanted if change.before is None]
    if not added:
        return False
    emptied = {folder for change in wanted if change.after is None for folder in folders_above(change.path)}
    left = read_entries(repository, theirs, emptied) if emptied else {}
    if any(entry is None or not entry.is_folder for entry in left.values()):
        return True
    above = {folder for path in added for folder in folders_above(path)}
    known = read_entries(repository, base, above) if above else {}
    nearest: dict[RepoPath, ObjectId] = {}
    for path in added:
        # The deepest folder that base knows tells for those above it: they hold what it holds.
        for folder in reversed(folders_above(path)):
            entry = known[folder]
            if entry is not None and entry.is_folder:
                nearest[folder] = entry.object
                break
    return not all(ours.still_has(folder, tree) for folder, tree in nearest.items())


def _merge_edits(
    repository: Repository,
    settled: Sequence[Change],
    contested: Sequence[Change],
    now: dict[RepoPath, Entry | None],
) -> Merged | Clashed:
    """Let git merge just the files that stand on all three sides and differ on all."""
    if not contested:
        return Merged(tuple(settled), plainly=True)
    base, ours, theirs = (
        edit_tree(repository, None, entries)
        for entries in (
            [(change.path, change.before) for change in contested],
            [(change.path, now[change.path]) for change in contested],
            [(change.path, change.after) for change in contested],
        )
    )
    answer = merge_by_git(repository, base, ours, theirs)
    return _read_answer(repository, answer, ours, settled, {change.path for change in contested})


def _read_answer(
    repository: Repository, answer: GitMerge, ours: ObjectId, settled: Sequence[Change], wanted: set[RepoPath]
) -> Merged | Clashed:
    changes = changed_paths(repository, ours, answer.tree)
    notes = _notes(answer, changes, wanted)
    if answer.is_clean:
        return Merged(_by_path([*settled, *changes]), notes)
    unclear = {*answer.unmerged, *(plain_name(answer, path) for path in answer.unmerged)}
    clear = [change for change in changes if change.path not in unclear]
    return Clashed(conflicts_of(answer), _by_path([*settled, *clear]), notes)


def _notes(answer: GitMerge, changes: Sequence[Change], wanted: set[RepoPath]) -> tuple[str, ...]:
    notes: list[str] = []
    moved: set[RepoPath] = set()
    for message in answer.messages:
        if message.kind == "Path updated due to directory rename" and len(message.paths) > 1:
            new, old, *_ = message.paths
            moved.update(message.paths)
            notes.append(f"{show_path(old)} is now {show_path(new)}: its folder was renamed")
    for change in changes:
        if change.path not in wanted and change.path not in moved and change.path not in answer.unmerged:
            notes.append(f"{show_path(change.path)} took an edit that was made under the file's other name")
    return tuple(notes)


def _by_path(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: change.path))
