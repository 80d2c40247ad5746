"""A filesystem whose files can share their bytes, in a file of our own: mounted for one process, and gone with it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.machine import lacks
from tests.merge.mounted import in_own_namespace
from worker.confinement.namespaces import enter_mount_namespace

_SIZE_BYTES = 400 << 20
"""The least that mkfs.xfs takes is 300 MB; of it only what is written takes room."""

_MAKERS = {"xfs": ("mkfs.xfs", "-q", "-m", "reflink=1"), "btrfs": ("mkfs.btrfs", "-q")}


def make_image(folder: Path) -> Path:
    """A file with such a filesystem in it. Where none can be had here the test says what is missing."""
    if os.geteuid() != 0:
        lacks("only root mounts a filesystem")
    known = Path("/proc/filesystems")
    kinds = known.read_text().split() if known.exists() else []
    here = [kind for kind, maker in _MAKERS.items() if kind in kinds and shutil.which(maker[0])]
    if not here:
        lacks("no filesystem with reflinks can be made here: neither XFS nor Btrfs with its mkfs is there")
    image = folder / "reflinks.img"
    image.touch()
    os.truncate(image, _SIZE_BYTES)
    subprocess.run([*_MAKERS[here[0]], str(image)], check=True, capture_output=True)
    try:
        on_reflinks(image, lambda _: None)
    except AssertionError:
        lacks("a filesystem in a file can't be mounted here: there is no loop device")
    return image


def on_reflinks(image: Path, act: Callable[[Path], object]) -> None:
    """Do something in a process of its own, with an empty folder on the filesystem in `image`."""

    def do() -> None:
        enter_mount_namespace(with_user_namespace=False)
        place = tempfile.mkdtemp(dir=image.parent)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
        try:
            with tempfile.TemporaryDirectory(dir=place) as folder:
                act(Path(folder))
        finally:
            subprocess.run(["umount", place], check=True)
            os.rmdir(place)  # noqa: PTH106 (it is text)

    in_own_namespace(None, do)
