"""Real git. What is read and written is what git reads and writes, by libgit2 and by git itself alike."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge.store.object_store import ObjectMissing
from merge.store.objects import (
    changed_paths,
    edit_tree,
    list_tree,
    read_blob,
    read_blobs,
    read_entries,
    read_entry,
    unsynced_objects,
    write_blob,
)
from merge.store.repository import Repository
from merge.store.syncing import sync_all
from merge.store.trees import EXECUTABLE, FILE, FOLDER, SUBMODULE, SYMLINK, Change, Entry, ObjectId, RepoPath
from tests.merge.places import MakePlace, Place

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def entries_by_git(place: Place, tree: str) -> dict[RepoPath, Entry]:
    entries: dict[RepoPath, Entry] = {}
    for line in place.git("ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
        words, path = line.split(b"\t", 1)
        mode, _, object_id = words.split(b" ")
        entries[RepoPath(path)] = Entry(int(mode, 8), ObjectId(object_id.decode()))
    return entries


def tree_of(place: Place, commit: str = "HEAD") -> ObjectId:
    return ObjectId(place.ask("rev-parse", f"{commit}^{{tree}}"))


@pytest.fixture(params=["sha1", "sha256"])
def either(request: pytest.FixtureRequest, make_place: MakePlace) -> Place:
    """A repository with a few files, of either kind of id: libgit2 reads the first, git itself the second."""
    place = make_place("either", f"--object-format={request.param}")
    place.write("a/b/c.txt", "c\n")
    place.write("a/d.txt", "d\n")
    place.write("a.txt", "before the folder in git's order\n")
    place.write("run", "#!/bin/sh\n", executable=True)
    (place.root / "link").symlink_to("a/d.txt")
    place.write(b"caf\xe9", "Latin-1\n")
    place.write('new\n"line', "odd\n")
    place.commit()
    return place


def test_a_tree_lists_as_git_lists_it(either: Place) -> None:
    tree = tree_of(either)
    listed = list_tree(either.repository, tree)
    assert listed == entries_by_git(either, tree)
    assert list(listed) == sorted(listed)
    assert listed[RepoPath(b"run")].mode == EXECUTABLE
    assert listed[RepoPath(b"link")].mode == SYMLINK


def test_an_entry_is_found_by_its_path(either: Place) -> None:
    repository, tree = either.repository, tree_of(either)
    file = read_entry(repository, tree, RepoPath(b"a/b/c.txt"))
    assert file is not None
    assert file.mode == FILE
    assert read_blob(repository, file.object) == b"c\n"
    folder = read_entry(repository, tree, RepoPath(b"a/b"))
    assert folder is not None
    assert folder.mode == FOLDER
    assert read_entry(repository, tree, RepoPath(b"a/none")) is None
    assert read_entry(repository, tree, RepoPath(b"a/d.txt/below a file")) is None
    assert read_entry(repository, tree, RepoPath(b"none/at/all")) is None


def test_several_entries_are_found_at_once(either: Place) -> None:
    paths = [RepoPath(b"a/d.txt"), RepoPath(b"caf\xe9"), RepoPath(b"gone/x")]
    found = read_entries(either.repository, tree_of(either), paths)
    assert list(found) == paths
    assert [entry is not None for entry in found.values()] == [True, True, False]


def test_blobs_come_back_to_the_byte(either: Place) -> None:
    contents = [b"", b"\0binary\r\n\xff", b"text\n" * 10_000]
    blobs = [write_blob(either.repository, data) for data in contents]
    assert read_blobs(either.repository, blobs) == contents
    assert [either.ask("cat-file", "-s", blob) for blob in blobs] == [str(len(data)) for data in contents]


def test_a_missing_object_is_named(either: Place) -> None:
    missing = ObjectId("1" * len(tree_of(either)))
    with pytest.raises(ObjectMissing, match=missing):
        read_blob(either.repository, missing)


def test_changes_are_what_git_finds(either: Place) -> None:
    before = tree_of(either)
    either.write("a/d.txt", "changed\n")
    (either.root / "run").chmod(0o644)
    (either.root / "link").unlink()
    either.write("link", "a file now\n")
    (either.root / "a/b/c.txt").unlink()
    (either.root / "a/b").rmdir()
    either.write("a/b", "a folder became a file\n")
    (either.root / "a.txt").unlink()
    either.write("a.txt/inside", "a file became a folder\n")
    either.commit()
    after = tree_of(either)
    old, new = entries_by_git(either, before), entries_by_git(either, after)
    wanted = [
        Change(path, old.get(path), new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
    assert list(changed_paths(either.repository, before, after)) == wanted
    assert len(changed_paths(either.repository, None, after)) == len(new)
    assert len(changed_paths(either.repository, before, None)) == len(old)
    assert changed_paths(either.repository, after, after) == ()


def test_editing_changes_the_named_paths_only(either: Place) -> None:
    repository, tree = either.repository, tree_of(either)
    blob = write_blob(repository, b"new\n")
    edited = edit_tree(
        repository,
        tree,
        [
            (RepoPath(b"a/b/c.txt"), None),
            (RepoPath(b"x/y/z"), Entry(FILE, blob)),
            (RepoPath(b"run"), Entry(EXECUTABLE, blob)),
            (RepoPath(b"not there"), None),
        ],
    )
    wanted = entries_by_git(either, tree)
    del wanted[RepoPath(b"a/b/c.txt")]
    wanted[RepoPath(b"x/y/z")] = Entry(FILE, blob)
    wanted[RepoPath(b"run")] = Entry(EXECUTABLE, blob)
    assert entries_by_git(either, edited) == wanted
    assert read_entry(repository, edited, RepoPath(b"a/b")) is None, "an empty folder is no entry"
    either.git("fsck", "--strict")


def test_files_and_folders_take_each_others_place(either: Place) -> None:
    repository, tree = either.repository, tree_of(either)
    entry = Entry(FILE, write_blob(repository, b"new\n"))
    edited = edit_tree(repository, tree, [(RepoPath(b"a/d.txt/in"), entry), (RepoPath(b"a/d.txt"), None)])
    assert RepoPath(b"a/d.txt/in") in entries_by_git(either, edited)
    edited = edit_tree(repository, tree, [(RepoPath(b"a"), entry), (RepoPath(b"a/d.txt"), None)])
    assert {path for path in entries_by_git(either, edited) if path.startswith(b"a/")} == set()
    assert entries_by_git(either, edited)[RepoPath(b"a")] == entry
    with pytest.raises(ValueError, match="below it"):
        edit_tree(repository, tree, [(RepoPath(b"n"), entry), (RepoPath(b"n/m"), entry)])


def test_a_submodule_pointer_is_an_entry_like_any_other(either: Place) -> None:
    tree = tree_of(either)
    pointer = Entry(SUBMODULE, ObjectId("2" * len(tree)))
    edited = edit_tree(either.repository, tree, [(RepoPath(b"lib/sub"), pointer)])
    assert list_tree(either.repository, edited)[RepoPath(b"lib/sub")] == pointer


def test_the_tree_of_nothing(unborn: Place) -> None:
    assert edit_tree(unborn.repository, None, []) == EMPTY_TREE
    assert list_tree(unborn.repository, ObjectId(EMPTY_TREE)) == {}


def test_editing_nothing_is_the_same_tree(either: Place) -> None:
    assert edit_tree(either.repository, tree_of(either), []) == tree_of(either)


def test_an_old_tree_with_a_group_writable_mode_reads_as_a_plain_file(unborn: Place) -> None:
    blob = write_blob(unborn.repository, b"old\n")
    raw = b"100664 old\0" + bytes.fromhex(blob)
    tree = unborn.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", feed=raw).decode()
    assert list_tree(unborn.repository, ObjectId(tree)) == {RepoPath(b"old"): Entry(FILE, blob)}
    assert edit_tree(unborn.repository, ObjectId(tree), []) == tree


def test_packed_and_borrowed_objects_are_read(place: Place, make_place: MakePlace) -> None:
    tree = tree_of(place)
    place.git("gc", "-q")
    assert list_tree(place.repository, tree) == entries_by_git(place, tree)
    other = make_place("borrower")
    (other.root / ".git/objects/info/alternates").write_text(f"{place.root}/.git/objects\n")
    assert list_tree(other.repository, tree) == entries_by_git(place, tree)


def test_loose_objects_and_the_folders_that_name_them_have_to_be_synced(either: Place) -> None:
    blob = write_blob(either.repository, b"precious\n")
    unsynced = unsynced_objects(either.repository, [blob])
    assert Path(unsynced.folder) == either.repository.common_dir / "objects"
    assert list(unsynced.names) == ["", f"{blob[:2]}/{blob[2:]}", blob[:2]]
    sync_all([unsynced_objects(either.repository, [blob, tree_of(either)])])


NAMES = st.sampled_from(["a", "b", "a.b", "a-b", "ab", "é"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.sampled_from(["1", "2", "3"]), max_size=6)


@pytest.fixture(scope="module")
def law_repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    place = Place(tmp_path_factory.mktemp("laws"))
    place.git("init", "-q", GIT_CONFIG_GLOBAL="/dev/null")
    return place.repository


def plain(files: dict[str, str]) -> dict[str, str]:
    """`files` without those that stand where another has a folder."""
    return {
        path: text for path, text in files.items() if not any(other.startswith(path + "/") for other in files)
    }


@settings(
    max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=FILES.map(plain), after=FILES.map(plain))
def test_applying_the_changes_of_two_trees_turns_one_into_the_other(
    law_repository: Repository, before: dict[str, str], after: dict[str, str]
) -> None:
    def build(files: dict[str, str]) -> ObjectId:
        entries = [
            (RepoPath(path.encode()), Entry(FILE, write_blob(law_repository, text.encode())))
            for path, text in files.items()
        ]
        return edit_tree(law_repository, None, entries)

    old, new = build(before), build(after)
    changes = changed_paths(law_repository, old, new)
    assert edit_tree(law_repository, old, [(change.path, change.after) for change in changes]) == new
    assert edit_tree(law_repository, new, [(change.path, change.before) for change in changes]) == old
    listed = list_tree(law_repository, new)
    assert sorted(path.decode() for path in listed) == sorted(after)
    witness = Place(law_repository.root).git("ls-tree", "-r", "-z", "--name-only", new).split(b"\0")[:-1]
    assert set(witness) == set(listed)
