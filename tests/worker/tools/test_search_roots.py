"""Real files."""

import os
from pathlib import Path

import pytest

from worker.tools.refusals import ToolRefused
from worker.tools.search_roots import find_roots
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "src" / "f").touch()
    (root / "link").symlink_to("src")
    os.mkfifo(root / "pipe")
    return Workspace(root, tmp_path / "logs")


def test_each_place_is_searched_once(workspace: Workspace) -> None:
    roots = find_roots([".", "src", "link", "./src/", "src/f"], workspace)
    assert [workspace.show(Path(root.path)) for root in roots.found] == [".", "src", "src/f"]
    assert [root.is_folder for root in roots.found] == [True, True, False]
    assert all(root.in_repository for root in roots.found)


def test_a_place_outside_is_searched_too(workspace: Workspace, tmp_path: Path) -> None:
    (root,) = find_roots([str(tmp_path)], workspace).found
    assert (root.path, root.in_repository) == (str(tmp_path), False)


def test_a_file_is_known_by_one_path_whichever_link_led_to_it(workspace: Workspace) -> None:
    roots = find_roots(["link"], workspace)
    folder = workspace.root
    assert roots.key_of(f"{folder}/link/f") == f"{folder}/src/f"
    assert roots.key_of(f"{folder}/linked/f") == f"{folder}/linked/f"
    assert roots.relative(f"{folder}/link/f") == "f"


def test_a_file_that_is_a_root_is_relative_by_its_name(workspace: Workspace) -> None:
    roots = find_roots(["src/f"], workspace)
    assert roots.relative(str(workspace.root / "src/f")) == "f"


def test_of_the_root_folder_all_else_is_relative(workspace: Workspace) -> None:
    assert find_roots(["/"], workspace).relative("/etc/hosts") == "etc/hosts"


def test_a_path_that_can_not_be_searched_is_told_beside_the_others(workspace: Workspace) -> None:
    roots = find_roots(["nope", "src", "pipe", "a\0"], workspace)
    assert len(roots.found) == 1
    assert roots.not_opened == (
        "nope does not exist.",
        "pipe is a named pipe, not a file; only files and folders can be used.",
        "The path holds a NUL character; give a plain path.",
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("nope", "nope does not exist. Nothing was searched."),
        ("/proc", "/proc is not searched: /proc holds no files of a disk."),
        ("/proc/self/fd", "is not searched"),
        ("/sys/kernel", "is not searched"),
        ("/dev/shm/..", "/dev is not searched"),
    ],
)
def test_with_nothing_to_search_the_reason_is_told(workspace: Workspace, path: str, told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        find_roots([path], workspace)
    assert told in str(refused.value)
