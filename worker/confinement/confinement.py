"""What a child may touch, as a value: it travels to the child's process, which holds itself to it (`confining`).

Pure. All paths are absolute and resolved, as the file system has them.
"""

from typing import Literal

import msgspec

Network = Literal["allow", "deny"]


SHARED_MEMORY = b"/dev/shm"
"""Each confined process has its own; what it may touch of the system's must be named one by one."""


class LandlockVersions(msgspec.Struct, frozen=True):
    """Since which version of its interface Landlock can hold somebody to what (landlock(7), "Kernel support")."""

    moves: int = 2
    """That a file may be moved to another folder at all: without it, hardly a tool works."""
    truncation: int = 3
    network: int = 4
    devices: int = 5
    signals: int = 6
    sockets: int = 9


LANDLOCK = LandlockVersions()


class Confinement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything may be read and nothing written, but for what is named here.

    `writable` may be changed, with all below. `fixed` may not be, though it is in a writable folder. `unreadable`
    can't be read. `appearing` can't either, and need not be there yet: what appears beside it can't be read as well.
    `readable` can, though it is in an unreadable folder. `covered` is what rules other processes by sockets: nothing
    holds it back but a cover, where a child can have mounts of its own. `devices` are the only ones that may be opened.
    """

    writable: tuple[bytes, ...] = ()
    fixed: tuple[bytes, ...] = ()
    unreadable: tuple[bytes, ...] = ()
    appearing: tuple[bytes, ...] = ()
    readable: tuple[bytes, ...] = ()
    covered: tuple[bytes, ...] = ()
    devices: tuple[bytes, ...] = ()
    network: Network = "allow"


class Enforced(msgspec.Struct, frozen=True):
    """What this system's kernel can hold a child to, as it was tried out.

    `landlock` is the version of Landlock's interface, 0 for none. `mounts`: a child can have mounts of its own, which
    only it sees. `network`: it can have a network of its own, which leads nowhere.
    """

    landlock: int = 0
    mounts: bool = False
    network: bool = False
