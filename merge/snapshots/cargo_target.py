"""What cargo keeps in a `target`, as far as whoever copies one must know.

Cargo takes a workspace's own crates for fresh when their files are older than what it built of them. In a checkout they
may be older and others: what was built of an edit that is gone would be run. So its own crates are not fresh in a copy:
their fingerprints are left behind. Knows no checkout.
"""

import os
from collections.abc import Iterator
from pathlib import Path

FINGERPRINTS = ".fingerprint"


def profiles_of(target: Path) -> Iterator[Path]:
    """`debug`, `release` and the like, and those of other machines, a folder deeper; none where cargo has not built."""
    for pattern in (f"*/{FINGERPRINTS}", f"*/*/{FINGERPRINTS}"):
        for mark in sorted(target.glob(pattern)):
            if not mark.parent.is_symlink():
                yield mark.parent


def fingerprints_left_behind(fingerprints: Path) -> set[str]:
    """The names in a folder of fingerprints that are of the workspace's own crates; none in any other folder."""
    if fingerprints.name != FINGERPRINTS:
        return set()
    profile = fingerprints.parent
    # In `deps` each crate has a file of the paths that it was made of: `x.rlib: src/lib.rs`, from the workspace on.
    own = {each.stem.rpartition("-")[2] for each in profile.glob("deps/*.d") if _is_own(each)}
    names = os.listdir(fingerprints)
    packages = {name.rpartition("-")[0] for name in names if name.rpartition("-")[2] in own}
    return {name for name in names if name.rpartition("-")[0] in packages}


def _is_own(made_of: Path) -> bool:
    first = made_of.read_text(errors="surrogateescape").partition("\n")[0].partition(": ")[2]
    if not first.startswith("/"):
        return True
    return any(
        (above / "CACHEDIR.TAG").exists() and _is_below(first, above.parent) for above in made_of.parents
    )


def _is_below(path: str, folder: Path) -> bool:
    return path.startswith(f"{folder}/")
