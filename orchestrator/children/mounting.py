"""How a child's process gets to see its checkout: what the merge room wants mounted, as steps for the process.

The mount is the process's own. Anybody else who may look at it does so through the process (`seen_at`), so that nothing
is mounted for them that would have to be unmounted again.
"""

from pathlib import Path

from merge.checkouts.checkout import Checkout, checkout_mount
from merge.checkouts.overlay import Mount
from merge.store.repository import Repository
from worker.confinement.first_steps import AnyStep, MountOverlay


def steps_into(repository: Repository, checkout: Checkout) -> tuple[AnyStep, ...]:
    """The steps after which a process sees the checkout in its place; none for a real folder.

    Raises:
        CheckoutFailed: when what to mount can't be told.
    """
    mount = checkout_mount(repository, checkout)
    return (step_of(mount),) if mount is not None else ()


def step_of(mount: Mount) -> MountOverlay:
    """A mount of the merge room's as a step."""
    return MountOverlay(
        tuple(bytes(lower) for lower in mount.lowers),
        bytes(mount.upper),
        bytes(mount.work),
        bytes(mount.target),
        tuple(bytes(lock) for lock in mount.locks),
        tuple(bytes(folder) for folder in mount.hidden),
        mount.user_namespace,
    )


def seen_at(checkout: Path, worker: int) -> Path:
    """Where others see the files of a running child: as its worker, the process `worker`, does."""
    through = Path(f"/proc/{worker}/root")
    try:
        # A folder that is mounted there and not here has another device.
        if (through / checkout.relative_to("/")).stat().st_dev != checkout.stat().st_dev:
            return through / checkout.relative_to("/")
    except (OSError, ValueError):
        pass  # it has just ended, the system has no /proc, or it is another person's
    return checkout
