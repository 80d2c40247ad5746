"""What a process does to itself before it becomes a worker: a list of steps, taken in order, in the child's process.

The parent says which, as values; a forked worker gets them with its request, a fresh one as a word of its command
line. A step that can't be taken raises `OSError`, and the worker never begins. A new kind of step is one more case.
"""

import fcntl
import os
import sys
import traceback

import msgspec

from worker.confinement.confinement import Confinement, Enforced

PRIVILEGED_OPTIONS = b"redirect_dir=on,metacopy=off,index=off"
"""As root a folder of a lower layer can be renamed (`redirect_dir`); no file's bytes are left below (`metacopy`)."""

USER_OPTIONS = b"userxattr"
"""In a user namespace the kernel takes neither of those options, and leaves both off."""


CANT_MOUNT = 71
"""How a process ends that could not mount its checkout: EX_OSERR of sysexits(3). A worker ends so for nothing else."""


class MountFailed(OSError):
    """Raised when the checkout can't be mounted; errno and words are the system's."""


class Step(msgspec.Struct, frozen=True, tag=True):
    """Base of the steps."""


class MountOverlay(Step, frozen=True):
    """Go into a mount namespace of its own and see `lowers` (the topmost first) under `upper` at `target`.

    Nothing but processes holds such a mount, so none outlives them. `locks` are files that are locked, shared, while
    the worker lives: who holds one alone may change a lower. `hidden` are folders that hold the layers of this child
    and of others, and that nobody in the namespace sees any more.
    """

    lowers: tuple[bytes, ...]
    upper: bytes
    work: bytes
    target: bytes
    locks: tuple[bytes, ...]
    hidden: tuple[bytes, ...]
    user_namespace: bool


class Confine(Step, frozen=True):
    """Hold the process to `confinement`, as far as the system can. The last step: nothing can be mounted after it."""

    confinement: Confinement


class RenameFolder(Step, frozen=True):
    """Rename a folder: the proof, where somebody looks for a way to mount, that folders can be renamed in it."""

    old: bytes
    new: bytes


AnyStep = MountOverlay | RenameFolder | Confine
"""Everything that can be done before a worker begins."""


def begin_with(steps: tuple[AnyStep, ...], enforced: Enforced | None = None) -> None:
    """Take the steps; a process that can't mount its checkout says why and ends with `CANT_MOUNT`.

    Raises:
        OSError: when another step can't be taken.
    """
    try:
        take_steps(steps, enforced)
    except MountFailed:
        traceback.print_exc()
        sys.exit(CANT_MOUNT)


def take_steps(steps: tuple[AnyStep, ...], enforced: Enforced | None = None) -> None:
    """Take the steps in order. The process has one thread, and stays as the steps left it when one fails.

    `enforced` is what the system can hold a process to, where that was found out already.

    Raises:
        MountFailed, OSError: when one can't be taken.
    """
    in_own_mounts = in_user_namespace = False
    for step in steps:
        match step:
            case MountOverlay():
                try:
                    _mount(step)
                except OSError as error:
                    raise MountFailed(error.errno, error.strerror, error.filename) from error
                in_own_mounts, in_user_namespace = True, step.user_namespace
            case RenameFolder(old, new):
                os.rename(old, new)  # noqa: PTH104 - paths of steps are bytes
            case Confine():
                _confine(step, enforced, in_own_mounts=in_own_mounts)
                in_user_namespace = False
    if in_user_namespace:
        _drop_capabilities()


def encode_steps(steps: tuple[AnyStep, ...]) -> str:
    """The steps as one word of a command line."""
    return msgspec.msgpack.encode(steps).hex()


def decode_steps(word: str) -> tuple[AnyStep, ...]:
    """The steps that `encode_steps` made a word of."""
    return msgspec.msgpack.decode(bytes.fromhex(word), type=tuple[AnyStep, ...])


def _mount(step: MountOverlay) -> None:
    # Imported where it is used: the parent knows the steps and takes none. The fork server has imported it already.
    from worker.confinement.namespaces import enter_mount_namespace, hide, mount_overlay

    for lock in step.locks:
        # Never closed: it is held until the process is gone. No program that it starts inherits it.
        fcntl.flock(os.open(lock, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH | fcntl.LOCK_NB)
    enter_mount_namespace(with_user_namespace=step.user_namespace)
    options = USER_OPTIONS if step.user_namespace else PRIVILEGED_OPTIONS
    mount_overlay(list(step.lowers), step.upper, step.work, step.target, options=options)
    for folder in step.hidden:
        hide(folder)


def _confine(step: Confine, enforced: Enforced | None, *, in_own_mounts: bool) -> None:
    from worker.confinement.confining import confine
    from worker.confinement.enforced import what_is_enforced

    confine(step.confinement, enforced or what_is_enforced(), in_own_mounts=in_own_mounts)


def _drop_capabilities() -> None:
    """Give up every privilege that a new user namespace came with."""
    from worker.confinement.system_calls import keep_capabilities

    keep_capabilities(0)
