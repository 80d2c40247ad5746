"""Real git. A landing changes what the child changed, all of it or none, and nothing else of the person's."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from merge.checkouts.result import take_result
from merge.landings.landing import AnyLanding, Began, Conflicted, Held, Landed, NothingToLand, land
from merge.merging.resolving import Content
from merge.snapshots.snapshot import take_snapshot
from tests.merge.landing_places import (
    CHECKOUT,
    exact_state,
    head_tree,
    land_files,
    link,
    own_files,
    result_of,
    script,
    untouched_state,
)
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.places import MakeCheckout, MakePlace, Place

LINES = [f"line {number}\n" for number in range(1, 21)]


def text(**changes: str) -> bytes:
    """`src/app.py` with some lines changed: `text(l5="five")`."""
    numbered = {int(name.removeprefix("l")): line for name, line in changes.items()}
    lines = [f"{numbered[number]}\n" if number in numbered else LINES[number - 1] for number in range(1, 21)]
    return "".join(lines).encode()


def test_files_come_change_and_go(place: Place) -> None:
    landing = land_files(
        place,
        {
            "src/app.py": text(l5="five"),
            "README.md": None,
            "new/deep/er/file": b"new\n",
            "bin/go": script(b"#!\n"),
        },
    )
    assert landing == Landed("1", ("README.md", "bin/go", "new/deep/er/file", "src/app.py"))
    assert place.read("src/app.py") == text(l5="five")
    assert place.read("new/deep/er/file") == b"new\n"
    assert (place.root / "bin/go").stat().st_mode & 0o777 == 0o755
    assert not (place.root / "README.md").exists()
    assert own_files(place) == []


def test_a_child_that_changed_nothing_lands_nothing(place: Place) -> None:
    assert land_files(place, {}) == NothingToLand()


def test_what_the_parent_has_already_is_nothing_to_land(place: Place) -> None:
    place.write("src/app.py", text(l5="five"))
    assert land_files(place, {"src/app.py": text(l5="five")}) == NothingToLand()


# What is the person's stays as it is


def test_index_head_branches_stash_hooks_and_config_are_not_touched(dirty_place: Place) -> None:
    place = dirty_place
    place.git("stash", "push", "-q", "--keep-index", "--", "README.md")
    hook = place.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    base = take_snapshot(place.repository).tree
    before = untouched_state(place)

    landing = land_files(place, {"src/app.py": b"theirs\n", "new.txt": b"new\n"}, base=base)

    assert isinstance(landing, Landed)
    assert untouched_state(place) == before
    assert not (place.root / "ran").exists()
    assert all(ref.startswith(("refs/heads/main", "refs/stash", "refs/covey/")) for ref in refs_of(place))


def refs_of(place: Place) -> list[str]:
    return place.ask("for-each-ref", "--format=%(refname)").splitlines()


def test_line_2_of_the_parents_and_line_5_of_the_childs_both_stand(place: Place) -> None:
    place.write("src/app.py", text(l2="mine, not committed"))
    assert isinstance(land_files(place, {"src/app.py": text(l5="the child's")}), Landed)
    assert place.read("src/app.py") == text(l2="mine, not committed", l5="the child's")


def test_the_parents_own_edits_stay_to_the_byte(dirty_place: Place) -> None:
    place = dirty_place
    place.write("notes/odd.bin", bytes(range(256)) * 3)
    before = exact_state(place.root)

    landing = land_files(place, {"logo.bin": b"\0new\xff", "new.txt": b"new\n"})

    assert landing == Landed("1", ("logo.bin", "new.txt"))
    after = exact_state(place.root)
    assert {path for path in after if after[path] != before.get(path)} == {"logo.bin", "new.txt"}
    assert before.keys() <= after.keys()


def test_untouched_files_keep_their_dates_and_their_inodes(place: Place) -> None:
    files = [path for path in place.root.rglob("*") if ".git" not in path.parts and path.is_file()]
    before = {path: (path.lstat().st_mtime_ns, path.lstat().st_ino) for path in files}
    land_files(place, {"src/app.py": text(l5="five")})
    changed = [path for path in files if (path.lstat().st_mtime_ns, path.lstat().st_ino) != before[path]]
    assert changed == [place.root / "src/app.py"]


def test_two_landings_in_a_row_on_one_file_both_stand(place: Place) -> None:
    base = head_tree(place)
    assert isinstance(land_files(place, {"src/app.py": text(l3="three")}, base=base), Landed)
    assert isinstance(land_files(place, {"src/app.py": text(l17="seventeen")}, base=base), Landed)
    assert place.read("src/app.py") == text(l3="three", l17="seventeen")


def test_a_conflict_changes_nothing_and_no_marker_enters_the_tree(place: Place) -> None:
    place.write("src/app.py", text(l5="mine"))
    before = exact_state(place.root)
    landing = land_files(place, {"src/app.py": text(l5="yours"), "new.txt": b"new\n"})
    assert landing == Conflicted(CHECKOUT, ("src/app.py: both changed it",))
    assert exact_state(place.root) == before


def test_an_index_that_tells_lies_does_not_mislead_a_landing(place: Place) -> None:
    """Its entry for the file is another content, with the stat data of the file as it is."""
    stale = place.git("hash-object", "-w", "--stdin", feed=b"poison\n").decode()
    place.git("update-index", "--cacheinfo", f"100644,{stale},src/app.py")
    place.git("update-index", "--assume-unchanged", "README.md")
    place.write("README.md", "# Mine\n")
    before = untouched_state(place)

    landing = land_files(place, {"src/app.py": text(l5="five"), "README.md": b"# A project\nMore.\n"})

    assert landing == Conflicted(CHECKOUT, ("README.md: both changed it",))
    assert isinstance(land_files(place, {"src/app.py": text(l5="five")}), Landed)
    assert place.read("src/app.py") == text(l5="five")
    assert untouched_state(place) == before


def test_a_child_that_committed_lands_all_the_same(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place, "c1")
    child = Place(Path(checkout.path))
    child.write("src/app.py", text(l5="committed"))
    child.commit("by the child")
    child.write("src/app.py", text(l5="committed", l9="and not"))
    result = take_result(place.repository, checkout)

    landing = land(
        place.repository, child="c1", checkout=checkout.path, base=checkout.base, result=result.tree
    )

    assert landing == Landed("1", ("src/app.py",))
    assert place.read("src/app.py") == text(l5="committed", l9="and not")
    assert place.ask("rev-list", "--count", "HEAD") == "1"


# What stands in the way


def test_a_symlinked_folder_is_not_followed_out_of_the_tree(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "app.py").write_bytes(text())
    base = head_tree(place)
    subprocess.run(["rm", "-r", place.root / "src"], check=True)
    (place.root / "src").symlink_to(outside)

    landing = land_files(place, {"src/app.py": text(l5="five"), "src/new.py": b"new\n"}, base=base)

    assert isinstance(landing, Conflicted)
    assert (outside / "app.py").read_bytes() == text()
    assert sorted(path.name for path in outside.iterdir()) == ["app.py", "deep"]


def test_an_ignored_folder_link_is_not_written_through(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place.write(".gitignore", "linked\n")
    place.commit()
    (place.root / "linked").symlink_to(outside)

    landing = land_files(place, {".gitignore": b"", "linked/new.py": b"new\n"})

    assert landing == Conflicted(
        CHECKOUT, ("linked/new.py: a file that git does not track stands here already",)
    )
    assert list(outside.iterdir()) == []


def test_a_folder_that_still_holds_ignored_files_stays(place: Place) -> None:
    place.write("src/deep/er/run.log", "precious\n")
    assert isinstance(land_files(place, {"src/deep/er/leaf.txt": None}), Landed)
    assert place.read("src/deep/er/run.log") == b"precious\n"
    assert not (place.root / "src/deep/er/leaf.txt").exists()


def test_a_folder_that_lost_its_last_file_goes_and_its_parent_stays(place: Place) -> None:
    assert isinstance(land_files(place, {"src/deep/er/leaf.txt": None}), Landed)
    assert not (place.root / "src/deep").exists()
    assert (place.root / "src/app.py").exists()


def test_an_empty_folder_gives_way_to_a_file(place: Place) -> None:
    (place.root / "tool/empty").mkdir(parents=True)
    assert land_files(place, {"tool": b"a file\n"}) == Landed("1", ("tool",))
    assert place.read("tool") == b"a file\n"


def test_a_fifo_in_the_way_is_a_conflict(place: Place) -> None:
    os.mkfifo(place.root / "pipe")
    landing = land_files(place, {"pipe": b"a file\n"})
    assert landing == Conflicted(CHECKOUT, ("pipe: a file that git does not track stands here already",))


def test_a_folder_that_cannot_be_written_holds_the_landing(unreadable_place: Place) -> None:
    place = unreadable_place
    place.git("config", "--add", "safe.directory", "*")
    (place.root / "src").chmod(0o555)
    before = exact_state(place.root)

    landing = land_files(place, {"README.md": b"# New\n", "src/app.py": text(l5="five")})

    (place.root / "src").chmod(0o755)
    assert isinstance(landing, Held)
    assert "Permission denied" in landing.reason
    assert {path: data for path, (_, data) in exact_state(place.root).items()} == {
        path: data for path, (_, data) in before.items()
    }
    assert own_files(place) == []


def test_a_submodule_whose_commit_would_change_is_held(place: Place) -> None:
    nested = Place(place.root / "sub")
    nested.root.mkdir()
    nested.git("init", "-q")
    nested.commit("first")
    place.git("add", "sub")
    place.commit()
    base = head_tree(place)
    commit = nested.commit("second")
    (nested.root / ".git").rename(nested.root.with_name("unpopulated"))
    listing = f"160000 commit {commit}\tsub\n".encode()
    others = [line for line in place.git("ls-tree", "HEAD").splitlines() if not line.endswith(b"\tsub")]
    result = place.git("mktree", feed=b"".join(line + b"\n" for line in [*others, listing.strip()])).decode()

    landing = land(place.repository, child="c", checkout="/c", base=base, result=type(base)(result))

    assert isinstance(landing, Held)
    assert landing.reason.startswith("sub is a submodule whose commit would change")


# As git writes files


def test_permissions_are_those_of_the_umask_and_a_replaced_file_keeps_its_own(place: Place) -> None:
    (place.root / "README.md").chmod(0o600)
    (place.root / "bin/run").chmod(0o700)
    (place.root / "logo.bin").chmod(0o640)
    mask = os.umask(0o027)
    try:
        land_files(
            place,
            {
                "README.md": b"# New\n",
                "bin/run": b"no script any more\n",
                "logo.bin": script(b"a script now\n"),
                "new.txt": b"new\n",
                "new.sh": script(b"new\n"),
            },
        )
    finally:
        os.umask(mask)
    modes = {
        path: stat.S_IMODE((place.root / path).stat().st_mode)
        for path in ("README.md", "bin/run", "logo.bin", "new.txt", "new.sh")
    }
    assert modes == {
        "README.md": 0o600,
        "bin/run": 0o600,
        "logo.bin": 0o750,
        "new.txt": 0o640,
        "new.sh": 0o750,
    }


def test_symlinks_are_replaced_as_links(place: Place) -> None:
    assert isinstance(land_files(place, {"link": link(b"README.md"), "other": link(b"nowhere")}), Landed)
    assert os.readlink(place.root / "link") == "README.md"
    assert os.readlink(place.root / "other") == "nowhere"
    assert place.read("src/app.py") == text()


@pytest.mark.parametrize("setting", ["core.autocrlf", "attribute"])
def test_line_endings_are_those_of_the_working_tree(place: Place, setting: str) -> None:
    if setting == "attribute":
        place.write(".gitattributes", "*.txt text eol=crlf\n")
    else:
        place.git("config", "core.autocrlf", "true")
    place.write("win.txt", b"".join(b"line %d\r\n" % number for number in range(9)))
    place.commit()
    place.write("win.txt", place.read("win.txt").replace(b"line 1\r", b"mine\r"))
    theirs = b"".join(b"line %d\n" % number for number in range(9)).replace(b"line 7\n", b"yours\n")

    assert isinstance(land_files(place, {"win.txt": theirs, "new.txt": b"one\ntwo\n"}), Landed)

    assert b"mine\r\n" in place.read("win.txt")
    assert b"yours\r\n" in place.read("win.txt")
    assert b"\n" not in place.read("win.txt").replace(b"\r\n", b"")
    assert place.read("new.txt") == b"one\r\ntwo\r\n"


def test_an_encoding_that_the_child_brings_is_the_one_the_file_is_written_in(place: Place) -> None:
    rule = b"*.u16 working-tree-encoding=UTF-16LE\n"
    assert isinstance(land_files(place, {".gitattributes": rule, "word.u16": "gr\u00fcn\n".encode()}), Landed)
    assert place.read("word.u16") == "gr\u00fcn\n".encode("utf-16-le")
    assert place.ask("status", "--porcelain", "--", "word.u16") == "?? word.u16"


SWAP = "tr a-zA-Z n-za-mN-ZA-M"
"""A filter to see through: git stores the text turned by thirteen letters."""


def test_a_filter_of_the_parents_turns_what_lands(place: Place) -> None:
    place.git("config", "filter.turn.clean", SWAP)
    place.git("config", "filter.turn.smudge", SWAP)
    place.write(".gitattributes", "*.secret filter=turn\n")
    place.write("a.secret", "hello\n")
    place.commit()

    assert isinstance(land_files(place, {"a.secret": b"uryyb jbeyq\n", "b.secret": b"arj\n"}), Landed)

    assert place.read("a.secret") == b"hello world\n"
    assert place.read("b.secret") == b"new\n"


def test_a_filter_that_only_the_child_names_is_not_run(place: Place) -> None:
    place.git("config", "filter.turn.smudge", f"touch {place.root}/ran; {SWAP}")
    place.git("config", "filter.turn.required", "true")

    landing = land_files(place, {".gitattributes": b"* filter=turn\n", "note.txt": b"as it is\n"})

    assert isinstance(landing, Landed)
    assert landing.notes == (
        "note.txt is written as it is stored: its filter turn is new here and was not run",
    )
    assert place.read("note.txt") == b"as it is\n"
    assert not (place.root / "ran").exists()


def test_a_filter_runs_in_the_parents_folder_not_beside_what_lands(place: Place) -> None:
    place.write("tools/smudge.sh", "#!/bin/sh\necho by the parent\n", executable=True)
    place.write(".gitattributes", "*.made filter=tool\n")
    place.git("config", "filter.tool.smudge", "tools/smudge.sh")
    place.commit()
    evil = script(b"#!/bin/sh\necho by the child\n")

    assert isinstance(land_files(place, {"tools/smudge.sh": evil, "a.made": b"x\n"}), Landed)

    assert place.read("a.made") == b"by the parent\n"


def test_a_filter_whose_program_is_missing_leaves_what_is_stored(place: Place) -> None:
    """As for large files that git-lfs would fetch: the pointer lands, and is told of."""
    place.write(".gitattributes", "*.big filter=lfs\n")
    place.commit()
    for part in ("clean", "smudge", "process"):
        place.git("config", f"filter.lfs.{part}", f"no-such-git-lfs {part}")
    place.git("config", "filter.lfs.required", "true")

    landing = land_files(place, {"a.big": b"version 1\noid 5\n", "b.txt": b"plain\n"})

    assert landing == Landed(
        "1", ("a.big", "b.txt"), ("a.big is written as it is stored: its filter lfs failed",)
    )
    assert place.read("a.big") == b"version 1\noid 5\n"


# Where repositories differ


def test_an_unborn_branch_takes_a_landing(unborn: Place) -> None:
    unborn.write("mine.txt", "mine\n")
    base = take_snapshot(unborn.repository).tree
    assert land_files(unborn, {"new.txt": b"new\n"}, base=base) == Landed("1", ("new.txt",))
    assert unborn.read("new.txt") == b"new\n"


def test_a_linked_worktree_takes_a_landing_of_its_own(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Place(tmp_path / "linked")
    assert isinstance(land_files(linked, {"src/app.py": text(l5="five")}), Landed)
    assert linked.read("src/app.py") == text(l5="five")
    assert place.read("src/app.py") == text()


def test_a_sparse_checkout_takes_a_landing_and_keeps_what_it_leaves_out(place: Place) -> None:
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/bin/")
    assert not (place.root / "bin").exists()
    base = take_snapshot(place.repository).tree
    before = untouched_state(place)

    landing = land_files(
        place, {"src/app.py": text(l5="five"), "bin/run": script(b"#!/bin/sh\nnew\n")}, base=base
    )

    assert landing == Landed("1", ("bin/run", "src/app.py"))
    assert place.read("bin/run") == b"#!/bin/sh\nnew\n"
    assert untouched_state(place) == before


def test_a_repository_with_sha256_ids_takes_a_landing(make_place: MakePlace) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.write("src/app.py", text())
    place.commit()
    place.write("src/app.py", text(l2="mine"))
    assert isinstance(land_files(place, {"src/app.py": text(l9="yours"), "new": b"new\n"}), Landed)
    assert place.read("src/app.py") == text(l2="mine", l9="yours")


def test_a_git_directory_on_another_filesystem_takes_a_landing(make_place: MakePlace, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second filesystem here")
    elsewhere = memory / f"covey-test-{os.getpid()}"
    try:
        place = make_place("repo", f"--separate-git-dir={elsewhere}")
        place.write("src/app.py", text())
        place.write("old/gone", "x\n")
        place.commit()
        place.write("src/app.py", text(l2="mine"))
        landing = land_files(place, {"src/app.py": text(l9="yours"), "new/a": b"new\n", "old/gone": None})
        assert landing == Landed("1", ("new/a", "old/gone", "src/app.py"))
        names = sorted(str(path.relative_to(place.root)) for path in place.root.rglob("*"))
        assert names == [".git", "new", "new/a", "src", "src/app.py"]
        assert place.read("src/app.py") == text(l2="mine", l9="yours")
    finally:
        subprocess.run(["rm", "-rf", elsewhere], check=True)


# While the person works


def test_a_merge_in_progress_holds_the_landing(place: Place) -> None:
    (place.root / ".git/MERGE_HEAD").write_text(place.ask("rev-parse", "HEAD") + "\n")
    assert land_files(place, {"new.txt": b"new\n"}) == Held(
        CHECKOUT, "a merge is in progress; finish or abort it, then land again"
    )
    assert not (place.root / "new.txt").exists()


def land_since(place: Place, began: Began) -> AnyLanding:
    base = head_tree(place)
    result = result_of(place, base, {"new.txt": b"new\n"})
    return land(place.repository, child="c", checkout="/c", base=base, result=result, began=began)


def test_a_switched_branch_is_told(place: Place) -> None:
    snapshot = take_snapshot(place.repository)
    place.git("checkout", "-q", "-b", "other")
    landing = land_since(place, Began(snapshot.head, snapshot.branch))
    assert isinstance(landing, Landed)
    assert landing.notes == (
        "the branch was switched from main to other meanwhile; it landed on what is there now",
    )


def test_a_commit_meanwhile_is_told_and_a_quiet_head_is_not(place: Place) -> None:
    snapshot = take_snapshot(place.repository)
    began = Began(snapshot.head, snapshot.branch)
    assert land_since(place, began) == Landed("1", ("new.txt",))
    place.commit("meanwhile")
    (place.root / "new.txt").unlink()
    landing = land(
        place.repository,
        child="c",
        checkout="/c",
        base=snapshot.tree,
        result=result_of(place, snapshot.tree, {"more.txt": b"more\n"}),
        began=began,
    )
    assert landing == Landed("2", ("more.txt",), ("HEAD moved meanwhile; it landed on what is there now",))


def test_choices_decide_a_conflict_on_the_way(place: Place) -> None:
    place.write("src/app.py", text(l5="mine"))
    base = head_tree(place)
    result = result_of(place, base, {"src/app.py": text(l5="yours"), "new.txt": b"new\n"})

    landing = land(
        place.repository,
        child="c",
        checkout="/c",
        base=base,
        result=result,
        choices={b"src/app.py": Content(text(l5="ours"))},  # pyright: ignore[reportArgumentType]
    )

    assert isinstance(landing, Landed)
    assert place.read("src/app.py") == text(l5="ours")
    assert place.read("new.txt") == b"new\n"
