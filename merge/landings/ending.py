"""The two ends of a landing: it has landed, durably, or it is taken back and as if it had never begun.

Its journal is open until then, and removed as the last act. Whoever finds an open journal goes on from what the disk
shows, so each of these ends can be begun again after a SIGKILL at any point. Those of a group that landed end
together, since their files wait in one folder.
"""

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from merge.files.working_files import WorkingFiles
from merge.landings.carrying_out import Tell, clear_emptied_folders, clear_waiting, take_back, touched_folders
from merge.landings.landing_journal import Grounds, Plan, remove_plans, staging_folder
from merge.landings.own_refs import remove_landing_ref, set_landing_ref
from merge.landings.staging import discard
from merge.snapshots.submodule_pins import pin_landing
from merge.store.repository import Repository
from merge.store.syncing import Unsynced, keeps_order, sync_all, sync_folder
from merge.store.trees import show_path


def grounds_of(repository: Repository, plan: Plan) -> Grounds:
    """The folders that the plan moves files between."""
    root = Path(os.fsdecode(plan.root))
    staging = staging_folder(repository.common_dir, plan.group)
    return Grounds(WorkingFiles(root, len(plan.after)), WorkingFiles(staging, len(plan.after)))


def record(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell) -> list[Unsynced]:
    """Let a ref tell of a landing whose files all stand in place; it has landed once the answer is on the disk.

    Raises:
        GitFailed: when the ref can't be written.
    """
    tell("record landing")
    for inside in plan.inside:
        git_dir = Path(os.fsdecode(inside.git_dir))
        if git_dir.is_dir():  # a submodule that was taken out since has nothing left to undo
            pin_landing(Repository(git_dir, git_dir, git_dir), plan.landing, inside.before, inside.after)
    # Until all is on the disk the ref says nothing: the journal is there, and who finds it goes on, or takes both back.
    ref = set_landing_ref(repository, plan.landing, plan.after, grounds.staging.root)
    return [*_folders_of(grounds, plan), ref]


def end_landed(
    repository: Repository, landed: Sequence[tuple[Grounds, Plan]], tell: Tell
) -> list[tuple[str, ...]]:
    """End those of a group that have landed, which are all that is left of it; the full paths of what was kept of each.

    Whatever can't be cleared away now is cleared by the next start, which finds the journals.
    """
    kept: list[tuple[str, ...]] = [() for _ in landed]
    staging = landed[0][0].staging.root
    with contextlib.suppress(OSError):
        in_order = keeps_order(staging)
        tell("end landing")
        # From now on their files are out of sight of who would carry them out.
        over = staging.rename(staging.with_name(f"{staging.name}.over"))
        if not in_order:
            sync_folder(over.parent)
        for order, (grounds, plan) in enumerate(landed):
            waiting = WorkingFiles(over, grounds.staging.id_length)
            kept[order] = clear_landed(repository, Grounds(grounds.tree, waiting), plan, tell, durably=False)
        if not in_order:
            remove_plans(repository.common_dir, ())
        tell("remove staging")
        shutil.rmtree(over, ignore_errors=True)
    return kept


def end_empty(repository: Repository, group: str, tell: Tell) -> None:
    """End a group of which nothing has landed and nothing is open."""
    tell("remove staging")
    shutil.rmtree(staging_folder(repository.common_dir, group), ignore_errors=True)


def clear_landed(
    repository: Repository, grounds: Grounds, plan: Plan, tell: Tell, *, durably: bool = True
) -> tuple[str, ...]:
    """Clear away what a landing leaves that has landed, the journal last; the paths of what was kept.

    A journal that a power cut brings back finds no staging folder, and is known by its ref.

    Raises:
        OSError: when the disk refuses.
    """
    kept = _clear_waiting(repository, grounds, plan, tell)
    clear_emptied_folders(grounds, plan.steps, tell)
    tell("remove journal")
    remove_plans(repository.common_dir, [plan.landing], durably=durably)
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
    remove_landing_ref(repository, plan.landing)
    sync_all(_folders_of(grounds, plan))
    return tuple(map(show_path, edited)), drop(repository, grounds, plan, tell)


def drop(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell) -> tuple[str, ...]:
    """Remove a landing's journal, and its files that wait; the paths of what was kept.

    Raises:
        OSError: when the disk refuses.
    """
    kept = _clear_waiting(repository, grounds, plan, tell)
    tell("remove journal")
    remove_plans(repository.common_dir, [plan.landing])
    tell("remove staging")
    discard(grounds.staging.root, plan.landing)
    return kept


def _clear_waiting(repository: Repository, grounds: Grounds, plan: Plan, tell: Tell) -> tuple[str, ...]:
    keep = repository.common_dir.joinpath("covey/kept", plan.landing)
    return clear_waiting(grounds, plan, WorkingFiles(keep, grounds.tree.id_length), tell)


def _folders_of(grounds: Grounds, plan: Plan) -> list[Unsynced]:
    root = str(grounds.tree.root)
    return [Unsynced(f"{root}/{os.fsdecode(folder)}", ("",)) for folder in touched_folders(plan)]
