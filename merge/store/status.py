"""What `git status` says of a working tree, as values: which paths are not as HEAD has them, and how.

Pure: reads the machine format (git-status(1), "Porcelain Format Version 2", with -z, without renames). What
the paths hold now is not in it; `merge.snapshots.working_tree` finds out.
"""

import os

import msgspec

from merge.store.trees import SUBMODULE, Entry, ObjectId, RepoPath

_NOTHING = 0


class TrackedChange(msgspec.Struct, frozen=True):
    """A path that HEAD or the index holds and that differs.

    `index` is what the index has, the better side of it while a merge is unresolved. `folder_mode` is what stands
    in the working tree, 0 for nothing. `same_as_index` is true when the working tree has what the index has.
    `submodule_commit`, `submodule_content`: whether a submodule's commit, or what is in it, changed.
    """

    path: RepoPath
    index: Entry | None
    folder_mode: int
    same_as_index: bool
    submodule_commit: bool = False
    submodule_content: bool = False

    @property
    def is_gone(self) -> bool:
        return self.folder_mode == _NOTHING

    @property
    def is_new_repository(self) -> bool:
        """Whether a repository stands where the index has a file, or nothing."""
        return self.folder_mode == SUBMODULE and (self.index is None or self.index.mode != SUBMODULE)


class Status(msgspec.Struct, frozen=True):
    """One answer of `git status`. `head` is None before the first commit, `branch` None on a detached HEAD.

    An untracked path that ends in `/` is a repository inside this one.
    """

    head: ObjectId | None
    branch: str | None
    tracked: tuple[TrackedChange, ...]
    untracked: tuple[RepoPath, ...]


def parse_status(fields: list[bytes]) -> Status:
    """Read the NUL-separated fields of `git status --porcelain=v2 --branch -z --no-renames`."""
    head: ObjectId | None = None
    branch: str | None = None
    tracked: list[TrackedChange] = []
    untracked: list[RepoPath] = []
    for line in fields:
        match line[:2]:
            case b"? ":
                untracked.append(RepoPath(line[2:]))
            case b"1 ":
                tracked.append(_ordinary(line))
            case b"u ":
                tracked.append(_unmerged(line))
            case b"# ":
                name, _, value = line[2:].partition(b" ")
                if name == b"branch.oid" and value != b"(initial)":
                    head = ObjectId(value.decode())
                elif name == b"branch.head" and value != b"(detached)":
                    branch = os.fsdecode(value)
            case _:
                raise AssertionError(f"git status was not asked for {line!r}")
    return Status(head, branch, tuple(tracked), tuple(untracked))


def _ordinary(line: bytes) -> TrackedChange:
    # 1 XY SUBMODULE MODE_HEAD MODE_INDEX MODE_FOLDER ID_HEAD ID_INDEX PATH
    _, letters, submodule, _, index_mode, folder_mode, _, index_id, path = line.split(b" ", 8)
    return TrackedChange(
        RepoPath(path),
        _entry(index_mode, index_id),
        int(folder_mode, 8),
        same_as_index=letters[1:2] == b".",
        submodule_commit=submodule[1:2] == b"C",
        submodule_content=submodule[2:4] not in (b"..", b""),
    )


def _unmerged(line: bytes) -> TrackedChange:
    # u XY SUBMODULE MODE_1 MODE_2 MODE_3 MODE_FOLDER ID_1 ID_2 ID_3 PATH; 1 is the base, 2 ours, 3 theirs
    _, _, submodule, *words, path = line.split(b" ", 10)
    modes, folder_mode, ids = words[:3], words[3], words[4:]
    sides = [_entry(mode, object_id) for mode, object_id in zip(modes, ids, strict=True)]
    return TrackedChange(
        RepoPath(path),
        sides[1] or sides[2] or sides[0],
        int(folder_mode, 8),
        same_as_index=False,
        submodule_commit=submodule[:1] == b"S",
    )


def _entry(mode: bytes, object_id: bytes) -> Entry | None:
    return Entry(int(mode, 8), ObjectId(object_id.decode())) if int(mode, 8) != _NOTHING else None
