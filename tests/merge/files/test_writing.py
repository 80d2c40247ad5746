"""Real files. What is written is what the file then holds, and nothing of what it held before."""

from pathlib import Path

import pytest

from merge.files.writing import write_file


@pytest.mark.parametrize("content", [b"", b"short\n", bytes(range(256)) * 9_000])
def test_a_file_holds_what_was_written_and_no_more(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    write_file(file, content)
    assert file.read_bytes() == content


def test_where_no_file_can_be_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_file(tmp_path, b"")
