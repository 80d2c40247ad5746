"""Real files. What is put is what is in the file, with its checksum; what goes wrong is told."""

import errno
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.store.index_writing import fill_index, reserve_index, writing_index


@pytest.mark.parametrize(("id_bytes", "algorithm"), [(20, "sha1"), (32, "sha256")])
def test_parts_are_written_in_order_and_sealed(tmp_path: Path, id_bytes: int, algorithm: str) -> None:
    parts = [b"DIRC", memoryview(bytes(3_000_000)), b"", *(b"%d" % number for number in range(1_500)), b"end"]
    with writing_index(tmp_path / "index", parts, id_bytes):
        pass
    whole = b"".join(parts)
    assert (tmp_path / "index").read_bytes() == whole + hashlib.new(algorithm, whole).digest()


def test_a_fault_of_who_makes_the_parts_is_told(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"DIRC"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"), writing_index(tmp_path / "index", parts(), 20):
        pass


def test_a_disk_that_is_full_is_told() -> None:
    with (
        pytest.raises(OSError, match="No space left") as caught,
        writing_index(Path("/dev/full"), [b"DIRC"], 20),
    ):
        pass
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize(("id_bytes", "algorithm"), [(20, "sha1"), (32, "sha256")])
def test_a_file_that_was_reserved_is_filled_and_stays_the_file_that_it_was(
    tmp_path: Path, id_bytes: int, algorithm: str
) -> None:
    index, parts = (
        tmp_path / "index",
        [b"DIRC", bytes(3_000_000), *(b"%d" % number for number in range(1_500))],
    )
    reserve_index(index, parts, id_bytes)
    before = index.stat()
    fill_index(index, parts, id_bytes)
    after, whole = index.stat(), b"".join(parts)
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert index.read_bytes() == whole + hashlib.new(algorithm, whole).digest()


def test_a_disk_without_room_for_it_is_told_before_anybody_counts_on_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        reserve_index(tmp_path / "index", [bytes(64 << 20)] * 1_000_000, 20)
    assert caught.value.errno == errno.ENOSPC
