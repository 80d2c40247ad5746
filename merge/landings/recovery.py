"""Landings that were interrupted, by a SIGKILL or a power cut, completed or taken back at the next start.

Completed, when every path that is still to be changed holds what the landing expected; taken back otherwise,
since a person has then edited a file that was about to be merged. A path that a person has edited since is
never touched: it is theirs. Anything that waits in a staging folder of no landing is removed.
"""

import itertools
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from merge.files.lock import landing_lock
from merge.landings.carrying_out import Tell, nobody, state_of
from merge.landings.carrying_together import Underway, carry_through, take_back
from merge.landings.ending import clear_landed, drop, grounds_of, record
from merge.landings.landing_journal import (
    Grounds,
    Plan,
    Step,
    open_plans,
    remove_unfinished,
    staging_folder,
)
from merge.landings.own_refs import has_landing_ref
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.scratch import sweep_scratch
from merge.store.syncing import sync_all
from merge.store.trees import RepoPath, show_path


class Recovered(msgspec.Struct, frozen=True):
    """What became of an interrupted landing: `completed`, or taken back and as if it had never begun.

    It was `child`'s. `paths` are those of the landing; `edited` are those of them that were left as the person
    has them. `kept` are full paths of files that somebody wrote to at the last moment and that were saved from
    removal.
    """

    landing: str
    child: str
    completed: bool
    paths: tuple[str, ...]
    edited: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def recover_landings(repository: Repository, *, tell: Tell = nobody) -> tuple[Recovered, ...]:
    """Complete or take back every interrupted landing of the repository, whichever session began it.

    Waits for a landing that is going on. Costs one look into a folder when there is nothing to do.

    Raises:
        JournalUnreadable: when a journal holds no plan.
        OSError, GitFailed: when the disk refuses both ways for one; it is then tried again at the next start.
    """
    with landing_lock(repository):
        return recover_locked(repository, tell=tell)


def recover_locked(repository: Repository, *, tell: Tell = nobody) -> tuple[Recovered, ...]:
    """`recover_landings` for who holds the lock."""
    plans = open_plans(repository.common_dir)
    recovered: list[Recovered] = []
    faults: list[Exception] = []
    for _, group in itertools.groupby(plans, key=lambda plan: plan.group):
        try:
            recovered += _recover_group(repository, list(group), tell, faults)
        except (GitFailed, OSError) as fault:
            faults.append(fault)
    _remove_orphans(repository.common_dir, {plan.group for plan in plans}, tell)
    if faults:
        raise faults[0]
    return tuple(recovered)


def _recover_group(
    repository: Repository, plans: Sequence[Plan], tell: Tell, faults: list[Exception]
) -> list[Recovered]:
    """Bring each landing of a group to its own end; they have nothing to do with one another."""
    group = [Underway(grounds_of(repository, plan), plan) for plan in plans]
    if not group[0].grounds.tree.root.is_dir():
        return []  # A worktree that is not there now, perhaps on a disk that is not mounted.
    if not group[0].grounds.staging.root.is_dir():
        return [_recover_without_staging(repository, one, tell) for one in group]
    edited = [tuple(map(show_path, _edited(one))) for one in group]
    for one in group:
        if not one.plan.ready:
            take_back(repository, tell, one, None)
    # A person may have edited a path that is still to change, or the disk may refuse to go this way: then back.
    ends = carry_through(repository, group, tell, is_new=False)
    faults += [end.fault for end in ends if end.is_open and end.fault is not None]
    return [
        _told(one.plan, end.has_landed, left if end.has_landed else end.edited, end.kept)
        for one, end, left in zip(group, ends, edited, strict=True)
        if not end.is_open
    ]


def _recover_without_staging(repository: Repository, one: Underway, tell: Tell) -> Recovered:
    """The files that waited are gone, by its end or by somebody: what stands in the tree is all there is, and stays."""
    grounds, plan = one.grounds, one.plan
    if has_landing_ref(repository, plan.landing, plan.after):
        return _told(plan, True, (), clear_landed(repository, grounds, plan, tell))
    other = tuple(show_path(step.path) for step in plan.steps if grounds.stands(step) != step.after)
    if other:
        return _told(plan, False, other, drop(repository, grounds, plan, tell))
    needs = record(repository, grounds, plan, tell)
    tell("wait for the disk")
    sync_all(needs)
    return _told(plan, True, (), clear_landed(repository, grounds, plan, tell))


def _told(plan: Plan, completed: bool, edited: tuple[str, ...], kept: tuple[str, ...]) -> Recovered:
    paths = tuple(show_path(step.path) for step in plan.steps)
    return Recovered(plan.landing, plan.child, completed, paths, edited, kept)


def _edited(one: Underway) -> list[RepoPath]:
    """The paths that a person has changed since the landing did."""
    return [step.path for step in one.plan.steps if one.plan.ready and _is_edited(one.grounds, step)]


def _is_edited(grounds: Grounds, step: Step) -> bool:
    return state_of(grounds, step) == "after" and grounds.stands(step) != step.after


def _remove_orphans(common_dir: Path, known: Collection[str], tell: Tell) -> None:
    """Remove what waits for landings that never came to have a plan, or whose plan has ended."""
    folder = staging_folder(common_dir, "")
    for name in os.listdir(folder) if folder.is_dir() else ():
        if name not in known:
            tell("remove staging")
            shutil.rmtree(folder / name, ignore_errors=True)
    remove_unfinished(common_dir)
    sweep_scratch(common_dir)
