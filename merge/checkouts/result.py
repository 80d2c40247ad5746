"""What a child made of its base, found in its checkout without trusting anything that it could write.

Never with the checkout's `.git`, but with the twin that was kept in the parent's git directory, where the index as of
the start makes that cheap; of an overlay, in the layers. Changes nothing of the checkout.
"""

import contextlib
from collections.abc import Generator

import msgspec

from merge.checkouts.checkout import (
    Checkout,
    CheckoutFailed,
    side_ref,
    site_of,
    told_of,
    twin_folder,
)
from merge.checkouts.checkout_site import (
    Found,
    Site,
    is_folder,
    read_site,
    standing_sites,
    told_inside,
)
from merge.checkouts.overlay import (
    open_touched,
    read_quickly,
)
from merge.checkouts.own_history import OwnCommit, own_commits, unlanded_history, went_below
from merge.merging.parts import changed_within
from merge.snapshots.submodule_pins import pin_child
from merge.store.commits import read_commit, write_commit
from merge.store.object_store import keep_open, set_ref
from merge.store.objects import changed_paths, edit_tree
from merge.store.repository import Repository
from merge.store.trees import Change, LeftOut, ObjectId, RepoPath, show_path


class Result(msgspec.Struct, frozen=True):
    """What a child made of its base. `changes` lead from the base to `tree` and hold only what may land.

    `left_out` is what the checkout holds beyond that and would be gone with it. `works_on` is the commit below its own
    that the child left it for, should it have done so.
    """

    tree: ObjectId
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]
    works_on: ObjectId | None = None


def take_result(repository: Repository, checkout: Checkout) -> Result:
    """What the child's folder holds now, whatever became of the git directory in it.

    Runs nothing that the child wrote. Costs what changed, and a look at each file's date.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    repository = keep_open(repository)
    # The twin's index is ours alone: what git learned by reading a file it may note there for the next time.
    tree = _read_quickly(repository, checkout)
    found, told, works_on = Found(tree or checkout.base, ()), list[LeftOut](), None
    if tree is None:
        with _open_site(repository, checkout) as site:
            works_on = went_below(repository, site.place, site.folder / ".git", checkout.commit)
            found, tree = _read(repository, checkout, site, {"GIT_OPTIONAL_LOCKS": "1"})
            told = _told_by_git_directories(checkout, site, found, tree)
    if tree != checkout.base:
        seconds = read_commit(repository, checkout.commit).seconds
        message = f"What {checkout.name} made of it"
        result = write_commit(repository, tree, checkout.commit, message, seconds=seconds)
        set_ref(repository, side_ref(checkout.name, "result"), result, new=False)
    for inner in found.inside:
        if inner.commit != inner.site.commit:
            pin_child(inner.site.repository, checkout.name, "result", inner.commit)
    changes = changed_within(repository, checkout.base, tree)
    return Result(tree, changes, (*found.left_out, *told), works_on)


def glance(repository: Repository, checkout: Checkout) -> tuple[ObjectId, tuple[Change, ...]]:
    """What the folder holds at this moment, while its child works: the tree, and the changes to it from the base.

    Takes no lock and moves no ref, so that nobody who works there notices.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    tree = _read_quickly(repository, checkout)
    if tree is None:
        with _open_site(repository, checkout) as site:
            _, tree = _read(repository, checkout, site, {})
    return tree, changed_within(repository, checkout.base, tree)


def commits_made(repository: Repository, checkout: Checkout) -> tuple[OwnCommit, ...]:
    """The commits that the child made in its checkout and in the submodules there, for each the newest first.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when what the child left in `.git` can't be read.
    """
    with _open_site(repository, checkout) as outer:
        return tuple(own for site in standing_sites(outer) for own in _own_commits(site))


def _read_quickly(repository: Repository, checkout: Checkout) -> ObjectId | None:
    """The tree that an ordinary child made in an overlay; None where it takes a closer look."""
    site = site_of(repository, checkout)
    with told_of(checkout):
        return read_quickly(
            repository, site.twin, checkout.base, checkout.commit, checkout.shared, site.stays_behind
        )


@contextlib.contextmanager
def _open_site(repository: Repository, checkout: Checkout) -> Generator[Site]:
    """Where git reads what the child did, with nothing that the child could have written but its files.

    Of an overlay it is a small world (`merge.checkouts.touched`), whose HEAD has only what the child touched.
    """
    twin = twin_folder(repository, checkout.name)
    with contextlib.ExitStack() as stack:
        with told_of(checkout):
            world = stack.enter_context(
                open_touched(repository, twin, checkout.base, checkout.commit, checkout.shared)
            )
        if world is None:
            yield _readable_site(repository, checkout)
        else:
            yield Site(RepoPath(b""), repository, world.files, world.git_dir, world.commit, checkout.shared)


def _read(
    repository: Repository, checkout: Checkout, site: Site, environment: dict[str, str]
) -> tuple[Found, ObjectId]:
    """What the site holds, and the tree that this makes of the checkout's base."""
    found = read_site(site, environment)
    if site.commit == checkout.commit:
        return found, found.tree
    touched = changed_paths(repository, read_commit(repository, site.commit).tree, found.tree)
    return found, edit_tree(repository, checkout.base, [(change.path, change.after) for change in touched])


def _readable_site(repository: Repository, checkout: Checkout) -> Site:
    """Where git reads the checkout with its twin, when both are there."""
    site = site_of(repository, checkout)
    # Without this a folder that somebody removed would be a child that deleted every file.
    if not is_folder(site.folder) or not (site.twin / "index").is_file():
        gone = site.folder if not is_folder(site.folder) else site.twin
        raise CheckoutFailed(f"{gone} is gone, so what the child did can't be told; nothing lands.")
    return site


def _own_commits(site: Site) -> tuple[OwnCommit, ...]:
    return own_commits(site.repository, site.place, site.folder / ".git")


def _told_by_git_directories(checkout: Checkout, site: Site, found: Found, tree: ObjectId) -> list[LeftOut]:
    """What the child's own git directories hold and the result does not."""
    told = _unlanded(site, checkout.base, tree)
    for inner in found.inside:
        base = read_commit(inner.site.repository, inner.site.commit).tree
        told += [told_inside(inner.path, left) for left in _unlanded(inner.site, base, inner.tree)]
        commits = _own_commits(inner.site)
        if commits:
            subjects = ", ".join(commit.subject for commit in commits[:3]) + (
                ", …" if len(commits) > 3 else ""
            )
            why = f"what was changed in this submodule lands, the commits made in it don't ({subjects})"
            told.append(LeftOut(show_path(inner.path), why))
    return told


def _unlanded(site: Site, base: ObjectId, tree: ObjectId) -> list[LeftOut]:
    return unlanded_history(site.repository, site.place, site.folder / ".git", base, tree, site.stays_behind)
