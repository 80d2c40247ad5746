"""Real processes. A landing is killed at each system call by which it changes the disk, by the kernel's own hand."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from tests.merge.landing_places import exact_state, own_files, untouched_state
from tests.merge.landings.test_recovery import Scene, scene, tmp_path, with_swaps, without_swaps
from tests.merge.places import Place

__all__ = ["scene", "tmp_path"]  # fixtures

pytestmark = pytest.mark.soak

_ROOT = Path(__file__).parents[2]

_CHANGING = (
    "write,pwrite64,ftruncate,fchmod,chmod,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,"
    "link,linkat,symlink,symlinkat"
).split(",")

_LAND = """
import sys
from merge.files import renaming
from merge.landings.landing import land
from merge.store.repository import find_repository
from pathlib import Path

root, base, result, swaps = sys.argv[1:]
if not int(swaps):
    renaming._renameat2 = lambda: None
print(land(find_repository(Path(root)), child="c", checkout="/c", base=base, result=result))
"""


def strace(
    place: Place, scene: Scene, options: list[str], *, swaps: bool
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-B", "-c", _LAND, str(place.root), scene.base, scene.result, str(int(swaps))]
    return subprocess.run(
        ["strace", "-qq", *options, *words], cwd=_ROOT, capture_output=True, text=True, check=False
    )


def thawed(place: Place, frozen: Path) -> None:
    shutil.rmtree(place.root)
    shutil.copytree(frozen, place.root, symlinks=True)


@pytest.mark.parametrize("way", [with_swaps, without_swaps])
def test_a_landing_killed_in_any_system_call_is_whole_or_undone_at_the_next_start(
    scene: Scene, tmp_path: Path, way: object
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    swaps, place = way is with_swaps, scene.place
    frozen = tmp_path / "frozen"
    shutil.copytree(place.root, frozen, symlinks=True)
    before, untouched = exact_state(place.root), untouched_state(place)

    counted = strace(place, scene, ["-c", "-e", f"trace={','.join(_CHANGING)}"], swaps=swaps)
    if "Landed" not in counted.stdout:
        pytest.skip(f"nothing can be traced here: {counted.stderr.strip()[-200:]}")
    after = exact_state(place.root)
    calls = {
        name: int(count)
        for count, name in re.findall(
            r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", counted.stderr, re.MULTILINE
        )
        if name in _CHANGING
    }
    assert sum(calls.values()) > 30
    for name, count in calls.items():
        for number in range(1, count + 1):
            thawed(place, frozen)
            killed = strace(
                place,
                scene,
                ["-o", "/dev/null", "-e", f"inject={name}:signal=SIGKILL:when={number}"],
                swaps=swaps,
            )
            assert "Landed" not in killed.stdout or name == "write", (name, number)
            recover_landings(place.repository)
            state = exact_state(place.root)
            assert state in (before, after), (name, number)
            assert len(read_records(place.repository)) == (state == after), (name, number)
            assert untouched_state(place) == untouched, (name, number)
            assert own_files(place) == [], (name, number)
