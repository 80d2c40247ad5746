"""A kept overlay becomes a real folder: written beside its place, renamed into it, and only then its layers go.

Whoever does it may be stopped between two files, or killed anywhere: the layers are as they were, what was written is
thrown away, and the next one begins again. One does it at a time; whoever wants the checkout gone is let in at the next
file.
"""

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

from merge.checkouts.delta import Delta
from merge.checkouts.layers_copied import write_out_layers
from merge.checkouts.overlay import (
    OverlayRecord,
    OverlayUnreadable,
    end_overlay,
    open_layers,
    read_record,
)
from merge.files.file_locks import alone
from merge.files.removal import remove_tree
from merge.snapshots.shared_caches import link_caches
from merge.store.repository import Repository
from merge.store.trees import ObjectId

_EVERY = 64
"""So many files are written between two looks at whether somebody wants the checkout gone."""


class _Unwanted(Exception):
    """Raised between two files when somebody wants the checkout gone."""


def keep(
    repository: Repository,
    twin: Path,
    folder: Path,
    commit: ObjectId,
    go_on: Callable[[], None] = lambda: None,
) -> None:
    """Make `folder` what its child saw there: a real one. One that is real already, or unwanted, stays as it is.

    `go_on` is called between two files; what it raises ends the writing, and nothing is lost. The layers go only when
    the folder stands whole in its place; whoever finds this half done goes on with it.

    Raises:
        OverlayUnreadable: when this process can't read the layers, or somebody else has put files into `folder`.
        GitFailed, OSError: when something can't be read or written; the layers are as they were.
    """
    if not (twin / "upper").exists():
        return
    try:
        with (
            alone(twin / "keeping"),  # a session and a person may come to it at once
            _asking_in_between(twin, go_on) as ask,
        ):
            ask()
            if (record := read_record(twin)) is not None:
                _keep(repository, twin, folder, commit, record, ask)
            else:
                end_overlay(twin)  # somebody was killed when the folder stood already
    except _Unwanted:
        return
    except FileNotFoundError:
        if twin.exists():
            raise


def _keep(
    repository: Repository,
    twin: Path,
    folder: Path,
    commit: ObjectId,
    record: OverlayRecord,
    ask: Callable[[], None],
) -> None:
    # Beside the place, so that it gets there in one step.
    new, is_written = place_beside(folder), twin / "written"
    if not is_written.exists():
        if _is_filled(folder):
            raise _taken(twin, folder)
        remove_tree(new)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write_out(repository, twin, new, commit, record, ask)
            is_written.touch()
        except BaseException:
            with contextlib.suppress(OSError):  # the next one removes it
                remove_tree(new)  # a disk that is full has room again
            raise
    if new.exists():
        try:
            new.rename(folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise _taken(twin, folder) from error
            raise
    end_overlay(twin)


def _write_out(
    repository: Repository,
    twin: Path,
    new: Path,
    commit: ObjectId,
    record: OverlayRecord,
    ask: Callable[[], None],
) -> None:
    new.mkdir()
    with open_layers(repository, twin, commit, record) as layers:
        # What was built in the child's copy of a cache can be built again, in the parent's.
        write_out_layers(layers, new, without=[os.fsencode(name) for name in record.copied], go_on=ask)
        if not (twin / "index").exists():  # a real folder is read by it
            shutil.copy2(Delta(Path(os.fsdecode(record.delta))).files / ".git/index", twin / "index.new")
            (twin / "index.new").rename(twin / "index")
    link_caches(repository.root, new, record.copied)


@contextlib.contextmanager
def laid_aside(twin: Path) -> Generator[None]:
    """Nobody makes a folder of the twin's layers until the block is left: who is at it stops at the next file.

    For whoever removes the checkout. A twin that is gone is fine.

    Raises:
        OSError: when it can't be had.
    """
    try:
        descriptor = os.open(twin, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if (twin / "keeping").exists():
            with alone(twin / "keeping"):
                yield
        else:
            yield
    finally:
        os.close(descriptor)


def forget_place(folder: Path) -> None:
    """Remove the empty place that an overlay was mounted at, and what was written beside it; gone already is fine.

    Raises:
        OSError: when somebody has put something there.
    """
    remove_tree(place_beside(folder))
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()


def stands_whole(twin: Path, folder: Path) -> bool:
    """Whether the folder has been written and is in its place, whatever of the layers is still there."""
    return (twin / "written").exists() and not place_beside(folder).exists()


def place_beside(folder: Path) -> Path:
    """Where the folder is written before it is whole."""
    return folder.with_name(f".{folder.name}.new")


@contextlib.contextmanager
def _asking_in_between(twin: Path, go_on: Callable[[], None]) -> Generator[Callable[[], None]]:
    """What to call between two files: it raises when the writing is to end."""
    descriptor = os.open(twin, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    calls = 0

    def ask() -> None:
        nonlocal calls
        go_on()
        calls += 1
        if calls % _EVERY != 1:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _Unwanted from error
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    try:
        yield ask
    finally:
        os.close(descriptor)


def _taken(twin: Path, folder: Path) -> OverlayUnreadable:
    return OverlayUnreadable(
        f"{folder} holds files that its child did not write; move them away. What it did is in {twin}/upper."
    )


def _is_filled(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False
