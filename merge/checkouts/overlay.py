"""Overlay checkouts: a child sees a pristine checkout through a layer of its own, and what it writes is in that layer.

Nothing is mounted here: whoever becomes the child's process mounts `mount_of` for itself. The twin's folder holds the
child's upper layer and a record of what is below it; as long as that record stands, the upper layer is the truth, and
the folder beside the repository is an empty place to mount at. `keep` makes a real folder of the two.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from merge.checkouts.delta import Delta
from merge.checkouts.layers import Layers, MergedFolder, Privilege, layers_of
from merge.checkouts.layers_copied import copy_folder, write_out_layers
from merge.checkouts.pristine import still_shows
from merge.checkouts.touched import SmallWorld, open_small_world
from merge.checkouts.touched_quickly import read_touched_quickly
from merge.files.file_locks import alone, lock_shared
from merge.files.removal import remove_tree
from merge.snapshots.shared_caches import link_caches
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
    (twin / "upper").mkdir()
    (twin / "work").mkdir()
    new = twin / f"{_RECORD}.new"
    new.write_bytes(msgspec.json.encode(record))
    new.rename(twin / _RECORD)


def read_record(twin: Path) -> OverlayRecord | None:
    """What is below the checkout of a twin, or None when it is a real folder.

    Raises:
        OverlayUnreadable: when the record can't be read: the upper layer beside it holds what the child did.
    """
    try:
        return msgspec.json.decode((twin / _RECORD).read_bytes(), type=OverlayRecord)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except msgspec.MsgspecError as error:
        raise OverlayUnreadable(f"{twin / _RECORD} can't be read ({error}); see {twin / 'upper'}.") from error


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
    record = read_record(twin)
    if record is None or not record.plain_bytes or os.path.lexists(twin / "upper/.git"):
        return None
    with _open_layers(repository, twin, commit) as layers:
        return read_touched_quickly(repository, twin, base, layers, shared, stays_behind)


@contextlib.contextmanager
def open_touched(
    repository: Repository, twin: Path, base: ObjectId, commit: ObjectId, shared: Sequence[str]
) -> Generator[SmallWorld]:
    """The small world of what the child of a twin has touched, with the `.git` that it left, if it wrote to it.

    Raises:
        OverlayUnreadable: when this process can't read the layers.
        GitFailed, OSError: when they can't be read for another reason.
    """
    with (
        _open_layers(repository, twin, commit) as layers,
        open_small_world(repository, twin, base, layers, shared) as world,
    ):
        git_dir = layers.look(layers.top, b".git")
        if isinstance(git_dir, MergedFolder) and git_dir.parts[0][0] == 0:
            (world.files / ".git").mkdir()
            with contextlib.suppress(PermissionError):  # its child closed it to itself
                copy_folder(layers, git_dir, world.files / ".git")
        yield world


def keep(repository: Repository, twin: Path, folder: Path, commit: ObjectId) -> None:
    """Make `folder` what its child saw there: a real one. One that is real already stays as it is.

    The layers go only when the folder stands whole in its place; whoever finds this half done goes on with it.

    Raises:
        OverlayUnreadable: when this process can't read the layers, or somebody else has put files into `folder`.
        GitFailed, OSError: when something can't be read or written; the layers are as they were.
    """
    if read_record(twin) is None:
        return
    with alone(twin / "keeping"):  # a session and a person may come to it at once
        if (record := read_record(twin)) is not None:
            _keep(repository, twin, folder, commit, record)


def _keep(repository: Repository, twin: Path, folder: Path, commit: ObjectId, record: OverlayRecord) -> None:
    # Beside the place, so that it gets there in one step.
    new, is_written = folder.with_name(f".{folder.name}.new"), twin / "written"
    if not is_written.exists():
        if _is_filled(folder):
            raise OverlayUnreadable(
                f"{folder} holds files that its child did not write; move them away. What it did is in {twin}/upper."
            )
        remove_tree(new)
        folder.mkdir(parents=True, exist_ok=True)
        new.mkdir()
        with _open_layers(repository, twin, commit) as layers:
            # What was built in the child's copy of a cache can be built again, in the parent's.
            write_out_layers(layers, new, without=[os.fsencode(name) for name in record.copied])
            if not (twin / "index").exists():  # a real folder is read by it
                shutil.copy2(Delta(Path(os.fsdecode(record.delta))).files / ".git/index", twin / "index")
        link_caches(repository.root, new, record.copied)
        is_written.touch()
    if new.exists():
        new.rename(folder)
    (twin / _RECORD).unlink()
    for name in ("upper", "work", "written"):
        remove_tree(twin / name)


def forget_place(folder: Path) -> None:
    """Remove the empty place that an overlay was mounted at; gone already is fine.

    Raises:
        OSError: when somebody has put something there.
    """
    remove_tree(folder.with_name(f".{folder.name}.new"))
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()


@contextlib.contextmanager
def _open_layers(repository: Repository, twin: Path, commit: ObjectId) -> Generator[Layers]:
    """A child's layers. What is below its own is made anew where it has changed or gone since."""
    record = read_record(twin)
    assert record is not None, f"{twin} is no overlay's"
    if record.privilege == "trusted" and os.geteuid() != 0:
        raise OverlayUnreadable(f"{twin / 'upper'} was written by root's covey; run this as root.")
    upper = os.fsencode(twin / "upper")
    pristine, delta = Path(os.fsdecode(record.pristine)), Delta(Path(os.fsdecode(record.delta)))
    held = lock_shared(pristine / "lock") if pristine.is_dir() else None
    try:
        if held is not None and still_shows(pristine, record.tree) and delta.files.is_dir():
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


def _is_filled(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False
