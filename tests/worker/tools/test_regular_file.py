"""Real files."""

import os
from pathlib import Path

import pytest

from worker.tools.refusals import ToolRefused
from worker.tools.regular_file import describe_size, look_at, open_regular, read_whole


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    data, found = read_whole(tmp_path / "f", "f", 5)
    assert (data, found.st_size) == (b"12345", 5)
    with pytest.raises(ToolRefused, match=r"f is too large for this \(5 bytes\)"):
        read_whole(tmp_path / "f", "f", 4)


def test_a_file_without_a_size_is_read_all_the_same() -> None:
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("this system has no /proc")
    assert read_whole(status, "status", 100_000)[0].startswith(b"Name:")
    with pytest.raises(ToolRefused, match="grows while it is read"):
        read_whole(status, "status", 10)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pipe", "pipe is a named pipe, not a file"),
        ("folder", "folder is a folder"),
        ("gone", "gone does not exist"),
        ("circle", "symbolic links lead in a circle"),
    ],
)
def test_what_is_no_file_is_not_opened(tmp_path: Path, name: str, told: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ToolRefused, match=told), open_regular(tmp_path / name, name):
        pytest.fail("it was opened")


def test_a_pipe_that_was_a_file_a_moment_ago_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").touch()
    as_file = (tmp_path / "f").stat()
    (tmp_path / "f").unlink()
    os.mkfifo(tmp_path / "f")

    def stale(path: Path) -> os.stat_result:
        return as_file

    monkeypatch.setattr(Path, "stat", stale)
    with pytest.raises(ToolRefused, match="f is no longer a regular file"), open_regular(tmp_path / "f", "f"):
        pytest.fail("it was opened")


def test_a_device_is_refused_before_it_is_opened() -> None:
    with pytest.raises(ToolRefused, match="is a device"):
        look_at(Path("/dev/null"), "/dev/null")


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (12_345, "12 KB"),
        (3_400_000, "3.4 MB"),
        (1_200_000_000, "1.2 GB"),
    ],
)
def test_a_size_is_told_as_a_reader_knows_it(size: int, told: str) -> None:
    assert describe_size(size) == told
