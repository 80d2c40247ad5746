"""Holds this process, and all that it will start, to a `Confinement`. There is no way back.

Two layers. Landlock allows what is to be allowed, keeps signals and debuggers inside, and forbids to touch mounts.
Below it, where the system lets a process have mounts of its own, everything is mounted read-only but for what is
writable, and what is unreadable is covered. A single thread is confined, so this comes before any other is started.
"""

import os
from collections.abc import Sequence

from worker.confinement import landlock
from worker.confinement.around import around, is_within
from worker.confinement.call_filter import filter_calls
from worker.confinement.confinement import LANDLOCK, SHARED_MEMORY, Confinement, Enforced
from worker.confinement.namespaces import enter_mount_namespace
from worker.confinement.own_network import enter_own_network
from worker.confinement.sealing import bound_sockets, seal_mounts
from worker.confinement.system_calls import CLONE_NEWIPC, keep_capabilities, unshare

_ROOTS_OWN = (0, 1, 3, 4, 5, 6, 7, 10, 18)
"""What programs that run as root rely on, and what can't undo a confinement: chown, dac_override, fowner, fsetid, kill,
setgid, setuid, net_bind_service and sys_chroot of capabilities(7). Not mounts, devices, modules of the kernel, other
processes' memory, or files by their number."""

_TERMINALS = b"/dev/pts"

_NAME_SERVICES = (
    b"/run/systemd/resolve",
    b"/run/systemd/userdb",
    b"/run/nscd",
    b"/run/nslcd",
    b"/run/avahi-daemon",
    b"/run/samba/winbindd",
    b"/var/lib/sss/pipes",
)
"""Where names of hosts and users are asked for: sockets that may be reached. Without them nobody knows who they are."""


def confine(confinement: Confinement, enforced: Enforced, *, in_own_mounts: bool = False) -> None:
    """Hold this process to `confinement`, as far as `enforced` says that the system can.

    `in_own_mounts`: this process is in a mount namespace of its own already, and may still mount.

    Raises:
        OSError: when the system refuses what it was found to be able to do: then nothing may go on here.
    """
    if enforced.landlock < LANDLOCK.moves:
        return
    denied = confinement.network == "deny"
    own_network = denied and enforced.network
    sockets = [path for path in bound_sockets() if not _is_name_service(path)]
    if (enforced.mounts or own_network) and not in_own_mounts:
        enter_own_mounts()
        in_own_mounts = True
    if own_network:
        enter_own_network()
    if enforced.mounts:
        unshare(CLONE_NEWIPC)
        seal_mounts(confinement, sockets)
    with landlock.Ruleset(enforced.landlock, no_tcp=denied and not own_network) as rules:
        _allow(rules, confinement, own_mounts=enforced.mounts)
        rules.enforce()
    filter_calls()
    root = os.geteuid() == 0
    if root or in_own_mounts:
        keep_capabilities(sum(1 << number for number in _ROOTS_OWN) if root else 0)


def enter_own_mounts() -> None:
    """Go into a mount namespace, and into a user namespace where that is what it takes."""
    try:
        enter_mount_namespace(with_user_namespace=False)
    except PermissionError:
        enter_mount_namespace(with_user_namespace=True)


def _allow(rules: landlock.Ruleset, confinement: Confinement, *, own_mounts: bool) -> None:
    # Names may be seen everywhere: the kernel can't keep a file from being found, only from being opened.
    rules.allow(b"/", landlock.LIST)
    shut = [b"/dev", *confinement.appearing, *(() if own_mounts else confinement.unreadable)]
    for path in around(b"/", shut):
        rules.allow(path, landlock.READ)
    for path in confinement.readable:
        for part in around(path, _below([path], shut)):
            rules.allow(part, landlock.READ | landlock.REACH_SOCKET)
    # Without covers, what is shut or fixed in a writable folder is left out of its rules.
    left_out = [] if own_mounts else [*confinement.fixed, *_below(confinement.writable, shut)]
    for folder in confinement.writable:
        for path in around(folder, left_out):
            rules.allow(path, landlock.READ | landlock.CHANGE)
    for path in confinement.devices:
        rules.allow(path, landlock.READ | landlock.USE_DEVICE)
    if confinement.writable:
        rules.allow(SHARED_MEMORY, landlock.READ | landlock.CHANGE)
        if own_mounts:  # otherwise these are the person's, whose keys could be read there
            rules.allow(_TERMINALS, landlock.READ | landlock.CHANGE | landlock.USE_DEVICE)
    for path in _NAME_SERVICES:
        rules.allow(path, landlock.REACH_SOCKET)


def _is_name_service(path: bytes) -> bool:
    # Many programs still call it by its old name, which is a link.
    path = path.removeprefix(b"/var") if path.startswith(b"/var/run/") else path
    return any(is_within(path, service) for service in _NAME_SERVICES)


def _below(folders: Sequence[bytes], paths: Sequence[bytes]) -> list[bytes]:
    """Those of `paths` that lie in one of `folders`; not those that one of them lies in, or is."""
    return [path for path in paths if any(path != folder and is_within(path, folder) for folder in folders)]
