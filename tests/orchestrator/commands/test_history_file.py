"""Contract. The file that remembers what was sent, also as prompt_toolkit reads and writes it."""

from pathlib import Path

from prompt_toolkit.history import FileHistory

from orchestrator.commands.history_file import read_history, remember


def test_both_screens_remember_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    remember(path, "one\ntwo")
    theirs = FileHistory(str(path))
    theirs.store_string("three")
    assert read_history(path) == ["one\ntwo", "three"]
    assert list(FileHistory(str(path)).load_history_strings()) == ["three", "one\ntwo"]
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_out_of_reach_costs_the_history_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    remember(tmp_path / "file" / "history", "x")
    assert read_history(tmp_path / "file" / "history") == []
