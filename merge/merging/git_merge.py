"""git's own three-way merge of trees, and its machine output as values.

`git merge-tree --write-tree` has three answers: clean, conflicted, could not run. They differ by exit
status alone: a conflict may list no path, and a listed path may be one that git has moved out of the way.
Attributes and merge drivers are those of the repository and of the working tree merged into, never those of
the side that is merged: who takes part in a conflict must not write the rule that settles it.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from merge.merging.conflict import Conflict, Why
from merge.store.commits import write_commit
from merge.store.git import GitAnswer, GitPlace, ask_git
from merge.store.repository import Repository
from merge.store.trees import Entry, ObjectId, RepoPath


@dataclass(frozen=True)
class Message:
    """One remark of git's about some paths; `kind` is a stable name such as `CONFLICT (contents)`."""

    paths: tuple[RepoPath, ...]
    kind: str


@dataclass(frozen=True)
class GitMerge:
    """What git made of three trees. In a conflicted `tree` the `unmerged` paths hold what must not be used.

    `unmerged` has git's own names for the paths, with which version (1 base, 2 ours, 3 theirs) is which
    entry.
    """

    tree: ObjectId
    is_clean: bool
    unmerged: dict[RepoPath, dict[int, Entry]] = field(default_factory=dict[RepoPath, dict[int, Entry]])
    messages: tuple[Message, ...] = ()
    ours_label: str = ""
    theirs_label: str = ""


class CannotRun(Exception):
    """Raised when git could not merge at all. `str()` is the reason, with the remedy where one is known."""


_SWITCHES = (
    "merge.directoryRenames=true",
    "merge.renames=true",
    "merge.renameLimit=-1",  # as many as git takes by itself
    "merge.verbosity=2",
)


def merge_by_git(repository: Repository, base: ObjectId, ours: ObjectId, theirs: ObjectId) -> GitMerge:
    """Merge three trees as `git merge` would.

    Raises:
        CannotRun: when git has no answer.
    """
    # merge-tree wants commits (trees only since 2.45, and --merge-base only since 2.40). Three commits that
    # nothing points to say the same to every version.
    base_commit = write_commit(repository, base, None, "base", seconds=0)
    ours_commit = write_commit(repository, ours, base_commit, "ours", seconds=0)
    theirs_commit = write_commit(repository, theirs, base_commit, "theirs", seconds=0)
    place = GitPlace(
        repository.root, git_dir=repository.git_dir, work_tree=repository.root, switches=_SWITCHES
    )
    answer = ask_git(place, "merge-tree", "--write-tree", "-z", "--messages", ours_commit, theirs_commit)
    if answer.status not in (0, 1):
        raise CannotRun(_reason(answer))
    return _read(answer, ours_commit, theirs_commit)


def conflicts_of(merge: GitMerge) -> tuple[Conflict, ...]:
    """The conflicts of a merge that is not clean, at least one, by path."""
    conflicts: list[Conflict] = []
    told: set[RepoPath] = set()
    versions: dict[RepoPath, dict[int, Entry]] = {}
    names: dict[RepoPath, set[RepoPath]] = {}
    for path, entries in merge.unmerged.items():
        # A path that is told in two, since git moved a side of it out of the way, is one path.
        name = plain_name(merge, path)
        versions.setdefault(name, {}).update(entries)
        names.setdefault(name, set()).add(path)
    for path, entries in versions.items():
        about = [message for message in merge.messages if _is_conflict(message, names[path])]
        base, ours, theirs = (entries.get(stage) for stage in (1, 2, 3))
        why = _why_named(about[0]) if about else "content"
        if why in ("content", "deleted here"):
            why = _why_of_versions(base, ours, theirs)
        others = {plain_name(merge, other) for message in about for other in message.paths} - {path}
        conflicts.append(Conflict(path, why, base, ours, theirs, tuple(sorted(others))))
        told.update(path for message in about for path in message.paths)
    for message in merge.messages:
        # Some conflicts are about no path in particular: a folder that went to several places.
        if _is_conflict(message, message.paths) and told.isdisjoint(message.paths):
            first, *others = message.paths
            conflicts.append(Conflict(first, _why_named(message), None, None, None, tuple(others)))
            told.update(message.paths)
    if not conflicts:
        conflicts.append(Conflict(RepoPath(b"."), "content", None, None, None))
    return tuple(sorted(conflicts, key=lambda conflict: conflict.path))


def plain_name(merge: GitMerge, path: RepoPath) -> RepoPath:
    """The path without what git adds to a file's name when a folder takes its place (`x~COMMIT`)."""
    labels = f"{merge.ours_label}|{merge.theirs_label}".encode()
    return RepoPath(re.sub(rb"~(?:" + labels + rb")(?:_\d+)?$", b"", path))


# The names that git gives the kinds (merge-ort.c, type_short_descriptions), without "CONFLICT" and brackets.
_NAMED: dict[str, Why] = {
    "contents": "content",
    "binary": "binary",
    "file/directory": "file and folder",
    "distinct modes": "kind",
    "distinct types": "kind",
    "modify/delete": "deleted here",
    "rename/rename": "renamed twice",
    "rename involved in collision": "rename collision",
    "rename/delete": "rename and deletion",
    "directory rename suggested": "folder renamed",
    "file in way of directory rename": "folder renamed",
    "directory rename collision": "folder renamed",
    "directory rename unclear split": "folder renamed",
}


def _is_conflict(message: Message, about: Collection[RepoPath]) -> bool:
    """Whether it tells of a conflict in which one of the paths takes part."""
    return message.kind.startswith("CONFLICT") and not set(message.paths).isdisjoint(about)


def _why_named(message: Message) -> Why:
    name = message.kind.removeprefix("CONFLICT").strip(" ()")
    return "submodule" if name.startswith("submodule") else _NAMED.get(name, "content")


def _why_of_versions(base: Entry | None, ours: Entry | None, theirs: Entry | None) -> Why:
    if ours is None:
        return "deleted here"
    if theirs is None:
        return "deleted there"
    return "added twice" if base is None else "content"


def _read(answer: GitAnswer, ours_label: str, theirs_label: str) -> GitMerge:
    """Read the -z output: TREE, then "MODE ID STAGE TAB PATH"…, an empty field, then messages."""
    fields = answer.fields()
    tree = ObjectId(fields[0].decode())
    unmerged: dict[RepoPath, dict[int, Entry]] = {}
    position = 1
    while position < len(fields) and fields[position]:
        words, path = fields[position].split(b"\t", 1)
        mode, object_id, stage = words.split(b" ")
        entry = Entry(int(mode, 8), ObjectId(object_id.decode()))
        unmerged.setdefault(RepoPath(path), {})[int(stage)] = entry
        position += 1
    messages: list[Message] = []
    position += 1
    while position < len(fields):
        count = int(fields[position])
        paths = tuple(RepoPath(path) for path in fields[position + 1 : position + 1 + count])
        messages.append(Message(paths, os.fsdecode(fields[position + 1 + count])))
        position += count + 3
    return GitMerge(tree, answer.status == 0, unmerged, tuple(messages), ours_label, theirs_label)


def _reason(answer: GitAnswer) -> str:
    words = answer.error.strip().splitlines()
    if any("usage:" in line for line in words):
        return "this git can't merge trees; install git 2.38 or newer"
    return f"git could not merge: {words[0] if words else f'it ended with {answer.status}'}"
