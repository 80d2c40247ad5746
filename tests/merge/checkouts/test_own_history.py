"""Real git. Work that a child put away with git is named, so that nobody removes it with the checkout."""

from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout
from merge.checkouts.result import commits_made, take_result
from tests.merge.places import MakeCheckout, Place


@pytest.fixture
def checkout(place: Place, checkouts: MakeCheckout) -> Checkout:
    return checkouts(place)


@pytest.fixture
def child(checkout: Checkout) -> Place:
    return Place(Path(checkout.path))


def told(place: Place, checkout: Checkout) -> list[tuple[str, str]]:
    return [(left.path, left.reason) for left in take_result(place.repository, checkout).left_out]


def test_commits_that_the_files_show_are_nothing_to_tell(
    place: Place, checkout: Checkout, child: Place
) -> None:
    for number in range(3):
        child.write("README.md", f"{number}\n")
        child.commit()
    child.write("README.md", "and edited after that\n")
    assert told(place, checkout) == []
    child.git("stash")
    child.git("stash", "pop")
    child.git("checkout", "-q", "-b", "feature")
    child.commit()
    assert told(place, checkout) == []


def test_a_branch_that_was_left_is_told(place: Place, checkout: Checkout, child: Place) -> None:
    child.git("checkout", "-q", "-b", "attempt")
    child.write("src/new.py", "work\n")
    child.write("__pycache__/new.pyc", "generated\n")
    child.commit()
    child.git("checkout", "-q", "main")
    assert told(place, checkout) == [
        (".git", "the branch attempt holds work that is not in the files (src/new.py)")
    ]
    child.git("merge", "-q", "attempt")
    assert told(place, checkout) == []


def test_stashes_are_told_older_ones_and_untracked_files_too(
    place: Place, checkout: Checkout, child: Place
) -> None:
    child.write("README.md", "first stash\n")
    child.git("stash")
    child.write("untracked.txt", "second stash\n")
    child.git("stash", "--include-untracked")
    assert told(place, checkout) == [
        (".git", "a stash holds work that is not in the files (README.md, untracked.txt)")
    ]
    child.git("stash", "pop")
    child.git("stash", "pop")
    assert told(place, checkout) == []


def test_an_ignored_file_that_the_child_staged_is_told_while_it_stands(
    place: Place, checkout: Checkout, child: Place
) -> None:
    child.write("build/wanted.txt", "wanted\n")
    child.write("build/other.txt", "only ignored\n")
    child.write("plain.txt", "lands\n")
    child.write("__pycache__/new.pyc", "generated\n")
    child.git("add", "--force", "build/wanted.txt", "plain.txt", "__pycache__/new.pyc")
    staged = (".git", "its index holds files that git ignores (build/wanted.txt)")
    assert told(place, checkout) == [staged]
    child.commit()  # then its commits tell of it, once
    assert [line for line in told(place, checkout) if "index" in line[1]] == []
    (child.root / "build/wanted.txt").unlink()
    assert told(place, checkout) == []


@pytest.mark.parametrize("instead", ["a link", "nothing", "noise"])
def test_an_index_that_cannot_be_read_tells_nothing(
    place: Place, checkout: Checkout, child: Place, instead: str
) -> None:
    child.write("build/wanted.txt", "wanted\n")
    child.git("add", "--force", "build/wanted.txt")
    index = child.root / ".git/index"
    if instead == "noise":
        index.write_bytes(b"DIRC" + bytes(200))
    else:
        index.unlink()
        if instead == "a link":
            index.symlink_to(place.root / ".git/index")
    assert told(place, checkout) == []


def test_an_ignored_file_that_the_child_committed_is_told_while_it_stands(
    place: Place, checkout: Checkout, child: Place
) -> None:
    child.write("build/wanted.txt", "made on purpose\n")
    child.write("src/__pycache__/app.pyc", "generated\n")
    child.git("add", "--force", "build", "src")
    child.git("commit", "-q", "-m", "all of it")
    assert told(place, checkout) == [(".git", "its commits hold files that git ignores (build/wanted.txt)")]
    (child.root / "build/wanted.txt").unlink()
    assert told(place, checkout) == []


def test_refs_are_found_when_they_are_packed(place: Place, checkout: Checkout, child: Place) -> None:
    child.git("checkout", "-q", "-b", "attempt")
    child.write("src/new.py", "work\n")
    child.commit()
    child.git("checkout", "-q", "main")
    child.git("gc", "-q")
    assert "attempt" in told(place, checkout)[0][1]


def test_what_cannot_be_read_is_told_and_does_not_stand_in_the_way(
    place: Place, checkout: Checkout, child: Place
) -> None:
    child.write(".git/refs/heads/broken", "1" * 40 + "\n")
    child.write(".git/refs/heads/nonsense", "not an id\n")
    child.write("README.md", "edited\n")
    result = take_result(place.repository, checkout)
    assert [change.path for change in result.changes] == [b"README.md"]
    assert len(result.left_out) == 1
    assert "can't be read" in result.left_out[0].reason


def test_a_git_directory_that_is_a_link_or_gone_is_not_followed(
    place: Place, checkout: Checkout, child: Place
) -> None:
    (child.root / ".git").rename(child.root.parent / "moved")
    (child.root / ".git").symlink_to(child.root.parent / "moved")
    assert told(place, checkout) == []
    (child.root / ".git").unlink()
    (child.root.parent / "moved").rename(child.root / ".git")


def test_the_commits_of_a_child_are_told_the_newest_first_without_its_stashes(
    place: Place, checkout: Checkout, child: Place
) -> None:
    assert commits_made(place.repository, checkout) == ()
    for number in (1, 2):
        child.write("README.md", f"{number}\n")
        child.git("add", "-A")
        child.git(
            "commit", "-q", "-m", f"step {number}\n\nand why", GIT_COMMITTER_DATE=f"{number}000000000 +0000"
        )
    child.write("README.md", "stashed\n")
    child.git("stash")
    made = commits_made(place.repository, checkout)
    assert [own.subject for own in made] == ["step 2", "step 1"]
    assert made[0].commit == child.ask("rev-parse", "HEAD")
