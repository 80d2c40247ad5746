"""Real git. What is written out is what `git checkout` would write, and only programs of the parent's run."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from merge.files.working_files import WorkingFiles
from merge.landings.writing_out import write_out
from merge.merging.present import open_on_disk
from merge.store.git import GitFailed
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree
from tests.merge.merge_cases import Files, files_of
from tests.merge.places import Place


def written(
    place: Place, tmp_path: Path, files: Mapping[str, tuple[int, bytes]], *gone: str
) -> tuple[Files, tuple[str, ...]]:
    """What `write_out` makes of stored files, and what it tells."""
    base = head_tree(place)
    entries = {
        RepoPath(path.encode()): Entry(
            mode, ObjectId(place.git("hash-object", "-w", "--stdin", feed=data).decode())
        )
        for path, (mode, data) in files.items()
    }
    folder = WorkingFiles(tmp_path / "out", len(base))
    folder.root.mkdir()
    changed = {*entries, *(RepoPath(path.encode()) for path in gone)}
    notes = write_out(open_on_disk(place.repository, base), entries, changed, folder, tmp_path / "index")
    return files_of(folder.root), notes


def test_files_scripts_and_links(place: Place, tmp_path: Path) -> None:
    files, notes = written(
        place,
        tmp_path,
        {
            "a/b/c": (FILE, b"c\r\n"),
            "run": (EXECUTABLE, b"#!\n"),
            "link": (SYMLINK, b"a/b"),
            "empty": (FILE, b""),
        },
    )
    assert files == {
        "a/b/c": ("file", b"c\r\n"),
        "run": ("executable", b"#!\n"),
        "link": ("symlink", b"a/b"),
        "empty": ("file", b""),
    }
    assert notes == ()


def test_attributes_of_the_parents_folder_rule_even_uncommitted(place: Place, tmp_path: Path) -> None:
    place.write("a/.gitattributes", "*.txt eol=crlf\n")
    files, _ = written(place, tmp_path, {"a/b/t.txt": (FILE, b"one\n"), "t.txt": (FILE, b"one\n")})
    assert files["a/b/t.txt"] == ("file", b"one\r\n")
    assert files["t.txt"] == ("file", b"one\n")


def test_attributes_that_come_rule_and_those_that_go_do_not(place: Place, tmp_path: Path) -> None:
    place.write("a/.gitattributes", "*.txt eol=crlf\n")
    place.commit()
    files, _ = written(
        place,
        tmp_path,
        {
            "a/t.txt": (FILE, b"one\n"),
            ".gitattributes": (FILE, b"*.win eol=crlf\n"),
            "t.win": (FILE, b"one\n"),
        },
        "a/.gitattributes",
    )
    assert files["a/t.txt"] == ("file", b"one\n")
    assert files["t.win"] == ("file", b"one\r\n")


def test_attributes_that_a_sparse_checkout_leaves_out_rule(place: Place, tmp_path: Path) -> None:
    place.write("a/.gitattributes", "*.txt eol=crlf\n")
    place.commit()
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/a/")
    files, _ = written(place, tmp_path, {"a/t.txt": (FILE, b"one\n")})
    assert files == {"a/t.txt": ("file", b"one\r\n")}


def test_attributes_of_the_repository_itself_rule(place: Place, tmp_path: Path) -> None:
    info = place.root / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("*.txt eol=crlf\n")
    files, _ = written(place, tmp_path, {"t.txt": (FILE, b"one\n")})
    assert files == {"t.txt": ("file", b"one\r\n")}


def test_an_attributes_file_cannot_have_itself_filtered(place: Place, tmp_path: Path) -> None:
    place.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    files, _ = written(place, tmp_path, {".gitattributes": (FILE, b"* filter=evil\n")})
    assert files == {".gitattributes": ("file", b"* filter=evil\n")}
    assert not (tmp_path / "ran").exists()


def test_one_file_whose_filter_fails_does_not_take_the_others_along(place: Place, tmp_path: Path) -> None:
    place.git("config", "filter.picky.smudge", "grep good")
    place.git("config", "filter.picky.required", "true")
    place.write(".gitattributes", "*.p filter=picky\n")
    files, notes = written(
        place, tmp_path, {"a.p": (FILE, b"good a\n"), "b.p": (FILE, b"bad\n"), "c.p": (FILE, b"good c\n")}
    )
    assert {path: data for path, (_, data) in files.items() if path.endswith(".p")} == {
        "a.p": b"good a\n",
        "b.p": b"bad\n",
        "c.p": b"good c\n",
    }
    assert notes == ("b.p is written as it is stored: its filter picky failed",)


def test_a_filter_that_need_not_succeed_is_told_when_it_fails(place: Place, tmp_path: Path) -> None:
    place.git("config", "filter.weak.smudge", "false")
    place.write(".gitattributes", "*.w filter=weak\n")
    files, notes = written(place, tmp_path, {"a.w": (FILE, b"as it is\n")})
    assert files["a.w"] == ("file", b"as it is\n")
    assert notes == ("a.w is written as it is stored: its filter weak failed",)


def test_where_a_filter_fetches_from_is_what_the_parent_says(place: Place, tmp_path: Path) -> None:
    """A program such as git-lfs reads it from the working tree that it finds: the child's comes last."""
    place.write(".lfsconfig", "parent\n")
    place.write(".gitattributes", "*.big filter=fetch\n")
    place.git("config", "filter.fetch.smudge", 'cat "$GIT_WORK_TREE/.lfsconfig"')
    place.commit()
    files, _ = written(place, tmp_path, {"a.big": (FILE, b"x\n"), ".lfsconfig": (FILE, b"child\n")})
    assert files["a.big"] == ("file", b"parent\n")
    assert files[".lfsconfig"] == ("file", b"child\n")


def test_an_object_that_is_missing_is_an_error(place: Place, tmp_path: Path) -> None:
    base = head_tree(place)
    folder = WorkingFiles(tmp_path / "out", len(base))
    folder.root.mkdir()
    entries = {RepoPath(b"a"): Entry(FILE, ObjectId("5" * 40))}
    with pytest.raises(GitFailed, match="checkout-index"):
        write_out(open_on_disk(place.repository, base), entries, entries.keys(), folder, tmp_path / "index")
