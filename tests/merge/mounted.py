"""Overlay checkouts in a test: mounted by a process of its own, as a child's, or by the test process for itself."""

import ctypes
import os
import traceback
from collections.abc import Callable
from pathlib import Path

from merge.checkouts.checkout import Checkout, checkout_mount
from merge.checkouts.overlay import Mount
from merge.store.repository import Repository
from orchestrator.children.mounting import step_of
from tests.machine import lacks
from worker.confinement.first_steps import PRIVILEGED_OPTIONS, take_steps
from worker.confinement.namespaces import enter_mount_namespace, mount_overlay

_entered: set[int] = set()


def require_overlays(*, user_namespace: bool = False) -> None:
    """Skip the test where overlays can't be had; fail it where the machine should have them."""
    if "overlay" not in Path("/proc/filesystems").read_text():
        lacks("this kernel has no overlays")
    if not user_namespace and os.geteuid() != 0:
        lacks("only root mounts without a user namespace")
    in_own_namespace(None, lambda: enter_mount_namespace(with_user_namespace=user_namespace))


def enter_once() -> None:
    """Take this process itself into a mount namespace of its own; so nothing is seen by others or outlives it."""
    require_overlays()
    if os.getpid() not in _entered:
        enter_mount_namespace(with_user_namespace=False)
        _entered.add(os.getpid())


def in_own_namespace(mount: Mount | None, act: Callable[[], object]) -> None:
    """Do something in a process of its own that has mounted `mount`, as a child's process does."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if mount is not None:
                take_steps((step_of(mount),))
            act()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "see what it wrote on standard error"


def show(repository: Repository, checkout: Checkout) -> None:
    """Mount the checkout where its child would see it; a real folder stays as it is."""
    mount = checkout_mount(repository, checkout)
    if mount is not None:
        lowers = [bytes(lower) for lower in mount.lowers]
        mount_overlay(
            lowers, bytes(mount.upper), bytes(mount.work), bytes(mount.target), options=PRIVILEGED_OPTIONS
        )


def end_show(checkout: Checkout) -> None:
    """Unmount the checkout, as the end of its child's last process does; not mounted is fine."""
    while os.path.ismount(checkout.path):
        # MNT_DETACH: what has a file open in there keeps it for as long as it likes.
        assert ctypes.CDLL(None).umount2(os.fsencode(checkout.path), 2) == 0
