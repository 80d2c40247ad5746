"""Real git. A submodule that is populated in the parent is so in a checkout, and what a child does in it is found."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout, CheckoutFailed, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import commits_made, glance, take_result
from merge.snapshots.snapshot import take_snapshot
from merge.store.git import GitFailed
from merge.store.trees import EXECUTABLE, SUBMODULE, Change
from tests.merge.nested_places import LINES, Nest, add_submodule, make_nest
from tests.merge.places import MakeCheckout, MakePlace, Place, folder_state, git_state


@pytest.fixture
def nest(make_place: MakePlace) -> Nest:
    return make_nest(make_place)


def paths(changes: tuple[Change, ...]) -> list[bytes]:
    return [change.path for change in changes]


def inside(checkout: Checkout, path: str = "") -> Place:
    return Place(Path(checkout.path) / path)


def make_dirty(nest: Nest) -> None:
    """Staged, unstaged, untracked, deleted, ignored, a mode bit: in the submodule and in the one below."""
    for place, name in ((nest.lib, "lib.c"), (nest.core, "core.c")):
        place.write(name, LINES.replace("line 3\n", "staged\n"))
        place.git("add", name)
        place.write(name, LINES.replace("line 3\n", "unstaged\n"), executable=True)
        place.write("new/file.txt", "untracked\n")
        place.write("object.o", "ignored in lib\n")
    (nest.lib.root / "inc/lib.h").unlink()


def pins(place: Place) -> list[str]:
    return place.ask("for-each-ref", "--format=%(refname)", "refs/covey").splitlines()


def test_it_holds_what_the_parents_submodules_hold(nest: Nest, checkouts: MakeCheckout) -> None:
    make_dirty(nest)
    states = [git_state(place) for place in (nest.outer, nest.lib, nest.core)]
    snapshot = take_snapshot(nest.outer.repository)
    assert snapshot.left_out == ()
    checkout = checkouts(nest.outer)
    expected = {
        path: data for path, data in folder_state(nest.outer.root).items() if Path(path).name != ".git"
    }
    assert "libs/one/deep/new/file.txt" in expected
    del expected["libs/one/object.o"]  # ignored; below, where nothing ignores it, it is carried
    assert folder_state(Path(checkout.path)) == expected
    for place, state in zip((nest.outer, nest.lib, nest.core), states, strict=True):
        changed = {path for path, data in git_state(place).items() if state.get(path) != data}
        assert all("/refs/covey/" in path or "/objects/" in path for path in changed), changed


def test_git_in_there_works_and_finds_nothing_changed(nest: Nest, checkouts: MakeCheckout) -> None:
    make_dirty(nest)
    checkout = checkouts(nest.outer)
    for path in ("", "libs/one", "libs/one/deep"):
        child = inside(checkout, path)
        assert child.ask("status", "--porcelain", "--ignored") == "", path
        assert child.ask("rev-parse", "--show-toplevel") == str(child.root)
    lib = inside(checkout, "libs/one")
    assert lib.ask("log", "--format=%s", "-2").splitlines() == [
        "What the parent's working tree held",
        "add deep",
    ]
    told = inside(checkout).ask("submodule", "status", "--recursive").splitlines()
    assert [line[0] for line in told] == [" ", " "]
    assert take_result(nest.outer.repository, checkout).changes == ()
    assert take_result(nest.outer.repository, checkout).left_out == ()


def test_a_clean_submodule_is_at_the_commit_that_everybody_knows(nest: Nest, checkouts: MakeCheckout) -> None:
    snapshot = take_snapshot(nest.outer.repository)
    assert (snapshot.changes, snapshot.left_out) == ((), ())
    checkout = checkouts(nest.outer)
    assert inside(checkout, "libs/one").ask("rev-parse", "HEAD") == nest.lib.ask("rev-parse", "HEAD")


def test_a_submodule_that_the_parent_has_moved_or_switched_to_a_branch(
    nest: Nest, checkouts: MakeCheckout
) -> None:
    nest.lib.git("checkout", "-q", "-b", "topic/x")
    nest.lib.write("lib.c", "moved\n")
    moved = nest.lib.commit("moved")
    nest.lib.write("lib.c", "and dirty\n")
    checkout = checkouts(nest.outer)
    lib = inside(checkout, "libs/one")
    assert lib.read("lib.c") == b"and dirty\n"
    assert lib.ask("branch", "--show-current") == "topic/x"
    assert lib.ask("rev-parse", "HEAD~") == moved
    assert inside(checkout).ask("status", "--porcelain") == ""


def test_an_edit_in_a_submodule_is_a_change_of_its_file(nest: Nest, checkouts: MakeCheckout) -> None:
    make_dirty(nest)
    checkout = checkouts(nest.outer)
    child = inside(checkout)
    child.write("main.c", "int main;\n")
    child.write("libs/one/lib.c", "int changed;\n")
    child.write("libs/one/deep/more.c", "int more;\n", executable=True)
    child.write("libs/one/noise.o", "ignored\n")
    child.write("libs/one/deep/__pycache__/x.pyc", "generated\n")
    (child.root / "libs/one/new/file.txt").unlink()
    result = take_result(nest.outer.repository, checkout)
    assert paths(result.changes) == [
        b"libs/one/deep/more.c",
        b"libs/one/lib.c",
        b"libs/one/new/file.txt",
        b"main.c",
    ]
    more = result.changes[0]
    assert more.before is None
    assert more.after is not None
    assert more.after.mode == EXECUTABLE
    # Its content can be read from the repository around it, for whoever shows it.
    assert nest.outer.git("cat-file", "blob", more.after.object) == b"int more;"
    assert result.left_out == ()
    tree, changes = glance(nest.outer.repository, checkout)
    assert (tree, changes) == (result.tree, result.changes)
    entry = nest.outer.ask("ls-tree", result.tree, "libs/one").split()
    assert entry[0] == f"{SUBMODULE:o}"
    assert nest.lib.ask("cat-file", "-t", entry[2]) == "commit"


def test_what_a_child_commits_in_a_submodule_is_its_files_and_the_commits_are_named(
    nest: Nest, checkouts: MakeCheckout
) -> None:
    checkout = checkouts(nest.outer)
    lib = inside(checkout, "libs/one")
    lib.git("config", "user.name", "child")
    lib.write("lib.c", "committed\n")
    lib.commit("first of two")
    lib.write("lib.c", "committed again\n")
    lib.commit("second of two")
    inside(checkout).commit("moves the pointer")
    result = take_result(nest.outer.repository, checkout)
    assert paths(result.changes) == [b"libs/one/lib.c"]
    (left,) = result.left_out
    assert left.path == "libs/one"
    assert "the commits made in it don't" in left.reason
    assert "first of two" in left.reason
    assert {own.subject for own in commits_made(nest.outer.repository, checkout)} == {
        "first of two",
        "second of two",
        "moves the pointer",
    }


def test_a_stash_and_a_forced_file_in_a_submodule_are_named(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    lib = inside(checkout, "libs/one")
    lib.write("lib.c", "stashed\n")
    lib.git("stash", "-q")
    lib.write("wanted.o", "wanted\n")
    lib.git("add", "-f", "wanted.o")
    told = {left.path: left.reason for left in take_result(nest.outer.repository, checkout).left_out}
    assert list(told) == ["libs/one/.git"]
    reasons = [left.reason for left in take_result(nest.outer.repository, checkout).left_out]
    assert any("a stash holds work" in reason and "lib.c" in reason for reason in reasons)
    assert "its index holds files that git ignores (wanted.o)" in reasons


def test_an_emptied_submodule_is_not_a_deletion_of_all_its_files(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    inside(checkout).git("submodule", "--quiet", "deinit", "--force", "libs/one")
    result = take_result(nest.outer.repository, checkout)
    assert result.changes == ()
    (left,) = result.left_out
    assert (left.path, "emptied" in left.reason) == ("libs/one", True)


def test_without_its_own_git_directory_its_files_still_tell(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    lib = inside(checkout, "libs/one")
    shutil.rmtree(lib.root / ".git")
    (lib.root / ".git").write_text("gitdir: /etc\n")
    lib.write("lib.c", "changed\n")
    assert paths(take_result(nest.outer.repository, checkout).changes) == [b"libs/one/lib.c"]


@pytest.mark.parametrize("instead", ["nothing", "a file", "a link", "a link on the way"])
def test_a_submodule_that_is_gone_is_one_change_and_nothing_is_read_elsewhere(
    nest: Nest, checkouts: MakeCheckout, tmp_path: Path, instead: str
) -> None:
    checkout = checkouts(nest.outer)
    secret = Place(tmp_path / "secret")
    secret.write("one/lib.c", "secret\n")
    child = inside(checkout)
    shutil.rmtree(child.root / "libs")
    if instead == "a link on the way":
        (child.root / "libs").symlink_to(secret.root)
    elif instead != "nothing":
        (child.root / "libs").mkdir()
        if instead == "a file":
            child.write("libs/one", "a file\n")
        else:
            (child.root / "libs/one").symlink_to(secret.root / "one")
    result = take_result(nest.outer.repository, checkout)
    (change,) = [change for change in result.changes if change.path == b"libs/one"]
    assert change.before is not None
    assert change.before.mode == SUBMODULE
    assert not [path for path in paths(result.changes) if path.startswith(b"libs/one/")]


def test_nothing_that_a_child_wrote_in_a_submodule_runs(
    nest: Nest, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    checkout = checkouts(nest.outer)
    lib = inside(checkout, "libs/one")
    trap = tmp_path / "trap"
    evil = lib.write("evil", f"#!/bin/sh\ntouch {trap}\ncat\n", executable=True)
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.external", "core.pager"):
        lib.git("config", name, str(evil))
    lib.git("config", "core.worktree", str(nest.lib.root))
    (lib.root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        shutil.copy(evil, lib.root / ".git/hooks" / hook)
    lib.write(".gitattributes", "* filter=evil diff=evil\n")
    lib.write("lib.c", "changed\n")
    result = take_result(nest.outer.repository, checkout)
    glance(nest.outer.repository, checkout)
    assert b"libs/one/lib.c" in paths(result.changes)
    assert not trap.exists()
    subprocess.run(["git", "status"], cwd=lib.root, capture_output=True, check=False)
    assert trap.exists()


def test_an_index_that_is_none_stops_nothing(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    for path in ("", "libs/one"):
        child = inside(checkout, path)
        child.write(".git/index", os.urandom(200))
        child.write("added.c", "added\n")
    result = take_result(nest.outer.repository, checkout)
    assert paths(result.changes) == [b"added.c", b"libs/one/added.c"]


def test_all_that_is_kept_of_it_goes_with_it(nest: Nest) -> None:
    make_dirty(nest)
    before = [pins(place) for place in (nest.outer, nest.lib, nest.core)]
    checkout = make_checkout(nest.outer.repository, "child", take_snapshot(nest.outer.repository))
    inside(checkout, "libs/one/deep").write("core.c", "changed\n")
    take_result(nest.outer.repository, checkout)
    assert pins(nest.core) == [
        "refs/covey/super/children/child/base",
        "refs/covey/super/children/child/result",
    ]
    remove_checkout(nest.outer.repository, checkout, keep_refs=True)
    assert len(pins(nest.core)) == 2
    checkout = make_checkout(nest.outer.repository, "other", take_snapshot(nest.outer.repository))
    remove_checkout(nest.outer.repository, checkout)
    assert len(pins(nest.core)) == 2
    assert not list((nest.outer.repository.common_dir / "covey/checkouts").iterdir())
    assert before == [[], [], []]


def test_a_result_survives_git_gc_in_every_repository(nest: Nest, checkouts: MakeCheckout) -> None:
    make_dirty(nest)
    checkout = checkouts(nest.outer)
    inside(checkout, "libs/one").write("lib.c", "changed\n")
    result = take_result(nest.outer.repository, checkout)
    for place in (nest.core, nest.lib, nest.outer):
        place.git("gc", "-q", "--prune=now")
    assert inside(checkout, "libs/one").ask("status", "--porcelain") == " M lib.c"
    assert take_result(nest.outer.repository, checkout) == result


def test_a_submodule_is_read_though_the_parents_folder_of_it_is_gone(
    nest: Nest, checkouts: MakeCheckout
) -> None:
    checkout = checkouts(nest.outer)
    inside(checkout, "libs/one").write("lib.c", "changed\n")
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "--all")
    changes = take_result(nest.outer.repository, checkout).changes
    # What it did can't be told file by file here, but that it did something can.
    assert paths(changes) == [b"libs/one"]
    shutil.rmtree(nest.outer.root / ".git/modules")
    with pytest.raises((CheckoutFailed, GitFailed)):
        take_result(nest.outer.repository, checkout)


def test_an_old_submodule_with_its_git_directory_inside(
    place: Place, make_place: MakePlace, checkouts: MakeCheckout
) -> None:
    library = make_place("library")
    library.write("a.txt", "a\n")
    library.commit()
    place.git("-c", "protocol.file.allow=always", "clone", "-q", str(library.root), "old")
    place.write(".gitmodules", f'[submodule "old"]\n\tpath = old\n\turl = {library.root}\n')
    place.commit()
    assert (place.root / "old/.git").is_dir()
    checkout = checkouts(place)
    assert inside(checkout).read("old/a.txt") == b"a\n"
    inside(checkout).write("old/a.txt", "changed\n")
    assert paths(take_result(place.repository, checkout).changes) == [b"old/a.txt"]


def test_one_that_is_not_populated_stays_an_empty_folder(nest: Nest, checkouts: MakeCheckout) -> None:
    nest.lib.git("submodule", "--quiet", "deinit", "--force", "deep")
    checkout = checkouts(nest.outer)
    assert list((Path(checkout.path) / "libs/one/deep").iterdir()) == []
    assert take_result(nest.outer.repository, checkout).changes == ()


def test_caches_in_a_submodule_are_shared_too(nest: Nest, checkouts: MakeCheckout) -> None:
    nest.lib.write("node_modules/x/index.js", "x\n")
    checkout = checkouts(nest.outer)
    link = Path(checkout.path) / "libs/one/node_modules"
    assert link.readlink() == nest.lib.root / "node_modules"
    assert take_result(nest.outer.repository, checkout).changes == ()


def test_a_submodule_of_an_odd_name(place: Place, make_place: MakePlace, checkouts: MakeCheckout) -> None:
    library = make_place("library")
    library.write("caf\xe9.txt", "a\n")
    library.commit()
    name = "with space/quo'te\"s"
    add_submodule(place, library, name)
    checkout = checkouts(place)
    inside(checkout, name).write("caf\xe9.txt", "changed\n")
    assert paths(take_result(place.repository, checkout).changes) == [os.fsencode(f"{name}/caf\xe9.txt")]
    assert inside(checkout).ask("status", "--porcelain", "-z") == f" M {name}\0"


def test_nothing_half_made_stays_when_a_submodule_cannot_be_made(nest: Nest) -> None:
    snapshot = take_snapshot(nest.outer.repository)
    (inner,) = snapshot.submodules
    shutil.rmtree(inner.submodule.repository.git_dir / "objects")
    with pytest.raises(CheckoutFailed):
        make_checkout(nest.outer.repository, "child", snapshot)
    assert not Path(f"{nest.outer.root}-children").exists()
    assert not list((nest.outer.repository.common_dir / "covey/checkouts").iterdir())
    assert pins(nest.outer) == []
