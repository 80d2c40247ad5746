"""One repository's site in a checkout: a folder with its files and a git directory, and the twin of that directory.

The checkout itself is a site, and so is each submodule in it that is populated in the parent: a folder inside, with
its twin inside the outer one's. What the child did is read site by site, never with a git directory that the child
could write. In a site's tree a submodule stands as a commit in its own repository, as git has it.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from merge.checkouts.own_sparseness import is_sparse, out_of_sight
from merge.files.working_files import folders_above, repo_path
from merge.snapshots.never_lands import never_lands
from merge.snapshots.shared_caches import claim_caches, exclude_patterns, link_caches
from merge.snapshots.snapshot import Snapshot
from merge.snapshots.working_tree import read_working_tree
from merge.store.commits import read_commit, write_commit
from merge.store.filters import neutral_settings, read_config
from merge.store.git import GitPlace, parent_place
from merge.store.objects import changed_paths, edit_tree
from merge.store.private_git import (
    Inheritance,
    inherit,
    lay_out,
    refs_of,
    set_branch,
    twin_settings,
    write_config,
)
from merge.store.repository import Repository, repository_with
from merge.store.trees import SUBMODULE, Entry, LeftOut, ObjectId, RepoPath, show_path

Fill = Callable[[GitPlace, Inheritance, Snapshot], tuple[str, ...]]
"""A way to get the files of a snapshot into an empty folder, and an index of them into its twin.

It answers the filters that could not bring a file back.
"""

_INNER = "submodules.json"
"""In a twin: what is known of the sites inside."""


@dataclass(frozen=True)
class Site:
    """One site. `path` is where it is in the site around it, empty for the checkout itself.

    `commit` is the one that its HEAD began at; `shared` are the paths of caches there.
    """

    path: RepoPath
    repository: Repository
    folder: Path
    twin: Path
    commit: ObjectId
    shared: tuple[str, ...]

    @property
    def place(self) -> GitPlace:
        """Where git reads it, with nothing that the child could write."""
        objects = self.repository.common_dir / "objects"
        return GitPlace(self.folder, git_dir=self.twin, work_tree=self.folder, objects=objects)

    def stays_behind(self, path: RepoPath, tracked: bool) -> bool:
        """Whether a change at `path` never lands."""
        return never_lands(path, self.shared, in_base=tracked)


class _Inner(msgspec.Struct, frozen=True):
    """What a twin tells of a site inside."""

    path: RepoPath
    git_dir: bytes
    commit: ObjectId
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Inside:
    """What a site inside holds. `path` is where it is in the outermost, `commit` is one of `tree`."""

    path: RepoPath
    site: Site
    tree: ObjectId
    commit: ObjectId


@dataclass(frozen=True)
class Found:
    """What a site holds. `inside` are the sites inside that are still where they were made."""

    tree: ObjectId
    left_out: tuple[LeftOut, ...]
    inside: tuple[Inside, ...] = ()


ShareCaches = Callable[[Path, Path, Iterable[str]], None]
"""A way to give a folder the caches of these names: from the parent's root, to the checkout."""


def furnish(
    site: Site,
    snapshot: Snapshot,
    shared: Sequence[str],
    fill: Fill,
    share_caches: ShareCaches = link_caches,
) -> None:
    """Give the empty folder of `site` the files of `snapshot`, and it and its twin their git directories.

    Raises:
        GitFailed, OSError: when it can't be done; what was made stays.
    """
    repository, folder, twin = site.repository, site.folder, site.twin
    config = read_config(parent_place(repository))
    inheritance = inherit(repository, config, [*exclude_patterns(site.shared), "/.covey/"])
    safe = {**inheritance.config, **twin_settings(repository, inheritance.config)}
    lay_out(twin, replace(inheritance, config=safe), head=site.commit)
    without = neutral_settings(fill(site.place, inheritance, snapshot))
    write_config(twin, {**safe, **without})
    # So that the child's own git counts them as submodules that are in use.
    active = {f"submodule.{inner.submodule.name}.active": "true" for inner in snapshot.submodules}
    own = replace(inheritance, config={**inheritance.config, **without, **active})
    _give_git_directory(site, own, snapshot)
    # Its date comes along: by that git tells which files it must read again.
    shutil.copy2(twin / "index", folder / ".git/index")
    share_caches(repository.root, folder, site.shared)
    known: list[_Inner] = []
    for number, inner in enumerate(snapshot.submodules):
        path, below = inner.submodule.path, inner.submodule.repository
        caches = claim_caches(below, inner.snapshot.tree, shared)
        known.append(_Inner(path, os.fsencode(below.git_dir), inner.commit, caches))
        inside = _site_inside(site, number, known[-1])
        inside.folder.mkdir(parents=True, exist_ok=True)
        inside.twin.mkdir(parents=True)
        furnish(inside, inner.snapshot, shared, fill, share_caches)
    # Whole or not there: whoever finds a checkout that was being made must be able to read it.
    unfinished = twin / f"{_INNER}.new"
    unfinished.write_bytes(msgspec.json.encode(known))
    unfinished.rename(twin / _INNER)


def sites_inside(site: Site) -> Iterator[Site]:
    """The sites directly inside, as they were made, whatever stands there now."""
    try:
        known = msgspec.json.decode((site.twin / _INNER).read_bytes(), type=tuple[_Inner, ...])
    except FileNotFoundError:
        return
    for number, inner in enumerate(known):
        yield _site_inside(site, number, inner)


def all_sites(site: Site) -> Iterator[Site]:
    """The site and all inside it."""
    yield site
    for inner in sites_inside(site):
        yield from all_sites(inner)


def standing_sites(site: Site) -> Iterator[Site]:
    """The site, and those inside whose folders are still where they were made."""
    yield site
    for inner in sites_inside(site):
        if stands(inner, site):
            yield from standing_sites(inner)


def read_site(site: Site, environment: dict[str, str]) -> Found:
    """What the folder holds now, submodules included, whatever became of the git directories in it.

    Raises:
        GitFailed: when git can't read it or write an object.
    """
    found = read_working_tree(
        site.place,
        site.repository,
        keeps_out=site.stays_behind,
        submodules="commit only",
        environment=environment,
    )
    assert found.head == site.commit, f"the twin {site.twin} is at {found.head}"
    entries: list[tuple[RepoPath, Entry | None]] = [*_out_of_sight(site, found.tree)]
    left_out = [*found.left_out]
    inside: list[Inside] = []
    for inner in sites_inside(site):
        if not stands(inner, site):
            continue  # a file, a link or nothing is in its place: git has seen that already
        if os.listdir(inner.folder):
            below = read_site(inner, environment)
            commit = _commit_of(inner, below.tree)
            left_out += [told_inside(inner.path, left) for left in below.left_out]
            inside.append(Inside(inner.path, inner, below.tree, commit))
            inside += [replace(deep, path=repo_path(inner.path, deep.path)) for deep in below.inside]
        else:
            commit = inner.commit
            why = "the submodule was emptied, as if it had never been populated; that does not land"
            left_out.append(LeftOut(show_path(inner.path), why))
        entries.append((inner.path, Entry(SUBMODULE, commit)))
    tree = edit_tree(site.repository, found.tree, entries) if entries else found.tree
    return Found(tree, tuple(left_out), tuple(inside))


def _out_of_sight(site: Site, tree: ObjectId) -> list[tuple[RepoPath, Entry | None]]:
    """What the child only took out of its sight, as it was."""
    git_dir = site.folder / ".git"
    if not is_sparse(git_dir):
        return []
    began = read_commit(site.repository, site.commit).tree
    missing = {
        change.path: change.before
        for change in changed_paths(site.repository, began, tree)
        if change.after is None
    }
    return [(path, missing[path]) for path in out_of_sight(site.repository, site.place, git_dir, missing)]


def told_inside(path: RepoPath, left: LeftOut) -> LeftOut:
    """What is told of a site at `path`, as the site around it tells it."""
    return LeftOut(f"{show_path(path)}/{left.path}", left.reason)


def stands(inner: Site, outer: Site) -> bool:
    """Whether a folder is still where a site inside was made; a link, there or on the way, is none."""
    steps = [outer.folder / os.fsdecode(above) for above in (*folders_above(inner.path), inner.path)]
    return all(map(is_folder, steps))


def is_folder(path: Path) -> bool:
    """Whether a folder is there, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _site_inside(outer: Site, number: int, inner: _Inner) -> Site:
    return Site(
        inner.path,
        repository_with(outer.repository.root / os.fsdecode(inner.path), Path(os.fsdecode(inner.git_dir))),
        outer.folder / os.fsdecode(inner.path),
        outer.twin / "modules" / str(number),
        inner.commit,
        inner.shared,
    )


def _commit_of(site: Site, tree: ObjectId) -> ObjectId:
    began = read_commit(site.repository, site.commit)
    if tree == began.tree:
        return site.commit
    message = "What a child made of it"
    return write_commit(site.repository, tree, site.commit, message, seconds=began.seconds)


def _give_git_directory(site: Site, inheritance: Inheritance, snapshot: Snapshot) -> None:
    git_dir = site.folder / ".git"
    git_dir.mkdir()
    head = site.commit if snapshot.branch is None else f"ref: refs/heads/{snapshot.branch}"
    lay_out(git_dir, inheritance, head=head, packed_refs=refs_of(site.repository))
    if snapshot.branch is not None:
        set_branch(git_dir, snapshot.branch, site.commit)
