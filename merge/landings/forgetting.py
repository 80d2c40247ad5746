"""What the git directory holds of landings and children, and how it is forgotten: the deed of `covey gc`.

Who may be forgotten is decided elsewhere. Here is what there is by name, where a checkout of that name could stand,
and the taking away of refs and twins; the objects behind them are then git's to collect.
"""

import os
from collections.abc import Iterable

from merge.files.removal import remove_tree
from merge.landings.landing_journal import open_plans
from merge.landings.landing_records import LandingRecord, read_records
from merge.landings.own_refs import LANDINGS
from merge.snapshots.submodule_pins import unpin
from merge.snapshots.submodules import known_submodules
from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository, twins_folder

_CHILDREN = "refs/covey/children/"


def pinned_children(repository: Repository) -> dict[str, tuple[str, ...]]:
    """The refs of every child, by name, for which refs or a twin are kept.

    Raises:
        GitFailed: when git can't read the refs.
    """
    refs: dict[str, list[str]] = {}
    for ref in _refs(repository, _CHILDREN):
        refs.setdefault(ref.removeprefix(_CHILDREN).partition("/")[0], []).append(ref)
    twins = twins_folder(repository)
    names = {name for name in os.listdir(twins) if not name.startswith(".")} if twins.is_dir() else set[str]()
    return {name: tuple(refs.get(name, ())) for name in sorted({*refs, *names})}


def recorded_landings(repository: Repository) -> tuple[LandingRecord, ...]:
    """Every landing that has come to its end, in any working tree, the oldest first.

    Raises:
        JournalUnreadable: when an interrupted landing can't be told of any more.
        GitFailed: when git can't read the refs.
    """
    begun = {plan.landing for plan in open_plans(repository.common_dir)}
    return tuple(record for record in read_records(repository) if record.landing not in begun)


def forget_landings(repository: Repository, landings: Iterable[str]) -> None:
    """Take the records of landings away; they can't be undone any more. Their ids are not given again.

    Raises:
        GitFailed: when git can't delete a ref.
    """
    landings = list(landings)
    _delete(repository, [f"{LANDINGS}{landing}" for landing in landings])
    for submodule in known_submodules(repository) if landings else ():
        unpin(submodule, landings=landings)


def forget_children(repository: Repository, children: Iterable[str]) -> None:
    """Take away the refs and the twins of children whose folders are gone.

    Raises:
        GitFailed: when git can't delete a ref.
        OSError: when a twin can't be removed.
    """
    pins = pinned_children(repository)
    gone = [name for name in children if name in pins and not _holds_work(repository, name)]
    _delete(repository, [ref for name in gone for ref in pins[name]])
    for submodule in known_submodules(repository) if gone else ():
        unpin(submodule, children=gone)
    for name in gone:
        remove_tree(twins_folder(repository) / name)


def _holds_work(repository: Repository, name: str) -> bool:
    """Whether the twin is more than that: what a child wrote into an overlay is nowhere else."""
    return (twins_folder(repository) / name / "upper").is_dir()


def _refs(repository: Repository, prefix: str) -> list[str]:
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
    return run_git(place, "for-each-ref", "--format=%(refname)", prefix).output.decode().splitlines()


def _delete(repository: Repository, refs: list[str]) -> None:
    if refs:
        feed = "".join(f"delete {ref}\0\0" for ref in refs).encode()
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        run_git(place, "update-ref", "--stdin", "-z", feed=feed)
