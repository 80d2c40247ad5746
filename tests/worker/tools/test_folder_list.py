"""Real files."""

import os
from pathlib import Path

import pytest

from worker.tools.folder_list import list_folder
from worker.tools.refusals import ToolRefused


def test_folders_come_first_and_files_have_sizes(tmp_path: Path) -> None:
    (tmp_path / "z").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 12_345)
    (tmp_path / "to-folder").symlink_to("z")
    (tmp_path / "to-nothing").symlink_to("no\nwhere")
    os.mkfifo(tmp_path / "pipe")
    assert list_folder(tmp_path, "it") == [
        "to-folder/ -> z",
        "z/",
        "a  12 KB",
        "pipe  (no regular file)",
        'to-nothing -> "no\\nwhere"',
    ]


def test_a_folder_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolRefused, match="it does not exist"):
        list_folder(tmp_path / "gone", "it")


def test_a_link_in_a_circle_is_an_entry_like_others(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "f").write_bytes(b"x")
    assert list_folder(tmp_path, ".") == ["circle -> circle", "f  1 byte"]
