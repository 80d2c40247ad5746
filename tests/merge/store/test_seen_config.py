"""Real git. What is kept of the configuration holds exactly as long as no file of it changes."""

from pathlib import Path

import pytest

from merge.store import config_sources
from merge.store.config_sources import SeenConfig
from merge.store.filters import read_config
from merge.store.git import GitAnswer, GitPlace, parent_place, run_git
from merge.store.seen_config import Rules, read_rules
from tests.merge.places import Place


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been as it is for long."""
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", -1e9)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with a home, in which git looks for their settings."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    return home


def kept(place: Place) -> Path:
    return place.repository.common_dir / "covey/rules-.git.json"


def is_read_by_git(place: Place, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the next reading asks git."""
    asked: list[bool] = []

    def ask(asked_at: GitPlace, *words: str) -> GitAnswer:
        asked.append(True)
        return run_git(asked_at, *words)

    with monkeypatch.context() as patch:
        patch.setattr(config_sources, "run_git", ask)
        read_rules(place.repository)
    return bool(asked)


def test_git_is_asked_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_rules(place.repository).written_as_stored
    assert not is_read_by_git(place, monkeypatch)


def test_what_is_too_young_to_be_told_apart_is_not_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", 1e9)
    read_rules(place.repository)
    assert not kept(place).exists()


def test_no_value_of_the_persons_is_kept(place: Place) -> None:
    place.git("config", "http.extraHeader", "Authorization: secret")
    place.git("config", "core.editor", "secret")
    read_rules(place.repository)
    assert b"secret" not in kept(place).read_bytes()


def test_a_kept_file_that_is_no_use_is_read_anew(place: Place) -> None:
    rules = read_rules(place.repository)
    for content in (b"", b"{}", b"\xff"):
        kept(place).write_bytes(content)
        assert read_rules(place.repository) == rules


@pytest.mark.parametrize(
    ("key", "value", "written_as_stored"),
    [
        ("core.autocrlf", "true", False),
        ("core.autocrlf", "input", True),
        ("core.autocrlf", "false", True),
        ("core.eol", "crlf", False),
        ("core.eol", "lf", True),
        ("core.symlinks", "false", False),
        ("attr.tree", "HEAD", False),
        ("core.fileMode", "false", True),
    ],
)
def test_settings_that_change_files(place: Place, key: str, value: str, written_as_stored: bool) -> None:
    assert read_rules(place.repository).written_as_stored
    place.git("config", key, value)
    assert read_rules(place.repository).written_as_stored == written_as_stored


def test_settings_that_come_later_are_seen_wherever_they_come(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.git("config", "include.path", "more")
    crlf = "[core]\n\tautocrlf = true\n"
    places = [
        home / ".gitconfig",
        home / ".config/git/config",
        place.repository.common_dir / "more",
        place.repository.common_dir / "config.worktree",
    ]
    place.git("config", "extensions.worktreeConfig", "true")
    for file in places:
        assert read_rules(place.repository).written_as_stored, file
        assert not is_read_by_git(place, monkeypatch)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(crlf)
        assert not read_rules(place.repository).written_as_stored, file
        file.unlink()
    assert read_rules(place.repository).written_as_stored
    (home / "elsewhere").write_text(crlf)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "elsewhere"))
    assert not read_rules(place.repository).written_as_stored


def test_a_setting_of_one_branch_holds_on_that_branch(place: Place) -> None:
    (place.repository.common_dir / "win").write_text("[core]\n\tautocrlf = true\n")
    place.git("config", "includeIf.onbranch:win/**.path", "win")
    assert read_rules(place.repository).written_as_stored
    place.git("checkout", "-q", "-b", "win/10")
    assert not read_rules(place.repository).written_as_stored
    place.git("checkout", "-q", "main")
    assert read_rules(place.repository).written_as_stored


def test_every_place_of_attributes_is_named(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = str(place.repository.common_dir / "info/attributes")
    assert read_rules(place.repository).attributes[:2] == (info, str(home / ".config/git/attributes"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert read_rules(place.repository).attributes[1] == str(home / "xdg/git/attributes")
    place.git("config", "core.attributesFile", "~/mine")
    assert read_rules(place.repository).attributes[1] == str(home / "mine")
    assert "/etc/gitattributes" in read_rules(place.repository).attributes


def test_a_linked_worktree_has_rules_of_its_own(place: Place, tmp_path: Path) -> None:
    place.git("config", "extensions.worktreeConfig", "true")
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Place(tmp_path / "linked")
    linked.git("config", "--worktree", "core.autocrlf", "true")
    for _ in range(2):
        assert read_rules(place.repository).written_as_stored
        assert not read_rules(linked.repository).written_as_stored


def test_a_git_directory_that_cannot_be_written_is_no_hindrance(place: Place) -> None:
    kept(place).parent.mkdir()
    kept(place).with_name("rules-.git.json.new").mkdir()
    assert isinstance(read_rules(place.repository), Rules)


def test_in_memory_it_is_read_again_when_a_file_of_it_changes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def ask(asked_at: GitPlace, *words: str) -> GitAnswer:
        asked.append(True)
        return run_git(asked_at, *words)

    monkeypatch.setattr(config_sources, "run_git", ask)
    seen = SeenConfig(place.repository)
    assert seen.read() == seen.read() == read_config(parent_place(place.repository))
    assert len(asked) == 1
    place.git("config", "user.name", "Somebody Else")
    assert seen.read()["user.name"] == "Somebody Else"
    assert len(asked) == 2


def test_settings_and_attributes_that_are_in_the_working_tree_are_named(place: Place, home: Path) -> None:
    assert read_rules(place.repository).within == ()
    place.git("config", "include.path", "../team/settings")
    place.git("config", "core.attributesFile", str(place.root / "team/attributes"))
    (home / ".gitconfig").symlink_to(place.write("dotfiles/gitconfig", ""))
    assert set(read_rules(place.repository).within) == {
        "team/settings",
        "team/attributes",
        "dotfiles/gitconfig",
    }
