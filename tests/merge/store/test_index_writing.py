"""Real files. What is put is what is in the file, with its checksum; what goes wrong is told."""

import errno
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.store.index_writing import open_index_writing


@pytest.mark.parametrize(("id_bytes", "algorithm"), [(20, "sha1"), (32, "sha256")])
def test_parts_are_written_in_order_and_sealed(tmp_path: Path, id_bytes: int, algorithm: str) -> None:
    parts = [b"DIRC", memoryview(bytes(3_000_000)), b"", b"end"]
    with open_index_writing(tmp_path / "index", id_bytes) as writing:
        writing.put(parts[:2])
        writing.put(parts[2:])
    whole = b"".join(parts)
    assert (tmp_path / "index").read_bytes() == whole + hashlib.new(algorithm, whole).digest()


def test_a_fault_of_who_makes_the_parts_is_told(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"DIRC"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"), open_index_writing(tmp_path / "index", 20) as writing:
        writing.put(parts())


def test_a_disk_that_is_full_is_told() -> None:
    with (
        pytest.raises(OSError, match="No space left") as caught,
        open_index_writing(Path("/dev/full"), 20) as writing,
    ):
        writing.put([b"DIRC"])
    assert caught.value.errno == errno.ENOSPC
