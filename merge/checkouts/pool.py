"""Used checkouts that are used again: turned back by undoing what their child did, and proved to be as they were.

A slot is a folder of files with its index, in the repository's own `.git/covey/pool`. It comes there by one rename when
its child is done with, and is used until git has set it back and every file has been looked at; only then is it ready.
Whatever is found that can't be told for certain ends the slot. There are few slots, none is old.
"""

import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

import msgspec

from merge.files.file_locks import alone_or_not
from merge.files.removal import remove_tree
from merge.files.working_files import folders_above
from merge.store.git import GitFailed, GitPlace, run_git
from merge.store.index_file import IndexUnknown, entry_of, read_index
from merge.store.repository import Repository
from merge.store.trees import SUBMODULE, ObjectId, RepoPath

IDLE_LIMIT = 8
"""So many slots are kept at most: as many children as a person has at work at once, most of the time."""

BYTES_LIMIT = 4 << 30
"""And no more than this in all."""

OLD_SECONDS = 7 * 24 * 3600.0


class SlotState(msgspec.Struct, frozen=True):
    """What a slot holds: the files of `tree`, written under the settings that `settings` stands for."""

    tree: ObjectId
    settings: str
    is_ready: bool = False
    bytes: int = 0


def pool_of(repository: Repository) -> Path:
    """Where the slots of a repository are. Without that folder it has no pool."""
    return repository.common_dir / "covey" / "pool"


def give_back(repository: Repository, folder: Path, twin: Path) -> bool:
    """Take a checkout's folder into the pool instead of removing it; False when there is no place for it.

    Raises:
        OSError: when it can't be moved; then it is where it was.
    """
    pool, mark = pool_of(repository), twin / "pool.json"
    if not pool.is_dir() or not mark.is_file() or (twin / "modules").exists():
        return False
    if len(list(pool.iterdir())) >= IDLE_LIMIT:
        return False
    slot = Path(tempfile.mkdtemp(prefix="slot-", dir=pool))
    try:
        (twin / "index").rename(slot / "index")
        shutil.copyfile(twin / "config", slot / "config")
        folder.rename(slot / "files")
        # Last: a slot without it is nothing.
        mark.rename(slot / "state.json")
    except OSError:
        remove_tree(slot)
        raise
    return True


def turn_back(repository: Repository, now: float | None = None) -> int:
    """Set every used slot back, and drop what can't be, what is old and what is too much; how many are ready now.

    Does nothing while somebody else is at it.

    Raises:
        OSError: when something can't be removed.
    """
    if not pool_of(repository).is_dir():
        return 0
    with alone_or_not(pool_of(repository).with_name("pool.lock")) as mine:
        return _turn_back_all(repository, time.time() if now is None else now) if mine else 0


def _turn_back_all(repository: Repository, now: float) -> int:
    ready = 0
    total = 0
    slots = [(slot, _read(slot)) for slot in pool_of(repository).iterdir()]
    for slot, state in sorted(slots, key=lambda each: -_changed(each[0])):
        if slot.name.startswith("taken-"):
            if now - _changed(slot) > 3600:
                remove_tree(slot)  # whoever took it is dead
            continue
        if state is not None and not state.is_ready:
            state = _turn_back(repository, slot, state)
        total += state.bytes if state is not None else 0
        if state is None or total > BYTES_LIMIT or now - _changed(slot) > OLD_SECONDS:
            remove_tree(slot)
            continue
        ready += 1
    return ready


def take_slot(repository: Repository, settings: str) -> tuple[Path, SlotState] | None:
    """A ready slot that was written under these settings; it is the caller's from here on."""
    pool = pool_of(repository)
    for slot in sorted(pool.glob("slot-*"), key=_changed, reverse=True) if pool.is_dir() else ():
        state = _read(slot)
        if state is None or not state.is_ready or state.settings != settings:
            continue
        mine = slot.with_name(f"taken-{slot.name}")
        try:
            slot.rename(mine)  # one of several who want it succeeds
        except OSError:
            continue
        return mine, state
    return None


def _turn_back(repository: Repository, slot: Path, state: SlotState) -> SlotState | None:
    files = slot / "files"
    try:
        remove_tree(files / ".git")
        git_dir = slot / "git"
        remove_tree(git_dir)
        for name in ("objects", "refs"):
            (git_dir / name).mkdir(parents=True)
        shutil.copyfile(slot / "config", git_dir / "config")
        (git_dir / "HEAD").write_text("ref: refs/heads/none\n")
        place = GitPlace(
            files,
            git_dir=git_dir,
            work_tree=files,
            index=slot / "index",
            objects=repository.common_dir / "objects",
            # Every date counts, whatever the person's settings say: they decide what is looked at again.
            switches=("core.trustctime=true", "core.checkStat=default", "index.version=2"),
        )
        run_git(place, "read-tree", "--reset", "-u", state.tree)
        run_git(place, "clean", "-ffdxq")
        differs = run_git(place, "diff-files", "--name-only", "-z").output
        if differs or run_git(place, "ls-files", "--others", "-z").output:
            return None
        size = _size_if_usual(slot, len(state.tree) // 2)
        remove_tree(git_dir)
    except (OSError, GitFailed, IndexUnknown):
        return None
    if size is None:
        return None
    made = msgspec.structs.replace(state, is_ready=True, bytes=size)
    new = slot / "state.new"
    new.write_bytes(msgspec.json.encode(made))
    new.rename(slot / "state.json")
    return made


def _size_if_usual(slot: Path, id_bytes: int) -> int | None:
    """The bytes in a slot that holds what its index names and nothing else, every file as git writes it.

    None where something is not: git passes over pipes and empty folders, and sees no links, modes and marks.
    """
    with tempfile.TemporaryDirectory(dir=slot) as name:
        # What is usual shows in what is made now; to ask for the umask would change it for other threads.
        made = [Path(name, word) for word in ("file", "program", "folder")]
        made[0].touch(0o666)
        made[1].touch(0o777)
        made[2].mkdir()
        file, program, folder = (stat.S_IMODE(each.stat().st_mode) for each in made)
    entries = [
        (entry_of(entry).mode, entry.path) for entry in read_index((slot / "index").read_bytes(), id_bytes)
    ]
    files = {path for mode, path in entries if mode != SUBMODULE}
    folders = {above for _, path in entries for above in folders_above(path)} | {
        path for mode, path in entries if mode == SUBMODULE
    }
    size = 0
    root = os.fsencode(slot / "files")
    for above, below, names in os.walk(root):
        for path in [above, *(above + b"/" + each for each in (*below, *names))]:
            status, known = os.lstat(path), RepoPath(path[len(root) + 1 :])
            is_folder, is_file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
            if known not in (folders if is_folder else files) and path != root:
                return None
            if stat.S_ISLNK(status.st_mode):
                continue
            wanted = (folder,) if is_folder else (file, program) if is_file else ()
            if stat.S_IMODE(status.st_mode) not in wanted or _has_marks(path):
                return None
            if is_file and status.st_nlink != 1:
                return None
            size += status.st_size if is_file else 0
    return size


def _has_marks(path: bytes) -> bool:
    try:
        return bool(os.listxattr(path))
    except (OSError, AttributeError):
        return False  # a filesystem, or a system, that has none


def _read(slot: Path) -> SlotState | None:
    try:
        return msgspec.json.decode((slot / "state.json").read_bytes(), type=SlotState)
    except (OSError, msgspec.MsgspecError):
        return None


def _changed(slot: Path) -> float:
    try:
        return slot.stat().st_mtime
    except OSError:
        return 0.0
