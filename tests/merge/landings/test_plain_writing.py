"""Real git. Files are written without git only where git would write the very same."""

import os
from pathlib import Path

import pytest

from merge.files.working_files import Seen, WorkingFiles
from merge.landings import plain_writing
from merge.landings.plain_writing import plain_files
from merge.landings.writing_out import write_out
from merge.merging.present import open_on_disk
from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree
from tests.merge.places import MakePlace, Place

PLAIN_CONFIG = '[core]\n\trepositoryformatversion = 0\n[filter "turn"]\n\tsmudge = tr a-z n-za-m\n'
TEXT = b"one\r\ntwo\n$Id$\n"


def entry_of(place: Place, mode: int, data: bytes) -> Entry:
    return Entry(mode, ObjectId(place.git("hash-object", "-w", "--stdin", feed=data).decode()))


def written_plainly(
    place: Place, folder: Path, entries: dict[RepoPath, Entry], *also: bytes
) -> dict[RepoPath, Seen] | None:
    changed = [*entries, *map(RepoPath, also)]
    plain = plain_files(open_on_disk(place.repository, head_tree(place)), entries, changed)
    if plain is None:
        return None
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return {
            path: file.write(descriptor, b"%d" % number) for number, (path, file) in enumerate(plain.items())
        }
    finally:
        os.close(descriptor)


def written_by_git(place: Place, folder: Path, entries: dict[RepoPath, Entry]) -> dict[RepoPath, Seen | None]:
    base = head_tree(place)
    files = WorkingFiles(folder, len(base))
    folder.mkdir()
    write_out(open_on_disk(place.repository, base), entries, entries.keys(), files, folder / ".index")
    return {path: files.look(path) for path in entries}


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_scripts_links_and_empty_files_are_as_git_writes_them(
    place: Place, tmp_path: Path, mask: int
) -> None:
    place.write(".gitattributes", "* text=auto\n*.sh text eol=lf\n*.png binary\n*.py diff=python\n")
    place.git("config", "core.autocrlf", "input")
    entries = {
        RepoPath(b"a/b/c.sh"): entry_of(place, FILE, TEXT),
        RepoPath(b"run"): entry_of(place, EXECUTABLE, b"#!\n"),
        RepoPath(b"link"): entry_of(place, SYMLINK, b"a/b\xff"),
        RepoPath(b"empty"): entry_of(place, FILE, b""),
        RepoPath(b"caf\xe9.png"): entry_of(place, FILE, bytes(range(256)) * 999),
    }
    before = os.umask(mask)
    try:
        plain = written_plainly(place, tmp_path / "plain", entries)
        by_git = written_by_git(place, tmp_path / "git", entries)
    finally:
        os.umask(before)
    assert plain is not None
    assert plain == by_git
    found = WorkingFiles(tmp_path / "plain", 40)
    assert [found.look(RepoPath(b"%d" % number)) for number in range(5)] == list(plain.values())


WORDS = (
    "text",
    "text=auto",
    "-text",
    "eol=lf",
    "eol=crlf",
    "text eol=lf",
    "filter=turn",
    "filter=turn -filter",
    "ident",
    "crlf",
    "crlf=input",
    "binary",
    "diff=c merge=union",
    "encoding=latin1",
    "working-tree-encoding=UTF-16",
)
SETTINGS = ("", "autocrlf = input", "autocrlf = true", "eol = crlf")


@pytest.mark.parametrize("words", WORDS)
def test_what_is_written_without_git_is_what_git_writes(place: Place, tmp_path: Path, words: str) -> None:
    place.write(".gitattributes", f"* {words}\n")
    entry = entry_of(place, FILE, b"one\ntwo\n$Id$\n")
    for number, setting in enumerate(SETTINGS):
        place.write(".git/config", f"{PLAIN_CONFIG}[core]\n\t{setting}\n")
        entries = {RepoPath(b"t.txt"): entry}
        plain = written_plainly(place, tmp_path / f"plain{number}", entries)
        if plain is not None:  # git writes what is not plain
            assert plain == written_by_git(place, tmp_path / f"git{number}", entries), setting


@pytest.mark.parametrize(
    "line",
    [
        "*.txt filter=turn",
        "*.txt ident",
        "* text eol=crlf",
        "* working-tree-encoding=UTF-16",
        "* crlf",
        "[attr]mine eol=crlf",
    ],
)
@pytest.mark.parametrize("where", [".gitattributes", "a/.gitattributes", ".git/info/attributes", "~"])
def test_attributes_that_may_change_a_file_are_for_git(
    place: Place, tmp_path: Path, line: str, where: str
) -> None:
    if where == "~":
        place.git("config", "core.attributesFile", str(tmp_path / "attributes"))
    file = place.root / where if where != "~" else tmp_path / "attributes"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"*.c diff=c\n{line}\n")
    entries = {RepoPath(b"a/b/t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is None
    file.write_text("*.c diff=c\n")
    assert written_plainly(place, tmp_path / "plain", entries) is not None


def test_attributes_elsewhere_do_not_matter(place: Place, tmp_path: Path) -> None:
    place.write("other/.gitattributes", "* filter=turn\n")
    entries = {RepoPath(b"a/t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is not None


def test_attributes_that_come_or_go_are_for_git(place: Place, tmp_path: Path) -> None:
    entries = {RepoPath(b"t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries, b"a/.gitattributes") is None


@pytest.mark.parametrize(
    "name",
    [".git/config", "a/.GIT/x", "git~1", ".git ", ".g\u200cit/x", "\u200c.git", "a\\b", ".gitmodules"],
)
def test_names_that_git_may_refuse_are_for_git(place: Place, tmp_path: Path, name: str) -> None:
    entries = {RepoPath(name.encode()): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is None


def test_settings_that_change_files_are_for_git(place: Place, tmp_path: Path) -> None:
    entries = {RepoPath(b"t.txt"): entry_of(place, FILE, TEXT)}
    place.git("config", "core.autocrlf", "true")
    assert written_plainly(place, tmp_path / "plain", entries) is None


def test_where_a_sparse_checkout_may_hide_attributes_git_writes(place: Place, tmp_path: Path) -> None:
    place.git("sparse-checkout", "set", "src")
    entries = {RepoPath(b"t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is None


def test_a_large_file_is_for_git(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_writing, "LIMIT_BYTES", len(TEXT) - 1)
    entries = {RepoPath(b"t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is None


def test_what_only_git_can_read_is_for_git(make_place: MakePlace, tmp_path: Path) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.commit()
    entries = {RepoPath(b"t.txt"): entry_of(place, FILE, TEXT)}
    assert written_plainly(place, tmp_path / "plain", entries) is None


def test_a_submodule_is_no_file(place: Place, tmp_path: Path) -> None:
    entries = {RepoPath(b"sub"): Entry(SUBMODULE, ObjectId(place.ask("rev-parse", "HEAD")))}
    assert written_plainly(place, tmp_path / "plain", entries) is None
