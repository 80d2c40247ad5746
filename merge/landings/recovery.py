"""Landings that were interrupted, by a SIGKILL or a power cut, completed or taken back at the next start.

Completed, when every path that is still to be changed holds what the landing expected; taken back otherwise,
since a person has then edited a file that was about to be merged. A path that a person has edited since is
never touched: it is theirs. Anything that waits in a staging folder of no landing is removed.
"""

import contextlib
import os
import shutil
from collections.abc import Collection
from pathlib import Path

import msgspec

from merge.files.lock import landing_lock
from merge.files.working_files import WorkingFiles
from merge.landings.carrying_out import (
    Moved,
    Tell,
    carry_out,
    clear_emptied_folders,
    clear_waiting,
    nobody,
    state_of,
    take_back,
    touched_folders,
)
from merge.landings.landing_journal import (
    Grounds,
    Plan,
    Step,
    open_plans,
    remove_plan,
    remove_unfinished,
    staging_folder,
)
from merge.landings.landing_records import record_landing
from merge.landings.own_refs import has_landing_refs, remove_landing_refs
from merge.snapshots.submodule_pins import pin_landing
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.scratch import sweep_scratch
from merge.store.syncing import Unsynced, keeps_order, sync_all, sync_folder
from merge.store.trees import show_path


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
        OSError: when the disk refuses both ways; the landing is then tried again at the next start.
    """
    with landing_lock(repository):
        return recover_locked(repository, tell=tell)


def recover_locked(repository: Repository, *, tell: Tell = nobody) -> tuple[Recovered, ...]:
    """`recover_landings` for who holds the lock."""
    plans = open_plans(repository.common_dir)
    recovered = [_recover(repository, plan, tell) for plan in plans]
    _remove_orphans(repository.common_dir, {plan.landing for plan in plans}, tell)
    return tuple(found for found in recovered if found is not None)


def grounds_of(repository: Repository, plan: Plan) -> Grounds:
    """The folders that the plan moves files between."""
    root = Path(os.fsdecode(plan.root))
    staging = staging_folder(repository.common_dir, plan.landing)
    return Grounds(WorkingFiles(root, len(plan.after)), WorkingFiles(staging, len(plan.after)))


def finish(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell) -> tuple[str, ...]:
    """Make a landing whose files all stand in place durable, and end it; the paths of what was kept.

    Raises:
        OSError: when the disk refuses; it has not landed then.
        GitFailed: when the refs can't be written; it has not landed then.
    """
    tell("record landing")
    for inside in plan.inside:
        git_dir = Path(os.fsdecode(inside.git_dir))
        if git_dir.is_dir():  # a submodule that was taken out since has nothing left to undo
            pin_landing(Repository(git_dir, git_dir, git_dir), plan.landing, inside.before, inside.after)
    refs = record_landing(repository, plan.landing, plan.before, plan.after)
    # Before this is done the refs say nothing: the journal is there, and who finds it goes on, or takes both back.
    tell("wait for the disk")
    sync_all([*_folders_of(grounds, plan), refs])
    # It has landed. Whatever can't be cleared away now is cleared by the next start, which finds the journal.
    kept: tuple[str, ...] = ()
    with contextlib.suppress(OSError):
        over = _over(grounds)
        in_order = keeps_order(grounds.staging.root)
        tell("end landing")
        grounds.staging.root.rename(over.staging.root)
        if not in_order:
            sync_folder(over.staging.root.parent)
        kept = _clear(repository, over, plan, tell, durably=not in_order)
    return kept


def _over(grounds: Grounds) -> Grounds:
    """The grounds of a landing that has landed: from then on its files are out of sight of who would carry it out."""
    waiting = grounds.staging
    name = f"{waiting.root.name}.over"
    return Grounds(grounds.tree, WorkingFiles(waiting.root.with_name(name), waiting.id_length))


def _clear(
    repository: Repository, over: Grounds, plan: Plan, tell: Tell, *, durably: bool
) -> tuple[str, ...]:
    """Clear away what a landing leaves that has landed, the journal last; the paths of what was kept.

    A journal that a power cut brings back finds no staging folder, and is known by its refs.
    """
    kept = _clear_waiting(repository, over, plan, tell)
    clear_emptied_folders(over, plan.steps, tell)
    _end(repository, over, plan, tell, durably=durably)
    return kept


def abandon(
    repository: Repository, grounds: Grounds, plan: Plan, tell: Tell
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take a landing back and end it; the paths left as a person has them, and of what was kept.

    Raises:
        OSError: when the disk refuses.
        GitFailed: when it was recorded and git can't take the record away.
    """
    edited = take_back(grounds, plan, tell) if plan.ready else ()
    remove_landing_refs(repository, plan.landing)
    sync_all(_folders_of(grounds, plan))
    kept = _clear_waiting(repository, grounds, plan, tell)
    _end(repository, grounds, plan, tell)
    return tuple(map(show_path, edited)), kept


def _folders_of(grounds: Grounds, plan: Plan) -> list[Unsynced]:
    root = str(grounds.tree.root)
    return [Unsynced(f"{root}/{os.fsdecode(folder)}", ("",)) for folder in touched_folders(plan)]


def _clear_waiting(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell) -> tuple[str, ...]:
    keep = repository.common_dir.joinpath("covey/kept", plan.landing)
    return clear_waiting(grounds, plan, WorkingFiles(keep, grounds.tree.id_length), tell)


def _end(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell, *, durably: bool = True) -> None:
    tell("remove journal")
    remove_plan(repository.common_dir, plan.landing, durably=durably)
    tell("remove staging")
    shutil.rmtree(grounds.staging.root, ignore_errors=True)


def _recover(repository: Repository, plan: Plan, tell: Tell) -> Recovered | None:
    grounds = grounds_of(repository, plan)
    if not grounds.tree.root.is_dir():
        return None  # A worktree that is not there now, perhaps on a disk that is not mounted.
    paths = tuple(show_path(step.path) for step in plan.steps)
    if not grounds.staging.root.is_dir():
        return _recover_without_staging(repository, grounds, plan, paths, tell)
    if plan.ready:
        edited = tuple(show_path(step.path) for step in plan.steps if _is_edited(grounds, step))
        try:
            carry_out(grounds, plan, tell)
            return Recovered(
                plan.landing, plan.child, True, paths, edited, finish(repository, grounds, plan, tell)
            )
        except (Moved, GitFailed, OSError):
            pass  # A person has edited a path that is still to change, or the disk refuses to go this way.
    left, kept = abandon(repository, grounds, plan, tell)
    return Recovered(plan.landing, plan.child, False, paths, left, kept)


def _recover_without_staging(
    repository: Repository, grounds: Grounds, plan: Plan, paths: tuple[str, ...], tell: Tell
) -> Recovered:
    """The files that waited are gone, by its end or by somebody: what stands in the tree is all there is, and stays."""
    if has_landing_refs(repository, plan.landing, plan.after):
        kept = _clear(repository, _over(grounds), plan, tell, durably=True)
        return Recovered(plan.landing, plan.child, True, paths, (), kept)
    other = tuple(show_path(step.path) for step in plan.steps if grounds.stands(step) != step.after)
    if not other:
        return Recovered(plan.landing, plan.child, True, paths, (), finish(repository, grounds, plan, tell))
    kept = _clear_waiting(repository, grounds, plan, tell)
    _end(repository, grounds, plan, tell)
    return Recovered(plan.landing, plan.child, False, paths, other, kept)


def _is_edited(grounds: Grounds, step: Step) -> bool:
    """Whether a person has changed the path since the landing did."""
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
