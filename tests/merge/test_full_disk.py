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


_LAND = """
import os, shutil, sys
from pathlib import Path
from merge.landings.landing import Landed, Offer, land_together
from merge.landings.recovery import recover_landings
from merge.store.objects import edit_tree, write_blob
from merge.store.repository import find_repository
from merge.store.trees import FILE, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree, own_files
from tests.merge.places import Place

source, disk = Path(sys.argv[1]), Path(sys.argv[2])
base = head_tree(Place(source))
contents = {f"f{n}": bytes([n]) * 30_000 for n in range(6)}
repository = find_repository(source)
results = {
    name: edit_tree(repository, base, [(RepoPath(name.encode()), Entry(FILE, write_blob(repository, content)))])
    for name, content in contents.items()
}
for free in range(0, 400_000, 16_384):
    place = Place(disk / "repo")
    shutil.copytree(source, place.root, symlinks=True)
    left = os.statvfs(disk)
    fill = disk / "fill"
    fill.write_bytes(b"x" * max(0, left.f_bavail * left.f_frsize - free))
    offers = [Offer(name, "/c", base, result) for name, result in results.items()]
    answers = land_together(place.repository, offers)
    landed = [name for name, answer in zip(results, answers) if isinstance(answer, Landed)]
    assert own_files(place) == [] or not landed, (free, own_files(place))
    fill.unlink()
    recovered = recover_landings(place.repository)
    there = [name for name in contents if (place.root / name).exists()]
    assert set(landed) <= set(there), (free, landed, there)
    assert all((place.root / name).read_bytes() == contents[name] for name in there)
    assert own_files(place) == []
    if there != landed:
        print("completed later", free, landed, there)
    print(len(landed))
    shutil.rmtree(place.root)
"""


def test_a_group_lands_as_far_as_there_is_room_and_the_others_are_as_if_they_had_never_begun(
    place: Place, tmp_path: Path
) -> None:
    (disk := tmp_path / "disk").mkdir()
    counts = run_on_small_disk("2m", disk, sys.executable, "-B", "-c", _LAND, str(place.root), str(disk))
    assert counts[0] == "0"
    assert counts[-1] == "6"
    assert counts == sorted(counts)
