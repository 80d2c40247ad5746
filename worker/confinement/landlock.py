"""Landlock: what this process and all it starts may do with files, for good. A folder that no rule names is refused.

The one file that speaks to it (landlock(7)); knows nothing of children, only rights and paths. What a kernel can do is
told by its ABI version: a right that it does not know is left out here, and named in `worker.confinement.shortfalls`.
"""

import ctypes
import os
import stat
from contextlib import suppress
from types import TracebackType
from typing import Self

from worker.confinement.confinement import LANDLOCK
from worker.confinement.system_calls import (
    LANDLOCK_ADD_RULE,
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_RESTRICT_SELF,
    PR_SET_NO_NEW_PRIVS,
    control_process,
    system_call,
)

# Rights on files, as `linux/landlock.h` numbers them.
EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
LIST = 1 << 3
_REMOVE_AND_MAKE = 0b1_1111_1111 << 4
"""Of files and folders, sockets, pipes and links; of device nodes as well, which are taken out below."""
_MAKE_DEVICES = 1 << 6 | 1 << 11
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_CONTROL_DEVICE = 1 << 15
REACH_SOCKET = 1 << 16

READ = EXECUTE | READ_FILE | LIST
CHANGE = WRITE_FILE | (_REMOVE_AND_MAKE & ~_MAKE_DEVICES) | _REFER | _TRUNCATE
"""All that writing is, but for making device nodes, which nothing may."""
USE_DEVICE = READ_FILE | WRITE_FILE | _TRUNCATE | _CONTROL_DEVICE

_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _CONTROL_DEVICE | REACH_SOCKET
_KNOWN_SINCE = {
    LANDLOCK.moves: _REFER,
    LANDLOCK.truncation: _TRUNCATE,
    LANDLOCK.devices: _CONTROL_DEVICE,
    LANDLOCK.sockets: REACH_SOCKET,
}
_FIRST = READ | WRITE_FILE | _REMOVE_AND_MAKE

# Rights on TCP ports, and what is kept within the domain.
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_VERSION = 1
_PATH_BENEATH = 1


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def landlock_version() -> int:
    """The version of Landlock's interface that this kernel has; 0 where there is none, or it is switched off."""
    try:
        return system_call(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


class Ruleset:
    """Rules that are being collected, in force with `enforce`. Nothing is allowed until a rule allows it."""

    def __init__(self, version: int, *, no_tcp: bool = False) -> None:
        self._rights = _FIRST
        for since, rights in _KNOWN_SINCE.items():
            if version >= since:
                self._rights |= rights
        attributes = _RulesetAttributes(self._rights, 0, 0)
        if no_tcp and version >= LANDLOCK.network:
            attributes.handled_access_net = _BIND_AND_CONNECT
        if version >= LANDLOCK.signals:
            attributes.scoped = _ABSTRACT_SOCKETS_AND_SIGNALS
        # An older kernel knows a shorter struct.
        size = 8 if version < LANDLOCK.network else 16 if version < LANDLOCK.signals else 24
        self._ruleset = system_call(
            LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._ruleset)

    def allow(self, path: bytes, rights: int) -> None:
        """Allow `rights` on `path` and all below it. A path that is not there, or is a link, is left out."""
        # Not followed: what a link leads to is named by itself, or is not allowed.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                self._allow(descriptor, rights)
            finally:
                os.close(descriptor)

    def _allow(self, descriptor: int, rights: int) -> None:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        rights &= self._rights if stat.S_ISDIR(mode) else self._rights & _OF_FILES
        if rights:
            rule = _PathBeneath(rights, descriptor)
            kind = ctypes.c_uint32(_PATH_BENEATH)
            system_call(
                LANDLOCK_ADD_RULE, ctypes.c_int(self._ruleset), kind, ctypes.byref(rule), ctypes.c_uint32(0)
            )

    def enforce(self) -> None:
        """Hold this thread and all that it starts to the rules, from here on."""
        control_process(PR_SET_NO_NEW_PRIVS, 1)
        system_call(LANDLOCK_RESTRICT_SELF, ctypes.c_int(self._ruleset), ctypes.c_uint32(0))
