"""The system calls that Python has no function for, as functions that raise `OSError`. The one door to ctypes.

Linux only. Nothing here decides anything; what a call means is in its manual page, named at each.
"""

import ctypes
import errno
import os
from contextlib import suppress
from functools import cache

# The same on every architecture that has them, but for Alpha: they are younger than the common table.
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x80000

PR_SET_NO_NEW_PRIVS = 38
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 0x1
_CAPABILITY_VERSION_3 = 0x20080522


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityHalf(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """syscall(2). Sizes and pointers must come as ctypes values.

    Raises:
        OSError: what the kernel answered.
    """
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments))


def control_process(option: int, value: int, third: int = 0) -> None:
    """prctl(2)."""
    words = [ctypes.c_ulong(word) for word in (value, third, 0, 0)]
    _checked(_libc().prctl(option, *words))


def unshare(flags: int) -> None:
    """unshare(2). That a limit is reached is said as such: the system speaks of a disk that is full."""
    try:
        _checked(_libc().unshare(flags))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        words = "no further namespace is allowed; see /proc/sys/user/max_user_namespaces"
        raise OSError(errno.ENOSPC, words) from error


def mount(
    source: bytes | None, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None
) -> None:
    """mount(2)."""
    _checked(_libc().mount(source, target, kind, ctypes.c_ulong(flags), data), target)


def set_read_only(target: bytes, read_only: bool, *, with_all_below: bool = False) -> None:
    """mount_setattr(2), for whether anything on a mount may be changed."""
    attributes = _MountAttributes()
    if read_only:
        attributes.attr_set = _MOUNT_ATTR_RDONLY
    else:
        attributes.attr_clr = _MOUNT_ATTR_RDONLY
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    flags = ctypes.c_uint(_AT_RECURSIVE if with_all_below else 0)
    _checked(
        _libc().syscall(
            ctypes.c_long(MOUNT_SETATTR),
            ctypes.c_int(_AT_FDCWD),
            target,
            flags,
            ctypes.byref(attributes),
            size,
        ),
        target,
    )


def keep_capabilities(kept: int) -> None:
    """capset(2): only those capabilities stay whose bits are in `kept`, here and in what is started from here."""
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:  # noqa: PTH123 - this module starts no libraries
        last = int(file.read())
    control_process(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    with suppress(
        PermissionError
    ):  # whoever may not do this can't get any back either: no program gives more
        for number in range(last + 1):
            if not kept >> number & 1:
                control_process(_PR_CAPBSET_DROP, number)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    halves = (_CapabilityHalf * 2)()
    _checked(_libc().capget(ctypes.byref(header), halves))
    for half, bits in zip(halves, (kept & 0xFFFFFFFF, kept >> 32), strict=True):
        half.permitted &= bits
        half.effective &= bits
        half.inheritable = 0
    _checked(_libc().capset(ctypes.byref(header), halves))
    # A change of them may hide a process's own files in /proc from itself.
    control_process(_PR_SET_DUMPABLE, 1)


def _checked(answer: int, path: bytes | None = None) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return answer
