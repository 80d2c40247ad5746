"""Real git. Files are written without git only where git would write the very same."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge import plain_writing
from merge.plain_writing import plain_files
from merge.present import open_on_disk
from merge.trees import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry, ObjectId, RepoPath
from merge.working_files import Seen, WorkingFiles
from merge.writing_out import write_out
from tests.merge.landings import head_tree
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


PATTERNS = st.sampled_from(["*", "*.txt", "a/*"])
WORDS = st.sampled_from(
    "text text=auto -text eol=lf eol=crlf eol=lf,crlf filter=turn -filter ident crlf=input binary mine diff=c"
    " working-tree-encoding=UTF-16 encoding=latin1 merge=union".split()
)
LINES = st.lists(st.tuples(PATTERNS, st.lists(WORDS, min_size=1, max_size=2)), max_size=2)
SETTINGS = st.sampled_from([{}, {"core.autocrlf": "input"}, {"core.autocrlf": "true"}, {"core.eol": "crlf"}])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=LINES, inner=LINES, config=SETTINGS)
def test_what_is_written_without_git_is_what_git_writes(
    place: Place,
    tmp_path_factory: pytest.TempPathFactory,
    rules: list[tuple[str, list[str]]],
    inner: list[tuple[str, list[str]]],
    config: dict[str, str],
) -> None:
    for name, lines in ((".gitattributes", rules), ("a/.gitattributes", inner)):
        place.write(name, "".join(f"{pattern} {' '.join(words)}\n" for pattern, words in lines))
    told = "".join(f"[core]\n\t{key.removeprefix('core.')} = {value}\n" for key, value in config.items())
    place.write(".git/config", f"{PLAIN_CONFIG}{told}")
    entry = entry_of(place, FILE, TEXT)
    entries = {RepoPath(path): entry for path in (b"t.txt", b"a/t.txt", b"a/b/c")}
    folder = tmp_path_factory.mktemp("written")
    plain = written_plainly(place, folder / "plain", entries)
    if plain is not None:  # git does not write what is not plain
        assert plain == written_by_git(place, folder / "git", entries)


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
    monkeypatch.setattr(plain_writing, "_LIMIT_BYTES", len(TEXT) - 1)
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
