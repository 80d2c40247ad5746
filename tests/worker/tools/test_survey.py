"""Real files and processes: ripgrep, which does the skipping, is the witness of what is said to be skipped."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.survey import BUILD_FOLDERS, HISTORY_FOLDERS, Reach, Survey, survey


def nothing(path: str) -> bool:
    return False


def look(folder: Path, *, no_ignore: bool = False, depth: int | None = None) -> Survey:
    return survey([str(folder)], Reach(depth, no_ignore, nothing))


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x\n")


def relative(folder: Path, paths: list[str]) -> set[str]:
    return {os.path.relpath(path, folder) for path in paths}


def test_what_is_left_out_is_named_once_at_its_top(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.py",
        "a.log",
        "d/b.log",
        "d/kept.log",
        "out/x/y",
        "node_modules/p/q",
        "d/target/z",
        ".git/config",
    )
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    (tmp_path / "d/.gitignore").write_text("!kept.log\n")
    found = look(tmp_path)
    assert relative(tmp_path, found.skipped_folders) == {"out", "node_modules", "d/target"}
    assert relative(tmp_path, found.skipped_files) == {"a.log", "d/b.log"}
    assert found.complete
    everything = look(tmp_path, no_ignore=True)
    assert (everything.skipped_folders, everything.skipped_files) == ([], [])


def test_links_to_files_are_found_and_links_to_folders_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "d/f")
    for name, target in (
        ("link", "d/f"),
        ("d/in", "f"),
        ("folder", "d"),
        ("broken", "nowhere"),
        ("up", ".."),
    ):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "ignored.log").symlink_to("d/f")
    (tmp_path / ".gitignore").write_text("*.log\n")
    assert relative(tmp_path, look(tmp_path).links) == {"link", "d/in"}
    assert relative(tmp_path, look(tmp_path, no_ignore=True).links) == {"link", "d/in", "ignored.log"}


def test_a_survey_goes_as_deep_as_it_may(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "d/b.log", "d/e/c.log", "d/e/out/x")
    (tmp_path / ".gitignore").write_text("*.log\nout\n")
    assert relative(tmp_path, look(tmp_path, depth=1).skipped_files) == {"a.log"}
    assert relative(tmp_path, look(tmp_path, depth=2).skipped_files) == {"a.log", "d/b.log"}


def test_a_survey_that_ends_early_says_so(tmp_path: Path) -> None:
    make(tmp_path, *(f"d{number}/f" for number in range(20)))
    assert not survey([str(tmp_path)], Reach(None, False, nothing), most_entries=10).complete
    assert not survey([str(tmp_path)], Reach(None, False, nothing), stopped=lambda: True).complete
    assert survey([str(tmp_path)], Reach(None, False, nothing), most_entries=1_000).complete


def test_what_the_search_itself_excludes_is_not_named(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "node_modules/x", "d/b.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = survey(
        [str(tmp_path)], Reach(None, False, lambda path: path.endswith(("a.log", "node_modules", "/d")))
    )
    assert (found.skipped_folders, found.skipped_files) == ([], [])


def test_folders_that_overlap_are_surveyed_once(tmp_path: Path) -> None:
    make(tmp_path, "d/a.log", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = survey([str(tmp_path), str(tmp_path / "d"), str(tmp_path)], Reach(None, False, nothing))
    assert relative(tmp_path, found.skipped_files) == {"d/a.log"}


@pytest.mark.unprivileged
def test_a_folder_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    make(tmp_path, "closed/f")
    (tmp_path / "closed").chmod(0)
    assert relative(tmp_path, look(tmp_path).unreadable_folders) == {"closed"}
    (tmp_path / "closed").chmod(0o700)


def test_a_folder_that_has_gone_is_none(tmp_path: Path) -> None:
    assert look(tmp_path / "gone") == Survey()


_NAME = st.sampled_from(["a", "b", "a.log", "b.log", "d", "e", "target", ".hidden"])
_PATH = st.lists(_NAME, min_size=1, max_size=4).map("/".join)
_RULES = st.lists(
    st.sampled_from(["*.log", "!a.log", "/a", "d/", "d/*", "!d/b", "e", ".hidden", "**/b", "target/"]),
    max_size=3,
)
_IGNORE_FILE = st.tuples(
    st.sampled_from(["", "d", "e", "d/e"]), st.sampled_from([".gitignore", ".ignore", ".rgignore"]), _RULES
)


@given(st.lists(_PATH, max_size=12), st.lists(_IGNORE_FILE, max_size=3), st.booleans())
def test_what_is_neither_found_nor_skipped_is_not_there(
    paths: list[str], rules: list[tuple[str, str, list[str]]], nested_repository: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()
        for path in paths:
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                make(folder, path)
        for where, file, lines in rules:
            if (folder / where).is_dir():
                (folder / where / file).write_text("\n".join(lines) + "\n")
        if nested_repository and (folder / "d").is_dir():
            (folder / "d" / ".git").mkdir(exist_ok=True)
        found = look(folder)
        command = [str(Path(sys.executable).with_name("rg")), "--no-config", "--files", "--hidden", "-0"]
        command += ["--no-require-git", *(f"--glob=!{one}" for one in HISTORY_FOLDERS)]
        command += [f"--glob=!{one}/" for one in BUILD_FOLDERS]
        listed = subprocess.run([*command, str(folder)], capture_output=True, check=False).stdout.decode()
        searched = relative(folder, [path for path in listed.split("\0") if path])
        skipped_folders = relative(folder, found.skipped_folders)
        skipped = relative(folder, found.skipped_files)
        for path in (path for path in folder.rglob("*") if path.is_file()):
            inside = path.relative_to(folder)
            is_skipped = str(inside) in skipped or any(
                str(parent) in skipped_folders for parent in inside.parents
            )
            assert (str(inside) in searched) != is_skipped, inside
