"""Conflicts decided by a person or a model: per path one side, both sides' lines, or content of their own.

Deciding is choosing among values; the outcome is a clean merge or the conflicts that are still open. Nothing on
the disk changes here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from merge.merging.conflict import Conflict
from merge.merging.present import IN_THE_WAY
from merge.merging.three_way import Clashed, Merged
from merge.store.git import GitPlace, ask_git
from merge.store.objects import list_tree, read_blobs, read_entry, write_blob
from merge.store.repository import Repository
from merge.store.scratch import open_scratch
from merge.store.trees import EXECUTABLE, FILE, Change, Entry, RepoPath, show_path


@dataclass(frozen=True)
class Content:
    """A file's content as somebody edited it."""

    data: bytes


Choice = Literal["ours", "theirs", "union"] | Content
"""`ours` is what the parent has, `theirs` what the child made; `union` keeps the lines of both."""

Choices = Mapping[RepoPath, Choice]


class ChoiceImpossible(Exception):
    """Raised when a choice can't be had for its path. `str()` says why and what can be chosen."""


def decide(repository: Repository, clashed: Clashed, choices: Choices) -> Merged | Clashed:
    """Decide the conflicts that `choices` names; a conflict that it doesn't name stays open.

    Raises:
        ChoiceImpossible: when a choice can't be had, e.g. the lines of both sides of a picture.
    """
    open_conflicts = tuple(conflict for conflict in clashed.conflicts if conflict.path not in choices)
    changes = {change.path: change for change in clashed.settled}
    for conflict in clashed.conflicts:
        if conflict.path in choices:
            decided = _decide_one(repository, clashed, conflict, choices[conflict.path])
            stands = any(change.path == conflict.path and change.after is not None for change in decided)
            if stands or (conflict.why == "file and folder" and conflict.ours is not None and not decided):
                # A file stands here: what was to stand in a folder of that name can't.
                below = conflict.path + b"/"
                changes = {
                    path: change
                    for path, change in changes.items()
                    if not path.startswith(below) or change.after is None
                }
            changes |= {change.path: change for change in decided}
    settled = tuple(changes[path] for path in sorted(changes))
    if open_conflicts:
        return Clashed(open_conflicts, settled, clashed.notes, clashed.whole)
    return Merged(settled, clashed.notes, clashed.whole)


def _decide_one(repository: Repository, clashed: Clashed, conflict: Conflict, choice: Choice) -> list[Change]:
    """The changes at the conflict's path, and below it where a folder stands there now."""
    shown = show_path(conflict.path)
    if conflict.ours is None and conflict.theirs is None and conflict.base is None:
        raise ChoiceImpossible(f"{shown}: there is no side to choose; edit the checkout and land it again.")
    if conflict.ours == IN_THE_WAY:
        raise ChoiceImpossible(f"{shown}: a folder or a link stands there; move it away and land again.")
    if isinstance(choice, Content):
        chosen = Entry(_mode_for_content(conflict), write_blob(repository, choice.data))
    elif choice == "union":
        chosen = Entry(_mode_for_content(conflict), write_blob(repository, _unite(repository, conflict)))
    else:
        chosen = conflict.ours if choice == "ours" else conflict.theirs
    changes = [Change(conflict.path, conflict.ours, chosen)] if chosen != conflict.ours else []
    if chosen is not None and conflict.why == "file and folder":
        assert clashed.whole is not None, "git alone finds such a conflict, in whole trees"
        folder = read_entry(repository, clashed.whole, conflict.path)
        if folder is not None and folder.is_folder:
            below = list_tree(repository, folder.object)
            changes += [
                Change(RepoPath(conflict.path + b"/" + path), entry, None) for path, entry in below.items()
            ]
    return changes


def _mode_for_content(conflict: Conflict) -> int:
    """The mode of a file made of both sides: executable if one of them made it so."""
    modes = [entry.mode for entry in (conflict.ours, conflict.theirs) if entry is not None]
    if any(mode not in (FILE, EXECUTABLE) for mode in modes):
        raise ChoiceImpossible(
            f"{show_path(conflict.path)}: it is no plain file on both sides; choose a side."
        )
    base = conflict.base.mode if conflict.base is not None else FILE
    return next((mode for mode in modes if mode != base), base)


def _unite(repository: Repository, conflict: Conflict) -> bytes:
    sides = [conflict.ours, conflict.base, conflict.theirs]
    if conflict.why == "binary" or None in (conflict.ours, conflict.theirs):
        raise ChoiceImpossible(
            f"{show_path(conflict.path)}: it has no lines of both sides to keep; choose a side."
        )
    contents = read_blobs(repository, [entry.object for entry in sides if entry is not None])
    if conflict.base is None:
        contents.insert(1, b"")
    with open_scratch(repository.common_dir) as folder:
        for name, content in zip(("ours", "base", "theirs"), contents, strict=True):
            (folder / name).write_bytes(content)
        answer = ask_git(GitPlace(folder), "merge-file", "--union", "-p", "ours", "base", "theirs")
    if answer.status != 0:
        raise ChoiceImpossible(f"{show_path(conflict.path)}: it can't be merged line by line; choose a side.")
    return answer.output
