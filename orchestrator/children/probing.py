"""Whether overlays can be mounted here, found out by mounting one: in a process like a child's, which then ends.

Whatever stands in the way (no such kernel, a container, AppArmor, a filesystem that takes no upper layer) says so
itself. Leaves nothing behind; what a killed process left the next one removes.
"""

import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import trio

from orchestrator.children.process import open_worker
from orchestrator.children.spawning import Spawner
from orchestrator.sandbox.environment import CHILD_VARIABLE
from worker.confinement.first_steps import AnyStep, MountOverlay, RenameFolder
from worker.protocol import Ready

_PREFIX = "probe-"

_PATIENCE_SECONDS = 10.0
"""A mount takes milliseconds; a machine on which it takes so long is better served by another way."""


async def why_no_overlay(
    cache: Path, uppers: Path, spawner: Spawner, *, user_namespace: bool, folders_move: bool
) -> str:
    """Why an overlay with its lower layers in `cache` and its upper one in `uppers` can't be had; empty when it can.

    With `folders_move`, one in which no folder of a lower layer can be renamed is none.
    """
    try:
        with ExitStack() as stack:
            below, above = (_folder_in(place, stack) for place in (cache, uppers))
            return await _try(below, above, spawner, user_namespace, folders_move)
    except OSError as error:
        return f"{error.filename or cache}: {error.strerror or error}"


async def _try(below: Path, above: Path, spawner: Spawner, user_namespace: bool, folders_move: bool) -> str:
    for folder in (below / "lower/one", above / "upper", above / "work", above / "target", above / "hidden"):
        folder.mkdir(parents=True)
    (below / "lower/one/file").touch()
    (below / "lock").touch()
    target = bytes(above / "target")
    steps: tuple[AnyStep, ...] = (
        MountOverlay(
            (bytes(below / "lower"),),
            bytes(above / "upper"),
            bytes(above / "work"),
            target,
            (bytes(below / "lock"),),
            (bytes(above / "hidden"),),
            user_namespace,
        ),
    )
    if folders_move:
        steps += (RenameFolder(target + b"/one", target + b"/two"),)
    marker = (CHILD_VARIABLE, f"probe in {above}")
    environment = {"PATH": os.environ.get("PATH", os.defpath), marker[0]: marker[1]}
    with trio.move_on_after(_PATIENCE_SECONDS):
        async with open_worker(marker, environment, spawner, trio.Event(), steps) as worker:
            if isinstance(await worker.wire.receive(), Ready):
                return ""
            await worker.wait_death()
            return what_it_died_of(worker.last_words()) or "the process that tried it ended without a word"
    return "it takes too long"


def _folder_in(place: Path, stack: ExitStack) -> Path:
    """A folder that is locked while it is in use, and removed afterwards."""
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(place)
    while True:
        # What the kernel leaves in a work folder is closed; it goes all the same.
        made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=place, ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():  # the sweep of another session may have come between
                return folder


def _sweep(place: Path) -> None:
    """Remove what a process that was killed while it tried has left; its lock is gone with it."""
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for shut in folder.glob("work/work"):
                    shut.chmod(0o700)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def what_it_died_of(words: str) -> str:
    """What an exception on standard error says, without its type and paths.

    `OSError: [Errno 1] unshare: Operation not permitted`.
    """
    last = words.strip().splitlines()[-1:]
    said = last[0].partition(": ")[2].partition(": b'")[0] if last else ""
    if said.startswith(f"[Errno {errno.EXDEV}]"):
        return "a folder can't be renamed in it"
    return said.partition("] ")[2] or said
