"""Real git. Ways in which work was lost between agents and people elsewhere, and that must not be lost here."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout
from merge.checkouts.result import take_result
from merge.landings.landing import AnyLanding, Conflicted, Landed, NothingToLand, land
from tests.merge.landing_places import exact_state, head_tree, result_of, untouched_state
from tests.merge.places import MakeCheckout, Place, folder_state

LINES = [f"line {number}\n" for number in range(1, 11)]


def text(**changes: str) -> str:
    """Ten lines with some of them changed: `text(l2="two")`."""
    return "".join(
        f"{changes[f'l{number}']}\n" if f"l{number}" in changes else line
        for number, line in enumerate(LINES, 1)
    )


def land_checkout(place: Place, checkout: Checkout) -> AnyLanding:
    result = take_result(place.repository, checkout)
    return land(
        place.repository, child=checkout.name, checkout=checkout.path, base=checkout.base, result=result.tree
    )


def inside(checkout: Checkout) -> Place:
    return Place(Path(checkout.path))


# What the person has not committed


def make_untracked(place: Place) -> None:
    place.write("draft.txt", text())


def make_staged(place: Place) -> None:
    make_untracked(place)
    place.git("add", "draft.txt")


def make_intended(place: Place) -> None:
    make_untracked(place)
    place.git("add", "--intent-to-add", "draft.txt")


def make_staged_and_changed(place: Place) -> None:
    place.write("draft.txt", text(l9="staged"))
    place.git("add", "draft.txt")
    make_untracked(place)


def make_committed_and_changed(place: Place) -> None:
    place.write("draft.txt", text(l9="committed"))
    place.commit()
    make_untracked(place)


@pytest.mark.parametrize("how", ["edited", "committed"])
@pytest.mark.parametrize(
    "make", [make_untracked, make_staged, make_intended, make_staged_and_changed, make_committed_and_changed]
)
def test_a_file_in_work_at_the_persons_takes_the_childs_lines_too(
    place: Place, checkouts: MakeCheckout, make: Callable[[Place], None], how: str
) -> None:
    make(place)
    checkout = checkouts(place)
    child = inside(checkout)
    child.write("draft.txt", text(l5="the child's"))
    if how == "committed":
        child.commit("the child's own")
    place.write("draft.txt", text(l2="the person's, meanwhile"))
    before = untouched_state(place)

    assert land_checkout(place, checkout) == Landed("1", ("draft.txt",))

    assert place.read("draft.txt").decode() == text(l2="the person's, meanwhile", l5="the child's")
    assert untouched_state(place) == before


def test_an_index_that_a_failed_stash_pop_left_unmerged_spoils_nothing(
    place: Place, checkouts: MakeCheckout
) -> None:
    place.write("src/app.py", "stashed\n")
    place.git("stash")
    place.write("src/app.py", "committed\n")
    place.commit()
    popped = subprocess.run(["git", "stash", "pop"], cwd=place.root, capture_output=True, check=False)
    assert popped.returncode != 0
    assert b"<<<<<<<" in place.read("src/app.py")
    before = untouched_state(place)
    first, second = checkouts(place, "first"), checkouts(place, "second")
    inside(first).write("README.md", "# The first's\n")
    inside(second).write("new.txt", "the second's\n")

    assert land_checkout(place, first) == Landed("1", ("README.md",))
    assert land_checkout(place, second) == Landed("2", ("new.txt",))

    assert untouched_state(place) == before
    assert b"<<<<<<<" in place.read("src/app.py"), "that is the person's to resolve"


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"])
def test_a_lock_that_a_crashed_git_left_stops_no_child_and_stays(
    place: Place, checkouts: MakeCheckout, lock: str
) -> None:
    left = place.write(f".git/{lock}", "")
    place.write("README.md", "# Dirty\n")
    checkout = checkouts(place)
    inside(checkout).write("new.txt", "new\n")

    assert land_checkout(place, checkout) == Landed("1", ("new.txt",))
    assert left.exists()


def test_a_lock_of_coveys_own_that_a_kill_left_stops_no_landing(
    place: Place, checkouts: MakeCheckout
) -> None:
    checkout = checkouts(place)
    inside(checkout).write("README.md", "# The child's\n")
    place.write(f".git/covey/checkouts/{checkout.name}/index.lock", "")
    assert land_checkout(place, checkout) == Landed("1", ("README.md",))


def test_a_persons_ignored_file_is_not_overwritten_by_one_that_the_child_adds(
    place: Place, checkouts: MakeCheckout
) -> None:
    place.write("secret.log", "precious\n")
    checkout = checkouts(place)
    child = inside(checkout)
    child.write(".gitignore", "build/\n")
    child.write("secret.log", "the child's\n")
    before = exact_state(place.root)

    landing = land_checkout(place, checkout)

    assert landing == Conflicted(
        checkout.path, ("secret.log: a file that git does not track stands here already",)
    )
    assert exact_state(place.root) == before


# What the child does


def change_one_bit(child: Place) -> None:
    (child.root / "bin/run").chmod(0o644)
    (child.root / "README.md").chmod(0o755)


def rename_in_case_only(child: Place) -> None:
    (child.root / "README.md").rename(child.root / "readme.md")


def write_odd_names(child: Place) -> None:
    names = [
        b" lead",
        b"two words",
        b"line\nfeed",
        b"tab\t",
        b"caf\xe9",
        b"-rf",
        b"*",
        b":(top)x",
        b'"q"',
        b"\\n",
    ]
    for name in [*names, b"x" * 255, "\u202eevil".encode(), b"~", b"$(true)", b"a" * 200 + b"/" + b"b" * 200]:
        child.write(name, b"of " + name)


def write_a_huge_file(child: Place) -> None:
    child.write("huge.bin", os.urandom(1 << 20) * 24)


def turn_kinds_around(child: Place) -> None:
    shutil.rmtree(child.root / "src")
    child.write("src", "a file now\n")
    (child.root / "logo.bin").unlink()
    child.write("logo.bin/inside", "a folder now\n")
    (child.root / "link").unlink()
    (child.root / "link").mkdir()
    child.write("link/real", "no link any more\n")
    (child.root / "bin/run").unlink()
    (child.root / "bin/run").symlink_to("nowhere")


def write_line_ends_of_all_kinds(child: Place) -> None:
    child.write("none", "no end")
    child.write("dos", "a\r\nb\r\n")
    child.write("mixed", "a\r\nb\nc\r")
    child.write("empty", "")
    child.write("nul", b"\0")


def delete_everything(child: Place) -> None:
    for path in child.root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def throw_git_away(child: Place) -> None:
    shutil.rmtree(child.root / ".git")
    child.write("src/app.py", "without git\n")
    child.write("new/file", "without git\n")


def begin_anew(child: Place) -> None:
    shutil.rmtree(child.root / ".git")
    child.git("init", "-q")
    child.write("src/app.py", "in a repository of its own\n")
    child.commit("first")


@pytest.mark.parametrize(
    "act",
    [
        change_one_bit,
        rename_in_case_only,
        write_odd_names,
        write_a_huge_file,
        turn_kinds_around,
        write_line_ends_of_all_kinds,
        delete_everything,
        throw_git_away,
        begin_anew,
    ],
    ids=lambda act: act.__name__,
)
def test_what_stands_in_the_checkout_stands_in_the_parent_after_it(
    place: Place, checkouts: MakeCheckout, act: Callable[[Place], None]
) -> None:
    checkout = checkouts(place)
    act(inside(checkout))
    assert isinstance(land_checkout(place, checkout), Landed)
    assert folder_state(place.root) == folder_state(Path(checkout.path))


def test_commits_without_a_change_are_nothing_to_land_and_nothing_to_keep(
    place: Place, checkouts: MakeCheckout
) -> None:
    checkout = checkouts(place)
    inside(checkout).git("commit", "-q", "--allow-empty", "-m", "nothing")
    result = take_result(place.repository, checkout)
    assert (result.changes, result.left_out) == ((), ())
    assert land_checkout(place, checkout) == NothingToLand()


def test_links_to_caches_are_not_staged_committed_or_landed(place: Place, checkouts: MakeCheckout) -> None:
    """`node_modules/` in an ignore file is a rule for folders and does not match a link."""
    place.write("node_modules/dep/index.js", "dep\n")
    place.write("target/out", "out\n")
    checkout = checkouts(place)
    child = inside(checkout)
    assert (child.root / "node_modules").is_symlink()
    child.git("add", "--all")
    child.git("commit", "-q", "--allow-empty", "-m", "everything")
    assert (
        child.ask("ls-tree", "-r", "--name-only", "HEAD").splitlines() == place.ask("ls-files").splitlines()
    )
    child.git("clean", "-q", "-fdx")
    assert land_checkout(place, checkout) == NothingToLand()
    assert place.read("node_modules/dep/index.js") == b"dep\n"
    assert place.read("target/out") == b"out\n"


# Several at once


def test_eight_landings_at_once_in_two_working_trees_lose_nothing(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    places = [place, Place(tmp_path / "side")]
    base = head_tree(place)
    lines = "".join(f"line {number}\n" for number in range(1, 21))
    faults: list[object] = []
    begin = threading.Barrier(8)

    def land_one(number: int) -> None:
        begin.wait()
        there, line = places[number % 2], f"line {2 + number}\n"
        mine = lines.replace(line, f"by {number}\n" if number % 2 else line.upper())
        landing = land(
            there.repository,
            child=f"c{number}",
            checkout="/c",
            base=base,
            result=result_of(there, base, {"src/app.py": mine.encode(), f"new-{number}": b"new\n"}),
        )
        if not isinstance(landing, Landed):
            faults.append(landing)

    threads = [threading.Thread(target=partial(land_one, number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for which, there in enumerate(places):
        assert len(list(there.root.glob("new-*"))) == 4
        changed = [
            line for line in there.read("src/app.py").decode().splitlines() if not line.startswith("line")
        ]
        assert len(changed) == 4, (which, changed)
