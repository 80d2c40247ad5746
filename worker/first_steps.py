"""What a process does to itself before it becomes a worker: a list of steps, taken in order, in the child's process.

The parent says which, as values; a forked worker gets them with its request, a fresh one as a word of its command
line. A step that can't be taken raises `OSError`, and the worker never begins. A new kind of step is one more case.
"""

import fcntl
import os

import msgspec

PRIVILEGED_OPTIONS = b"redirect_dir=on,metacopy=off,index=off"
"""As root a folder of a lower layer can be renamed (`redirect_dir`); no file's bytes are left below (`metacopy`)."""

USER_OPTIONS = b"userxattr"
"""In a user namespace the kernel takes neither of those options, and leaves both off."""


class Step(msgspec.Struct, frozen=True, tag=True):
    """Base of the steps."""


class MountOverlay(Step, frozen=True):
    """Go into a mount namespace of its own and see `lowers` (the topmost first) under `upper` at `target`.

    Nothing but processes holds such a mount, so none outlives them. `lock` is a file that is locked, shared, while the
    worker lives: who holds it alone may change the lowers. `hidden` are folders that hold the layers of this child and
    of others, and that nobody in the namespace sees any more.
    """

    lowers: tuple[bytes, ...]
    upper: bytes
    work: bytes
    target: bytes
    lock: bytes
    hidden: tuple[bytes, ...]
    user_namespace: bool


AnyStep = MountOverlay
"""Everything that can be done before a worker begins."""


def take_steps(steps: tuple[AnyStep, ...]) -> None:
    """Take the steps in order. The process has one thread, and stays as the steps left it when one fails.

    Raises:
        OSError: when one can't be taken.
    """
    for step in steps:
        match step:
            case MountOverlay():
                _mount(step)


def encode_steps(steps: tuple[AnyStep, ...]) -> str:
    """The steps as one word of a command line."""
    return msgspec.msgpack.encode(steps).hex()


def decode_steps(word: str) -> tuple[AnyStep, ...]:
    """The steps that `encode_steps` made a word of."""
    return msgspec.msgpack.decode(bytes.fromhex(word), type=tuple[AnyStep, ...])


def _mount(step: MountOverlay) -> None:
    # Imported where it is used: the parent knows the steps and takes none. The fork server has imported it already.
    from worker.namespaces import drop_capabilities, enter_mount_namespace, hide, mount_overlay

    # Never closed: it is held until the process is gone. No program that it starts inherits it.
    lock = os.open(step.lock, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    enter_mount_namespace(with_user_namespace=step.user_namespace)
    options = USER_OPTIONS if step.user_namespace else PRIVILEGED_OPTIONS
    mount_overlay(list(step.lowers), step.upper, step.work, step.target, options=options)
    for folder in step.hidden:
        hide(folder)
    if step.user_namespace:
        drop_capabilities()
