"""Real git, and pure. Where git converts nothing it is not asked: and two who ask that never contradict each other."""

from pathlib import Path

import pytest

from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.store.conversion import attributes_of_person, stores_as_it_stands, writes_as_stored
from merge.store.filters import read_config
from merge.store.git import parent_place
from merge.store.plain_rules import rules_if_plain
from merge.store.private_git import inherit
from merge.store.trees import RepoPath
from tests.merge.places import Place

SETTINGS = (
    "",
    "autocrlf = input",
    "autocrlf = TRUE",
    "autocrlf",
    "autocrlf = off",
    "eol = crlf",
    "eol = native",
    "safecrlf = false",
    "attributesFile = ~/mine",
    "attributesFile = mine",
    "attributesFile =",
)
WORDS = ("", "* text", "* text eol=crlf", "*.txt ident", "*.txt filter=turn", "*.py diff=python")
DATA = b"one\r\ntwo\n$Id$\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home/.config/git").mkdir(parents=True)
    return tmp_path / "home"


@pytest.mark.parametrize("words", WORDS)
def test_what_holds_for_a_whole_checkout_holds_for_each_file_and_git_says_so_too(
    place: Place, home: Path, words: str
) -> None:
    place.write("t.txt", DATA)
    stored = place.git("hash-object", "-w", "--no-filters", "--", "t.txt").decode()
    places = (".git/info/attributes", "mine", home / "mine", home / ".config/git/attributes")
    yes = 0
    for setting in SETTINGS:
        config = (
            f'[core]\n\trepositoryformatversion = 0\n\t{setting}\n[filter "turn"]\n\tclean = tr a-z n-za-m\n'
        )
        place.write(".git/config", config)
        for where in places:
            file = place.root / where
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{words}\n")
            repository = place.repository
            own = inherit(repository, read_config(parent_place(repository)), ())
            if stores_bytes_as_they_are(own):
                yes += 1
                rules = rules_if_plain(repository, [RepoPath(b"t.txt")])
                assert rules is not None, (setting, where)
                assert rules.written_as_stored, (setting, where)
                assert rules.stored_as_it_stands, (setting, where)
                assert place.git("hash-object", "--", "t.txt").decode() == stored, (setting, where)
                assert place.git("cat-file", "--filters", "--path=t.txt", stored) + b"\n" == DATA, (
                    setting,
                    where,
                )
            file.unlink()
    assert yes, "or it would be told of nothing"


@pytest.mark.parametrize(
    "setting",
    [
        {"core.autocrlf": "true"},
        {"core.autocrlf": "1"},
        {"core.autocrlf": "2"},
        {"core.eol": "crlf"},
        {"core.symlinks": "0x0"},
        {"attr.tree": "HEAD"},
        {"core.attributesfile": "%(prefix)/attributes"},
    ],
    ids=str,
)
def test_a_setting_that_is_not_understood_is_a_conversion(setting: dict[str, str]) -> None:
    assert writes_as_stored({})
    assert not writes_as_stored(setting)
    assert not stores_as_it_stands(setting)


@pytest.mark.parametrize(
    "setting", [{"core.filemode": "00"}, {"core.ignorecase": "2"}, {"core.precomposeunicode": "true"}]
)
def test_what_only_storing_minds(setting: dict[str, str]) -> None:
    assert stores_as_it_stands({})
    assert writes_as_stored(setting)
    assert not stores_as_it_stands(setting)


def test_a_person_may_want_no_attributes(home: Path) -> None:
    assert attributes_of_person({}) == str(home / ".config/git/attributes")
    assert attributes_of_person({"core.attributesfile": "~/mine"}) == str(home / "mine")
    assert attributes_of_person({"core.attributesfile": ""}) is None
