"""A pristine checkout of a repository, kept below covey's own folder: what every child's overlay shows below.

Git writes it, once, and brings it up to date by what differs. It is changed only by who holds its lock alone, and
everybody who shows it to a child holds that lock with others: a layer must not change under a mount. What the person
has not committed is not in here, but in a layer of its own (`merge.checkouts.delta`).
"""

import contextlib
import dataclasses
import hashlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from merge.checkouts.cloned_files import clone_clean_files, clones_files
from merge.checkouts.plain_checkout import write_out
from merge.checkouts.ways import WayUnfit
from merge.files.file_locks import alone, alone_or_not, lock_shared
from merge.files.removal import remove_tree
from merge.snapshots.snapshot import Snapshot, commit_of
from merge.store.commits import read_commit
from merge.store.conversion import attributes_of_person, attributes_of_system
from merge.store.git import GitFailed, GitPlace
from merge.store.index_file import Bytes, entry_offsets, map_bytes
from merge.store.objects import changed_paths
from merge.store.private_git import Inheritance, lay_out, write_config
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId

FAR = 500
"""So many changed paths away a pristine checkout is brought up to date before a child starts, if nobody uses it: below
that the difference costs less as a layer."""

UNUSED_SECONDS = 30 * 24 * 3600.0
"""A pristine checkout that nobody has used for so long goes; it costs one ordinary checkout to have it again."""


class _State(msgspec.Struct, frozen=True):
    """What a pristine checkout shows. Absent while it is being changed: then it must be written anew."""

    repository: bytes
    tree: ObjectId


@dataclasses.dataclass(frozen=True)
class Pristine:
    """Where one is. `tree` is what its files are, `index` the git index of them with their dates."""

    home: Path
    tree: ObjectId

    @property
    def index(self) -> Path:
        return self.home / "git/index"

    def offsets(self, index: Bytes, id_bytes: int) -> Sequence[int]:
        """Where each entry of its index begins.

        Raises:
            IndexUnknown: when the index is none that is understood.
        """
        try:
            return memoryview(map_bytes(self.home / "offsets")).cast("L")
        except FileNotFoundError:
            return entry_offsets(bytes(index), id_bytes)


def pristine_home(cache: Path, repository: Repository, inheritance: Inheritance) -> Path:
    """The folder of the repository's pristine checkout under its present settings: other settings, other files."""
    digest = hashlib.sha256(os.fsencode(repository.common_dir))
    own = inheritance.info.get("attributes", b"")
    for part in (
        repr(sorted(inheritance.config.items())),
        repr(own),
        repr(_attributes_elsewhere(repository, inheritance)),
    ):
        digest.update(b"\0" + part.encode(errors="surrogateescape"))
    return cache / digest.hexdigest()[:16]


def lock_of(home: Path) -> Path:
    return home / "lock"


def ready_pristine(
    home: Path, repository: Repository, snapshot: Snapshot, inheritance: Inheritance
) -> tuple[Pristine, tuple[Change, ...], int]:
    """The pristine checkout, how it leads to `snapshot`, and a descriptor that keeps it as it is until it is closed.

    Raises:
        WayUnfit: when it can't be had, in words.
        GitFailed, OSError: when it can't be written.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with alone(home / "making"):
        state = _read_state(home)
        changes = _changes(repository, state, snapshot.tree)
        if state is None or changes is None or len(changes) > FAR or rules_differ(changes):
            state = _bring_up(home, repository, _target(repository, snapshot), inheritance, state)
            changes = _changes(repository, state, snapshot.tree)
        if changes is None or rules_differ(changes):
            raise WayUnfit("a .gitattributes has changed that is not committed yet")
        held = lock_shared(lock_of(home))
        if held is None:
            raise WayUnfit("the pristine checkout is being changed by somebody else")
    os.utime(home)
    return Pristine(home, state.tree), changes, held


def refresh_pristine(home: Path, repository: Repository, commit: ObjectId, inheritance: Inheritance) -> None:
    """Bring one that is there and that nobody uses to `commit`. In use it stays: a layer on top makes up for it.

    Raises:
        GitFailed, OSError: when it can't be written.
    """
    if not (home / "state.json").exists():
        return
    with alone(home / "making"):
        state = _read_state(home)
        if state is not None and state.tree != read_commit(repository, commit).tree:
            with contextlib.suppress(WayUnfit):
                _bring_up(home, repository, commit, inheritance, state)


def still_shows(home: Path, tree: ObjectId) -> bool:
    """Whether a pristine checkout is there and its files are those of `tree`."""
    state = _read_state(home)
    return state is not None and state.tree == tree


def drop_unused(cache: Path, now: float | None = None) -> list[Path]:
    """Remove pristine checkouts that nobody has used for long, or whose repository is gone; those that went."""
    now = time.time() if now is None else now
    gone: list[Path] = []
    for home in sorted(cache.iterdir()) if cache.is_dir() else ():
        if re.fullmatch(r"[0-9a-f]{16}", home.name) is None:
            continue  # none of ours: somebody tries out what the system can do
        state = _read_state(home)
        is_gone = state is not None and not Path(os.fsdecode(state.repository)).is_dir()
        if not is_gone and now - home.stat().st_mtime < UNUSED_SECONDS:
            continue
        with alone_or_not(home / "making") as making, alone_or_not(lock_of(home)) as mine:
            if making and mine:
                remove_tree(home)
                gone.append(home)
    return gone


def _target(repository: Repository, snapshot: Snapshot) -> ObjectId:
    """The commit that a pristine checkout is brought to: the parent's HEAD, which stays for long."""
    return snapshot.head if snapshot.head is not None else commit_of(repository, snapshot)


def _bring_up(
    home: Path, repository: Repository, commit: ObjectId, inheritance: Inheritance, state: _State | None
) -> _State:
    """Write the files of `commit`, or those that differ, while nobody looks."""
    tree = read_commit(repository, commit).tree
    with alone_or_not(lock_of(home)) as mine:
        if not mine:
            if state is not None:
                return state  # in use: it stays as it is
            raise WayUnfit("the pristine checkout is being changed by somebody else")
        for name in ("state.json", "offsets"):
            (home / name).unlink(missing_ok=True)
        changes = _changes(repository, state, tree)
        if changes is None or rules_differ(changes):
            # Git writes a file anew when the file differs, not when its line endings or filters do.
            for name in ("files", "git"):
                remove_tree(home / name)
        files, git_dir = home / "files", home / "git"
        files.mkdir(exist_ok=True)
        if not git_dir.exists():
            lay_out(git_dir, inheritance, head=commit)
        write_config(git_dir, inheritance.config)
        (git_dir / "HEAD").write_text(f"{commit}\n")
        place = GitPlace(
            files,
            git_dir=git_dir,
            work_tree=files,
            objects=repository.common_dir / "objects",
            switches=("index.version=2", "core.untrackedCache=false"),
        )
        try:
            if not any(files.iterdir()) and clones_files(repository, files):
                clone_clean_files(repository, place, inheritance)
            failing = write_out(place, inheritance, _nothing_more(commit))
        except GitFailed:
            remove_tree(files)  # what there was room for is in the way of others
            raise
        if failing:
            remove_tree(home / "files")
            raise WayUnfit(f"the filter {failing[0]} of the repository can't bring its files back")
        index = (git_dir / "index").read_bytes()
        (home / "offsets").write_bytes(entry_offsets(index, len(tree) // 2).tobytes())
        state = _State(os.fsencode(repository.common_dir), tree)
        new = home / "state.new"
        new.write_bytes(msgspec.json.encode(state))
        new.rename(home / "state.json")
        return state


def _nothing_more(commit: ObjectId) -> Snapshot:
    return Snapshot(ObjectId(""), commit, None, (), ())


def _read_state(home: Path) -> _State | None:
    try:
        return msgspec.json.decode((home / "state.json").read_bytes(), type=_State)
    except (OSError, msgspec.MsgspecError):
        return None


def _changes(repository: Repository, state: _State | None, after: ObjectId) -> tuple[Change, ...] | None:
    """The way from what is there, or None when there is none: it must be written anew."""
    if state is None:
        return None
    try:
        return changed_paths(repository, state.tree, after)
    except GitFailed:
        return None  # what it was written from is gone from the repository since


def rules_differ(changes: Sequence[Change]) -> bool:
    """Whether files that stay the same in git may look otherwise on the disk."""
    return any(change.path.rpartition(b"/")[2] == b".gitattributes" for change in changes)


def _attributes_elsewhere(repository: Repository, inheritance: Inheritance) -> list[bytes]:
    """What the files hold that give attributes in all of the person's repositories, and on the whole machine."""
    own = attributes_of_person(inheritance.config)
    held: list[bytes] = []
    for name in (*([own] if own is not None else []), *attributes_of_system()):
        try:
            held.append((repository.root / name).read_bytes())
        except OSError:
            held.append(b"")
    return held
