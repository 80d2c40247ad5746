"""Real git. Files are stored as `git add` stores them, and one that can't be is named alone."""

import pytest

from merge.snapshots.private_index import Stored, store_files
from merge.store.git import GitFailed, parent_place
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, ObjectId, RepoPath
from tests.merge.places import Place, git_state


def store(place: Place, *paths: str, known: dict[RepoPath, Entry] | None = None) -> Stored:
    files = {RepoPath(path.encode()): (known or {}).get(RepoPath(path.encode())) for path in paths}
    return store_files(place.repository, parent_place(place.repository), files, {})


def test_modes_and_contents(place: Place) -> None:
    before = git_state(place)
    stored = store(place, "bin/run", "link", "README.md", "never there")
    assert {path: entry.mode for path, entry in stored.entries.items()} == {
        b"bin/run": EXECUTABLE,
        b"link": SYMLINK,
        b"README.md": FILE,
    }
    assert (stored.refused, stored.remarks) == ({}, {})
    assert place.git("cat-file", "blob", stored.entries[RepoPath(b"link")].object) == b"src/app.py"
    assert git_state(place) == before


def test_nothing_to_store(place: Place) -> None:
    assert store(place) == Stored({}, {}, {})


def test_one_bad_file_among_many_is_found(place: Place) -> None:
    names = [f"many/{number}.txt" for number in range(20)]
    for name in names:
        place.write(name, name)
    (place.root / "folder.txt").mkdir()
    place.write("folder.txt/below", "x\n")
    stored = store(place, *names[:13], "folder.txt", *names[13:])
    assert len(stored.entries) == 20
    assert list(stored.refused) == [b"folder.txt"]
    assert "is a directory" in stored.refused[RepoPath(b"folder.txt")]


def test_the_index_decides_on_modes_where_files_have_none(place: Place) -> None:
    place.git("config", "core.fileMode", "false")
    known = Entry(EXECUTABLE, ObjectId(place.ask("rev-parse", "HEAD:README.md")))
    place.write("README.md", "changed\n")
    stored = store(place, "README.md", known={RepoPath(b"README.md"): known})
    assert stored.entries[RepoPath(b"README.md")].mode == EXECUTABLE


def test_a_repository_that_is_gone_is_no_fault_of_a_file(place: Place) -> None:
    place.write("a", "a\n")
    repository = place.repository
    (place.root / ".git").rename(place.root / "moved")
    with pytest.raises(GitFailed):
        store_files(repository, parent_place(repository), {RepoPath(b"a"): None}, {})
    (place.root / "moved").rename(place.root / ".git")
