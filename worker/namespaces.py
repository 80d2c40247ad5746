"""The door to Linux's namespaces and mounts, which Python's own library has no words for before 3.12.

Only for a process with one thread that is about to become a worker. Each call is the system call of its name and raises
`OSError`; see unshare(2), mount(2), user_namespaces(7), capset(2). Knows nothing of what is mounted or why.
"""

import ctypes
import errno
import os

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_REC = 1 << 14
_MS_SLAVE = 1 << 19
_CAPABILITIES_V3 = 0x20080522


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def enter_mount_namespace(*, with_user_namespace: bool) -> None:
    """From here on what this process mounts is seen by it and what it starts alone, and goes with the last of them.

    With a user namespace no privilege is needed, and everybody in it has the ids that they had outside.

    Raises:
        OSError: when the system does not let us.
    """
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWNS | (_CLONE_NEWUSER if with_user_namespace else 0)
    _check(_libc().unshare(flags), "unshare")
    if with_user_namespace:
        # user_namespaces(7): without "deny" nobody may write a map of groups.
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    # What is unmounted outside must not stay in use in here; what is mounted in here must not be seen outside.
    mount(None, b"/", None, _MS_REC | _MS_SLAVE, None)


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
        mount(b"covey", target, b"overlay", _MS_NOSUID | _MS_NODEV, words)
    finally:
        for descriptor in held:
            os.close(descriptor)


def hide(folder: bytes) -> None:
    """Show nothing at `folder` from here on, and let nothing be written there.

    Raises:
        OSError: when the system does not let us.
    """
    mount(b"covey", folder, b"tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, b"size=4k,mode=555")


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None) -> None:
    """mount(2).

    Raises:
        OSError: as the system call fails.
    """
    _check(_libc().mount(source, target, kind, ctypes.c_ulong(flags), options), "mount")


def drop_capabilities() -> None:
    """Give up every privilege that a new user namespace came with."""
    header, data = _CapHeader(_CAPABILITIES_V3, 0), (_CapData * 2)()
    _check(_libc().capset(ctypes.byref(header), data), "capset")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(answer: int, call: str) -> None:
    if answer != 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, f"{call}: {os.strerror(number)}")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
