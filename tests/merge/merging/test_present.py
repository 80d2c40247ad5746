"""Real git. What the parent has at a path is what `git add` would record of it now."""

import os
from pathlib import Path

import pytest

from merge.merging.present import IN_THE_WAY, OnDisk, StoredTree, Unreadable, open_on_disk
from merge.store.trees import SUBMODULE, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import MakePlace, Place, entries_by_git, git_state, tree_by_git


def by_covey(place: Place, *paths: str) -> dict[bytes, Entry | None]:
    present = open_on_disk(place.repository, head_tree(place))
    expected: dict[RepoPath, tuple[Entry | None, ...]] = {RepoPath(os.fsencode(path)): () for path in paths}
    return {bytes(path): entry for path, entry in present.entries(expected).items()}


def by_git(place: Place, *paths: str) -> dict[bytes, Entry | None]:
    found = entries_by_git(place, tree_by_git(place))
    entries: dict[bytes, Entry | None] = {}
    for path in map(os.fsencode, paths):
        entry = found.get(path)
        entries[path] = Entry(int(entry[0], 8), ObjectId(entry[1])) if entry is not None else None
    return entries


def test_changed_files_of_every_kind(dirty_place: Place) -> None:
    paths = [
        "src/app.py",
        "README.md",
        "notes/new.txt",
        "src/deep/er/leaf.txt",
        "bin/run",
        "link",
        "logo.bin",
    ]
    before = git_state(dirty_place)
    assert by_covey(dirty_place, *paths) == by_git(dirty_place, *paths)
    assert git_state(dirty_place) == before


@pytest.mark.parametrize(
    "configure",
    [
        ("core.autocrlf", "true"),
        ("core.autocrlf", "input"),
        ("core.fileMode", "false"),
        ("filter.up.clean", "tr a-z A-Z"),
        ("index.version", "4"),
    ],
    ids=lambda setting: "=".join(setting),
)
def test_under_the_settings_of_the_repository(place: Place, configure: tuple[str, str]) -> None:
    place.git("config", *configure)
    place.write(".gitattributes", "*.up filter=up\n*.crlf eol=crlf\n*.bin -text\n")
    place.write("kept.txt", "was\r\ncrlf\r\n")
    place.git("-c", "core.autocrlf=false", "add", "-A")
    place.git("commit", "-q", "-m", "settings")
    paths = {
        "kept.txt": b"is\r\nstill\r\ncrlf\r\n",
        "new.txt": b"new\r\ncrlf\r\n",
        "a.up": b"louder\n",
        "b.crlf": b"one\r\ntwo\r\n",
        "c.bin": b"one\r\n",
    }
    for path, data in paths.items():
        place.write(path, data)
    (place.root / "bin/run").chmod(0o644)
    assert by_covey(place, *paths, "bin/run") == by_git(place, *paths, "bin/run")


def test_an_expected_entry_is_known_without_git(place: Place) -> None:
    base = head_tree(place)
    present = open_on_disk(place.repository, base)
    stored = StoredTree(place.repository, base).entries({RepoPath(b"src/app.py"): (), RepoPath(b"link"): ()})
    (place.root / ".git/index").unlink()  # nobody asks it
    assert present.entries({path: (None, entry) for path, entry in stored.items()}) == stored


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(place: Place) -> None:
    before = by_git(place, "bin/run", "src/app.py")
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/bin/")
    (place.root / "src/app.py").unlink()
    assert by_covey(place, "bin/run", "src/app.py") == {**before, b"src/app.py": None}


def test_a_split_index_is_read(place: Place) -> None:
    place.git("update-index", "--split-index")
    place.write("src/app.py", "changed\n")
    assert by_covey(place, "src/app.py", "README.md") == by_git(place, "src/app.py", "README.md")


def test_a_submodule_is_the_commit_that_it_is_at(place: Place) -> None:
    nested = Place(place.root / "sub")
    nested.root.mkdir()
    nested.git("init", "-q")
    nested.commit("first")
    place.git("add", "sub")
    place.commit()
    commit = nested.commit("second")
    assert by_covey(place, "sub") == {b"sub": Entry(SUBMODULE, ObjectId(commit))}


def test_what_no_file_can_stand_beside_is_in_the_way(place: Place) -> None:
    os.mkfifo(place.root / "pipe")
    assert by_covey(place, "src", "pipe", "README.md/x", "link/x", "nothing", "src/nothing/x") == {
        b"src": IN_THE_WAY,
        b"pipe": IN_THE_WAY,
        b"README.md/x": IN_THE_WAY,
        b"link/x": IN_THE_WAY,
        b"nothing": None,
        b"src/nothing/x": None,
    }


def test_a_stored_tree_answers_alike(place: Place) -> None:
    present = StoredTree(place.repository, head_tree(place))
    paths = [RepoPath(path) for path in (b"src", b"README.md/x", b"link/x", b"nothing", b"README.md")]
    answer = present.entries(dict.fromkeys(paths, ()))
    assert [answer[path] for path in paths[:4]] == [IN_THE_WAY, IN_THE_WAY, IN_THE_WAY, None]
    assert answer[paths[4]] == by_git(place, "README.md")[b"README.md"]


def test_more_paths_than_a_command_line_takes(place: Place) -> None:
    paths = [f"many/{number}.txt" for number in range(600)]
    for path in paths:
        place.write(path, f"{path}\n")
    assert by_covey(place, *paths) == by_git(place, *paths)


def test_names_that_are_no_text(place: Place) -> None:
    path = os.fsdecode(b"caf\xe9 \n.txt")
    place.write(path, "x\n")
    assert by_covey(place, path) == by_git(place, path)


def test_a_file_that_cannot_be_read_is_named(unreadable_place: Place) -> None:
    place = unreadable_place
    place.git("config", "--add", "safe.directory", "*")
    base = head_tree(place)
    secret = place.write("secret", "x\n")
    secret.chmod(0)
    with pytest.raises((Unreadable, PermissionError), match="secret"):
        open_on_disk(place.repository, base).entries({RepoPath(b"secret"): ()})


@pytest.mark.parametrize("side", ["stored", "disk"])
def test_a_folder_is_still_there_while_one_of_its_files_is(place: Place, side: str) -> None:
    known = ObjectId(place.ask("rev-parse", "HEAD:src"))
    folder = RepoPath(b"src")

    def still_has(files: dict[str, bytes | None]) -> bool:
        base = head_tree(place)
        if side == "stored":
            return StoredTree(place.repository, result_of(place, base, files)).still_has(folder, known)
        for path, data in files.items():
            place.write(path, data) if data is not None else (place.root / path).unlink()
        return present_of(place).still_has(folder, known)

    assert still_has({"src/app.py": None})
    assert not still_has(
        {"src/app.py": None, "src/deep/er/leaf.txt": None}
        if side == "stored"
        else {"src/deep/er/leaf.txt": None}
    )
    assert still_has({"src/app.py": b"again\n"})


def present_of(place: Place) -> OnDisk:
    return open_on_disk(place.repository, head_tree(place))


def test_a_repository_with_sha256_ids(make_place: MakePlace, tmp_path: Path) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.write("a", "a\n")
    place.commit()
    place.write("a", "b\n")
    assert by_covey(place, "a") == by_git(place, "a")
