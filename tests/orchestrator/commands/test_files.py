"""Real git. Which files completion offers."""

import subprocess
from pathlib import Path

from orchestrator.commands.files import list_files


def test_what_git_knows_or_would_add_is_offered_if_it_can_be_typed_in_one_word(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "src").mkdir()
    for name in (
        "README.md",
        "src/known.py",
        "src/new.py",
        "out.log",
        "two words.txt",
        "line\nbreak",
        "größe.py",
    ):
        (tmp_path / name).write_text("x\n")
    (tmp_path / ".gitignore").write_text("*.log\n")
    subprocess.run(["git", "add", "README.md", "src/known.py"], cwd=tmp_path, check=True)
    assert sorted(list_files(tmp_path)) == [
        ".gitignore",
        "README.md",
        "größe.py",
        "src/known.py",
        "src/new.py",
    ]


def test_where_git_cant_tell_nothing_is_offered(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n")
    assert list_files(tmp_path) == ()
    assert list_files(tmp_path / "gone") == ()
