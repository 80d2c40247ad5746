"""What a child touched in an overlay, found without a small world where everything is as usual.

As usual: files and links that git stores as they are, in ordinary folders, nothing moved, no repository inside. Git is
asked one thing, which of the new files it ignores. Wherever something is not as usual the answer is None, and the small
world (`merge.checkouts.touched`) is what counts; where both answer they agree.
"""

import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from merge.checkouts.layers import Layers, Leaf, MergedFolder, is_whiteout
from merge.files.working_files import folders_above, repo_path
from merge.snapshots.never_lands import is_in_cache
from merge.store.git import GitPlace
from merge.store.ignored import ignored_of
from merge.store.object_store import open_store
from merge.store.objects import edit_tree, list_tree, read_blobs, read_entries
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry, ObjectId, RepoPath

_LIMIT_BYTES = 64 << 20
"""More than this in all is not read into memory."""

_UNUSUAL = re.compile(rb"(^|/)\.git($|/)|(^|/)\.covey($|/)|[\\~:\x80-\xff]", re.IGNORECASE)
"""Paths that git may refuse or covey treats by a rule of its own."""


class _Unusual(Exception):
    """Raised where the small world is needed."""


def read_touched_quickly(
    repository: Repository,
    twin: Path,
    base: ObjectId,
    layers: Layers,
    shared: Iterable[str],
    stays_behind: Callable[[RepoPath, bool], bool],
) -> ObjectId | None:
    """The tree that the child of an overlay made of `base`, or None when that takes a closer look.

    Only for settings under which git stores files as they are (`merge.checkouts.plain_bytes`).

    Raises:
        GitFailed: when git can't read or write an object.
        OSError: when a layer can't be read.
    """
    look = _Look(layers, tuple(shared))
    try:
        look.walk(RepoPath(b""), layers.top)
        tracked = _tracked(repository, base, look)
        edits: dict[RepoPath, Entry | None] = {path: None for path in tracked if path not in look.files}
        new = [path for path in look.files if path not in tracked and not stays_behind(path, False)]
        ignored = _ignored(repository, twin, base, look, new) if new else set[RepoPath]()
        wanted = [path for path in look.files if path in tracked] + [
            path for path in new if path not in ignored
        ]
        edits |= _stored(repository, look, wanted)
    except (_Unusual, FileNotFoundError, PermissionError):
        return None
    changed = [
        (path, entry)
        for path, entry in edits.items()
        if entry != tracked.get(path) and not stays_behind(path, path in tracked)
    ]
    return edit_tree(repository, base, changed) if changed else base


@dataclass
class _Look:
    """A walk through the upper layer; see `merge.checkouts.touched`."""

    layers: Layers
    shared: tuple[str, ...]
    whole: set[RepoPath] = field(default_factory=set[RepoPath])
    files: dict[RepoPath, Leaf] = field(default_factory=dict[RepoPath, Leaf])
    folders: list[RepoPath] = field(default_factory=list[RepoPath])
    merged: set[RepoPath] = field(default_factory=set[RepoPath])
    new: set[RepoPath] = field(default_factory=set[RepoPath])
    size: int = 0

    def walk(self, path: RepoPath, folder: MergedFolder) -> None:
        self.folders.append(path)
        for name in os.listdir(folder.parts[0][1]):
            below = repo_path(path, name)
            if is_in_cache(below, self.shared):
                continue
            if _UNUSUAL.search(below) or name == b".gitattributes":
                raise _Unusual
            status = os.lstat(folder.parts[0][1] + b"/" + name)
            if is_whiteout(status):
                self.whole.add(below)
                continue
            found = self.layers.look(folder, name)
            if isinstance(found, MergedFolder):
                if self.layers.redirect(found.real) is not None:
                    raise _Unusual
                (self.whole if found.is_new else self.merged).add(below)
                if found.is_new:
                    self.new.add(below)
                self.walk(below, found)
            elif found is not None:
                mode = found.status.st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                    raise _Unusual
                self.size += found.status.st_size
                if self.size > _LIMIT_BYTES:
                    raise _Unusual
                self.whole.add(below)
                self.files[below] = found


def _tracked(repository: Repository, base: ObjectId, look: _Look) -> dict[RepoPath, Entry]:
    """What the base has at what was touched."""
    rules = [repo_path(folder, b".gitattributes") for folder in look.folders]
    known = read_entries(repository, base, [*look.whole, *look.merged, *rules])
    if any(known[rule] is not None for rule in rules):
        raise _Unusual
    tracked: dict[RepoPath, Entry] = {}
    for path, entry in known.items():
        if entry is None:
            continue
        if entry.is_folder and path in look.whole:
            tracked |= {
                repo_path(path, below): inner for below, inner in list_tree(repository, entry.object).items()
            }
        elif not entry.is_folder:
            tracked[path] = entry
    if any(entry.mode == SUBMODULE for entry in tracked.values()):
        raise _Unusual
    return tracked


def _stored(repository: Repository, look: _Look, paths: list[RepoPath]) -> dict[RepoPath, Entry]:
    """The entries of files, their blobs written."""
    store = open_store(repository)
    entries: dict[RepoPath, Entry] = {}
    for path in paths:
        leaf = look.files[path]
        is_link = stat.S_ISLNK(leaf.status.st_mode)
        data = os.readlink(leaf.real) if is_link else _read(leaf)
        mode = SYMLINK if is_link else EXECUTABLE if leaf.status.st_mode & stat.S_IXUSR else FILE
        entries[path] = Entry(mode, store.write("blob", data))
    return entries


def _read(leaf: Leaf) -> bytes:
    descriptor = os.open(leaf.real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        data = file.read()
        now = os.fstat(descriptor)
    then = leaf.status
    if (now.st_mtime_ns, now.st_size, now.st_mode) != (then.st_mtime_ns, then.st_size, then.st_mode):
        raise _Unusual  # it is being written to
    return data


def _ignored(
    repository: Repository, twin: Path, base: ObjectId, look: _Look, new: list[RepoPath]
) -> set[RepoPath]:
    """Those of the new files that git ignores, by the rules that stand in the folders now."""
    rules = [
        path
        for folder in look.folders
        if folder not in look.new and look.new.isdisjoint(folders_above(folder))
        if (path := repo_path(folder, b".gitignore")) not in look.whole
    ]
    known = {
        path: entry for path, entry in read_entries(repository, base, rules).items() if entry is not None
    }
    if any(entry.mode not in (FILE, EXECUTABLE) for entry in known.values()):
        raise _Unusual
    contents = dict(
        zip(known, read_blobs(repository, [entry.object for entry in known.values()]), strict=True)
    )
    for path, leaf in look.files.items():
        if path.rpartition(b"/")[2] == b".gitignore":
            if stat.S_ISLNK(leaf.status.st_mode):
                raise _Unusual
            contents[path] = _read(leaf)
    with tempfile.TemporaryDirectory(prefix="covey-rules-") as above:
        for path, content in contents.items():
            place = Path(above, os.fsdecode(path))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        place = GitPlace(Path(above), git_dir=twin, work_tree=Path(above), index=Path(above, ".git/none"))
        return ignored_of(place, new)
