"""Real git. Files are stored without git only where git would store the very same."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from merge.snapshots import plain_reading
from merge.snapshots.plain_reading import store_plainly
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, ObjectId, RepoPath
from tests.merge.places import MakePlace, Place

NAMES = ("plain.txt", "dos.txt", "mixed.bin", "run", "link", "id.txt", "empty", "caf\udce9", "a/b/deep")


@pytest.fixture
def files(place: Place) -> tuple[RepoPath, ...]:
    """Files of every kind that differ from what the repository holds, which is nothing of them."""
    place.write("plain.txt", "one\ntwo\n")
    place.write("dos.txt", "one\r\ntwo\r\n")
    (place.root / "mixed.bin").write_bytes(bytes(range(13)) + bytes(range(14, 256)))
    place.write("run", "#!/bin/sh\n")
    (place.root / "run").chmod(0o755)
    (place.root / "link").unlink()
    (place.root / "link").symlink_to("nowhere/at all")
    place.write("id.txt", "$Id$ and $Id: old $\n")
    place.write("empty", "")
    place.write("caf\udce9", "latin-1 name\n")
    place.write("a/b/deep", "deep\n")
    return tuple(RepoPath(os.fsencode(name)) for name in NAMES)


def stored_by_git(place: Place, path: RepoPath) -> Entry:
    place.git("update-index", "--add", "--", os.fsdecode(path))
    words = place.git("ls-files", "-s", "-z", "--", os.fsdecode(path)).split(b"\t")[0].split(b" ")
    return Entry(int(words[0], 8), ObjectId(words[1].decode()))


ATTRIBUTES = (
    "",
    "* text",
    "* text=auto",
    "* -text",
    "* text eol=lf",
    "* eol=crlf",
    "*.txt filter=turn",
    "*.txt ident",
    "* crlf=input",
    "*.txt working-tree-encoding=UTF-16LE",
    "[attr]mine ident\n*.txt mine",
    "*.py diff=python",
)
SETTINGS = ("", "autocrlf = input", "autocrlf = true", "eol = crlf", "filemode = false", "ignorecase = true")


@pytest.mark.parametrize("words", ATTRIBUTES)
def test_what_is_stored_without_git_is_what_git_stores(
    place: Place, files: tuple[RepoPath, ...], words: str
) -> None:
    place.write(".gitattributes", f"{words}\n")
    config = place.root / ".git/config"
    for setting in SETTINGS:
        config.write_text(
            f'[core]\n\trepositoryformatversion = 0\n\t{setting}\n[filter "turn"]\n\tclean = tr a-z n-za-m\n'
        )
        for path in files:
            plainly = store_plainly(place.repository, [path])
            if plainly is not None:
                assert plainly == {path: stored_by_git(place, path)}, (path, words, setting)


def test_most_files_need_no_git(place: Place, files: tuple[RepoPath, ...]) -> None:
    ordinary = [path for path in files if path != b"dos.txt"]
    stored = store_plainly(place.repository, [*ordinary, RepoPath(b"gone")])
    assert stored is not None
    assert set(stored) == set(ordinary)
    modes = {path: entry.mode for path, entry in stored.items()}
    assert (modes[RepoPath(b"run")], modes[RepoPath(b"link")]) == (EXECUTABLE, SYMLINK)
    assert place.git("cat-file", "blob", stored[RepoPath(b"link")].object) == b"nowhere/at all"
    assert modes[RepoPath(b"plain.txt")] == FILE


def test_a_carriage_return_is_for_git(place: Place, files: tuple[RepoPath, ...]) -> None:
    assert store_plainly(place.repository, files) is None


@pytest.mark.parametrize("setting", ["core.fileMode=false", "core.ignoreCase=true", "core.autocrlf=true"])
def test_settings_that_change_what_is_stored_are_for_git(place: Place, setting: str) -> None:
    paths = [RepoPath(b"README.md")]
    assert store_plainly(place.repository, paths) is not None
    place.git("config", *setting.split("="))
    assert store_plainly(place.repository, paths) is None


@pytest.mark.parametrize(
    "line", ["* filter=turn", "*.md ident", "* text eol=crlf", "* working-tree-encoding=UTF-16"]
)
@pytest.mark.parametrize("where", [".gitattributes", "a/.gitattributes", ".git/info/attributes"])
def test_attributes_that_may_change_a_file_are_for_git(place: Place, line: str, where: str) -> None:
    place.write("a/x.md", "text\n")
    place.write(where, f"{line}\n")
    assert store_plainly(place.repository, [RepoPath(b"a/x.md")]) is None


def test_attributes_that_are_no_file_are_for_git(place: Place) -> None:
    (place.root / ".gitattributes").mkdir()
    assert store_plainly(place.repository, [RepoPath(b"README.md")]) is None


@pytest.mark.parametrize("name", [".gitmodules", "a/.GIT/x", "git~1", "a\\b"])
def test_names_that_git_may_refuse_are_for_git(place: Place, name: str) -> None:
    assert store_plainly(place.repository, [RepoPath(name.encode())]) is None


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_large(path: Path) -> None:
    path.write_bytes(b"12345")


@pytest.mark.parametrize("make", [make_folder, make_pipe, make_large])
def test_what_is_no_small_file_is_for_git(
    place: Place, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_reading, "LIMIT_BYTES", 4)
    make(place.root / "odd")
    assert store_plainly(place.repository, [RepoPath(b"odd")]) is None


def test_where_each_object_needs_a_git_it_writes_them_all_at_once(make_place: MakePlace) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.commit()
    assert store_plainly(place.repository, [RepoPath(b"README.md")]) is None
