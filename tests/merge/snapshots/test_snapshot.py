"""Real git. A snapshot is the tree that `git add --all` would make, and the repository stays as it was."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from merge.snapshots.snapshot import Snapshot, SnapshotFailed, take_snapshot
from merge.store.objects import list_tree
from merge.store.trees import RepoPath
from tests.merge.places import MakePlace, Place, entries_by_git, git_state, tree_by_git
from tests.merge.small_worlds import FOLDERS, fill


def reasons(snapshot: Snapshot) -> dict[str, str]:
    return {left.path: left.reason for left in snapshot.left_out}


def check(place: Place) -> Snapshot:
    """Take a snapshot, hold it against git's own answer and the repository against what it was."""
    before = git_state(place)
    snapshot = take_snapshot(place.repository)
    assert git_state(place) == before
    assert snapshot.tree == tree_by_git(place)
    head = "HEAD^{tree}" if snapshot.head is not None else place.ask("mktree")
    old, new = entries_by_git(place, head), entries_by_git(place, snapshot.tree)
    changed = [path for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path)]
    assert [change.path for change in snapshot.changes] == changed
    return snapshot


def test_a_clean_tree_is_heads_own(place: Place) -> None:
    snapshot = check(place)
    assert snapshot.tree == place.ask("rev-parse", "HEAD^{tree}")
    assert snapshot == Snapshot(snapshot.tree, snapshot.head, "main", (), ())
    assert snapshot.head == place.ask("rev-parse", "HEAD")


def test_staged_unstaged_untracked_deleted_and_mode_bits_are_carried(dirty_place: Place) -> None:
    snapshot = check(dirty_place)
    assert [change.path for change in snapshot.changes] == [
        b"README.md",
        b"bin/run",
        b"notes/new.txt",
        b"src/app.py",
        b"src/deep/er/leaf.txt",
        b"staged.txt",
    ]
    held = list_tree(dirty_place.repository, snapshot.tree)
    assert dirty_place.git("cat-file", "blob", held[RepoPath(b"src/app.py")].object) == b"changed again"
    assert RepoPath(b"debug.log") not in held
    assert snapshot.left_out == ()


def test_hooks_filters_of_others_and_environment_do_not_reach_it(
    dirty_place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    for hook in ("pre-commit", "post-index-change", "reference-transaction", "post-checkout"):
        dirty_place.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {trap}\n", executable=True)
    wanted = take_snapshot(dirty_place.repository)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    assert take_snapshot(dirty_place.repository) == wanted
    assert not trap.exists()


def test_before_the_first_commit(unborn: Place) -> None:
    empty = check(unborn)
    assert (empty.head, empty.branch, empty.changes) == (None, "main", ())
    unborn.write("a/b.txt", "b\n")
    unborn.write("staged", "s\n")
    unborn.git("add", "staged")
    assert [change.path for change in check(unborn).changes] == [b"a/b.txt", b"staged"]


def test_on_a_detached_head(dirty_place: Place) -> None:
    dirty_place.git("checkout", "-q", "--detach")
    assert check(dirty_place).branch is None


def test_in_a_linked_worktree(dirty_place: Place, tmp_path: Path) -> None:
    dirty_place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Place(tmp_path / "linked")
    linked.write("only here.txt", "new\n")
    (linked.root / "README.md").unlink()
    snapshot = check(linked)
    assert snapshot.branch == "side"
    assert [change.path for change in snapshot.changes] == [b"README.md", b"only here.txt"]


def test_odd_names_are_carried(place: Place) -> None:
    names = [
        b"with space",
        b'quo"te',
        b"new\nline",
        b"caf\xe9 \xff",
        b"tab\there",
        b"-dash",
        b":(glob)*",
        b"[x]",
    ]
    for name in names:
        place.write(name, b"x\n")
        place.write(b"folder " + name + b"/in", b"y\n")
    place.git("add", "--", os.fsdecode(names[1]))
    snapshot = check(place)
    assert {change.path for change in snapshot.changes} >= set(names)
    place.commit()
    for name in names:
        place.write(name, b"changed\n")
    assert {change.path for change in check(place).changes} == set(names)


def test_kinds_that_take_each_others_place(place: Place) -> None:
    (place.root / "README.md").unlink()
    place.write("README.md/inside", "a file became a folder\n")
    for path in ("src/deep/er/leaf.txt", "link", "logo.bin"):
        (place.root / path).unlink()
    (place.root / "src/deep/er").rmdir()
    (place.root / "src/deep").rmdir()
    place.write("src/deep", "a folder became a file\n")
    place.write("link", "a link became a file\n")
    (place.root / "logo.bin").symlink_to("nowhere at all")
    snapshot = check(place)
    held = list_tree(place.repository, snapshot.tree)
    assert held[RepoPath(b"logo.bin")].mode == 0o120000
    assert RepoPath(b"README.md/inside") in held


def test_a_folder_replaced_by_a_link_is_a_link(place: Place, tmp_path: Path) -> None:
    (place.root / "src").rename(tmp_path / "moved")
    (place.root / "src").symlink_to(tmp_path / "moved")
    held = list_tree(place.repository, check(place).tree)
    assert held[RepoPath(b"src")].mode == 0o120000


def test_removed_from_the_index_but_not_from_the_folder(place: Place) -> None:
    place.git("rm", "-q", "--cached", "README.md")
    place.git("rm", "-q", "--cached", "logo.bin")
    (place.root / "logo.bin").unlink()
    assert [change.path for change in check(place).changes] == [b"logo.bin"]


def test_intent_to_add(place: Place) -> None:
    place.write("soon.txt", "soon\n")
    place.write("gone.txt", "gone\n")
    place.git("add", "--intent-to-add", "soon.txt", "gone.txt")
    (place.root / "gone.txt").unlink()
    assert [change.path for change in check(place).changes] == [b"soon.txt"]


@pytest.mark.parametrize("how", ["mv", "rename"])
def test_a_rename_in_case_only(place: Place, how: str) -> None:
    if how == "mv":
        place.git("mv", "README.md", "readme.MD")
    else:
        (place.root / "README.md").rename(place.root / "readme.MD")
    assert [change.path for change in check(place).changes] == [b"README.md", b"readme.MD"]


def conflicted(place: Place, command: str) -> Place:
    """Leave `command` (merge, rebase) of two branches half done: conflicts in text, a deletion, an addition."""
    place.git("checkout", "-q", "-b", "theirs")
    place.write("README.md", "# Theirs\n")
    place.write("both.txt", "theirs\n")
    place.write("logo.bin", b"\0theirs")
    place.commit("theirs")
    place.git("checkout", "-q", "main")
    place.write("README.md", "# Ours\n")
    place.write("both.txt", "ours\n")
    (place.root / "logo.bin").unlink()
    place.commit("ours")
    with pytest.raises(AssertionError):
        place.git(command, "theirs")
    return place


@pytest.mark.parametrize("command", ["merge", "rebase"])
def test_in_the_middle_of_a_merge_the_folder_counts(place: Place, command: str) -> None:
    conflicted(place, command)
    snapshot = check(place)
    held = list_tree(place.repository, snapshot.tree)
    assert b"<<<<<<<" in place.git("cat-file", "blob", held[RepoPath(b"README.md")].object)
    (place.root / "both.txt").unlink()
    place.write("README.md", "# Resolved, not staged\n")
    snapshot = check(place)
    assert RepoPath(b"both.txt") not in list_tree(place.repository, snapshot.tree)


def test_line_endings_are_gits_affair(place: Place) -> None:
    place.git("config", "core.autocrlf", "true")
    place.write("new.txt", b"one\r\ntwo\r\n")
    place.write("README.md", b"# A project\r\nmore\r\n")
    check(place)
    place.git("config", "core.autocrlf", "false")
    place.write(".gitattributes", "*.md text eol=crlf\n*.raw -text\n")
    place.write("keep.raw", b"one\r\n")
    check(place)


def test_a_file_committed_with_crlf_stays_so_under_autocrlf(place: Place) -> None:
    # Git asks the index before it converts: an index that does not know the file gets this wrong.
    place.write("dos.txt", b"one\r\ntwo\r\n")
    place.commit()
    place.git("config", "core.autocrlf", "true")
    place.write("dos.txt", b"one\r\ntwo\r\nthree\r\n")
    held = list_tree(place.repository, check(place).tree)
    assert b"\r\n" in place.git("cat-file", "blob", held[RepoPath(b"dos.txt")].object)


def test_attributes_that_were_deleted_rule_no_more(place: Place) -> None:
    place.write("src/.gitattributes", "*.txt text eol=lf\n")
    place.commit()
    (place.root / "src/.gitattributes").unlink()
    place.write("src/new.txt", b"one\r\n")
    check(place)


def test_attributes_that_a_sparse_checkout_leaves_out_rule(place: Place) -> None:
    place.write("src/.gitattributes", "*.txt text eol=lf\n")
    place.commit()
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!.gitattributes")
    assert not (place.root / "src/.gitattributes").exists()
    place.write("src/new.txt", b"one\r\n")
    snapshot = take_snapshot(place.repository)
    held = list_tree(place.repository, snapshot.tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"src/new.txt")].object) == b"one"


def test_mode_bits_do_not_count_where_the_person_says_so(place: Place) -> None:
    place.git("config", "core.fileMode", "false")
    (place.root / "bin/run").chmod(0o644)
    (place.root / "README.md").chmod(0o755)
    place.write("README.md", "changed\n", executable=True)
    place.write("bin/run", "changed\n")
    place.write("new", "new\n", executable=True)
    check(place)


def test_encodings_of_the_working_tree(place: Place) -> None:
    place.write(".gitattributes", "*.utf16 text working-tree-encoding=UTF-16LE\n")
    place.write("note.utf16", "héllo\n".encode("utf-16-le"))
    held = list_tree(place.repository, check(place).tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"note.utf16")].object) == "héllo".encode()


def test_a_clean_filter_runs(place: Place) -> None:
    place.git("config", "filter.upper.clean", "tr a-z A-Z")
    place.write(".gitattributes", "*.up filter=upper\n")
    place.write("word.up", "word\n")
    held = list_tree(place.repository, check(place).tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"word.up")].object) == b"WORD"


@pytest.mark.parametrize("kind", ["clean", "process"])
@pytest.mark.parametrize("required", ["true", "false"])
def test_a_filter_whose_program_is_missing_carries_the_file_as_it_is(
    place: Place, kind: str, required: str
) -> None:
    place.write(".gitattributes", "*.big filter=huge\n")
    place.write("known.big", "pointer 1\n")
    place.write("still.big", "pointer 2\n")
    place.commit()
    place.git("config", f"filter.huge.{kind}", "covey-has-no-such-program run")
    place.git("config", "filter.huge.required", required)
    place.write("known.big", "pointer 3\n")
    place.write("new.big", "pointer 4\n")
    place.write("plain.txt", "plain\n")
    (place.root / "still.big").touch()
    before = git_state(place)
    snapshot = take_snapshot(place.repository)
    assert git_state(place) == before
    assert [change.path for change in snapshot.changes] == [b"known.big", b"new.big", b"plain.txt"]
    held = list_tree(place.repository, snapshot.tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"known.big")].object) == b"pointer 3"
    told = reasons(snapshot)
    assert set(told) >= {"known.big", "new.big"}
    assert all("filter huge could not run" in why for why in told.values())


def test_a_filter_that_refuses_one_file_does_not_spoil_the_others(place: Place) -> None:
    place.git("config", "filter.picky.clean", "grep -v refuse")
    place.git("config", "filter.picky.required", "true")
    place.write(".gitattributes", "*.p filter=picky\n")
    place.write("good.p", "fine\nrefuse this line\n")
    place.write("bad.p", "refuse\n")
    place.write("plain", "plain\n")
    snapshot = take_snapshot(place.repository)
    held = list_tree(place.repository, snapshot.tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"good.p")].object) == b"fine"
    assert place.git("cat-file", "blob", held[RepoPath(b"bad.p")].object) == b"refuse"
    assert RepoPath(b"plain") in held
    assert list(reasons(snapshot)) == ["bad.p"]


def test_a_repository_inside_is_named_and_never_half_carried(place: Place) -> None:
    inner = Place(place.write("inner/file", "x\n").parent)
    inner.git("init", "-q")
    with_commit = Place(place.write("lib/other/file", "x\n").parent)
    with_commit.git("init", "-q")
    with_commit.commit()
    (place.root / "README.md").unlink()
    replaced = Place(place.write("README.md/file", "x\n").parent)
    replaced.git("init", "-q")
    replaced.commit()
    snapshot = take_snapshot(place.repository)
    assert sorted(reasons(snapshot)) == ["README.md", "inner/", "lib/other/"]
    assert all("repository of its own" in why for why in reasons(snapshot).values())
    assert [change.path for change in snapshot.changes] == [b"README.md"]


def test_large_untracked_files_beyond_the_limit_are_named(place: Place) -> None:
    place.write("small.txt", "s" * 10)
    place.write("large.bin", b"l" * 1000)
    place.write("larger.bin", b"l" * 2000)
    place.write("staged.bin", b"l" * 5000)
    place.git("add", "staged.bin")
    snapshot = take_snapshot(place.repository, limit_bytes=1500)
    assert [change.path for change in snapshot.changes] == [b"large.bin", b"small.txt", b"staged.bin"]
    assert reasons(snapshot) == {"larger.bin": "it is untracked and too large to be carried (2,000 bytes)"}


def test_what_git_cannot_hold_is_named(place: Place) -> None:
    (place.root / "README.md").unlink()
    os.mkfifo(place.root / "README.md")
    (place.root / "logo.bin").unlink()
    with socket.socket(socket.AF_UNIX) as bound:
        folder = os.open(place.root, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{folder}/logo.bin")
        finally:
            os.close(folder)
        os.mkfifo(place.root / "untracked pipe")
        place.write("fine.txt", "fine\n")
        snapshot = take_snapshot(place.repository)
    assert set(reasons(snapshot)) == {"README.md", "logo.bin"}
    held = list_tree(place.repository, snapshot.tree)
    assert RepoPath(b"fine.txt") in held
    assert held[RepoPath(b"README.md")].object == place.ask("rev-parse", "HEAD:README.md")


def test_a_name_that_git_refuses_is_named(place: Place) -> None:
    place.write(".GIT/config", "x\n")
    place.write("git~1", "x\n")
    place.write("fine.txt", "fine\n")
    snapshot = take_snapshot(place.repository)
    assert [change.path for change in snapshot.changes] == [b"fine.txt"]
    assert reasons(snapshot) == dict.fromkeys((".GIT/config", "git~1"), "git refuses a file of this name")


def test_unreadable_files_and_folders_are_named(unreadable_place: Place) -> None:
    place = unreadable_place
    place.write("secret.txt", "new and closed\n").chmod(0)
    place.write("README.md", "changed and closed\n").chmod(0)
    place.write("closed/inside.txt", "x\n")
    (place.root / "closed").chmod(0)
    place.write("open.txt", "open\n")
    snapshot = take_snapshot(place.repository)
    assert set(reasons(snapshot)) == {"README.md", "closed", "secret.txt"}
    assert all("permission denied" in why.lower() for why in reasons(snapshot).values())
    held = list_tree(place.repository, snapshot.tree)
    assert RepoPath(b"open.txt") in held
    assert held[RepoPath(b"README.md")].object == place.ask("rev-parse", "HEAD:README.md")


def test_a_repository_that_may_not_be_written_is_a_clear_error(unreadable_place: Place) -> None:
    place = unreadable_place
    place.write("new.txt", os.urandom(16))
    objects = [place.root / ".git/objects", *(place.root / ".git/objects").iterdir()]
    for folder in objects:
        folder.chmod(0o555)
    with pytest.raises(
        SnapshotFailed, match=f"^The working tree {place.root} could not be read: .*permission"
    ):
        take_snapshot(place.repository)
    for folder in objects:
        folder.chmod(0o755)


def test_of_coveys_own_folder_only_the_projects_settings_are_carried(place: Place) -> None:
    place.write(".git/info/exclude", ".covey/\n")
    place.write(".covey/sessions/1/journal", "state\n")
    place.write(".covey/check.toml", "check\n")
    place.write(".covey/policy.toml", "policy\n")
    snapshot = take_snapshot(place.repository)
    assert [change.path for change in snapshot.changes] == [b".covey/check.toml", b".covey/policy.toml"]
    place.write(".git/info/exclude", "")
    assert take_snapshot(place.repository) == snapshot, "whether it is ignored or not"
    place.git("add", "-f", ".covey/check.toml")
    place.commit()
    (place.root / ".covey/check.toml").unlink()
    assert take_snapshot(place.repository).changes[0].after is None


def test_caches_are_shared_and_not_carried_though_nothing_ignores_them(unborn: Place) -> None:
    unborn.write("package.json", "{}\n")
    unborn.write("node_modules/dep/index.js", "dep\n")
    unborn.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
    unborn.write("target/debug/out", "out\n")
    assert [change.path for change in take_snapshot(unborn.repository).changes] == [b"package.json"]
    (unborn.root / "target/CACHEDIR.TAG").unlink()
    carried = [change.path for change in take_snapshot(unborn.repository).changes]
    assert carried == [b"package.json", b"target/debug/out"], "a folder of that name may be somebody's work"


def test_a_sparse_checkout_keeps_what_it_leaves_out(place: Place) -> None:
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/deep/")
    assert not (place.root / "src/deep").exists()
    place.write("README.md", "changed\n")
    place.write("new.txt", "new\n")
    snapshot = check(place)
    assert RepoPath(b"src/deep/er/leaf.txt") in list_tree(place.repository, snapshot.tree)
    place.write("src/deep/fresh.txt", "outside the patterns\n")
    before = git_state(place)
    snapshot = take_snapshot(place.repository)
    assert git_state(place) == before
    assert b"src/deep/fresh.txt" in [change.path for change in snapshot.changes]


@pytest.mark.parametrize(
    "setting",
    ["core.splitIndex=true", "index.version=4", "core.untrackedCache=true", "feature.manyFiles=true"],
)
def test_kinds_of_index(dirty_place: Place, setting: str) -> None:
    name, value = setting.split("=")
    dirty_place.git("config", name, value)
    dirty_place.git("update-index", "--split-index" if name == "core.splitIndex" else "--force-write-index")
    dirty_place.git("status")
    check(dirty_place)


def test_a_sparse_index(place: Place) -> None:
    place.write("other/deep/x.txt", "x\n")
    place.commit()
    place.git("sparse-checkout", "set", "--cone", "--sparse-index", "src")
    place.write("src/app.py", "changed\n")
    check(place)


def test_a_sha256_repository(make_place: MakePlace) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.write("a/b.txt", "b\n")
    place.commit()
    place.write("a/b.txt", "changed\n")
    place.write("new", "new\n")
    snapshot = check(place)
    assert len(snapshot.tree) == 64


def with_submodule(make_place: MakePlace) -> tuple[Place, Place]:
    """A repository `super` with a submodule `lib`, populated."""
    library = make_place("library")
    library.write("lib.c", "int lib;\n")
    library.commit()
    place = make_place("super")
    place.write("main.c", "int main;\n")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    place.commit()
    return place, Place(place.root / "lib")


def test_a_submodule_is_carried_as_a_commit_of_what_it_holds(make_place: MakePlace) -> None:
    place, inner = with_submodule(make_place)
    snapshot = check(place)
    assert (snapshot.changes, snapshot.left_out) == ((), ())
    head = inner.ask("rev-parse", "HEAD")
    assert [taken.commit for taken in snapshot.submodules] == [head]
    inner.write("lib.c", "int changed;\n")
    inner.write("new.c", "int new;\n")
    snapshot = take_snapshot(place.repository)
    (change,) = snapshot.changes
    assert change.path == b"lib"
    assert change.after is not None
    assert inner.ask("rev-parse", f"{change.after.object}^") == head
    assert inner.ask("rev-parse", f"{change.after.object}^{{tree}}") == tree_by_git(inner)
    assert take_snapshot(place.repository) == snapshot
    plain = take_snapshot(place.repository, submodules=False)
    assert (plain.changes, list(reasons(plain))) == ((), ["lib"])
    commit = inner.commit()
    snapshot = check(place)
    assert [(change.path, change.after and change.after.object) for change in snapshot.changes] == [
        (b"lib", commit)
    ]


def test_what_a_submodule_cannot_carry_is_named_with_its_path(make_place: MakePlace) -> None:
    place, inner = with_submodule(make_place)
    os.mkfifo(inner.root / "pipe")
    inner.git("init", "-q", "--template=", "nested")
    inner.write("nested/file", "nested\n")
    assert list(reasons(take_snapshot(place.repository))) == ["lib/nested/"]


def test_a_submodule_without_a_commit_is_carried_all_the_same(make_place: MakePlace) -> None:
    place, inner = with_submodule(make_place)
    inner.git("checkout", "-q", "--orphan", "fresh")
    snapshot = take_snapshot(place.repository)
    (taken,) = snapshot.submodules
    assert taken.snapshot.head is None
    assert inner.ask("rev-parse", f"{taken.commit}^{{tree}}") == tree_by_git(inner)


def test_a_broken_submodule_does_not_stand_in_the_way(make_place: MakePlace) -> None:
    place, _ = with_submodule(make_place)
    place.write("lib/.git", "gitdir: ../.git/modules/gone\n")
    place.write("new.txt", "new\n")
    snapshot = take_snapshot(place.repository)
    assert b"new.txt" in [change.path for change in snapshot.changes]
    assert list(reasons(snapshot)) == ["lib"]


def test_a_submodule_that_cannot_be_read_is_carried_as_its_commit_and_named(make_place: MakePlace) -> None:
    place, inner = with_submodule(make_place)
    (inner.repository.git_dir / "index").write_bytes(b"no index")
    place.write("new.txt", "new\n")
    snapshot = take_snapshot(place.repository)
    assert [change.path for change in snapshot.changes] == [b"new.txt"]
    assert "can't be read" in reasons(snapshot)["lib"]
    assert snapshot.submodules == ()


def test_a_submodule_can_be_the_parent(make_place: MakePlace) -> None:
    _, inner = with_submodule(make_place)
    inner.write("lib.c", "changed\n")
    inner.write("new.c", "new\n")
    assert inner.repository.git_dir.name == "lib"
    assert [change.path for change in check(inner).changes] == [b"lib.c", b"new.c"]


def test_a_file_that_changes_while_it_is_read_is_carried_as_it_is_in_the_end(place: Place) -> None:
    # The filter is the other writer: it changes the file that git is reading, the first time it is asked.
    place.git("config", "filter.moving.clean", "cat; test -e done || { touch done; echo second > moving.m; }")
    place.write(".gitattributes", "*.m filter=moving\n")
    place.write(".git/info/exclude", "done\n")
    place.write("moving.m", "first and longer\n")
    snapshot = take_snapshot(place.repository)
    held = list_tree(place.repository, snapshot.tree)
    assert place.git("cat-file", "blob", held[RepoPath(b"moving.m")].object) == b"second"
    assert snapshot.left_out == ()


def test_a_file_that_never_rests_is_carried_and_named(place: Place) -> None:
    place.git("config", "filter.moving.clean", "cat; echo more >> restless.m")
    place.write(".gitattributes", "*.m filter=moving\n")
    place.write("restless.m", "log\n")
    snapshot = take_snapshot(place.repository)
    assert RepoPath(b"restless.m") in list_tree(place.repository, snapshot.tree)
    assert "kept changing" in reasons(snapshot)["restless.m"]


def test_the_repository_may_be_anywhere(make_place: MakePlace) -> None:
    for name in ("with space", 'quo"te', "new\nline", os.fsdecode(b"caf\xe9"), "co:lon"):
        place = make_place(name)
        place.write("a.txt", "a\n")
        place.commit()
        place.write("a.txt", "changed\n")
        place.write("b.txt", "new\n")
        assert [change.path for change in check(place).changes] == [b"a.txt", b"b.txt"]


@pytest.fixture(scope="module")
def law_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("snapshot-laws"))
    place.git("init", "-q", "--template=")
    place.git("commit", "-q", "--allow-empty", "-m", "first")
    return place


@settings(
    max_examples=settings().max_examples // 5, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(committed=FOLDERS, staged=FOLDERS, now=FOLDERS)
def test_a_snapshot_is_what_git_would_add(
    law_place: Place, committed: dict[str, str], staged: dict[str, str], now: dict[str, str]
) -> None:
    index = law_place.root / ".git/index"
    fill(law_place, committed)
    law_place.commit()
    fill(law_place, staged)
    law_place.git("add", "-A")
    kept = index.read_bytes()
    fill(law_place, now)
    index.write_bytes(kept)
    assert take_snapshot(law_place.repository).tree == tree_by_git(law_place)
