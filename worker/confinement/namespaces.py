"""Namespaces of a process that is about to become a worker: mounts that only it and what it starts see.

Only for a process with one thread. Knows nothing of what is mounted or why; see namespaces(7), user_namespaces(7).
"""

import os

from worker.confinement.system_calls import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MS_NODEV,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_SLAVE,
    mount,
    unshare,
)


def enter_mount_namespace(*, with_user_namespace: bool) -> None:
    """From here on what this process mounts is seen by it and what it starts alone, and goes with the last of them.

    With a user namespace no privilege is needed, and everybody in it has the ids that they had outside.

    Raises:
        OSError: when the system does not let us.
    """
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWNS | (CLONE_NEWUSER if with_user_namespace else 0))
    if with_user_namespace:
        # user_namespaces(7): without "deny" nobody may write a map of groups.
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    # What is unmounted outside must not stay in use in here; what is mounted in here must not be seen outside.
    mount(None, b"/", None, MS_REC | MS_SLAVE)


def mount_overlay(lowers: list[bytes], upper: bytes, work: bytes, target: bytes, *, options: bytes) -> None:
    """Show `lowers` (the topmost first) with `upper` on top at `target`; see the kernel's filesystems/overlayfs.rst.

    Raises:
        OSError: when the kernel does not do it with these folders.
    """
    held: list[int] = []

    def name(folder: bytes) -> bytes:
        # By descriptor: in a path a colon or a comma would be read as the end of it, and all of them must fit a page.
        held.append(os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        return b"/proc/self/fd/%d" % held[-1]

    try:
        layers = b":".join(name(folder) for folder in lowers)
        words = b"lowerdir=%s,upperdir=%s,workdir=%s,%s" % (layers, name(upper), name(work), options)
        mount(b"covey", target, b"overlay", MS_NOSUID | MS_NODEV, words)
    finally:
        for descriptor in held:
            os.close(descriptor)


def hide(folder: bytes) -> None:
    """Show nothing at `folder` from here on, and let nothing be written there.

    Raises:
        OSError: when the system does not let us.
    """
    mount(b"covey", folder, b"tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, b"size=4k,mode=555")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
