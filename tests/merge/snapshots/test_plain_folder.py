"""Real git. A folder in no repository is worked in through a record outside it, and stays one without a `.git`."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.landings.landing import AnyLanding, Conflicted, Landed, land
from merge.landings.undo import Undone, undo_landing
from merge.snapshots.plain_folder import (
    PlainFolderRefused,
    find_plain_repository,
    is_plain,
    make_plain_repository,
)
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import InNoRepository, Repository, children_folder, find_repository
from tests.merge.landing_places import exact_state
from tests.merge.places import Place, entries_by_git

FOLDERS = ("project", "with space", "quo'te\"s", "back\\slash", "new\nline", os.fsdecode(b"caf\xe9"))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "records"


@pytest.fixture(params=FOLDERS)
def named(request: pytest.FixtureRequest, tmp_path: Path, records: Path) -> Repository:
    return plain(tmp_path / request.param, records)


@pytest.fixture
def repository(tmp_path: Path, records: Path) -> Repository:
    return plain(tmp_path / "project", records)


def plain(folder: Path, records: Path) -> Repository:
    folder.mkdir()
    (folder / "notes.txt").write_text("".join(f"line {number}\n" for number in range(1, 10)))
    (folder / "src").mkdir()
    (folder / "src/app.py").write_text("app\n")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "big.log").write_text("ignored\n")
    return make_plain_repository(folder, records, person=folder.parent / "elsewhere")


def child_does(repository: Repository, edits: dict[str, str | None]) -> AnyLanding:
    """What becomes of a child that makes these edits in a checkout of its own."""
    checkout = make_checkout(repository, "child", take_snapshot(repository))
    try:
        for name, text in edits.items():
            file = Path(checkout.path, name)
            if text is None:
                file.unlink()
            else:
                file.write_text(text)
        result = take_result(repository, checkout)
        return land(repository, child="child", checkout=checkout.path, base=checkout.base, result=result.tree)
    finally:
        remove_checkout(repository, checkout)


def test_a_child_starts_from_it_lands_in_it_and_is_taken_back(named: Repository) -> None:
    before = exact_state(named.root)
    landing = child_does(named, {"notes.txt": "new\n", "src/more.py": "more\n", "src/app.py": None})
    assert isinstance(landing, Landed), landing
    assert set(landing.paths) == {"notes.txt", "src/more.py", "src/app.py"}
    assert (named.root / "notes.txt").read_text() == "new\n"
    assert sorted(path.name for path in named.root.iterdir()) == [".gitignore", "big.log", "notes.txt", "src"]
    undone = undo_landing(named)
    assert isinstance(undone, Undone), undone
    assert exact_state(named.root) == before
    assert not children_folder(named).exists()


def test_a_snapshot_holds_what_its_ignore_rules_leave(repository: Repository) -> None:
    (repository.root / "src/debug.log").write_text("ignored\n")
    (repository.root / ".covey").mkdir()
    (repository.root / ".covey/sessions").write_text("covey's own\n")
    snapshot = take_snapshot(repository)
    listed = set(entries_by_git(Place(repository.git_dir), snapshot.tree))
    assert listed == {b".gitignore", b"notes.txt", b"src/app.py"}
    assert (snapshot.head, snapshot.branch, snapshot.left_out) == (None, "main", ())
    assert not (repository.root / ".git").exists()


def test_the_second_snapshot_is_what_the_files_are_though_an_index_is_kept(repository: Repository) -> None:
    root = repository.root
    first = take_snapshot(repository).tree
    assert take_snapshot(repository).tree == first
    (root / "src/app.py").write_text("APP\n")  # of the same size, and within the same second
    (root / "notes.txt").unlink()
    (root / "new.txt").write_text("new\n")
    listed = entries_by_git(Place(repository.git_dir), take_snapshot(repository).tree)
    assert set(listed) == {b".gitignore", b"new.txt", b"src/app.py"}
    assert Place(repository.git_dir).git("cat-file", "blob", listed[b"src/app.py"][1]) == b"APP"
    (repository.git_dir / "index").unlink()
    assert set(entries_by_git(Place(repository.git_dir), take_snapshot(repository).tree)) == set(listed)


def test_what_the_person_edits_meanwhile_is_merged_or_a_conflict(repository: Repository) -> None:
    notes = repository.root / "notes.txt"
    checkout = make_checkout(repository, "child", take_snapshot(repository))
    text = notes.read_text()
    Path(checkout.path, "notes.txt").write_text(text.replace("line 2\n", "child\n"))
    notes.write_text(text.replace("line 8\n", "person\n"))
    result = take_result(repository, checkout)
    landing = land(repository, child="child", checkout="", base=checkout.base, result=result.tree)
    assert isinstance(landing, Landed), landing
    assert notes.read_text() == text.replace("line 2\n", "child\n").replace("line 8\n", "person\n")
    notes.write_text(text.replace("line 2\n", "another\n"))
    landing = land(repository, child="child", checkout="", base=checkout.base, result=result.tree)
    assert isinstance(landing, Conflicted), landing
    remove_checkout(repository, checkout)


def test_a_record_is_for_its_owner_alone_and_names_its_folder(repository: Repository) -> None:
    record = repository.git_dir.parent
    assert record.stat().st_mode & 0o077 == 0
    assert (repository.git_dir / "covey/folder").read_text() == f"{repository.root}\n"
    assert is_plain(repository)
    assert [path.name for path in record.iterdir()] == ["git"]
    place = Place(record)
    assert place.ask("--git-dir", "git", "rev-parse", "--show-toplevel") == str(repository.root)


def test_a_record_is_found_again_from_the_folder_and_from_below(
    repository: Repository, records: Path, tmp_path: Path
) -> None:
    assert make_plain_repository(repository.root, records, person=tmp_path / "me") == repository
    assert find_plain_repository(repository.root / "src", records) == repository
    assert find_plain_repository(tmp_path, records) is None
    assert not (tmp_path / "nothing").exists()
    assert find_plain_repository(repository.root, tmp_path / "nothing") is None


def test_a_link_to_the_folder_is_the_folder(repository: Repository, records: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository.root)
    assert make_plain_repository(tmp_path / "link", records, person=tmp_path / "me") == repository


@pytest.mark.parametrize(
    ("person", "says"),
    [("home", "{} is your home"), ("home/me", "{} holds your home"), ("home/../home", "{} is your home")],
)
def test_a_home_is_no_project(tmp_path: Path, records: Path, person: str, says: str) -> None:
    (tmp_path / "home/me").mkdir(parents=True)
    with pytest.raises(PlainFolderRefused, match="go to the folder that you mean") as refused:
        make_plain_repository(tmp_path / "home", records, person=tmp_path / person)
    assert str(refused.value).startswith(says.format(tmp_path / "home"))
    assert not records.exists()


def test_the_root_of_everything_is_no_project(records: Path, tmp_path: Path) -> None:
    with pytest.raises(PlainFolderRefused, match=r"^/ holds your home"):
        make_plain_repository(Path("/"), records, person=tmp_path)


def test_records_inside_the_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlainFolderRefused, match="holds covey's own records"):
        make_plain_repository(tmp_path, tmp_path / "records", person=Path("/home/of/somebody"))
    assert list(tmp_path.iterdir()) == []


def test_records_that_cannot_be_written_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "records").write_text("a file of the person's")
    with pytest.raises(PlainFolderRefused, match="make that writable, or run `git init` here"):
        make_plain_repository(tmp_path / "project", tmp_path / "records", person=tmp_path / "me")


def test_a_damaged_record_is_left_for_the_person(
    repository: Repository, records: Path, tmp_path: Path
) -> None:
    take_snapshot(repository)
    (repository.git_dir / "HEAD").unlink()
    objects = exact_state(repository.git_dir / "objects")
    with pytest.raises(PlainFolderRefused, match="git init"):
        make_plain_repository(repository.root, records, person=tmp_path / "me")
    assert exact_state(repository.git_dir / "objects") == objects
    assert find_plain_repository(repository.root, records) is None


def test_it_is_a_repository_of_its_own_once_the_person_makes_it_one(repository: Repository) -> None:
    with pytest.raises(InNoRepository):
        find_repository(repository.root)
    place = Place(repository.root)
    place.git("init", "-q", "--template=")
    assert find_repository(repository.root).git_dir == repository.root / ".git"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another filesystem, if there is one."""
    folder = Path("/dev/shm", f"covey-test-{os.getpid()}")
    if not folder.parent.is_dir() or folder.parent.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other filesystem here")
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def test_a_record_on_another_filesystem(tmp_path: Path, elsewhere: Path) -> None:
    repository = plain(tmp_path / "project", elsewhere)
    assert isinstance(child_does(repository, {"src/app.py": "new\n", "src/more.py": "more\n"}), Landed)
    assert (repository.root / "src/app.py").read_text() == "new\n"
    assert sorted(os.listdir(repository.root / "src")) == ["app.py", "more.py"]
    assert isinstance(undo_landing(repository), Undone)


def test_a_repository_inside_is_named_and_not_carried(repository: Repository) -> None:
    Place(repository.root).git("init", "-q", "--template=", "inner")
    (repository.root / "inner/file").write_text("inner\n")
    (left,) = take_snapshot(repository).left_out
    assert left.path == "inner/"
    assert left.reason.startswith("it is a repository of its own")
