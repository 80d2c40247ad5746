"""Real git. A checkout holds what the parent held; its result is what its files are, whatever became of its git."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge.checkouts.checkout import Checkout, CheckoutFailed, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.result import Result, glance, take_result
from merge.snapshots.snapshot import take_snapshot
from merge.store.objects import list_tree
from merge.store.repository import children_folder
from merge.store.trees import RepoPath
from tests.merge.places import MakeCheckout, MakePlace, Place, folder_state, git_state
from tests.merge.small_worlds import FOLDERS, fill


def inside(checkout: Checkout) -> Place:
    return Place(Path(checkout.path))


def changed(result: Result) -> list[bytes]:
    return [change.path for change in result.changes]


def without_ours(state: dict[str, bytes]) -> dict[str, bytes]:
    """A repository's state without the refs that covey keeps for children."""
    return {path: content for path, content in state.items() if "/refs/covey" not in path}


def test_it_holds_what_the_parent_holds(dirty_place: Place, checkouts: MakeCheckout) -> None:
    before = git_state(dirty_place)
    checkout = checkouts(dirty_place)
    child = inside(checkout)
    assert Path(checkout.path) == children_folder(dirty_place.repository) / "child"
    wanted = folder_state(dirty_place.root)
    del wanted["debug.log"]
    assert folder_state(child.root) == wanted
    assert child.git("status", "--porcelain", "--ignored") == b""
    assert child.git("diff-files") == b"", "the index knows the files without reading them again"
    assert child.ask("symbolic-ref", "HEAD") == "refs/heads/main"
    assert child.ask("rev-parse", "HEAD", "HEAD^{tree}", "HEAD^").split() == [
        checkout.commit,
        checkout.base,
        dirty_place.ask("rev-parse", "HEAD"),
    ]
    assert without_ours(git_state(dirty_place)) == before


def test_siblings_share_one_commit(dirty_place: Place, checkouts: MakeCheckout) -> None:
    first, second = checkouts(dirty_place, "first"), checkouts(dirty_place, "second")
    assert first.commit == second.commit
    author = inside(first).ask("log", "-1", "--format=%an <%ae>, %cn")
    assert author == "covey <covey@localhost>, covey"


def test_whatever_the_child_does_with_git_the_parent_stays_as_it_was(
    dirty_place: Place, checkouts: MakeCheckout
) -> None:
    dirty_place.git("tag", "v1")
    dirty_place.git("branch", "other")
    checkout = checkouts(dirty_place)
    before, files = git_state(dirty_place), folder_state(dirty_place.root)
    child = inside(checkout)
    child.write("src/app.py", "the child's\n")
    child.git("stash", "--include-untracked")
    child.git("stash", "pop")
    child.commit("the child's commit")
    child.git("tag", "-d", "v1")
    child.git("branch", "-D", "other")
    child.git("checkout", "-q", "-b", "elsewhere")
    child.git("branch", "-D", "main")
    child.git("config", "user.name", "Mallory")
    child.git("reset", "-q", "--hard", "HEAD~1")
    child.git("gc", "-q", "--prune=now")
    assert git_state(dirty_place) == before
    assert folder_state(dirty_place.root) == files
    assert dirty_place.git("fsck", "--strict") == b""


def test_the_child_sees_branches_tags_and_history(place: Place, checkouts: MakeCheckout) -> None:
    place.git("tag", "-a", "v1.0", "-m", "one")
    place.git("update-ref", "refs/remotes/origin/main", "HEAD")
    place.write("more.txt", "more\n")
    place.commit()
    child = inside(checkouts(place))
    assert child.ask("describe", "HEAD^") == place.ask("describe")
    assert child.ask("diff", "--name-only", "origin/main") == "more.txt"


def test_of_the_configuration_only_what_shapes_files_is_taken_over(
    place: Place, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    included = tmp_path / "included.config"
    included.write_text("[user]\n\tname = Included\n[alias]\n\tbad = !false\n")
    settings = {
        "core.autocrlf": "input",
        "core.hooksPath": "/somewhere",
        "core.sshCommand": "ssh -i key",
        'filter.a "b\\c.d.clean': "sed 's/a\\tb/\"c\"/' # not a comment",
        "filter.plain.smudge": "cat",
        "merge.ours.driver": "true",
        "remote.origin.url": "https://token@example.org/x.git",
        "credential.helper": "store",
        "url.https://x.insteadOf": "y",
        "alias.co": "checkout",
        "lfs.url": "https://token@example.org/lfs",
        "include.path": str(included),
        "core.fsmonitor": "true",
        "commit.gpgSign": "true",
    }
    for name, value in settings.items():
        place.git("config", name, value)
    place.git("config", "core.fsmonitor", "false")
    child = inside(checkouts(place))
    for name in ("core.autocrlf", 'filter.a "b\\c.d.clean', "filter.plain.smudge", "merge.ours.driver"):
        assert child.ask("config", "--local", name) == settings[name]
    assert child.ask("config", "user.name") == "Included"
    assert child.ask("config", "commit.gpgSign") == "false"
    listed = child.ask("config", "--local", "--list")
    for word in (
        "remote.",
        "credential.",
        "url.",
        "alias.",
        "lfs.url",
        "include.",
        "sshcommand",
        "/somewhere",
    ):
        assert word not in listed


def test_a_leftover_of_the_same_name_is_neither_used_nor_removed(place: Place) -> None:
    children = children_folder(place.repository)
    leftover = Place(children / "child")
    leftover.write("precious.txt", "precious\n")
    snapshot = take_snapshot(place.repository)
    with pytest.raises(CheckoutFailed, match="is there already"):
        make_checkout(place.repository, "child", snapshot)
    assert folder_state(children) == {"child/precious.txt": ("file", b"precious\n")}
    shutil.rmtree(children)


def test_what_was_kept_about_a_checkout_that_somebody_removed_is_not_used_again(place: Place) -> None:
    checkout = make_checkout(place.repository, "child", take_snapshot(place.repository))
    shutil.rmtree(children_folder(place.repository))
    with pytest.raises(CheckoutFailed, match="child"):
        make_checkout(place.repository, "child", take_snapshot(place.repository))
    assert place.ask("rev-parse", "refs/covey/children/child/base") == checkout.commit
    assert not children_folder(place.repository).exists()
    remove_checkout(place.repository, checkout)
    assert place.git("for-each-ref", "refs/covey") == b""


def test_a_file_where_checkouts_would_go_is_a_clear_error(place: Place) -> None:
    children = children_folder(place.repository)
    children.write_text("a file\n")
    with pytest.raises(CheckoutFailed, match=r"repo-children is no folder; move it away"):
        make_checkout(place.repository, "child", take_snapshot(place.repository))
    assert children.read_text() == "a file\n"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", ".hidden", "a..b", "a.lock", "-x", "a b", "a\n", "é", "a."]
)
def test_names_that_cannot_be_a_folder_and_a_ref_are_refused(place: Place, name: str) -> None:
    with pytest.raises(CheckoutFailed, match="can't name a checkout"):
        make_checkout(place.repository, name, take_snapshot(place.repository))
    assert not children_folder(place.repository).exists()


def test_a_folder_that_may_not_be_written_is_a_clear_error(unreadable_place: Place) -> None:
    place = unreadable_place
    snapshot = take_snapshot(place.repository)
    place.root.parent.chmod(0o555)
    try:
        with pytest.raises(CheckoutFailed, match=r"permission denied; make it writable and try again\."):
            make_checkout(place.repository, "child", snapshot)
    finally:
        place.root.parent.chmod(0o755)
    assert place.git("for-each-ref", "refs/covey") == b""


def test_before_the_first_commit(unborn: Place, checkouts: MakeCheckout) -> None:
    unborn.write("a.txt", "a\n")
    checkout = checkouts(unborn)
    child = inside(checkout)
    assert child.read("a.txt") == b"a\n"
    assert child.ask("rev-list", "--count", "HEAD") == "1"
    (child.root / "a.txt").unlink()
    assert changed(take_result(unborn.repository, checkout)) == [b"a.txt"]


def test_of_a_detached_head(place: Place, checkouts: MakeCheckout) -> None:
    place.git("checkout", "-q", "--detach")
    checkout = checkouts(place)
    assert (Path(checkout.path) / ".git/HEAD").read_text() == f"{checkout.commit}\n"


def test_of_a_branch_with_slashes(place: Place, checkouts: MakeCheckout) -> None:
    place.git("checkout", "-q", "-b", "feature/deep/x")
    assert inside(checkouts(place)).ask("rev-parse", "--abbrev-ref", "HEAD") == "feature/deep/x"


def round_trip(place: Place, checkouts: MakeCheckout) -> Checkout:
    """A checkout of `place` is clean, and an edit, an addition and a deletion in it are its result."""
    checkout = checkouts(place)
    child = inside(checkout)
    assert child.git("status", "--porcelain") == b""
    assert take_result(place.repository, checkout).changes == ()
    child.write("a.txt", "the child's\n")
    child.write("new/file", "new\n")
    (child.root / "b.txt").unlink()
    result = take_result(place.repository, checkout)
    assert changed(result) == [b"a.txt", b"b.txt", b"new/file"]
    assert result.left_out == ()
    child.git("add", "-A")
    assert child.ask("write-tree") == result.tree
    assert place.ask("rev-parse", "refs/covey/children/child/result^{tree}") == result.tree
    assert place.ask("rev-parse", "refs/covey/children/child/result^") == checkout.commit
    return checkout


def small(place: Place) -> Place:
    place.write("a.txt", "a\n")
    place.write("b.txt", "b\n")
    place.write("c.txt", "c\n")
    place.commit()
    place.write("c.txt", "not committed\n")
    return place


def test_of_a_sha256_repository(make_place: MakePlace, checkouts: MakeCheckout) -> None:
    round_trip(small(make_place("repo", "--object-format=sha256")), checkouts)


def test_of_a_linked_worktree(place: Place, checkouts: MakeCheckout, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", str(tmp_path / "linked"))
    checkout = round_trip(small(Place(tmp_path / "linked")), checkouts)
    assert checkout.path == str(tmp_path / "linked-children/child")


def test_of_a_submodule(make_place: MakePlace, checkouts: MakeCheckout) -> None:
    library = small(make_place("library"))
    library.commit()
    outer = make_place("outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    outer.commit()
    round_trip(Place(outer.root / "lib"), checkouts)


def test_of_a_shallow_clone(make_place: MakePlace, checkouts: MakeCheckout, tmp_path: Path) -> None:
    origin = small(make_place("origin"))
    for number in range(3):
        origin.write("a.txt", f"{number}\n")
        origin.commit()
    origin.git("clone", "-q", "--depth", "2", f"file://{origin.root}", str(tmp_path / "shallow"))
    shallow = Place(tmp_path / "shallow")
    checkout = round_trip(shallow, checkouts)
    assert inside(checkout).ask("rev-list", "--count", "HEAD") == "3"


def test_of_a_partial_clone_that_is_offline(
    make_place: MakePlace, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    origin = small(make_place("origin"))
    origin.write("a.txt", "newer\n")
    origin.commit()
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--filter=blob:none", f"file://{origin.root}", str(tmp_path / "partial"))
    origin.root.rename(tmp_path / "gone")
    partial = Place(tmp_path / "partial")
    checkout = round_trip(partial, checkouts)
    inside(checkout).git("commit", "-q", "-m", "nobody else has this commit")
    assert take_result(partial.repository, checkout).left_out == ()


def test_of_a_repository_that_borrows_from_one_that_borrows(
    make_place: MakePlace, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    first = small(make_place("first"))
    first.commit()
    first.git("clone", "-q", "--shared", str(first.root), str(tmp_path / "second"))
    first.git("clone", "-q", "--shared", str(tmp_path / "second"), str(tmp_path / "third"))
    relative = tmp_path / "second/.git/objects/info/alternates"
    relative.write_text("../../../first/.git/objects\n")
    round_trip(Place(tmp_path / "third"), checkouts)


@pytest.mark.parametrize("name", [b"with space", b'quo"te', b"new\nline:caf\xe9", b"#x"])
def test_of_a_repository_with_an_odd_path(
    make_place: MakePlace, checkouts: MakeCheckout, name: bytes
) -> None:
    round_trip(small(make_place(os.fsdecode(name))), checkouts)


def test_a_sparse_checkout_is_inherited(place: Place, checkouts: MakeCheckout) -> None:
    place.git("sparse-checkout", "set", "--cone", "bin")
    place.write("src/outside.txt", "carried though the patterns leave it out\n")
    checkout = checkouts(place)
    child = inside(checkout)
    assert set(folder_state(child.root)) == set(folder_state(place.root))
    assert child.git("status", "--porcelain") == b""
    child.write("bin/new", "new\n")
    child.write("src/outside.txt", "edited\n")
    result = take_result(place.repository, checkout)
    assert changed(result) == [b"bin/new", b"src/outside.txt"]


def test_line_endings_and_filters_come_out_as_in_the_parent(place: Place, checkouts: MakeCheckout) -> None:
    place.git("config", "core.autocrlf", "true")
    place.git("config", "filter.rot.clean", "tr a-m b-n")
    place.git("config", "filter.rot.smudge", "tr b-n a-m")
    place.write(".git/info/attributes", "*.rot filter=rot\n")
    place.write("dos.txt", b"one\r\ntwo\r\n")
    place.write("secret.rot", "abc\r\n")
    checkout = checkouts(place)
    child = inside(checkout)
    assert child.read("dos.txt") == b"one\r\ntwo\r\n"
    assert child.read("secret.rot") == b"abc\r\n"
    assert take_result(place.repository, checkout).changes == ()
    child.write("secret.rot", "cba\r\n")
    result = take_result(place.repository, checkout)
    assert result.changes[0].after is not None
    assert place.git("cat-file", "blob", result.changes[0].after.object) == b"dcb"


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("smudge", "covey-has-no-such-program smudge"),
        ("process", "covey-has-no-such-program process"),
        ("smudge", "false"),
        ("process", "false"),
    ],
)
def test_a_filter_that_cannot_bring_a_file_back_leaves_it_as_it_is_stored(
    place: Place, checkouts: MakeCheckout, key: str, command: str
) -> None:
    place.write(".gitattributes", "*.big filter=huge\n*.rot filter=rot\n")
    place.write("model.big", "pointer\n")
    place.git("config", "filter.rot.clean", "tr a-m b-n")
    place.git("config", "filter.rot.smudge", "tr b-n a-m")
    place.write("secret.rot", "abc\n")
    place.commit()
    place.git("config", f"filter.huge.{key}", command)
    place.git("config", "filter.huge.required", "true")
    checkout = checkouts(place)
    child = inside(checkout)
    assert child.read("model.big") == b"pointer\n"
    assert child.git("status", "--porcelain") == b""
    if (key, command) != ("process", "false"):
        assert child.read("secret.rot") == b"abc\n", "the other filter does its work"
    child.write("README.md", "edited\n")
    child.write("model.big", "another pointer\n")
    assert changed(take_result(place.repository, checkout)) == [b"README.md", b"model.big"]
    (child.root / "model.big").unlink()
    child.git("checkout", "model.big")
    assert child.read("model.big") == b"pointer\n"


def test_a_submodule_that_is_not_populated_is_an_empty_folder(
    make_place: MakePlace, checkouts: MakeCheckout
) -> None:
    library = small(make_place("library"))
    library.commit()
    place = make_place("outer")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    place.commit()
    place.git("submodule", "--quiet", "deinit", "--force", "lib")
    checkout = checkouts(place)
    assert list((Path(checkout.path) / "lib").iterdir()) == []
    assert take_result(place.repository, checkout) == Result(checkout.base, (), ())


def test_eight_at_once(dirty_place: Place, checkouts: MakeCheckout) -> None:
    repository = dirty_place.repository
    snapshot = take_snapshot(repository)
    made: list[Checkout] = []
    faults: list[BaseException] = []
    begin = threading.Barrier(8)

    def make(number: int) -> None:
        try:
            begin.wait()
            checkout = make_checkout(repository, f"child-{number}", snapshot)
            made.append(checkout)
            inside(checkout).write(f"new-{number}.txt", "new\n")
            assert changed(take_result(repository, checkout)) == [f"new-{number}.txt".encode()]
            remove_checkout(repository, checkout)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len({checkout.path for checkout in made}) == 8
    assert not children_folder(repository).exists()


def test_nothing_half_made_stays_when_it_fails_on_the_way(place: Place) -> None:
    snapshot = take_snapshot(place.repository)
    before = git_state(place)

    def fail_late(*_: object) -> tuple[str, ...]:
        raise OSError(28, os.strerror(28))

    with pytest.raises(CheckoutFailed, match=r"no space left on device; free some space and try again\."):
        make_checkout(place.repository, "child", snapshot, ways=[PlainWay(fail_late)])
    with pytest.raises(ValueError, match="can't be shared"):
        make_checkout(place.repository, "child", snapshot, shared=("../up",))
    place.git("update-ref", "refs/covey/children/child/base", "HEAD")
    with pytest.raises(CheckoutFailed, match="reference already exists"):
        make_checkout(place.repository, "child", snapshot)
    place.git("update-ref", "-d", "refs/covey/children/child/base")
    assert without_ours(git_state(place)) == before
    assert not children_folder(place.repository).exists()
    assert not list(place.repository.common_dir.glob("covey/checkouts/*"))


def test_an_edit_right_after_the_start_is_seen(place: Place, checkouts: MakeCheckout) -> None:
    # Same size, same second, even the same date: what the index remembers must not hide it.
    checkout = checkouts(place)
    child = inside(checkout)
    file = child.root / "src/app.py"
    stat = file.stat()
    file.write_bytes(file.read_bytes().replace(b"line 7", b"LINE 7"))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert changed(take_result(place.repository, checkout)) == [b"src/app.py"]
    assert changed(take_result(place.repository, checkout)) == [b"src/app.py"]


def test_the_result_is_what_the_files_are_however_git_was_used(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    child = inside(checkout)
    child.write("committed.txt", "1\n")
    child.commit()
    child.write("staged.txt", "2\n")
    child.git("add", "staged.txt")
    child.write("staged.txt", "changed after that\n")
    child.write("untracked.txt", "3\n")
    child.write("ignored.log", "4\n")
    child.git("rm", "-q", "--cached", "README.md")
    child.git("rm", "-q", "logo.bin")
    result = take_result(place.repository, checkout)
    assert changed(result) == [b"committed.txt", b"logo.bin", b"staged.txt", b"untracked.txt"]
    assert result.left_out == ()
    held = {path: entry.object for path, entry in list_tree(place.repository, result.tree).items()}
    assert place.git("cat-file", "blob", held[b"staged.txt"]) == b"changed after that"  # pyright: ignore[reportArgumentType]
    shutil.rmtree(child.root / ".git")
    assert take_result(place.repository, checkout) == result


def test_the_childs_own_ignore_rules_count(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    child = inside(checkout)
    child.write(".gitignore", "*.tmp\n")
    child.write("a.tmp", "ignored now\n")
    child.write("a.log", "not ignored any more\n")
    assert changed(take_result(place.repository, checkout)) == [b".gitignore", b"a.log"]


def test_nothing_that_the_child_wrote_runs(
    place: Place, checkouts: MakeCheckout, tmp_path: Path, make_place: MakePlace
) -> None:
    library = small(make_place("library"))
    library.commit()
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    place.commit()
    checkout = checkouts(place)
    child = inside(checkout)
    trap = tmp_path / "trap"
    evil = child.write("evil", f"#!/bin/sh\ntouch {trap}\ncat\n", executable=True)
    settings = {
        "core.fsmonitor": str(evil),
        "core.hooksPath": str(child.root / "hooks"),
        "core.worktree": str(place.root),
        "core.excludesFile": str(evil),
        "core.sshCommand": str(evil),
        "filter.evil.clean": str(evil),
        "filter.evil.smudge": str(evil),
        "filter.evil.process": str(evil),
        "diff.evil.textconv": str(evil),
        "diff.external": str(evil),
        "merge.evil.driver": str(evil),
        "gpg.program": str(evil),
        "core.pager": str(evil),
    }
    inner = Place(child.root / "lib")
    inner.write("a.txt", "changed inside\n")
    for name, value in settings.items():
        for config in (child.root / ".git/config", inner.root / ".git/config"):
            place.git("config", "--file", str(config), name, value)
    for hook in (
        "post-index-change",
        "reference-transaction",
        "post-checkout",
        "pre-commit",
        "fsmonitor-watchman",
    ):
        for folder in (child.root / ".git/hooks", child.root / "hooks", inner.root / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            shutil.copy(evil, folder / hook)
    child.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    child.write(
        ".gitmodules",
        '[submodule "lib"]\n\tpath = lib\n\turl = ./\n\tupdate = !touch trap\n\tignore = none\n',
    )
    child.write("README.md", "edited\n")
    result = take_result(place.repository, checkout)
    assert b"README.md" in changed(result)
    assert not trap.exists()
    # The trap works: git springs it as soon as it is asked in that folder.
    subprocess.run(["git", "status"], cwd=child.root, capture_output=True, check=False)
    assert trap.exists()


def test_a_filter_of_the_parents_finds_the_parents_files_not_the_childs(
    make_place: MakePlace, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    place = make_place("100%f 'odd' folder")
    trap = tmp_path / "trap"
    place.write("tools/clean.sh", "tr a-z A-Z\n")
    place.write("strip.py", "import sys\nsys.stdout.write(sys.stdin.read().upper())\n")
    place.write(".gitattributes", "*.a filter=script\n*.b filter=module\n")
    place.git("config", "filter.script.clean", "sh tools/clean.sh %f")
    place.git("config", "filter.module.clean", f"{sys.executable} -m strip")
    place.write("x.a", "one\n")
    place.write("x.b", "two\n")
    checkout = checkouts(place)
    child = inside(checkout)
    child.write("tools/clean.sh", f"touch '{trap}'; cat\n")
    child.write("strip.py", f"open({str(trap)!r}, 'w')\n")
    child.write("x.a", "three\n")
    child.write("x.b", "four\n")
    result = take_result(place.repository, checkout)
    after = {change.path: change.after for change in result.changes}
    assert not trap.exists()
    for path, content in ((b"x.a", b"THREE"), (b"x.b", b"FOUR")):
        entry = after[RepoPath(path)]
        assert entry is not None
        assert place.git("cat-file", "blob", entry.object) == content


def test_generated_files_and_coveys_state_never_land(place: Place, checkouts: MakeCheckout) -> None:
    place.write("pkg/__pycache__/committed.pyc", "old\n")
    place.write("tests/data/sample.pyc", "a sample\n")
    place.commit()
    place.write(".covey/check.toml", "check\n")
    checkout = checkouts(place)
    child = inside(checkout)
    child.write("src/real.py", "real\n")
    for path in (
        "src/__pycache__/real.cpython-311.pyc",
        "src/loose.pyc",
        ".pytest_cache/v/cache",
        "pkg/.mypy_cache/x.json",
        ".ruff_cache/0",
        "pkg/__pycache__/committed.pyc",
        ".covey/sessions/1",
        ".covey/jobs/2/log",
        "target/debug/out",
    ):
        child.write(path, "generated\n")
    child.write("tests/data/sample.pyc", "another sample\n")
    child.write(".covey/check.toml", "changed\n")
    child.write(".covey/policy.toml", "new\n")
    result = take_result(place.repository, checkout)
    assert changed(result) == [
        b".covey/check.toml",
        b".covey/policy.toml",
        b"src/real.py",
        b"tests/data/sample.pyc",
    ]
    assert result.left_out == ()


def test_a_shared_cache_is_a_link_and_never_an_edit(place: Place, checkouts: MakeCheckout) -> None:
    place.write("node_modules/dep/index.js", "dep\n")
    place.write("target/debug/out", "out\n")
    checkout = checkouts(place, shared=("node_modules", "target", "not_there", "src"))
    assert checkout.shared == ("node_modules", "target", "not_there"), "a folder that is tracked is no cache"
    child = inside(checkout)
    assert (child.root / "node_modules").readlink() == place.root / "node_modules"
    assert child.read("node_modules/dep/index.js") == b"dep\n"
    assert child.git("status", "--porcelain") == b""
    child.git("add", "-A")
    assert child.git("status", "--porcelain") == b""
    child.write(".gitignore", "!node_modules\n!target\n")
    (child.root / "target").unlink()
    child.write("target/debug/own", "own\n")
    assert changed(take_result(place.repository, checkout)) == [b".gitignore"]
    remove_checkout(place.repository, checkout)
    assert place.read("node_modules/dep/index.js") == b"dep\n"
    assert place.read("target/debug/out") == b"out\n"


def test_a_repository_that_the_child_made_is_named(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    inner = Place(inside(checkout).write("vendor/lib/x.c", "x\n").parent)
    inner.git("init", "-q")
    inner.commit()
    result = take_result(place.repository, checkout)
    assert result.changes == ()
    assert [left.path for left in result.left_out] == ["vendor/lib/"]


@pytest.mark.parametrize("what", ["folder", "link", "twin"])
def test_a_checkout_that_is_gone_is_no_deletion_of_everything(
    place: Place, checkouts: MakeCheckout, what: str
) -> None:
    checkout = checkouts(place)
    folder = Path(checkout.path)
    if what == "twin":
        shutil.rmtree(place.root / ".git/covey")
    else:
        shutil.rmtree(folder)
    if what == "link":
        folder.symlink_to(place.root)
    with pytest.raises(CheckoutFailed, match="is gone"):
        take_result(place.repository, checkout)
    if what == "link":
        remove_checkout(place.repository, checkout)
        assert place.read("README.md") == b"# A project\n"


def test_removal_takes_what_is_closed_and_leaves_siblings_and_the_parent(
    unreadable_place: Place, checkouts: MakeCheckout
) -> None:
    place = unreadable_place
    files = folder_state(place.root)
    first, second = checkouts(place, "first"), checkouts(place, "second")
    child = inside(first)
    (child.root / "way out").symlink_to(place.root / "src")
    child.write("closed/deep/file", "x\n").chmod(0o400)
    (child.root / "closed/deep").chmod(0o500)
    (child.root / "closed").chmod(0)
    remove_checkout(place.repository, first)
    assert not child.root.exists()
    assert inside(second).read("README.md") == b"# A project\n"
    assert folder_state(place.root) == files
    refs = place.ask("for-each-ref", "--format=%(refname)", "refs/covey")
    assert refs == "refs/covey/children/second/base"
    remove_checkout(place.repository, first)
    remove_checkout(place.repository, second, keep_refs=True)
    assert not children_folder(place.repository).exists()
    assert place.ask("cat-file", "-t", "refs/covey/children/second/base") == "commit"


@pytest.fixture(scope="module")
def law_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("checkout-laws") / "repo")
    place.root.mkdir()
    place.git("init", "-q", "--template=")
    return place


@settings(
    max_examples=settings().max_examples // 5, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(base=FOLDERS, edited=FOLDERS, how=st.sampled_from(["edit", "stage", "commit"]))
def test_a_result_is_what_git_would_add(
    law_place: Place, base: dict[str, str], edited: dict[str, str], how: str
) -> None:
    repository = law_place.repository
    fill(law_place, base)
    checkout = make_checkout(repository, "child", take_snapshot(repository))
    try:
        child = inside(checkout)
        assert folder_state(child.root) == folder_state(law_place.root)
        fill(child, edited)
        if how != "edit":
            child.git("add", "-A")
        if how == "commit":
            child.git("commit", "-q", "--allow-empty", "-m", "the child's")
        result = take_result(repository, checkout)
        assert result.left_out == ()
        child.git("add", "-A")
        assert child.ask("write-tree") == result.tree
        assert take_result(repository, checkout) == result
    finally:
        remove_checkout(repository, checkout)


def test_a_glance_tells_what_is_there_and_leaves_no_trace(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place)
    inside(checkout).write("README.md", "at work\n")
    refs, twin = place.git("for-each-ref"), place.read(".git/covey/checkouts/child/index")
    tree, changes = glance(place.repository, checkout)
    assert [change.path for change in changes] == [b"README.md"]
    assert (place.git("for-each-ref"), place.read(".git/covey/checkouts/child/index")) == (refs, twin)
    assert take_result(place.repository, checkout).tree == tree
