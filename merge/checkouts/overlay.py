"""Overlay checkouts: a child sees a pristine checkout through a layer of its own, and what it writes is in that layer.

Nothing is mounted here: whoever becomes the child's process mounts `mount_of` for itself. The twin's folder holds the
child's upper layer and a record of what is below it; as long as that record stands, the upper layer is the truth, and
the folder beside the repository is an empty place to mount at. Whoever reads the layers holds the record, so that they
stay meanwhile. A real folder is made of them in `merge.checkouts.keeping`.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from merge.checkouts.delta import Delta
from merge.checkouts.layers import Layers, MergedFolder, Privilege, layers_of
from merge.checkouts.layers_copied import copy_folder
from merge.checkouts.pristine import still_shows
from merge.checkouts.touched import SmallWorld, open_small_world
from merge.checkouts.touched_quickly import read_touched_quickly
from merge.checkouts.unwritten import is_layered
from merge.files.file_locks import lock_shared
from merge.files.removal import remove_tree
from merge.store.git import GitPlace, run_git
from merge.store.private_git import set_branch
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath

_RECORD = "overlay.json"


class OverlayUnreadable(Exception):
    """Raised when a child's layers can't be read by this process. `str()` says why and what to do."""


class OverlayRecord(msgspec.Struct, frozen=True):
    """What stands below a child's upper layer. `pristine` shows the tree `tree`; `delta` is the layer on top of it.

    `branch` is the one that the child's HEAD began at, None where that was no branch.
    """

    pristine: bytes
    tree: ObjectId
    delta: bytes
    privilege: Privilege
    branch: str | None = None
    plain_bytes: bool = False
    """Whether git stores files as they are (`merge.checkouts.plain_bytes`)."""
    caches: bytes | None = None
    """A copy of the parent's caches, shown below as well."""
    copied: tuple[str, ...] = ()
    """The names of the caches in it."""


@dataclass(frozen=True)
class Mount:
    """What a child's process mounts before it begins: see `worker.confinement.first_steps.MountOverlay`."""

    lowers: tuple[Path, ...]
    upper: Path
    work: Path
    target: Path
    locks: tuple[Path, ...]
    hidden: tuple[Path, ...]
    user_namespace: bool


def write_record(twin: Path, record: OverlayRecord) -> None:
    """Make the twin's checkout an overlay: its upper layer, empty, and what is below it."""
    new = twin / f"{_RECORD}.new"
    new.write_bytes(msgspec.json.encode(record))
    new.rename(twin / _RECORD)
    # The record first: an upper layer without one is work of which nobody can tell what is below it.
    (twin / "upper").mkdir()
    (twin / "work").mkdir()


def read_record(twin: Path) -> OverlayRecord | None:
    """What is below the checkout of a twin, or None when it is a real folder.

    Raises:
        OverlayUnreadable: when the record can't be read: the upper layer beside it holds what the child did.
    """
    try:
        return msgspec.json.decode((twin / _RECORD).read_bytes(), type=OverlayRecord)
    except (FileNotFoundError, NotADirectoryError) as error:
        if is_layered(twin):
            raise OverlayUnreadable(f"{twin / _RECORD} is gone; see {twin / 'upper'}.") from error
        return None
    except msgspec.MsgspecError as error:
        raise OverlayUnreadable(f"{twin / _RECORD} can't be read ({error}); see {twin / 'upper'}.") from error


@contextlib.contextmanager
def held_record(twin: Path) -> Generator[OverlayRecord | None]:
    """Like `read_record`, and what it tells of stays as it is until the block is left: see `end_overlay`.

    Raises:
        OverlayUnreadable: when the record can't be read.
    """
    while True:
        descriptor = _open_record(twin)
        if descriptor is None:
            yield read_record(twin)
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.fstat(descriptor).st_nlink:
                yield read_record(twin)
                return
        finally:
            # Not by closing alone: a process forked meanwhile may hold a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def end_overlay(twin: Path) -> None:
    """The folder is real from here on: take the record away, and the layers when nobody reads them any more.

    Raises:
        OSError: when something can't be removed; what is left goes with the twin.
    """
    descriptor = _open_record(twin)
    if descriptor is not None:
        try:
            (twin / _RECORD).unlink()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        finally:
            os.close(descriptor)
    for name in ("upper", "work", "written"):
        remove_tree(twin / name)


def _open_record(twin: Path) -> int | None:
    try:
        return os.open(twin / _RECORD, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None


def mount_of(twin: Path, target: Path) -> Mount | None:
    """What the child of a twin must mount at `target`, or None when it works in a real folder."""
    record = read_record(twin)
    if record is None:
        return None
    pristine, delta = Path(os.fsdecode(record.pristine)), Delta(Path(os.fsdecode(record.delta)))
    caches = [Path(os.fsdecode(record.caches))] if record.caches is not None else []
    return Mount(
        (delta.files, *(each / "files" for each in caches), pristine / "files"),
        twin / "upper",
        twin / "work",
        target,
        (pristine / "lock", delta.lock, *(each / "lock" for each in caches)),
        (pristine.parent, twin.parent),
        record.privilege == "user",
    )


def read_quickly(
    repository: Repository,
    twin: Path,
    base: ObjectId,
    commit: ObjectId,
    shared: Sequence[str],
    stays_behind: Callable[[RepoPath, bool], bool],
) -> ObjectId | None:
    """The tree that the child of a twin made of `base`, or None where `open_touched` is needed to tell.

    Raises:
        OverlayUnreadable: when this process can't read the layers.
        GitFailed, OSError: when they can't be read for another reason.
    """
    with held_record(twin) as record:
        if record is None:
            return None
        if not os.listdir(twin / "upper"):
            return base  # whatever is below: it may never have been made
        if not record.plain_bytes or os.path.lexists(twin / "upper/.git"):
            return None
        with open_layers(repository, twin, commit, record) as layers:
            return read_touched_quickly(repository, twin, base, layers, shared, stays_behind)


@contextlib.contextmanager
def open_touched(
    repository: Repository, twin: Path, base: ObjectId, commit: ObjectId, shared: Sequence[str]
) -> Generator[SmallWorld | None]:
    """The small world of what the child of a twin has touched, with the `.git` that it left, if it wrote to it.

    None when its folder is a real one.

    Raises:
        OverlayUnreadable: when this process can't read the layers.
        GitFailed, OSError: when they can't be read for another reason.
    """
    with contextlib.ExitStack() as stack:
        record = stack.enter_context(held_record(twin))
        if record is None:
            yield None
            return
        layers = stack.enter_context(open_layers(repository, twin, commit, record))
        world = stack.enter_context(open_small_world(repository, twin, base, layers, shared))
        git_dir = layers.look(layers.top, b".git")
        if isinstance(git_dir, MergedFolder) and git_dir.parts[0][0] == 0:
            (world.files / ".git").mkdir()
            with contextlib.suppress(PermissionError):  # its child closed it to itself
                copy_folder(layers, git_dir, world.files / ".git")
        yield world


@contextlib.contextmanager
def open_layers(
    repository: Repository, twin: Path, commit: ObjectId, record: OverlayRecord
) -> Generator[Layers]:
    """A child's layers. What is below its own is made anew where it has changed or gone since.

    Raises:
        OverlayUnreadable: when this process can't read them.
    """
    if record.privilege == "trusted" and os.geteuid() != 0:
        raise OverlayUnreadable(f"{twin / 'upper'} was written by root's covey; run this as root.")
    upper = os.fsencode(twin / "upper")
    pristine, delta = Path(os.fsdecode(record.pristine)), Delta(Path(os.fsdecode(record.delta)))
    held = lock_shared(pristine / "lock") if pristine.is_dir() else None
    try:
        if held is not None and still_shows(pristine, record.tree) and delta.is_whole:
            lowers = (os.fsencode(delta.files), os.fsencode(pristine / "files"))
            yield layers_of(upper, lowers, record.privilege)
        else:
            with _lower_made_anew(repository, twin, commit, record.branch) as lower:
                yield layers_of(upper, (os.fsencode(lower),), record.privilege)
    finally:
        if held is not None:
            os.close(held)


@contextlib.contextmanager
def _lower_made_anew(
    repository: Repository, twin: Path, commit: ObjectId, branch: str | None
) -> Generator[Path]:
    """What the lower layers showed, written from the commit that the child began at."""
    lower = Path(tempfile.mkdtemp(prefix="lower-", dir=twin))
    try:
        objects = repository.common_dir / "objects"
        place = GitPlace(lower, git_dir=twin, work_tree=lower, objects=objects)
        run_git(place, "read-tree", "--reset", "-u", commit)
        git_dir = lower / ".git"
        (git_dir / "refs").mkdir(parents=True)
        for name in ("objects/info", "info"):
            shutil.copytree(twin / name, git_dir / name)
        for name in ("HEAD", "config", "index"):
            shutil.copy2(twin / name, git_dir / name)
        if branch is not None:
            (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
            set_branch(git_dir, branch, commit)
        yield lower
    finally:
        remove_tree(lower)
