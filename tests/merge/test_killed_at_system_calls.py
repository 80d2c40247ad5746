"""Real processes. A landing is killed at each system call by which it changes the disk, by the kernel's own hand."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from merge.landings.landing import Offer
from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from tests.merge.landing_places import exact_state, own_files, untouched_state
from tests.merge.landings.test_recovery import (
    Scene,
    is_each_whole_or_undone,
    offers_in,
    scene,
    tmp_path,
    with_swaps,
    without_swaps,
)
from tests.merge.places import Place

__all__ = ["scene", "tmp_path"]  # fixtures

pytestmark = pytest.mark.soak

State = dict[str, tuple[int, bytes]]

_ROOT = Path(__file__).parents[2]

_CHANGING = (
    "write,pwrite64,ftruncate,fchmod,chmod,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,"
    "link,linkat,symlink,symlinkat"
).split(",")

_LAND = """
import sys
from merge.files import renaming
from merge.landings.landing import Offer, land_together
from merge.store.repository import find_repository
from pathlib import Path

root, swaps, base, *results = sys.argv[1:]
if not int(swaps):
    renaming._renameat2 = lambda: None
offers = [Offer(f"c{number}", "/c", base, result) for number, result in enumerate(results, 1)]
print(land_together(find_repository(Path(root)), offers))
"""


def strace(
    place: Place, offers: Sequence[Offer], options: list[str], *, swaps: bool
) -> subprocess.CompletedProcess[str]:
    results = [offer.result for offer in offers]
    words = [sys.executable, "-B", "-c", _LAND, str(place.root), str(int(swaps)), offers[0].base, *results]
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
    offer = Offer("c1", "/c", scene.base, scene.result)

    def check(before: State, after: State) -> None:
        assert exact_state(scene.place.root) == (after if read_records(scene.place.repository) else before)

    kill_at_each_call(scene.place, tmp_path, [offer], check, swaps=way is with_swaps)


@pytest.mark.parametrize("way", [with_swaps, without_swaps])
def test_a_group_killed_in_any_system_call_leaves_each_of_it_whole_or_undone(
    place: Place, tmp_path: Path, way: object
) -> None:
    shutil.rmtree(place.root / ".git/hooks", ignore_errors=True)
    outcomes: set[tuple[bool, ...]] = set()

    def check(before: State, after: State) -> None:
        outcomes.add(is_each_whole_or_undone(place, before, after))

    kill_at_each_call(place, tmp_path, offers_in(place), check, swaps=way is with_swaps)
    # Between the names of their journals some are there and others not.
    assert {(False, False, False), (True, False, False), (True, True, True)} <= outcomes


def kill_at_each_call(
    place: Place,
    tmp_path: Path,
    offers: Sequence[Offer],
    check: Callable[[State, State], None],
    *,
    swaps: bool,
) -> None:
    """Land the offers once for each system call that changes the disk, killed in it, and `check` what comes of it."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    frozen = tmp_path / "frozen"
    shutil.copytree(place.root, frozen, symlinks=True)
    before, untouched = exact_state(place.root), untouched_state(place)

    counted = strace(place, offers, ["-c", "-e", f"trace={','.join(_CHANGING)}"], swaps=swaps)
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
            options = ["-o", "/dev/null", "-e", f"inject={name}:signal=SIGKILL:when={number}"]
            killed = strace(place, offers, options, swaps=swaps)
            # Which folders of objects are new depends on the second in which a commit is made.
            assert "Landed" not in killed.stdout or name in ("write", "mkdir"), (name, number)
            recover_landings(place.repository)
            check(before, after)
            assert untouched_state(place) == untouched, (name, number)
            assert own_files(place) == [], (name, number)
