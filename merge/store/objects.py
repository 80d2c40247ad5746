"""Trees and blobs of a repository: read an entry, list a tree, change a few paths of it, compare two.

Ids are compared first and only what differs is opened, so every function here costs what it changes or
finds, not what the repository holds (`list_tree` alone reads a whole tree). Works on SHA-1 and SHA-256
repositories alike. Knows nothing of working trees, filters or commits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from merge.store.object_store import ObjectStore, open_store
from merge.store.repository import Repository
from merge.store.syncing import Unsynced
from merge.store.trees import EXECUTABLE, FILE, FOLDER, Change, Entry, ObjectId, RepoPath, decode_tree

Folder = dict[bytes, Entry]
"""The entries of one folder by name."""

_NOTHING: Mapping[bytes, Entry] = {}


def read_blob(repository: Repository, blob: ObjectId) -> bytes:
    """The content of a blob.

    Raises:
        ObjectMissing: when the repository does not hold it.
    """
    return open_store(repository).read_all([blob])[0]


def read_blobs(repository: Repository, blobs: Sequence[ObjectId]) -> list[bytes]:
    """The contents of several blobs, in order; see `read_blob`."""
    return open_store(repository).read_all(blobs)


def write_blob(repository: Repository, data: bytes) -> ObjectId:
    """Store `data` as a blob, as it is: no filter, no line ending is applied."""
    return open_store(repository).write("blob", data)


def read_entry(repository: Repository, tree: ObjectId, path: RepoPath) -> Entry | None:
    """What stands at `path` in `tree`; a folder is an entry of mode `FOLDER`."""
    return read_entries(repository, tree, [path])[path]


def read_entries(
    repository: Repository, tree: ObjectId, paths: Iterable[RepoPath]
) -> dict[RepoPath, Entry | None]:
    """`read_entry` for several paths, each folder above them opened once."""
    paths = list(paths)
    folders = _open_folders(open_store(repository), tree, _folders_above(paths))
    answer: dict[RepoPath, Entry | None] = {}
    for path in paths:
        above, name = _split(path)
        entry = folders[above].get(name)
        answer[path] = entry and _canonical(entry)
    return answer


def list_tree(repository: Repository, tree: ObjectId) -> dict[RepoPath, Entry]:
    """Every file, symlink and submodule of `tree` by path, folders opened; sorted by path."""
    changes = changed_paths(repository, None, tree)
    return {change.path: change.after for change in changes if change.after is not None}


def changed_paths(
    repository: Repository, before: ObjectId | None, after: ObjectId | None
) -> tuple[Change, ...]:
    """The paths whose entry differs between two trees, sorted by path. `None` is the tree of nothing.

    A folder is never a change: what is in it is. A file that became a folder is one path gone and others new.
    """
    return compare_trees(open_store(repository), before, after)


def compare_trees(store: ObjectStore, before: ObjectId | None, after: ObjectId | None) -> tuple[Change, ...]:
    """`changed_paths`, read from an open store."""
    changes: list[Change] = []
    pairs: list[tuple[bytes, ObjectId | None, ObjectId | None]] = [(b"", before, after)]
    while pairs:
        # One level of folders at a time: git's plumbing, where it stands in, is started once a level.
        pairs = [pair for pair in pairs if pair[1] != pair[2]]
        opened = _read_folders(store, {tree for _, *sides in pairs for tree in sides if tree is not None})
        below: list[tuple[bytes, ObjectId | None, ObjectId | None]] = []
        for prefix, old_tree, new_tree in pairs:
            old = opened[old_tree] if old_tree is not None else _NOTHING
            new = opened[new_tree] if new_tree is not None else _NOTHING
            for name in old.keys() | new.keys():
                old_entry, new_entry = old.get(name), new.get(name)
                if old_entry == new_entry:
                    continue
                path = prefix + name
                old_folder, old_file = _folder_or_file(old_entry)
                new_folder, new_file = _folder_or_file(new_entry)
                if old_folder != new_folder:
                    below.append((path + b"/", old_folder, new_folder))
                if old_file != new_file:
                    changes.append(Change(RepoPath(path), old_file, new_file))
        pairs = below
    return tuple(sorted(changes, key=lambda change: change.path))


def edit_tree(
    repository: Repository, tree: ObjectId | None, changes: Iterable[tuple[RepoPath, Entry | None]]
) -> ObjectId:
    """`tree` (`None`: nothing) with some paths set, or taken away where the entry is `None`; its new id.

    The order of changes means nothing, save that the last of two for one path counts. An entry set where a
    folder stands replaces the folder and what was in it. Taking away what is not there, or a folder, does
    nothing; a folder goes with its last entry.

    Raises:
        ValueError: when one path is set and so is another below it.
    """
    wanted = dict(changes)
    store = open_store(repository)
    folders = _open_folders(store, tree, _folders_above(wanted))
    for path, entry in wanted.items():
        above, name = _split(path)
        there = folders[above].get(name)
        if entry is not None:
            folders[above][name] = entry
        elif there is not None and not there.is_folder:
            del folders[above][name]
    for depth in sorted({_depth(folder) for folder in folders}, reverse=True):
        level = {folder: entries for folder, entries in folders.items() if _depth(folder) == depth}
        if depth == 0:
            return store.write_trees([level[b""]])[0]
        full = {folder: entries for folder, entries in level.items() if entries}
        ids = dict(zip(full, store.write_trees(list(full.values())), strict=True))
        for folder in level:
            _put_folder(folders, wanted, folder, ids.get(folder))
    raise AssertionError("the root is always among the folders")


def unsynced_objects(repository: Repository, objects: Iterable[ObjectId]) -> Unsynced:
    """Where the objects are, as far as they may not be on the disk for good. They are only listed when need be.

    An object in a pack is on the disk: git syncs packs.
    """

    def names() -> Iterator[str]:
        yield ""
        for wanted in objects:
            yield f"{wanted[:2]}/{wanted[2:]}"
            yield wanted[:2]

    return Unsynced(f"{repository.common_dir}/objects", names())


def _put_folder(
    folders: dict[bytes, Folder],
    wanted: Mapping[RepoPath, Entry | None],
    folder: bytes,
    tree: ObjectId | None,
) -> None:
    """Set or take away `folder`'s own entry in the folder above it."""
    above, name = _split(folder)
    if wanted.get(RepoPath(folder)) is not None:
        if any(entry is not None and path.startswith(folder + b"/") for path, entry in wanted.items()):
            raise ValueError(f"{folder!r} cannot be set together with a path below it.")
        return
    there = folders[above].get(name)
    if tree is not None:
        folders[above][name] = Entry(FOLDER, tree)
    elif there is not None and there.is_folder:
        del folders[above][name]


def _open_folders(store: ObjectStore, tree: ObjectId | None, wanted: set[bytes]) -> dict[bytes, Folder]:
    """The entries of each wanted folder of `tree`, empty where there is no such folder.

    `wanted` holds every folder above the ones it holds.
    """
    folders: dict[bytes, Folder] = {}
    for depth in range(1 + max(map(_depth, wanted))):
        level: dict[bytes, ObjectId | None] = {}
        for folder in wanted:
            if _depth(folder) == depth:
                above, name = _split(folder)
                entry = folders[above].get(name) if folder else None
                level[folder] = (entry.object if entry and entry.is_folder else None) if folder else tree
        opened = _read_folders(store, {found for found in level.values() if found is not None})
        for folder, found in level.items():
            folders[folder] = dict(opened[found]) if found is not None else {}
    return folders


def _read_folders(store: ObjectStore, trees: set[ObjectId]) -> Mapping[ObjectId, Mapping[bytes, Entry]]:
    known = store.known_trees
    ordered = [tree for tree in trees if tree not in known]
    for tree, content in zip(ordered, store.read_all(ordered) if ordered else (), strict=True):
        known[tree] = decode_tree(content, len(tree) // 2)
    return known


def _folders_above(paths: Iterable[bytes]) -> set[bytes]:
    """Every folder above any of the paths, the root (`b""`) included."""
    folders = {b""}
    for path in paths:
        above, _ = _split(path)
        while above not in folders:
            folders.add(above)
            above, _ = _split(above)
    return folders


def _split(path: bytes) -> tuple[bytes, bytes]:
    above, _, name = path.rpartition(b"/")
    return above, name


def _depth(folder: bytes) -> int:
    return folder.count(b"/") + 1 if folder else 0


def _folder_or_file(entry: Entry | None) -> tuple[ObjectId | None, Entry | None]:
    if entry is None:
        return None, None
    return (entry.object, None) if entry.is_folder else (None, _canonical(entry))


def _canonical(entry: Entry) -> Entry:
    """The entry with one of the modes of `merge.store.trees`: old repositories hold others, such as 0o100664."""
    if entry.mode in (FILE, EXECUTABLE) or entry.mode & 0o170000 != 0o100000:
        return entry
    return Entry(EXECUTABLE if entry.mode & 0o100 else FILE, entry.object)
