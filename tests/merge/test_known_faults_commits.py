"""Real git. Ways in which an agent's use of git deleted files that it never touched elsewhere, and must not here."""

from collections.abc import Callable
from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout
from merge.checkouts.result import take_result
from merge.checkouts.turned_back import taken_along
from merge.landings.landing import Landed
from tests.merge.places import MakeCheckout, MakePlace, Place, folder_state, git_state
from tests.merge.test_known_faults import inside, land_checkout

# A child stages, commits, resets and looks away


def add_everything(child: Place) -> None:
    child.git("add", "--all")
    child.git("commit", "-q", "-m", "everything")


def begin_the_index_anew(child: Place) -> None:
    """The way to make new ignore rules count; what is ignored and tracked falls out of the commit."""
    child.git("rm", "-r", "-q", "--cached", ".")
    add_everything(child)


def commit_one_file_from_an_empty_index(child: Place) -> None:
    child.git("read-tree", "--empty")
    child.git("add", "mine.txt")
    child.git("commit", "-q", "-m", "mine alone")


def move_back_softly(child: Place) -> None:
    """The files of now over a commit of before: whatever came between is in the next commit, or out of it."""
    child.git("reset", "-q", "--soft", "HEAD~2")
    child.git("commit", "-q", "-m", "squashed")


def begin_a_branch_of_nothing(child: Place) -> None:
    child.git("switch", "-q", "--orphan", "mine")
    child.git("checkout", "-q", "main", "--", ".")
    commit_one_file_from_an_empty_index(child)


def look_at_one_folder(child: Place) -> None:
    child.git("sparse-checkout", "set", "src")
    add_everything(child)


def look_at_one_folder_in_a_small_index(child: Place) -> None:
    child.git("sparse-checkout", "set", "--sparse-index", "src/deep")
    add_everything(child)


def look_at_some_files(child: Place) -> None:
    child.git("sparse-checkout", "set", "--no-cone", "/mine.txt")
    add_everything(child)


@pytest.mark.parametrize(
    "act",
    [
        add_everything,
        begin_the_index_anew,
        commit_one_file_from_an_empty_index,
        move_back_softly,
        begin_a_branch_of_nothing,
        look_at_one_folder,
        look_at_one_folder_in_a_small_index,
        look_at_some_files,
    ],
    ids=lambda act: act.__name__,
)
def test_what_the_child_did_not_touch_stays_however_it_staged_and_committed(
    place: Place, checkouts: MakeCheckout, act: Callable[[Place], None]
) -> None:
    place.commit("second")
    # Tracked though ignored, as notes and plans often are; and what nobody has committed yet.
    place.write("build/plan.txt", "the plan\n")
    place.git("add", "-f", "build/plan.txt")
    place.git("commit", "-q", "-m", "a plan")
    place.write("notes.txt", "in work\n")
    place.write("debug.log", "ignored\n")
    checkout, sibling = checkouts(place), checkouts(place, "sibling")
    inside(checkout).write("mine.txt", "the child's\n")
    act(inside(checkout))
    # Meanwhile the tree has gone on: another child has landed, and the person has committed and written.
    inside(sibling).write("sibling.txt", "the sibling's\n")
    assert isinstance(land_checkout(place, sibling), Landed)
    place.write("later/committed.txt", "later\n")
    place.commit("later")
    place.write("later/uncommitted.txt", "later\n")
    before = folder_state(place.root)

    assert land_checkout(place, checkout) == Landed("2", ("mine.txt",))

    assert folder_state(place.root) == before | {"mine.txt": ("file", b"the child's\n")}


def test_what_a_child_deletes_in_a_sparse_checkout_is_deleted(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    child = inside(checkout)
    child.git("sparse-checkout", "set", "src")
    (child.root / "src/deep/er/leaf.txt").unlink()
    child.write("bin/run", "#!/bin/sh\necho its own\n", executable=True)
    landing = land_checkout(place, checkout)
    assert landing == Landed("1", ("bin/run", "src/deep/er/leaf.txt"))
    assert (place.root / "logo.bin").exists()


def test_an_index_that_is_none_spares_nothing(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    child = inside(checkout)
    child.git("sparse-checkout", "set", "src")
    child.write(".git/index", "no index\n")
    (deleted,) = take_result(place.repository, checkout).changes
    assert (deleted.path, deleted.after) == (b"bin/run", None)


# A child goes to work on another commit


def three_commits(place: Place) -> None:
    """Two commits after the first, and something that is in work; the remote has the first alone."""
    place.git("update-ref", "refs/remotes/origin/main", "HEAD")
    place.write("second.txt", "second\n")
    place.commit("second")
    place.write("src/app.py", "third\n")
    place.commit("third")
    place.write("README.md", "# In work\n")


GONE = {
    "looks at an older commit": ("checkout -q HEAD~2",),
    "begins a branch at the remote's": ("switch -q -c fix origin/main",),
    "seeks the commit that broke it": ("bisect start HEAD~1 HEAD~3",),
    "resets to an older commit": ("reset -q --hard HEAD~2",),
    "leaves commits out of a rebase": ("rebase -q --onto HEAD~3 HEAD~1",),
    "commits there": ("checkout -q HEAD~2", "commit -q --allow-empty -m mine"),
}
STAYED = {
    "commits": ("commit -q -a --allow-empty -m mine",),
    "commits on a branch of its own": ("switch -q -c mine", "commit -q --allow-empty -m mine"),
    "looks at an older commit and comes back": ("checkout -q HEAD~2", "checkout -q main"),
    "takes a commit back by another": ("revert --no-edit HEAD~1",),
    "amends": ("commit -q --amend -m mine",),
    "makes one commit of several": ("reset -q --soft HEAD~3", "commit -q -m mine"),
    "takes one file from an older commit": ("checkout -q HEAD~2 -- src/app.py",),
    "moves its commits onto the remote's": ("rebase -q origin/main",),
}


def taken_along_by(place: Place, checkout: Checkout, commands: tuple[str, ...]) -> tuple[bytes, ...]:
    for command in commands:
        inside(checkout).git(*command.split())
    inside(checkout).write("mine.txt", "the child's\n")
    result = take_result(place.repository, checkout)
    if result.works_on is None:
        return ()
    return taken_along(place.repository, result.works_on, checkout.base, result.changes)


@pytest.mark.parametrize("how", GONE)
def test_a_child_that_works_on_an_older_commit_is_told_from_one_that_edits(
    place: Place, checkouts: MakeCheckout, how: str
) -> None:
    three_commits(place)
    found = taken_along_by(place, checkouts(place), GONE[how])
    assert b"src/app.py" in found
    assert b"mine.txt" not in found


@pytest.mark.parametrize("how", STAYED)
def test_a_child_that_works_on_what_it_was_given_edits(
    place: Place, checkouts: MakeCheckout, how: str
) -> None:
    three_commits(place)
    assert taken_along_by(place, checkouts(place), STAYED[how]) == ()


def test_a_head_that_cant_be_read_tells_nothing(place: Place, checkouts: MakeCheckout) -> None:
    three_commits(place)
    for harm in ("ref: refs/heads/none\n", "no head\n", f"{'1' * 40}\n"):
        checkout = checkouts(place, f"child-{len(harm)}")
        inside(checkout).write(".git/HEAD", harm)
        assert taken_along_by(place, checkout, ()) == ()


# A child begins where the person is


def clone_of(make_place: MakePlace, place: Place, tmp_path: Path) -> Place:
    place.git("clone", "-q", ".", str(tmp_path / "clone"))
    return Place(tmp_path / "clone")


def on_a_branch_that_nobody_else_has(here: Place) -> None:
    here.git("switch", "-q", "-c", "feature/mine")
    here.write("feature.txt", "of the branch\n")
    here.commit("of the branch")


def ahead_of_the_remote(here: Place) -> None:
    here.write("feature.txt", "not pushed\n")
    here.commit("not pushed")


def behind_the_remote(here: Place) -> None:
    here.git("reset", "-q", "--hard", "HEAD~1")


def on_no_branch(here: Place) -> None:
    on_a_branch_that_nobody_else_has(here)
    here.git("switch", "-q", "--detach")


@pytest.mark.parametrize(
    "go",
    [on_a_branch_that_nobody_else_has, ahead_of_the_remote, behind_the_remote, on_no_branch],
    ids=lambda go: go.__name__,
)
def test_a_child_begins_at_the_persons_commit_whatever_the_remote_calls_its_own(
    place: Place, make_place: MakePlace, checkouts: MakeCheckout, tmp_path: Path, go: Callable[[Place], None]
) -> None:
    place.write("second.txt", "second\n")
    place.commit("second")
    here = clone_of(make_place, place, tmp_path)
    assert here.ask("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"
    go(here)
    state = git_state(here)
    checkout = checkouts(here)
    child = inside(checkout)
    assert child.ask("rev-parse", "HEAD") in (here.ask("rev-parse", "HEAD"), checkout.commit)
    assert child.ask("rev-list", "-1", "--skip=1", "HEAD") == here.ask("rev-parse", "HEAD")
    assert folder_state(child.root) == folder_state(here.root)
    child.write("new.txt", "new\n")
    assert land_checkout(here, checkout) == Landed("1", ("new.txt",))
    assert {path: data for path, data in git_state(here).items() if "covey" not in path} == state
