"""Real git. An index that is written or changed here is what git itself would have written."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge.store.index_file import (
    IndexEntry,
    IndexUnknown,
    entry_of,
    entry_offsets,
    entry_with_dates,
    entry_without_dates,
    patch_index,
    read_index,
    write_index,
)
from merge.store.index_writing import writing_index
from merge.store.trees import EXECUTABLE, FILE, Entry, ObjectId, RepoPath
from tests.merge.places import Place

_IDS = [ObjectId(digit * 40) for digit in "123"]
_PATHS = st.sampled_from(
    [RepoPath(path) for path in (b"a", b"a-b", b"a/b", b"a/c/d", b"b", b"caf\xe9", b"z" * 5000)]
)
_ENTRIES = st.builds(Entry, st.sampled_from((FILE, EXECUTABLE)), st.sampled_from(_IDS))


def patched_whole(data: bytes, patches: dict[RepoPath, IndexEntry | None]) -> bytes:
    stays = {path: entry is not None for path, entry in patches.items()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "index")
        parts = patch_index(data, entry_offsets(data, 20), 20, stays, sorted(patches.items()))
        with writing_index(file, parts, 20):
            pass
        return file.read_bytes()


@given(
    base=st.dictionaries(_PATHS, _ENTRIES), changes=st.dictionaries(_PATHS, st.one_of(st.none(), _ENTRIES))
)
def test_a_changed_index_is_the_one_that_would_have_been_written(
    base: dict[RepoPath, Entry], changes: dict[RepoPath, Entry | None]
) -> None:
    data = write_index([entry_without_dates(path, entry) for path, entry in base.items()], 20)
    patches = {path: entry and entry_without_dates(path, entry) for path, entry in changes.items()}
    patched = patched_whole(data, patches)
    wanted = {path: entry for path, entry in {**base, **changes}.items() if entry is not None}
    assert patched == write_index([entry_without_dates(path, entry) for path, entry in wanted.items()], 20)
    assert {entry.path: entry_of(entry) for entry in read_index(patched, 20)} == wanted


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=3)
@given(long=st.integers(1, 300))
def test_git_reads_it_and_finds_its_files_unchanged(place: Place, long: int) -> None:
    path = RepoPath(b"x" * min(long, 250))
    file = place.write(path, "new\n")
    blob = ObjectId(place.ask("hash-object", "-w", str(file)))
    entry = entry_with_dates(path, Entry(FILE, blob), file.lstat())
    index = place.root / ".git/index"
    data = index.read_bytes()
    index.write_bytes(patched_whole(data, {path: entry}))
    assert place.git("diff-files") == b"", "no file need be read again"
    assert place.ask("status", "--porcelain") == f"A  {path.decode()}"
    place.git("fsck")
    place.git("rm", "-q", "-f", path)


def test_an_index_of_another_version_is_told(place: Place, tmp_path: Path) -> None:
    place.git("update-index", "--index-version", "4")
    for data in ((place.root / ".git/index").read_bytes(), b"", b"x" * 40):
        with pytest.raises(IndexUnknown):
            read_index(data, 20)
