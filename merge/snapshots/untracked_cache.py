"""Which folders hold nothing new, as git remembers it between two scans, so that a scan need not list each of them.

Git keeps this untracked cache in the index, and the person's is never written. So it is in a copy of it, named by the
checksum of the index that was copied: it is used only while the person's index is that one, and the settings are as
they were. What git's cache can't tell, a repository that begins or ends to be one inside an untracked folder, is looked
for here. A scan with a copy finds what a scan without it finds.
"""

import contextlib
import dataclasses
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from merge.files.file_locks import alone
from merge.files.removal import remove_tree
from merge.files.working_files import folders_above
from merge.snapshots.plain_folder import is_plain
from merge.store.config_sources import Sources, read_config_and_sources
from merge.store.git import GitPlace, ask_git, parent_place
from merge.store.repository import Repository, repository_at
from merge.store.scratch import open_scratch, sweep_scratch
from merge.store.syncing import is_local
from merge.store.trees import RepoPath

SCAN = ("core.untrackedCache=true", "status.showUntrackedFiles=all")
"""What git must be told so that it uses its cache (git-status(1), "Untracked files and performance")."""

_WORTH_BYTES = 256 << 10
"""An index of 2,500 files. A scan of fewer takes milliseconds."""

_CHECKSUM_BYTES = 20

_YOUNG_SECONDS = 2.0
"""What changed so shortly before a copy was begun is looked at again by each scan, so coarse a clock may be."""

_AS_USUAL: Mapping[str, tuple[str, ...]] = {
    "core.untrackedcache": ("keep", "true"),
    "core.fsmonitor": ("", "false"),
    "core.splitindex": ("false",),
    "core.sparsecheckout": ("false",),
    "core.trustctime": ("true",),
    "core.checkstat": ("default",),
}
"""Settings under which git scans otherwise, or knows changed folders less well, and the values that are fine."""

_INDEX, _SOURCES, _LOCK = "index", "settings.json", "lock"


@dataclasses.dataclass(frozen=True)
class CachedIndex:
    """A copy of the person's index with a cache of git's in it."""

    file: Path
    repository: Repository
    mark: tuple[int, ...]

    def holds_for(self, untracked: Iterable[RepoPath]) -> bool:
        """Whether a scan with it, which found these untracked paths, found what one without it would have.

        For after the scan: the copy may have gone, or the person's index have changed meanwhile.
        """
        return find_cached_index(self.repository) == self and self._repositories_are_told(untracked)

    def _repositories_are_told(self, untracked: Iterable[RepoPath]) -> bool:
        root = os.fsencode(self.repository.root)
        folders: set[RepoPath] = set()
        for path in untracked:
            if not path.endswith(b"/"):
                folders.update(folders_above(path))
            elif not _is_repository(root + b"/" + path):
                return False  # told as a repository, and is none any more
        return not any(_may_be_repository(root + b"/" + folder) for folder in folders)


def find_cached_index(repository: Repository) -> CachedIndex | None:
    """The copy of the index as it is now, under the settings as they are now; None where there is none."""
    checksum = _checksum(repository.git_dir / "index")
    if checksum is None:
        return None
    copy = _home(repository) / checksum
    try:
        found = (copy / _INDEX).stat()
        sources = msgspec.json.decode((copy / _SOURCES).read_bytes(), type=Sources)
    except (OSError, msgspec.MsgspecError):
        return None
    if not sources.are_unchanged(repository):
        return None
    mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return CachedIndex(copy / _INDEX, repository, mark)


def cache_index(repository: Repository) -> bool:
    """Make a copy for the index as it is now, and remove those of earlier ones. False where none would serve.

    Takes as long as a scan. None is made, and one may be later, while index or settings have only just been written.

    Raises:
        GitFailed, OSError: when it can't be made.
    """
    if is_plain(repository) or not is_local(repository.root):
        return False
    config, sources = read_config_and_sources(repository)
    if any(config.get(key, fine[0]) not in fine for key, fine in _AS_USUAL.items()):
        return False
    if not sources.are_settled:
        return True
    sweep_scratch(repository.common_dir)  # a copy that somebody was killed at is as large
    # From here on a folder that changes is one that changed after the scan.
    began = time.time() - _YOUNG_SECONDS
    with open_scratch(repository.common_dir) as scratch:
        made = scratch / "copy"
        made.mkdir()
        copied = made / _INDEX
        with contextlib.suppress(FileNotFoundError):
            _copy(repository.git_dir / "index", copied)
        checksum = _checksum(copied)
        if checksum is None:
            return False
        if _is_young(copied, began) or find_cached_index(repository) is not None:
            return True
        switches = (*SCAN, "core.fsmonitor=false", "core.splitIndex=false")
        place = dataclasses.replace(parent_place(repository), index=copied, switches=switches)
        if not _let_git_remember(place):
            return False
        os.utime(copied, (began, began))
        (made / _SOURCES).write_bytes(msgspec.json.encode(sources))
        home = _home(repository)
        home.mkdir(parents=True, exist_ok=True)
        with alone(home / _LOCK):
            for other in home.iterdir():
                if other.name != _LOCK:
                    remove_tree(other)
            made.rename(home / checksum)
    return True


def _is_young(copied: Path, began: float) -> bool:
    """Whether files that were written with the index would be read again by each scan, so young are they."""
    return copied.stat().st_mtime >= began


def _let_git_remember(place: GitPlace) -> bool:
    """Have git scan, and write down what it found in the index of `place`; whether it could."""
    assert place.index is not None
    before = place.index.stat().st_ino
    ignoring = "--ignore-submodules=all"
    # The lock is of the copy, and there is nobody who could want it.
    locks = {"GIT_OPTIONAL_LOCKS": "1"}
    answer = ask_git(place, "status", "--porcelain", "-z", ignoring, environment=locks)
    # A folder that it could not open it would not look into again once that is opened, nor warn of it. And where it
    # wrote nothing (a full disk) it says nothing: it still stands there as it was copied, and its date is needed.
    return answer.status == 0 and "warning: " not in answer.error and place.index.stat().st_ino != before


def _home(repository: Repository) -> Path:
    """Beside the index that they are copies of: each working tree has its own."""
    return repository.git_dir / "covey" / "indexes"


def _may_be_repository(folder: bytes) -> bool:
    try:
        os.lstat(folder + b"/.git")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it was closed just now
    return True


def _is_repository(folder: bytes) -> bool:
    try:
        return repository_at(Path(os.fsdecode(folder))) is not None
    except OSError:
        return False  # nobody can tell: git is asked


def _copy(index: Path, to: Path) -> None:
    """Copy an index with its date, by which git knows what to look at again (git's technical/racy-git)."""
    with index.open("rb") as source, to.open("wb") as copied:
        status = os.fstat(source.fileno())
        shutil.copyfileobj(source, copied, 1 << 20)
    os.utime(to, ns=(status.st_mtime_ns, status.st_mtime_ns))


def _checksum(index: Path) -> str | None:
    """The end of the checksum that a large index ends with, or None when it has none or is small."""
    try:
        with index.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size < _WORTH_BYTES:
                return None
            file.seek(-_CHECKSUM_BYTES, os.SEEK_END)
            checksum = file.read()
    except OSError:
        return None
    return checksum.hex() if len(checksum) == _CHECKSUM_BYTES and any(checksum) else None
