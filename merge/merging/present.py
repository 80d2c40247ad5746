"""What the parent has now, for a merge: asked path by path, and as a whole only when there is no other way.

Two things can be asked: a tree that is stored, and the working tree as it is on the disk. The answer for the
disk follows git's own rules (filters, line endings, mode bits, sparse paths), since git itself converts what
is not plainly one of the entries that the asker expects. Nothing of the user's is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from merge.files.working_files import Seen, WorkingFiles, folders_above, repo_path
from merge.merging.index_look import IndexLook, look_at_index
from merge.snapshots.private_index import store_files
from merge.snapshots.snapshot import take_snapshot
from merge.store.git import GitPlace
from merge.store.objects import read_blob, read_entries, read_entry
from merge.store.plain_rules import attributes_above
from merge.store.repository import Repository
from merge.store.trees import (
    EXECUTABLE,
    FILE,
    FOLDER,
    SUBMODULE,
    SYMLINK,
    Entry,
    ObjectId,
    RepoPath,
    decode_tree,
    show_path,
)

IN_THE_WAY = Entry(FOLDER, ObjectId(""))
"""Stands at a path that is a folder (or what git can't hold), or that lies below a file or a symlink."""

Expected = Mapping[RepoPath, tuple[Entry | None, ...]]
"""Paths to ask for, each with entries that may well stand there."""


class Unreadable(Exception):
    """Raised when git can't tell what a file holds. `str()` names the file and says why."""


class Present(Protocol):
    """What a merge may ask of the side that it merges into."""

    def entries(self, expected: Expected) -> dict[RepoPath, Entry | None]:
        """What stands at each path, its content stored as a blob; `IN_THE_WAY` where no file can stand.

        Raises:
            Unreadable: when a file's content can't be told.
        """
        ...

    def still_has(self, folder: RepoPath, known: ObjectId) -> bool:
        """Whether any file of the tree `known`, which once stood at `folder`, still stands there.

        False may also be said when only others stand there: it is then for git to look closer.
        """
        ...

    def whole_tree(self) -> ObjectId:
        """All of it, as one tree. Costs a look at every file."""
        ...


@dataclass(frozen=True)
class StoredTree:
    """A tree in the repository."""

    repository: Repository
    tree: ObjectId

    def entries(self, expected: Expected) -> dict[RepoPath, Entry | None]:
        above = {folder for path in expected for folder in folders_above(path)}
        found = read_entries(self.repository, self.tree, {*expected, *above})
        answer: dict[RepoPath, Entry | None] = {}
        for path in expected:
            entry = found[path]
            leaf_above = any(not _is_none_or_folder(found[folder]) for folder in folders_above(path))
            answer[path] = IN_THE_WAY if leaf_above or (entry is not None and entry.is_folder) else entry
        return answer

    def still_has(self, folder: RepoPath, known: ObjectId) -> bool:
        entry = read_entry(self.repository, self.tree, folder)
        return entry is not None and entry.is_folder

    def whole_tree(self) -> ObjectId:
        return self.tree


@dataclass(frozen=True)
class OnDisk:
    """The working tree on the disk.

    `seen` and `known` keep what stood at each path when it was last asked for, and which entry that was. `index` is
    what somebody has just found in the person's index; what is not in it is asked for.
    """

    repository: Repository
    files: WorkingFiles
    index: IndexLook | None = None
    seen: dict[RepoPath, Seen | None] = field(default_factory=dict[RepoPath, Seen | None])
    known: dict[RepoPath, Entry | None] = field(default_factory=dict[RepoPath, Entry | None])

    def entries(self, expected: Expected) -> dict[RepoPath, Entry | None]:
        answer: dict[RepoPath, Entry | None] = {}
        unclear: list[RepoPath] = []
        for path, guesses in expected.items():
            # Seen before git reads it: what git then reads is either this, or something that the comparison
            # with `seen`, right before a file is replaced, finds out about.
            self.seen[path] = now = self.files.look(path)
            plain = next((guess for guess in guesses if _is_plainly(now, guess)), None)
            if plain is not None:
                answer[path] = plain
            else:
                unclear.append(path)
        if unclear:
            answer |= self._entries_by_git(unclear)
        self.known.update(answer)
        return answer

    def still_has(self, folder: RepoPath, known: ObjectId) -> bool:
        children = decode_tree(read_blob(self.repository, known), len(known) // 2)
        files = [repo_path(folder, name) for name, entry in children.items() if not entry.is_folder]
        if any(_is_file(self.files.look(path)) for path in files):
            return True
        below = [(repo_path(folder, name), entry) for name, entry in children.items() if entry.is_folder]
        return any(self.still_has(path, entry.object) for path, entry in below)

    def whole_tree(self) -> ObjectId:
        return take_snapshot(self.repository, submodules=False).tree

    def _entries_by_git(self, paths: list[RepoPath]) -> dict[RepoPath, Entry | None]:
        rules = [path for path in attributes_above(paths) if path not in paths]
        look = self._look_at_index([*paths, *rules])
        index, left_out = look.entries, look.left_out
        addable = {path: index.get(path) for path in paths if self._is_addable(path, index.get(path))}
        hidden_rules = {path: index[path] for path in rules if path in left_out}
        stored = store_files(self.repository, self.place, addable, hidden_rules)
        if stored.refused:
            path, why = next(iter(stored.refused.items()))
            raise Unreadable(f"{show_path(path)} can't be read by git: {why}")
        answer: dict[RepoPath, Entry | None] = {}
        for path in paths:
            if path in addable:
                answer[path] = stored.entries.get(path)
            elif self.seen[path] is not None or self.files.blocked_at(path) is not None:
                answer[path] = IN_THE_WAY
            else:
                # A sparse checkout leaves files out that are not deleted.
                answer[path] = index[path] if path in left_out else None
        return answer

    def _look_at_index(self, paths: list[RepoPath]) -> IndexLook:
        if self.index is not None and self.index.paths.issuperset(paths):
            return self.index
        return look_at_index(self.repository, paths)

    @property
    def place(self) -> GitPlace:
        repository = self.repository
        return GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)

    def _is_addable(self, path: RepoPath, known: Entry | None) -> bool:
        now = self.seen[path]
        if now is None or now.kind == "other":
            return False
        if now.kind != "folder":
            return True
        # A folder is one entry only when it is a repository, or the place of one.
        is_submodule = known is not None and known.mode == SUBMODULE
        return is_submodule or self.files.look(repo_path(path, b".git")) is not None


def open_on_disk(repository: Repository, some_id: ObjectId, index: IndexLook | None = None) -> OnDisk:
    """The working tree of `repository`; any object id of it tells how its ids are made."""
    return OnDisk(repository, WorkingFiles(repository.root, len(some_id)), index)


def _is_file(seen: Seen | None) -> bool:
    return seen is not None and seen.kind in ("file", "symlink")


def _is_none_or_folder(entry: Entry | None) -> bool:
    return entry is None or entry.is_folder


def _is_plainly(seen: Seen | None, entry: Entry | None) -> bool:
    """Whether what is on the disk is `entry` with no conversion at all: the same bytes, the same mode."""
    # Nothing is never plain: a sparse checkout leaves files out that are not deleted.
    if seen is None or entry is None or seen.content != entry.object:
        return False
    if seen.kind == "symlink":
        return entry.mode == SYMLINK
    return seen.kind == "file" and entry.mode == (EXECUTABLE if seen.is_executable else FILE)
