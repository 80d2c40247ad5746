"""Real git, on a file system that is really full: one clear sentence, and nothing half-made stays."""

import os
import subprocess
import sys
from pathlib import Path

from tests.machine import lacks
from tests.merge.places import Place, folder_state

_ROOT = Path(__file__).parents[2]

# Mount a small file system for one command, in a namespace of its own: it is gone when the command is.
_MOUNT = 'mount -t tmpfs -o size="$1" covey "$2" && shift 2 && exec "$@"'

_TRY = """
import sys
from pathlib import Path
from merge.checkouts.checkout import CheckoutFailed, make_checkout
from merge.store.git import GitFailed
from merge.store.repository import find_repository
from merge.snapshots.snapshot import take_snapshot

repository = find_repository(Path(sys.argv[1]))
try:
    make_checkout(repository, "child", take_snapshot(repository))
except (CheckoutFailed, GitFailed) as error:
    print(error)
else:
    print("made")
print(*sorted(path.name for path in Path(sys.argv[2]).iterdir()))
"""


def run_on_small_disk(size: str, folder: Path, *command: str) -> list[str]:
    """The lines that `command` prints while `folder` is a file system of `size`."""
    in_namespace = ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNT, "sh", size, str(folder)]
    if (
        not Path("/proc/self/ns/user").exists()
        or subprocess.run([*in_namespace, "true"], capture_output=True, check=False).returncode
    ):
        lacks("this machine lets us mount nothing, so no disk can be full")
    done = subprocess.run([*in_namespace, *command], cwd=_ROOT, capture_output=True, check=False)
    assert done.returncode == 0, os.fsdecode(done.stderr)
    return os.fsdecode(done.stdout).splitlines()


def test_a_disk_that_fills_up_while_a_checkout_is_written(place: Place, tmp_path: Path) -> None:
    place.write("large.bin", os.urandom(1 << 20))
    place.commit()
    children = tmp_path / "repo-children"
    children.mkdir()
    files = folder_state(place.root)
    said, left = run_on_small_disk(
        "400k", children, sys.executable, "-c", _TRY, str(place.root), str(children)
    )
    children.rmdir()
    assert said == (
        f"The checkout {children}/child could not be made: "
        "no space left on device; free some space and try again."
    )
    assert left == ""
    assert place.git("for-each-ref", "refs/covey") == b""
    assert not list((place.root / ".git").glob("covey/checkouts/*"))
    assert folder_state(place.root) == files


def test_a_disk_that_is_too_full_for_a_snapshot(place: Place, tmp_path: Path) -> None:
    full = tmp_path / "small"
    full.mkdir()
    script = 'cp -a "$1" "$2/repo" && head -c 600000 /dev/urandom > "$2/repo/new.bin" && shift 2 && exec "$@"'
    said, left = run_on_small_disk(
        "1100k", full, "sh", "-c", script, "sh", str(place.root), str(full),
        sys.executable, "-c", _TRY, str(full / "repo"), str(full),
    )  # fmt: skip
    assert said == (
        f"The working tree {full}/repo could not be read: "
        "no space left on device; free some space and try again."
    )
    assert left == "repo"
