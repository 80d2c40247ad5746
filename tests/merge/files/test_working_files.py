"""Real files. What stands at a path is seen exactly, moved in one step, and never reached through a symlink."""

import os
from pathlib import Path

import pytest

from merge.files import renaming
from merge.files.working_files import Seen, Spot, WorkingFiles, folders_above, repo_path
from merge.store.trees import RepoPath
from tests.merge.places import Place

HELLO = "ce013625030ba8dba906f756967f9e9ca394464a"  # `printf 'hello\n' | git hash-object --stdin`


@pytest.fixture
def files(tmp_path: Path) -> WorkingFiles:
    root = tmp_path / "tree"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file").write_bytes(b"hello\n")
    (root / "a/b/file").chmod(0o640)
    (root / "link").symlink_to("a/b/file")
    (root / "folder-link").symlink_to("a")
    return WorkingFiles(root, 40)


def path(text: str) -> RepoPath:
    return RepoPath(os.fsencode(text))


def test_what_stands_there_is_seen(files: WorkingFiles) -> None:
    assert files.look(path("a/b/file")) == Seen("file", 0o640, HELLO)
    assert files.look(path("a/b")) == Seen("folder", 0o755)
    assert files.look(path("link")) is not None
    assert files.look(path("nothing")) is None
    assert files.look(path("a/nothing/at/all")) is None
    os.mkfifo(files.root / "pipe")
    assert files.look(path("pipe")) == Seen("other", 0o644)


def test_ids_are_those_that_git_gives(place: Place, make_sha256: Place) -> None:
    for repository in (place, make_sha256):
        length = len(repository.ask("hash-object", "--stdin"))
        seen = WorkingFiles(repository.root, length).look(path("data"))
        assert seen is None
        repository.write("data", bytes(range(256)) * 9)
        seen = WorkingFiles(repository.root, length).look(path("data"))
        assert seen is not None
        assert seen.content == repository.ask("hash-object", "--no-filters", "data")


@pytest.fixture
def make_sha256(tmp_path: Path) -> Place:
    place = Place(tmp_path / "sha256")
    place.root.mkdir()
    place.git("init", "-q", "--object-format=sha256")
    return place


def test_a_symlink_on_the_way_leads_nowhere(files: WorkingFiles, tmp_path: Path) -> None:
    assert files.look(path("folder-link/b/file")) is None
    assert files.blocked_at(path("folder-link/b/file")) == b"folder-link"
    assert files.blocked_at(path("a/b/file/below")) == b"a/b/file"
    assert files.blocked_at(path("a/b/new")) is None
    for deed in (files.remove, files.make_folder, files.remove_folder):
        with pytest.raises(NotADirectoryError):
            deed(path("folder-link/b/x"))


def test_everything_below_a_folder_is_listed_inside_first(files: WorkingFiles) -> None:
    assert list(files.list_below(path("a"))) == [(path("a/b/file"), False), (path("a/b"), True)]


@pytest.fixture(params=["swaps", "links", "neither"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """This system, one that can't swap names, and one that has no hard links either."""
    if request.param != "swaps":
        monkeypatch.setattr(renaming, "_renameat2", lambda: None)
    if request.param == "neither":

        def no_links(*_: object, **__: object) -> None:
            raise PermissionError(1, os.strerror(1))

        monkeypatch.setattr(os, "link", no_links)
    return str(request.param)


def test_two_names_are_swapped_or_nothing_happens(files: WorkingFiles, system: str) -> None:
    one, other = Spot(files, path("a/b/file")), Spot(files, path("link"))
    seen = one.look(), other.look()
    assert one.swap_with(other) == (system == "swaps")
    assert (one.look(), other.look()) == (seen[::-1] if system == "swaps" else seen)


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("name", ["a/b/file", "link"])
def test_a_file_is_moved_where_nothing_stands_and_nowhere_else(files: WorkingFiles, name: str) -> None:
    here, there = Spot(files, path(name)), Spot(files, path("a/new"))
    seen = here.look()
    here.move_to(there)
    assert (here.look(), there.look()) == (None, seen)
    (files.root / name).write_bytes(b"another\n")
    with pytest.raises(FileExistsError):
        here.move_to(there)
    assert there.look() == seen
    assert (files.root / name).read_bytes() == b"another\n"


def test_swapping_with_nothing_is_an_error(files: WorkingFiles) -> None:
    with pytest.raises(FileNotFoundError):
        Spot(files, path("link")).swap_with(Spot(files, path("nothing")))


def test_a_copy_has_the_bytes_and_the_permissions(files: WorkingFiles, tmp_path: Path) -> None:
    other = WorkingFiles(tmp_path, 40)
    for name in ("a/b/file", "link"):
        files.copy(path(name), other, path("copy"))
        assert other.look(path("copy")) == files.look(path(name))
        with pytest.raises(FileExistsError):
            files.copy(path(name), other, path("copy"))
        other.remove(path("copy"))


def test_paths_are_put_together_and_taken_apart() -> None:
    assert repo_path(b"", b"a", b"b/c") == b"a/b/c"
    assert folders_above(b"a/b/c") == [b"a", b"a/b"]
    assert folders_above(b"a") == []
