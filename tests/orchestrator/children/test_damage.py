"""Real git. Whatever is damaged of what tells of a child, its work stands, and what a person sees names the place."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import permutations
from pathlib import Path

import pytest

from merge.checkouts.ways import Way
from orchestrator.children.ledger import ledger_path
from tests.orchestrator.children.test_lost_rows import start_again, tell_of
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin

CHILD = "x-1"


def ledger_gone(place: Place) -> None:
    for file in ledger_path(place.repository).parent.glob("ledger.sqlite*"):
        file.unlink()


def refs_gone(place: Place) -> None:
    shutil.rmtree(place.root / ".git/refs/covey")


def head_garbled(place: Place) -> None:
    _twin(place, "HEAD").write_bytes(b"\xff\n")


def config_garbled(place: Place) -> None:
    _twin(place, "config").write_bytes(b"[core\n")


def index_gone(place: Place) -> None:
    _twin(place, "index").unlink(missing_ok=True)


def objects_gone(place: Place) -> None:
    _twin(place, "objects/info/alternates").unlink()


def record_gone(place: Place) -> None:
    _twin(place, "overlay.json").unlink(missing_ok=True)


def record_garbled(place: Place) -> None:
    if _twin(place, "overlay.json").exists():
        _twin(place, "overlay.json").write_bytes(b"{")


def place_gone(place: Place) -> None:
    if _twin(place, "upper").exists():
        shutil.rmtree(place.checkout(CHILD).parent)


def twin_gone(place: Place) -> None:
    if not _twin(place, "upper").exists():
        shutil.rmtree(_twin(place, ""))


def session_gone(place: Place) -> None:
    shutil.rmtree(place.root / ".covey")


def journal_garbled(place: Place) -> None:
    for path in place.root.glob(".covey/sessions/*/journal.jsonl"):
        path.write_bytes(b"no entry\n" + path.read_bytes())


Harm = Callable[[Place], None]

HARMS: tuple[Harm, ...] = (
    refs_gone,
    head_garbled,
    config_garbled,
    index_gone,
    objects_gone,
    record_gone,
    record_garbled,
    place_gone,
    twin_gone,
    session_gone,
    journal_garbled,
)


def _twin(place: Place, name: str) -> Path:
    return place.root / ".git/covey/checkouts" / CHILD / name


async def must_be_named(place: Place, folder: Path, covey: Covey) -> None:
    """Where the work is, is told by the next start, or by what a person asks then; and it is still there."""
    told = await start_again(place)
    files = (folder / "new.txt", _twin(place, "upper/new.txt"))
    held = [file.parent for file in files if file.exists() and file.read_text() == "new\n"]
    assert held, "its work is gone"
    seen = "\n".join([*told, covey("review")[1], covey("review", CHILD)[1], covey("children")[1]])
    assert any(str(each) in seen for each in held), seen
    assert covey("gc")[0] == 0
    assert all(each.exists() for each in held)


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.keeps_checkouts
async def test_the_work_of_a_child_stands_and_is_named(
    place: Place, way: Way, harm: Harm, covey: Covey
) -> None:
    checkout, row = begin(place, CHILD, {"new.txt": "new\n"}, way=way)
    tell_of(place, row).close()
    harm(place)
    await must_be_named(place, Path(checkout.path), covey)
    ledger_gone(place)
    await must_be_named(place, Path(checkout.path), covey)


@pytest.mark.soak
@pytest.mark.parametrize("harms", list(permutations((*HARMS, ledger_gone), 2)))
@pytest.mark.keeps_checkouts
async def test_the_work_of_a_child_stands_and_is_named_after_any_two_harms(
    place: Place, way: Way, harms: tuple[Harm, Harm], covey: Covey
) -> None:
    checkout, row = begin(place, CHILD, {"new.txt": "new\n"}, way=way)
    tell_of(place, row).close()
    for harm in harms:
        with suppress(FileNotFoundError):  # the other one took it along
            harm(place)
    for _ in range(2):
        await must_be_named(place, Path(checkout.path), covey)
