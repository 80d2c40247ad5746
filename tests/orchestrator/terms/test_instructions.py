"""Contract. Files of a person's taste: which are read, in which order, how much, and what is named and left out."""

import os
from pathlib import Path

import pytest

from orchestrator.terms.instructions import (
    FILE_LIMIT_BYTES,
    WHOLE_LIMIT_BYTES,
    Instructions,
    instruction_sources,
    read_instructions,
)


class Place:
    """A home and a workspace."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "w"
        for path in (self.home / ".covey", self.home / ".claude", self.root):
            path.mkdir(parents=True)

    def read(self) -> Instructions:
        return read_instructions(instruction_sources(self.root, {}))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Place(tmp_path)


def test_without_files_there_is_nothing_to_say(place: Place) -> None:
    assert place.read().text == ""
    assert place.read().files == place.read().faults == ()


def test_the_persons_come_first_and_the_repositorys_last(place: Place) -> None:
    (place.home / ".covey" / "AGENTS.md").write_text("one\n")
    (place.home / ".claude" / "CLAUDE.md").write_text("two\n")
    (place.root / "AGENTS.md").write_text("\ufeffthree\n")
    (place.root / "CLAUDE.md").write_text("four\n\n")
    found = place.read()
    assert found.files == ("~/.covey/AGENTS.md", "~/.claude/CLAUDE.md", "AGENTS.md", "CLAUDE.md")
    assert found.faults == ()
    assert [found.text.index(word) for word in ("one", "two", "three", "four")] == sorted(
        found.text.index(word) for word in ("one", "two", "three", "four")
    )
    assert found.text.endswith("# AGENTS.md\n\nthree\n\n# CLAUDE.md\n\nfour\n")


@pytest.mark.parametrize("how", ["link", "copy"])
def test_what_is_there_twice_is_read_once(place: Place, how: str) -> None:
    (place.root / "AGENTS.md").write_text("the same\n")
    if how == "link":
        (place.root / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (place.root / "CLAUDE.md").write_text("the same\n")
    assert place.read().files == ("AGENTS.md",)
    assert place.read().text.count("the same") == 1


def test_a_long_file_is_cut_at_a_line_and_says_so(place: Place) -> None:
    (place.root / "AGENTS.md").write_text("a line é\n" * 10_000)
    found = place.read()
    assert len(found.text.encode()) < FILE_LIMIT_BYTES + 500
    assert found.text.endswith("a line é\n[cut here: AGENTS.md goes on]\n")
    assert found.faults == ("AGENTS.md is long; the first 32 KB of it are used.",)


def test_one_line_without_end_is_cut_inside(place: Place) -> None:
    (place.root / "AGENTS.md").write_text("é" * 100_000)
    assert "é\n[cut here: AGENTS.md goes on]" in place.read().text


def test_all_together_are_limited(place: Place) -> None:
    for path in (
        place.home / ".covey" / "AGENTS.md",
        place.home / ".claude" / "CLAUDE.md",
        place.root / "AGENTS.md",
    ):
        path.write_text(f"{path}\n" * 10_000)
    assert len(place.read().text.encode()) < WHOLE_LIMIT_BYTES + 2_000


def test_what_is_imported_is_left_to_the_model(place: Place) -> None:
    (place.root / "CLAUDE.md").write_text("@docs/style.md\n")
    text = place.read().text
    assert "@docs/style.md" in text
    assert "A line `@path` names a further file" in text


def test_what_cant_be_used_is_named_and_left_out(place: Place, tmp_path: Path) -> None:
    os.mkfifo(place.home / ".covey" / "AGENTS.md")
    (place.home / ".claude" / "CLAUDE.md").mkdir()
    (tmp_path / "secret").write_text("mine")
    (place.root / "AGENTS.md").symlink_to(tmp_path / "secret")
    (place.root / "CLAUDE.md").write_bytes(b"one\ntwo \xff\n")
    found = place.read()
    assert found.text == ""
    assert found.faults == (
        "~/.covey/AGENTS.md is no file; it is left out.",
        "~/.claude/CLAUDE.md is no file; it is left out.",
        "AGENTS.md is a link that leads out of the workspace; it is left out.",
        "CLAUDE.md is not UTF-8 (line 2); it is left out.",
    )


def test_a_link_to_nothing_is_named(place: Place) -> None:
    (place.root / "AGENTS.md").symlink_to("nowhere")
    assert place.read().faults == ("AGENTS.md can't be read (No such file or directory); it is left out.",)


def test_a_persons_own_file_may_be_a_link_to_anywhere(place: Place, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_text("mine")
    (place.home / ".covey" / "AGENTS.md").symlink_to(tmp_path / "dotfiles")
    assert place.read().files == ("~/.covey/AGENTS.md",)


def test_a_home_of_another_place_is_told_so(tmp_path: Path) -> None:
    sources = instruction_sources(tmp_path, {"COVEY_HOME": "/elsewhere"})
    assert sources[0].name == "$COVEY_HOME/AGENTS.md"
