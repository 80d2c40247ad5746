"""Snapshots that do not scan: the one before, with the paths changed that a watch tells of.

Whatever is in doubt is scanned: a changed index, HEAD, setting, ignore file or mount; a folder that went; a file that
git might see otherwise than it stands (`merge.snapshots.plain_reading`); a repository with others inside. So a snapshot
is never another than `take_snapshot` gives, as far as the kernel tells of changes.
"""

import os
import stat
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from merge.snapshots.never_lands import SHARED_SETTINGS
from merge.snapshots.plain_folder import is_plain
from merge.snapshots.plain_reading import store_plainly
from merge.snapshots.shared_caches import unignored_caches
from merge.snapshots.snapshot import LIMIT_BYTES, Snapshot, is_kept_out, scan_parent, take_snapshot
from merge.snapshots.tree_watch import TreeWatch, WatchFailed
from merge.snapshots.watched_folders import HOLDS_REPOSITORIES, folders_to_watch, hold_hard_links
from merge.snapshots.working_tree import NESTED, WorkingTree
from merge.store.config_sources import Sources, home_folder, mark_of, read_config_and_sources
from merge.store.git import GitFailed, parent_place
from merge.store.gitlinks import find_gitlinks
from merge.store.head import Head, read_head
from merge.store.ignored import ignored_of
from merge.store.object_store import keep_open
from merge.store.objects import changed_paths, edit_tree, read_entries
from merge.store.repository import Repository
from merge.store.seen_config import read_rules
from merge.store.syncing import is_local
from merge.store.trees import ObjectId, RepoPath, show_path

# Files that change what git sees of others.
_RULES = frozenset((b".gitignore", b".gitattributes", b".gitmodules", b".git"))

# A file that is being written to is read again this often.
_READINGS = 3


class _Surroundings(msgspec.Struct, frozen=True):
    """What a snapshot depends on besides the files of the working tree."""

    head: Head
    marks: tuple[tuple[int, ...], ...]
    mounts: bytes


class _Sources(msgspec.Struct, frozen=True):
    """Where to look for a change of the surroundings: of the configuration, and in files that it names."""

    config: Sources
    files: tuple[str, ...]
    caches: tuple[str, ...]


class _Known(msgspec.Struct, frozen=True):
    """The snapshot before, and what it was made from.

    `indexed` differ from HEAD and are in the index; `unindexed` are in HEAD and not in the index.
    """

    snapshot: Snapshot
    head_tree: ObjectId | None
    indexed: frozenset[RepoPath]
    unindexed: frozenset[RepoPath]
    left_out: frozenset[str]
    untracked_bytes: int
    surroundings: _Surroundings
    sources: _Sources


class WatchedSnapshots:
    """Snapshots of one repository for children, by a watch where there is one. For many threads."""

    def __init__(self, repository: Repository, shared: Sequence[str], limit_bytes: int = LIMIT_BYTES) -> None:
        self.repository = repository
        self._shared = shared
        self._limit_bytes = limit_bytes
        self._using = threading.Lock()
        self._watch: TreeWatch | None = None
        self._known: _Known | None = None
        self._fits = True

    @property
    def needs_preparing(self) -> bool:
        """Whether the next snapshot will be a scan though it need not be; `prepare` helps."""
        return self._fits and self._known is None

    def prepare(self) -> None:
        """Begin to watch, or begin again, and take the first snapshot. Takes longer than a scan.

        Raises:
            GitFailed: when git can't read the working tree.
            WatchFailed: when it can't be watched, or a watch would not do; it is not tried again.
        """
        with self._using:
            if not self.needs_preparing:
                return
            self._stop()
            try:
                self._begin()
            except BaseException:
                self._fits = False
                self._stop()
                raise

    def take(self) -> Snapshot:
        """The snapshot of now, as `merge.snapshots.snapshot.take_snapshot` takes it.

        Raises:
            SnapshotFailed: when git can't read the working tree or write an object.
        """
        if self._using.acquire(blocking=False):
            try:
                renewed = self._renew()
                if renewed is not None:
                    return renewed
            finally:
                self._using.release()
        return take_snapshot(self.repository, limit_bytes=self._limit_bytes, shared=self._shared)

    def close(self) -> None:
        """Stop to watch."""
        with self._using:
            self._fits = False
            self._stop()

    def _stop(self) -> None:
        self._known = None
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _begin(self) -> None:
        repository = self.repository
        if is_plain(repository):
            raise WatchFailed("it is no repository")
        if not is_local(repository.root):
            raise WatchFailed("other machines may change its file system")
        watch = self._watch = TreeWatch(repository.root)
        # A folder that was made between the listing and the watch on the one above is in the next listing.
        while watch.add(folders := folders_to_watch(repository)):
            pass
        if hold_hard_links(repository.root, folders):
            raise WatchFailed("some of its files have a second name (hard links)")
        sources = _find_sources(repository, self._shared)
        if sources is None or watch.changed() is None:
            self._stop()  # too early to tell what changes
            return
        surroundings = _look_around(keep_open(repository), sources)
        found = scan_parent(repository, self._limit_bytes, self._shared)
        if _holds_repositories(repository, found):
            raise WatchFailed(HOLDS_REPOSITORIES)
        tracked = found.status.tracked
        self._known = _Known(
            Snapshot(
                found.tree,
                found.head,
                found.branch,
                changed_paths(repository, found.head_tree, found.tree),
                found.left_out,
            ),
            found.head_tree,
            frozenset(change.path for change in tracked if change.index is not None),
            frozenset(change.path for change in tracked if change.index is None),
            frozenset(left.path for left in found.left_out),
            found.untracked_bytes,
            surroundings,
            sources,
        )

    def _renew(self) -> Snapshot | None:
        """The snapshot by what the watch tells; None where that does not do."""
        known, watch = self._known, self._watch
        if known is None or watch is None:
            return None
        repository = keep_open(self.repository)
        try:
            known = self._renewed(repository, known, watch)
        except (GitFailed, OSError):
            known = None
        if known is None:
            self._stop()
            return None
        self._known = known
        return known.snapshot

    def _renewed(self, repository: Repository, known: _Known, watch: TreeWatch) -> _Known | None:
        changed = watch.changed()
        if changed is None or not known.sources.config.are_unchanged(repository):
            return None
        if _look_around(repository, known.sources) != known.surroundings:
            return None
        if unignored_caches(repository.root, self._shared) != known.sources.caches:
            return None
        for _ in range(_READINGS):
            if not changed:
                return known
            renewed = self._with_changes(repository, known, changed)
            meanwhile = watch.changed()
            if renewed is None or meanwhile is None:
                return None
            known, changed = renewed, meanwhile
        return None

    def _with_changes(self, repository: Repository, known: _Known, changed: set[RepoPath]) -> _Known | None:
        if any(_is_rule(path) or path in known.unindexed for path in changed):
            return None
        if any(show_path(path) in known.left_out for path in changed):
            return None
        tree = known.snapshot.tree
        tracked = _in_tree(repository, known.head_tree, changed) | (changed & known.indexed)
        carried = _in_tree(repository, tree, changed) | tracked
        wanted = {
            path for path in changed if not is_kept_out(path, known.sources.caches, tracked=path in tracked)
        }
        there = {path: found for path in wanted if (found := _look(repository, path)) is not None}
        if any(found.st_nlink > 1 for found in there.values()):
            return None  # what is written through the other name is not told
        new = {path for path in wanted - carried if path in there and _is_file_or_link(there[path])}
        wanted = (wanted & carried) | (new - ignored_of(parent_place(repository), new))
        stored = store_plainly(repository, wanted)
        if stored is None:
            return None
        untracked_bytes = known.untracked_bytes + sum(
            there[path].st_size for path in wanted - tracked if path in there
        )
        if untracked_bytes > self._limit_bytes:
            return None
        edited = edit_tree(repository, tree, [(path, stored.get(path)) for path in wanted])
        if edited == tree:
            return known
        return msgspec.structs.replace(
            known,
            untracked_bytes=untracked_bytes,
            snapshot=msgspec.structs.replace(
                known.snapshot, tree=edited, changes=changed_paths(repository, known.head_tree, edited)
            ),
        )


def _find_sources(repository: Repository, shared: Sequence[str]) -> _Sources | None:
    config, config_sources = read_config_and_sources(repository)
    if not config_sources.are_settled:
        return None
    excludes = config.get("core.excludesfile", str(home_folder() / "git" / "ignore"))
    files = (
        str(repository.git_dir / "index"),
        str(repository.common_dir / "info" / "exclude"),
        str(repository.root / Path(excludes).expanduser()),
        *read_rules(repository).attributes,
    )
    return _Sources(config_sources, files, unignored_caches(repository.root, shared))


def _look_around(repository: Repository, sources: _Sources) -> _Surroundings:
    with open("/proc/self/mountinfo", "rb") as mounts:  # noqa: PTH123 (half the time of Path.open, at each fan-out)
        return _Surroundings(read_head(repository), tuple(map(mark_of, sources.files)), mounts.read())


def _holds_repositories(repository: Repository, found: WorkingTree) -> bool:
    return any(left.reason == NESTED for left in found.left_out) or bool(
        find_gitlinks(repository, found.tree)
    )


def _is_rule(path: RepoPath) -> bool:
    return path.rpartition(b"/")[2] in _RULES or path in SHARED_SETTINGS


def _in_tree(repository: Repository, tree: ObjectId | None, paths: Iterable[RepoPath]) -> set[RepoPath]:
    """Those of the paths at which `tree` has something, a folder too."""
    if tree is None:
        return set()
    return {path for path, entry in read_entries(repository, tree, paths).items() if entry is not None}


def _look(repository: Repository, path: RepoPath) -> os.stat_result | None:
    try:
        return os.lstat(os.fsencode(repository.root) + b"/" + path)
    except OSError:
        return None


def _is_file_or_link(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
