"""Real git. A git directory that was laid out by hand is one to git, and says what it was told."""

import os
from pathlib import Path

import pytest

from merge.store.filters import read_config
from merge.store.git import GitPlace
from merge.store.private_git import (
    Inheritance,
    inherit,
    lay_out,
    object_folders,
    refs_of,
    set_branch,
    twin_settings,
)
from merge.store.repository import Repository
from merge.store.trees import ObjectId
from tests.merge.places import MakePlace, Place


def inherit_from(place: Place, *excludes: str) -> Inheritance:
    there = GitPlace(place.root, git_dir=place.repository.git_dir, work_tree=place.root)
    return inherit(place.repository, read_config(there), excludes)


def laid_out(place: Place, folder: Path, *excludes: str) -> Place:
    (folder / ".git").mkdir(parents=True)
    head = ObjectId(place.ask("rev-parse", "HEAD"))
    lay_out(folder / ".git", inherit_from(place, *excludes), head="ref: refs/heads/deep/branch")
    set_branch(folder / ".git", "deep/branch", head)
    return Place(folder)


def test_git_takes_it_for_its_own(place: Place, tmp_path: Path) -> None:
    made = laid_out(place, tmp_path / "made")
    assert made.ask("rev-parse", "HEAD") == place.ask("rev-parse", "HEAD")
    assert made.ask("symbolic-ref", "--short", "HEAD") == "deep/branch"
    assert made.ask("ls-tree", "-r", "HEAD") == place.ask("ls-tree", "-r", "HEAD")
    made.git("fsck", "--strict")
    theirs = place.ask("count-objects")
    made.git("commit", "-q", "--allow-empty", "-m", "own")
    assert place.ask("count-objects") == theirs, "new objects stay its own"


@pytest.mark.parametrize("name", ["mine", "~/mine"])
def test_attributes_that_a_setting_names_are_the_persons(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(place.root))
    place.write("mine", "*.md eol=crlf\n")
    place.git("config", "core.attributesFile", name)
    made = laid_out(place, tmp_path / "made")
    made.write("mine", "*.md eol=lf\n")
    assert (
        made.ask("check-attr", "eol", "a.md") == place.ask("check-attr", "eol", "a.md") == "a.md: eol: crlf"
    )


@pytest.mark.parametrize(
    "value",
    ["", "plain", " space around ", 'quo"te', "back\\slash", "two\nlines", "tab\there", "a # b ; c", "é"],
)
def test_every_value_survives(place: Place, tmp_path: Path, value: str) -> None:
    names = ("user.name", 'diff.odd "name\\.x.xfuncname')
    for name in names:
        place.git("config", name, value)
    made = laid_out(place, tmp_path / "made")
    for name in names:
        assert made.git("config", "--local", "-z", name) == value.encode() + b"\0"


def test_a_key_without_a_value_is_true(place: Place, tmp_path: Path) -> None:
    with (place.root / ".git/config").open("a") as config:
        config.write('[filter "f"]\n\trequired\n\tclean = cat\n')
    assert laid_out(place, tmp_path / "made").ask("config", "--bool", "filter.f.required") == "true"


def test_ignore_rules_and_attributes_come_along(place: Place, tmp_path: Path) -> None:
    place.write(".git/info/exclude", "*.secret")  # no newline at the end
    place.write(".git/info/attributes", "*.x text\n")
    made = laid_out(place, tmp_path / "made", "/target", "/odd\\*name")
    for path in ("a.secret", "target/x", "odd*name"):
        assert made.ask("check-ignore", path) == path
    assert made.ask("check-attr", "text", "a.x") == "a.x: text: set"
    (made.root / "target").symlink_to(place.root)
    assert made.ask("check-ignore", "target") == "target", "a link too"


def test_hooks_for_all_repositories_do_not_reach_it(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "core.hookspath" not in inherit_from(place).config
    everywhere = tmp_path / "everywhere"
    everywhere.write_text(f"[core]\n\thooksPath = {tmp_path}\n\tfsmonitor = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(everywhere))
    config = inherit_from(place).config
    assert (config["core.hookspath"], config["core.fsmonitor"]) == (os.devnull, "false")


def test_large_files_kept_elsewhere_are_found_there(place: Place) -> None:
    assert twin_settings(place.repository, {}) == {}
    (place.root / ".git/lfs").mkdir()
    assert twin_settings(place.repository, {})["lfs.storage"] == str(place.root / ".git/lfs")
    place.git("config", "lfs.storage", "else/where")
    config = inherit_from(place).config
    assert config["lfs.storage"] == str(place.root / ".git/else/where")
    assert "lfs.storage" not in twin_settings(place.repository, config)


def test_borrowed_objects_are_followed_to_the_end(make_place: MakePlace, tmp_path: Path) -> None:
    names = ("first", os.fsdecode(b'sec\n"ond\xe9'), "#third", "fourth")
    places = [make_place(name) for name in names]
    for borrower, lender in zip(places[1:], places[:-1], strict=True):
        objects = f"{lender.root}/.git/objects"
        quoted = '"' + objects.replace('"', '\\"').replace("\n", "\\n") + '"'
        alternates = borrower.root / ".git/objects/info/alternates"
        alternates.write_bytes(b"# comment\n" + os.fsencode(quoted if "\n" in objects else objects) + b"\n")
    (places[0].root / ".git/objects/info/alternates").write_text("../../../fourth/.git/objects\n")
    found = object_folders(places[3].root / ".git/objects")
    assert found == [place.root / ".git/objects" for place in reversed(places)], "a circle ends"


def test_the_repositorys_own_folder_may_be_a_link(repository: Repository) -> None:
    assert object_folders(repository.common_dir / "objects") == [repository.common_dir / "objects"]


def test_refs_are_those_that_git_lists(place: Place) -> None:
    place.git("tag", "-a", "v1.0", "-m", "one")
    place.git("update-ref", "refs/remotes/origin/main", "HEAD")
    place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    place.git("pack-refs", "--all")
    place.write("more.txt", "more\n")
    place.commit()
    place.git("branch", "deep/er")
    place.git("update-ref", "refs/covey/children/x/base", "HEAD")
    place.git("symbolic-ref", "refs/remotes/origin/nowhere", "refs/remotes/origin/gone")
    wanted = ("refs/heads", "refs/tags", "refs/remotes")
    listed = place.git("for-each-ref", "--format=%(objectname) %(refname)", *wanted).splitlines()
    assert refs_of(place.repository).splitlines() == listed
