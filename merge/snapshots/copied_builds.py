"""What cargo has built, copied for a checkout: nothing in a `target` may be shared with somebody who builds at once.

Cargo names what it builds of a workspace's own crates by their path in it. In a shared `target` two checkouts
would each run what the other built last. With a copy cargo builds those anew, and what they depend on is ready. Where
somebody builds just now, or it is too much, there is no copy.
"""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from merge.snapshots.cargo_target import FINGERPRINTS, fingerprints_left_behind, profiles_of

FILES_LIMIT = 20_000
BYTES_LIMIT = 1 << 30
"""More is not copied for each child."""

# What of a profile's folder is used again: not its last results, nor what only makes the next small build faster.
_PARTS = (FINGERPRINTS, "build", "deps")


def is_built_by_cargo(target: Path) -> bool:
    """Whether cargo has built into this folder."""
    return next(profiles_of(target), None) is not None


def copy_builds(target: Path, to: Path) -> None:
    """Make the folder `to`, with what `target` holds that can be used again, if that is not too much.

    Raises:
        OSError: when it can't be made.
    """
    profiles = list(profiles_of(target))
    with contextlib.ExitStack() as held:
        if not all(_holds_still(profile, held) for profile in profiles) or _is_too_much(profiles):
            return
        to.mkdir()
        for name in ("CACHEDIR.TAG", ".rustc_info.json"):
            if (target / name).is_file():
                shutil.copy2(target / name, to / name)
        for profile in profiles:
            for name in _PARTS:
                if (profile / name).is_dir():
                    # With the dates: cargo compares them.
                    place = to / profile.relative_to(target) / name
                    shutil.copytree(profile / name, place, symlinks=True, ignore=_left_behind)


def _left_behind(folder: str, _names: list[str]) -> set[str]:
    return fingerprints_left_behind(Path(folder))


def _holds_still(profile: Path, held: contextlib.ExitStack) -> bool:
    """Whether nobody builds there, and nobody can until `held` is let go of."""
    for lock in profile.glob(".cargo*lock"):
        file = held.enter_context(lock.open("rb"))
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _is_too_much(profiles: list[Path]) -> bool:
    files = size = 0
    for profile in profiles:
        for name in _PARTS:
            for folder, _, names in os.walk(profile / name):
                files += len(names)
                size += sum(os.lstat(f"{folder}/{each}").st_size for each in names)
                if files > FILES_LIMIT or size > BYTES_LIMIT:
                    return True
    return False
