"""Landings that are ready, carried out as one group: each by its own plan, all with the same waits for the disk.

Three waits, however many they are: for everything that the plans need, and the plans; for the names of their
journals; for what was written, and the refs that tell of it. Each has its own journal and ref, so that each is
completed or taken back by itself, here and at the next start. One landing alone is a group of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from merge.landings.carrying_out import Moved, Tell, carry_out, check_old_files
from merge.landings.ending import abandon, end_empty, end_landed, grounds_of, record
from merge.landings.landing_journal import Grounds, Plan, write_plans
from merge.landings.landing_plan import new_place
from merge.landings.staging import Prepared
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.syncing import Unsynced, sync_all

Fault = Moved | GitFailed | OSError


@dataclass(frozen=True)
class Carried:
    """What became of a landing: it has landed, or it is taken back, because of `fault` if there was one.

    `kept` are full paths of files that somebody wrote to at the last moment, `edited` are paths that were left as a
    person has them. With `is_open` its journal is still there: the disk refused both ways.
    """

    has_landed: bool
    kept: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    fault: Fault | None = None
    is_open: bool = False


@dataclass
class Underway:
    """A landing that has a plan and, while it has no `end`, an open journal. `needs` must be on the disk next."""

    grounds: Grounds
    plan: Plan
    needs: Sequence[Unsynced] = ()
    end: Carried | None = field(default=None)


def carry_out_together(
    repository: Repository, prepared: Sequence[Prepared], tell: Tell
) -> tuple[Carried, ...]:
    """Carry out landings that have nothing to do with one another, in their order. The caller holds the lock."""
    group = [Underway(grounds_of(repository, each.plan), each.plan, each.needs) for each in prepared]
    give_up = partial(take_back, repository, tell)
    _all_or_none(group, partial(_write_journals, repository, tell), give_up)
    beside = [one for one in group if not one.plan.ready]
    _each(beside, partial(_bring_beside, tell), give_up)
    _all_or_none(beside, partial(_write_journals, repository, tell), give_up)
    return carry_through(repository, group, tell, is_new=True)


def carry_through(
    repository: Repository, group: Sequence[Underway], tell: Tell, *, is_new: bool
) -> tuple[Carried, ...]:
    """Bring landings whose journals are durable to their ends, those that have none yet; nothing is done when `is_new`.

    All of a group that are left have to be among them.
    """
    give_up = partial(take_back, repository, tell)
    _each(group, partial(_change, tell, is_new), give_up)
    _each(group, partial(_record, repository, tell, is_new), give_up)
    _all_or_none(group, partial(_wait, tell), give_up)
    landed = [one for one in group if one.end is None]
    kept: Sequence[tuple[str, ...]] = [() for _ in landed]
    if any(one.end is not None and one.end.is_open for one in group):
        # Its files still wait in the folder that would be removed: then all stay open, and the next start finds that
        # those that landed have nothing left to do.
        pass
    elif landed:
        kept = end_landed(repository, [(one.grounds, one.plan) for one in landed], tell)
    else:
        end_empty(repository, group[0].plan.group, tell)
    for one, paths in zip(landed, kept, strict=True):
        one.end = Carried(has_landed=True, kept=paths)
    return tuple(one.end for one in group if one.end is not None)


def take_back(repository: Repository, tell: Tell, one: Underway, fault: Fault | None) -> None:
    """Take back a landing that `fault` holds up."""
    try:
        edited, kept = abandon(repository, one.grounds, one.plan, tell)
    except (GitFailed, OSError) as worse:
        one.end = Carried(has_landed=False, fault=worse, is_open=True)
    else:
        one.end = Carried(has_landed=False, kept=kept, edited=edited, fault=fault)


def _write_journals(repository: Repository, tell: Tell, group: Sequence[Underway]) -> None:
    tell("write journal")
    needs = [need for one in group for need in one.needs]
    write_plans(repository.common_dir, [one.plan for one in group], needs)


def _bring_beside(tell: Tell, one: Underway) -> None:
    """Bring the new files that can't wait in the staging folder to where they wait."""
    folders: set[bytes] = set()
    for step in one.plan.steps:
        if step.new is not None and step.new.beside:
            tell("copy new file beside its place")
            place = new_place(one.plan.landing, step.number)
            one.grounds.staging.copy(place, one.grounds.tree, step.new.path)
            folders.add(step.new.path.rpartition(b"/")[0])
    one.grounds.tree.sync_folders(folders)
    one.plan, one.needs = msgspec.structs.replace(one.plan, ready=True), ()


def _change(tell: Tell, is_new: bool, one: Underway) -> None:
    carry_out(one.grounds, one.plan, tell, is_new=is_new)


def _record(repository: Repository, tell: Tell, is_new: bool, one: Underway) -> None:
    if is_new:  # later, whoever wrote to one of them has long been done
        check_old_files(one.grounds, one.plan.steps)
    one.needs = record(repository, one.grounds, one.plan, tell)


def _wait(tell: Tell, group: Sequence[Underway]) -> None:
    tell("wait for the disk")
    sync_all([need for one in group for need in one.needs])


def _each(
    group: Sequence[Underway], act: Callable[[Underway], None], give_up: Callable[[Underway, Fault], None]
) -> None:
    for one in group:
        if one.end is None:
            try:
                act(one)
            except (Moved, GitFailed, OSError) as fault:
                give_up(one, fault)


def _all_or_none(
    group: Sequence[Underway],
    act: Callable[[Sequence[Underway]], None],
    give_up: Callable[[Underway, Fault], None],
) -> None:
    left = [one for one in group if one.end is None]
    if not left:
        return
    try:
        act(left)
    except (GitFailed, OSError) as fault:
        for one in reversed(left):
            give_up(one, fault)
