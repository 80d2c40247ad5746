"""The way into a checkout that costs milliseconds: a layer of the child's own over a pristine checkout.

One of these belongs to a session. It holds the locks of the layers that its children stand on, and makes what children
that start together share only once; their index behind them, where somebody asks for it (`complete`). What a repository
or a snapshot has that layers can't show in full is refused, and the next way is taken.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merge.checkouts.cache_layers import CacheLayer, ready_caches
from merge.checkouts.changed_files import IndexBase
from merge.checkouts.checkout_site import Site
from merge.checkouts.delta import Delta, drop_unused_deltas, make_delta
from merge.checkouts.overlay import OverlayRecord, OverlayUnreadable, read_record, write_record
from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.checkouts.pristine import Pristine, drop_unused, pristine_home, ready_pristine, refresh_pristine
from merge.checkouts.ways import WayName, WayUnfit
from merge.snapshots.shared_caches import exclude_patterns, link_caches
from merge.snapshots.snapshot import Snapshot
from merge.store.config_sources import SeenConfig
from merge.store.filters import read_config
from merge.store.git import GitFailed, ask_git, parent_place
from merge.store.index_file import IndexUnknown, map_bytes
from merge.store.object_store import keep_open
from merge.store.plain_words import plain_words
from merge.store.private_git import Inheritance, inherit, lay_out, twin_settings
from merge.store.repository import Repository, twins_folder
from merge.store.trees import ObjectId


@dataclass(frozen=True)
class _Ground:
    """What the children of one snapshot stand on."""

    snapshot: Snapshot
    pristine: Pristine
    delta: Delta
    safe: Inheritance
    held: tuple[int, ...]
    plain_bytes: bool
    caches: CacheLayer | None
    index: "_Index"


class _Index:
    """The index of a layer, written once, by the first that asks for it. For many threads."""

    def __init__(self, write: Callable[[], None]) -> None:
        self.is_written = False
        self.has_failed = False
        self._write = write
        self._writing = threading.Lock()

    def write(self) -> None:
        """Write it; wait for whoever is at it.

        Raises:
            OSError: when it can't be written.
        """
        with self._writing:
            if self.is_written:
                return
            try:
                self._write()
            except OSError:
                self.has_failed = True
                raise
            self.is_written = True


class OverlayWay:
    """See `merge.checkouts.ways.Way`. `cache` is covey's own folder for pristine checkouts.

    `index_behind`: `furnish` leaves a checkout whose index is not written. It can be mounted; before anybody looks into
    it `complete` must be called.
    """

    name: WayName = "overlay"

    def __init__(self, cache: Path, *, user_namespace: bool, index_behind: bool = False) -> None:
        self._cache = cache
        self.user_namespace = user_namespace
        self._index_behind = index_behind
        self._making = threading.Lock()
        self._grounds: list[tuple[_Ground, list[Path]]] = []
        self._furnishing: set[Path] = set()
        self._config: SeenConfig | None = None
        self._mapped: tuple[tuple[int, ...], IndexBase] | None = None

    def furnish(self, site: Site, snapshot: Snapshot, shared: Sequence[str]) -> None:
        """See `merge.checkouts.ways.Way`."""
        if snapshot.submodules:
            raise WayUnfit("the repository has submodules with files")
        with self._making:
            ground, twins = self._ground(site, snapshot)
            twins.append(site.twin)
            self._furnishing.add(site.twin)
        try:
            self._stand_on(ground, site)
        finally:
            with self._making:
                self._furnishing.remove(site.twin)

    def _stand_on(self, ground: _Ground, site: Site) -> None:
        lay_out(site.twin, ground.safe, head=site.commit)
        privilege = "user" if self.user_namespace else "trusted"
        record = OverlayRecord(
            os.fsencode(ground.pristine.home),
            ground.pristine.tree,
            os.fsencode(ground.delta.home),
            privilege,
            ground.snapshot.branch,
            ground.plain_bytes,
            os.fsencode(ground.caches.home) if ground.caches is not None else None,
            ground.caches.names if ground.caches is not None else (),
        )
        write_record(site.twin, record)
        copied = ground.caches.names if ground.caches is not None else ()
        linked = [name for name in site.shared if name not in copied]
        link_caches(site.repository.root, site.twin / "upper", linked)

    def refresh(self, repository: Repository) -> None:
        """Bring the repository's pristine checkout to its HEAD, if there is one and nobody uses it; forget old ones.

        Raises:
            GitFailed, OSError: when it can't be done.
        """
        drop_unused(self._cache)
        own = _inheritance(repository, read_config(parent_place(repository)), ())
        home = pristine_home(self._cache, repository, own)
        drop_unused_deltas(home, _needed(repository))
        head = ask_git(parent_place(repository), "rev-parse", "--verify", "--quiet", "HEAD")
        if head.status == 0 and not own.is_sparse:
            refresh_pristine(home, repository, ObjectId(head.line()), _safe(repository, own))

    def complete(self, twin: Path) -> None:
        """Write what the checkout of this twin still lacks, if it was made here; wait for whoever is at it.

        Raises:
            OSError: when it can't be written: its child can't work there.
        """
        for index in self._indexes(twin):
            index.write()

    def is_complete(self, twin: Path) -> bool:
        """Whether it lacks nothing. Takes no time."""
        return all(index.is_written for index in self._indexes(twin))

    def _indexes(self, twin: Path) -> "list[_Index]":
        # Without the lock, which somebody may hold for long: the list is one that is only added to, or another.
        return [ground.index for ground, twins in self._grounds if twin in twins]

    def close(self) -> None:
        """Let go of every layer; for when no child of the session is left."""
        with self._making:
            for ground, _ in self._grounds:
                _let_go(ground)
            self._grounds = []
            self._mapped = None

    def _ground(self, site: Site, snapshot: Snapshot) -> tuple[_Ground, list[Path]]:
        """What children of this very snapshot stand on; made for the first of them."""
        if self._grounds:
            last, _ = self._grounds[-1]
            if last.snapshot is snapshot and not last.index.has_failed:
                return self._grounds[-1]
        self._tidy()
        try:
            ground = self._make_ground(site, snapshot)
        except (GitFailed, OSError) as error:
            raise WayUnfit(plain_words(error, self._cache)) from error
        except IndexUnknown as error:
            raise WayUnfit("git writes its index in a format that is not known here") from error
        self._grounds.append((ground, []))
        return self._grounds[-1]

    def _make_ground(self, site: Site, snapshot: Snapshot) -> _Ground:
        repository = keep_open(site.repository)
        if self._config is None:
            self._config = SeenConfig(site.repository)
        own = _inheritance(repository, self._config.read(), site.shared)
        if own.is_sparse:
            raise WayUnfit("the repository is a sparse checkout")
        safe = _safe(repository, own)
        home = pristine_home(self._cache, repository, own)
        pristine, changes, held = ready_pristine(home, repository, snapshot, safe)
        try:
            base = self._index_of(pristine, len(snapshot.tree) // 2)
            delta, delta_held, complete = make_delta(
                repository, pristine, snapshot, site.commit, changes, base, own, safe
            )
        except BaseException:
            os.close(held)
            raise
        index = _Index(complete)
        caches, locks = self._caches(home, site)
        plain_bytes = stores_bytes_as_they_are(own)
        locks = (held, delta_held, *locks)
        ground = _Ground(snapshot, pristine, delta, safe, locks, plain_bytes, caches, index)
        if not self._index_behind:
            try:
                index.write()
            except BaseException:
                _let_go(ground)
                raise
        return ground

    def _index_of(self, pristine: Pristine, id_bytes: int) -> IndexBase:
        """The pristine checkout's index, mapped until there is another: to map it takes longer than to copy it."""
        status = pristine.index.stat()
        state = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        if self._mapped is None or self._mapped[0] != state:
            index = map_bytes(pristine.index)
            self._mapped = (state, (index, pristine.offsets(index, id_bytes)))
        return self._mapped[1]

    def _caches(self, home: Path, site: Site) -> tuple[CacheLayer | None, tuple[int, ...]]:
        """A copy of the parent's caches; without one they are linked."""
        try:
            ready = ready_caches(home / "caches", site.repository.root, site.shared)
        except OSError:
            return None, ()
        return (ready[0], (ready[1],)) if ready is not None else (None, ())

    def _tidy(self) -> None:
        """Let go of the layers that no child stands on any more."""
        standing = [
            (ground, [twin for twin in twins if twin in self._furnishing or _stands(twin)])
            for ground, twins in self._grounds
        ]
        for ground, twins in standing:
            if not twins:
                _let_go(ground)
        self._grounds = [(ground, twins) for ground, twins in standing if twins]


def _inheritance(repository: Repository, config: Mapping[str, str], shared: Sequence[str]) -> Inheritance:
    return inherit(repository, config, [*exclude_patterns(shared), "/.covey/"])


def _safe(repository: Repository, own: Inheritance) -> Inheritance:
    return replace(own, config={**own.config, **twin_settings(repository, own.config)})


def _stands(twin: Path) -> bool:
    try:
        return read_record(twin) is not None
    except OverlayUnreadable:
        return True


def _needed(repository: Repository) -> set[Path]:
    """The layers that a checkout of this repository stands on, whichever session it belongs to."""
    found: set[Path] = set()
    above = twins_folder(repository)
    for twin in above.iterdir() if above.is_dir() else ():
        try:
            record = read_record(twin)
        except OverlayUnreadable:
            continue
        if record is not None:
            found.add(Path(os.fsdecode(record.delta)))
    return found


def _let_go(ground: _Ground) -> None:
    for descriptor in ground.held:
        os.close(descriptor)
