"""End to end. A folder that is no repository is worked in like any other, and afterwards it has no `.git`."""

from pathlib import Path

import pytest

from merge.landings.landing import Conflicted, Landed
from orchestrator.events import ChildFinished
from tests.end_to_end.covey import REQUEST, Done, call, journal_of, run_covey, says, serving, talk, task
from tests.real_git import git_lines

NOTES = "".join(f"line {number}\n" for number in range(1, 10))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "notes.txt").write_text(NOTES)
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "debug.log").write_text("ignored\n")
    return folder


async def delegate(folder: Path, *edits: tuple[str, str]) -> Done:
    """A session whose child makes these edits in `notes.txt`, and a file of its own."""
    calls = [call("edit", path="notes.txt", old=old, new=new) for old, new in edits]
    write = call("write", path="more/new.txt", content="new\n")
    async with serving(
        talk(REQUEST, says("", task("implement", "notes", "Edit the notes.")), says("It is done.")),
        talk("Edit the notes.", says("", *calls, write), says("Edited.")),
    ) as server:
        return await run_covey(folder, server=server)


def landings(folder: Path) -> list[object]:
    return [entry.event.landing for entry in journal_of(folder) if isinstance(entry.event, ChildFinished)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_child_works_in_it_lands_and_is_taken_back(folder: Path, covey_home: Path) -> None:
    done = await delegate(folder, ("line 2", "the child's"))
    assert done.status == 0, done
    (git_dir,) = (covey_home / "folders").glob("*/git")
    assert done.errors.count(f"is not a git repository; covey keeps its own record of it in {git_dir}") == 1
    (landing,) = landings(folder)
    assert isinstance(landing, Landed), landing
    assert set(landing.paths) == {"notes.txt", "more/new.txt"}
    assert (folder / "notes.txt").read_text() == NOTES.replace("line 2", "the child's")
    assert (folder / "more/new.txt").read_text() == "new\n"
    assert names(folder) == [".covey", ".gitignore", "debug.log", "more", "notes.txt"]

    undone = await run_covey(folder, "undo", requests=())
    assert undone.status == 0, undone
    assert (folder / "notes.txt").read_text() == NOTES
    assert names(folder) == [".covey", ".gitignore", "debug.log", "notes.txt"]
    tracked = git_lines(folder, f"--git-dir={git_dir}", "ls-files")
    assert tracked == [".gitignore", "notes.txt"]


@pytest.mark.keeps_checkouts
async def test_what_conflicts_is_kept_and_reviewed(folder: Path) -> None:
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("implement", "one", "The first way."),
                task("implement", "two", "The second way."),
            ),
            says("Both are done."),
        ),
        talk("The first way.", says("", call("edit", path="notes.txt", old="line 2", new="one")), says("1")),
        talk("The second way.", says("", call("edit", path="notes.txt", old="line 2", new="two")), says("2")),
    ) as server:
        done = await run_covey(folder, server=server)
    assert done.status == 0, done
    conflicted = [landing for landing in landings(folder) if isinstance(landing, Conflicted)]
    assert len(conflicted) == 1
    kept = Path(conflicted[0].checkout)
    assert kept.parent == folder.with_name("my notes-children")

    table = await run_covey(folder / ".covey", "review", requests=())
    assert (table.status, kept.name in table.output) == (0, True), table
    inside = await run_covey(kept, "review", requests=())
    assert inside.status == 1
    assert f"is a child's checkout; run this in {folder}" in inside.errors
    landed = await run_covey(folder, "review", kept.name, "--union", "notes.txt", requests=())
    assert landed.status == 0, landed
    text = (folder / "notes.txt").read_text()
    assert "one\n" in text
    assert "two\n" in text
    assert not (folder / ".git").exists()
