"""Real terminal. A child is dropped after saying what goes with it and a yes; what it made stays readable till gc."""

import json
import os
import sys
from pathlib import Path

import pytest
import trio

from merge.checkouts.leaving import remove_checkout
from orchestrator.children.ledger import LedgerRow
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin, write
from tests.orchestrator.terminal.pseudo_terminal import open_terminal
from tests.real_git import git, git_lines

pytestmark = pytest.mark.keeps_checkouts

COVEY = str(Path(sys.executable).with_name("covey"))


def row(place: Place, child: str) -> LedgerRow:
    found = place.row(child)
    assert found is not None
    return found


def test_what_would_be_lost_is_said_first(conflicted: Place, covey: Covey) -> None:
    folder = conflicted.checkout("five-a1")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "half of it")
    write(folder, "README.md", "in a stash\n")
    git(folder, "stash")
    commit = git_lines(folder, "rev-parse", "HEAD")[0]
    status, output = covey("review", "five-a1", "--drop")
    assert status == 1
    assert output.splitlines() == [
        "five-a1 the work of five-a1",
        f"  its folder {folder}",
        "  2 files it changed: new.txt, src/app.py",
        "  1 commit of its own:",
        f"    {commit[:10]} half of it",
        "  .git: a stash holds work that is not in the files (README.md)",
        "  and whatever git ignores in it",
        "covey: Nobody can be asked here; add --yes to drop five-a1. Nothing was dropped.",
    ]
    assert folder.exists()
    assert row(conflicted, "five-a1").state == "kept"


def test_a_dropped_child_is_gone_and_what_it_made_can_be_read(conflicted: Place, covey: Covey) -> None:
    before = conflicted.state()
    write(conflicted.checkout("five-a1"), "late.txt", "written after it was kept\n")
    status, output = covey("review", "five-a1", "--drop", "--yes")
    assert status == 0
    assert "until covey gc, what it had changed is in refs/covey/children/five-a1/result" in output
    assert not conflicted.checkout("five-a1").parent.exists()
    assert not (conflicted.root / ".git/covey/checkouts/five-a1").exists()
    assert row(conflicted, "five-a1").state == "dropped"
    assert conflicted.state() == before
    made = git(conflicted.root, "show", "refs/covey/children/five-a1/result:late.txt")
    assert made == b"written after it was kept\n"
    assert covey("review") == (0, "Nothing is kept for review.\n")


def test_a_folder_that_was_half_made_can_be_dropped(place: Place, covey: Covey) -> None:
    begin(place, "half-a1", {})
    place.change("half-a1", base=None, commit=None)
    assert "unclear: its checkout was never finished, nothing was done in it" in covey("review")[1]
    assert covey("review", "half-a1", "--land")[0] == 1
    assert json.loads(covey("review", "half-a1", "--drop", "--yes", "--json")[1]) == {
        "type": "Dropped",
        "child": "half-a1",
        "result": None,
    }
    assert not place.checkout("half-a1").exists()


def test_a_folder_that_was_there_before_the_child_is_not_the_childs(place: Place, covey: Covey) -> None:
    checkout, _ = begin(place, "half-a1", {})
    remove_checkout(place.repository, checkout)
    place.change("half-a1", base=None, commit=None)
    write(place.checkout("half-a1"), "somebodys.txt", "work\n")
    assert covey("review")[1] == "Nothing is kept for review.\n"
    assert covey("review", "half-a1", "--drop", "--yes")[0] == 0
    assert (place.checkout("half-a1") / "somebodys.txt").exists()


@pytest.mark.parametrize(
    ("answer", "state", "said"),
    [
        (b"y\r", "dropped", "dropped five-a1"),
        (b"\r", "kept", "Nothing was dropped."),
        (b"\x04", "kept", "Nothing"),
    ],
)
async def test_at_a_terminal_it_asks(conflicted: Place, answer: bytes, state: str, said: str) -> None:
    async with open_terminal() as terminal:
        process = await trio.lowlevel.open_process(
            [COVEY, "review", "five-a1", "--drop"],
            stdin=terminal.slave,
            stdout=terminal.slave,
            stderr=terminal.slave,
            env=dict(os.environ),
            start_new_session=True,
        )
        await terminal.wait_for("Drop five-a1? [y/N] ")
        assert conflicted.checkout("five-a1").exists()
        terminal.press(answer)
        await terminal.wait_for(said)
        with trio.fail_after(20):
            assert await process.wait() == (0 if state == "dropped" else 1)
    assert row(conflicted, "five-a1").state == state
    assert conflicted.checkout("five-a1").exists() == (state == "kept")
