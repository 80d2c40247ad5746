"""End to end. In whichever way checkouts are made, children land the same, and what is kept is a real folder."""

import os
from pathlib import Path

import pytest

from merge.checkouts.pool import pool_of
from merge.landings.landing import Conflicted, Landed
from merge.store.repository import find_repository
from orchestrator.events import ChildFinished, ChildWorking, Noticed
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import shell
from tests.end_to_end.covey import REQUEST, journal_of, run_covey, says, serving, talk, task


def only_as_root(way: str) -> None:
    if way == "overlay" and os.geteuid() != 0:
        pytest.skip("in a user namespace a folder can't be renamed in an overlay")


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("way", ["overlay", "pool", "plain"])
async def test_children_land_and_are_kept_the_same_in_every_way(
    repository_of: RepositoryOf, way: str
) -> None:
    only_as_root(way)
    repository = repository_of("python_package")
    (repository / "notes.txt").write_text("not committed\n")
    moves = 'git mv tally counted && test -z "$(git status --porcelain | grep -v ^R)" && cat notes.txt'
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "mover", "Move it.")),
            says(
                "", task("implement", "first", "Change one."), task("implement", "second", "Change another.")
            ),
            says("done"),
        ),
        talk("Move it.", says("", shell(moves)), says("moved")),
        talk("Change one.", says("", shell("echo one > notes.txt; echo new > new.txt")), says("one")),
        talk("Change another.", says("", shell("echo two > notes.txt; rm README.md")), says("two")),
    ) as server:
        done = await run_covey(repository, server=server, environment={"COVEY_CHILDREN_CHECKOUTS": way})
    assert done.status == 0, done.errors
    entries = journal_of(repository)
    landings = {
        entry.who.rpartition("-")[0]: entry.event.landing
        for entry in entries
        if isinstance(entry.event, ChildFinished)
    }
    assert isinstance(landings["mover"], Landed), landings
    assert (repository / "counted").is_dir()
    assert not (repository / "tally").exists()
    (kept,) = [landing for landing in landings.values() if isinstance(landing, Conflicted)]
    folder = Path(kept.checkout)
    loser = "one\n" if (repository / "notes.txt").read_text() == "two\n" else "two\n"
    assert (folder / "notes.txt").read_text() == loser
    assert (folder / "counted").is_dir()
    assert (folder / ".git/HEAD").is_file()
    assert not (repository / f".git/covey/checkouts/{folder.name}/upper").exists()
    assert not [entry for entry in entries if isinstance(entry.event, Noticed)], "it could be had"
    ways = {entry.event.way for entry in entries if isinstance(entry.event, ChildWorking)}
    assert ways == {way}
    if way == "pool":
        assert list(pool_of(find_repository(repository)).glob("slot-*"))


async def test_with_a_watch_children_start_from_what_is_there_now(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", shell("echo by-parent > by-parent.txt; mkdir deep; echo in > deep/er.txt")),
            says("", task("implement", "first", "Write it.")),
            says("", shell("rm by-parent.txt; git add deep; git commit -qm more")),
            says("", task("implement", "second", "Read it.")),
            says("done"),
        ),
        talk("Write it.", says("", shell("cat by-parent.txt deep/er.txt > from-first.txt")), says("written")),
        talk(
            "Read it.",
            says("", shell("test ! -e by-parent.txt && cat from-first.txt > from-second.txt")),
            says("read"),
        ),
    ) as server:
        done = await run_covey(repository, server=server, environment={"COVEY_CHILDREN_WATCH": "true"})
    assert done.status == 0, done.errors
    assert (repository / "from-second.txt").read_text() == "by-parent\nin\n"
    assert not [entry for entry in journal_of(repository) if isinstance(entry.event, Noticed)]
