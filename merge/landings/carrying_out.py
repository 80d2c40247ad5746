"""A landing's plan carried out on the disk, or taken back: compare, swap, compare again, one path at a time.

The file that stands at a path is swapped with the one that waits, and only then known to be the one that was
merged: whatever a person wrote up to that moment is in the hand, not lost under a rename. If it is another
one, it is swapped back. Each path's state can be read off the disk, so that everything here can be begun again
after a SIGKILL at any point. `tell` is called before each change to the disk, with its name.
"""

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Literal

from merge.files.working_files import Seen, Spot, WorkingFiles, folders_above
from merge.landings.landing_journal import Grounds, Plan, Step
from merge.store.trees import RepoPath

Tell = Callable[[str], None]
State = Literal["before", "between", "after"]


class Moved(Exception):
    """Raised when a path no longer holds what was merged; nothing of it is lost. `path` names it."""

    def __init__(self, path: RepoPath) -> None:
        super().__init__(path)
        self.path = path


def nobody(change: str) -> None:
    """Told of a change to the disk, and does nothing."""


def state_of(grounds: Grounds, step: Step) -> State:
    """How far the step has gone, by what waits where."""
    new, old = grounds.look_at(step.new), grounds.look_at(step.old)
    if step.before is None:
        return "after" if new is None else "before"
    if step.after is None:
        return "before" if old is None else "after"
    if old is not None:
        return "after" if new is None else "between"
    return "before" if new == step.after else "after"


def is_done(grounds: Grounds, step: Step) -> bool:
    """Whether nothing is left to do for the step: it was done, or its path came to be so by itself."""
    return state_of(grounds, step) == "after" or grounds.stands(step) == step.after


def carry_out(grounds: Grounds, plan: Plan, tell: Tell, *, is_new: bool = False) -> None:
    """Do what is left to do of the plan in the working tree; all of it when it `is_new`.

    Raises:
        Moved: when a path holds something else than the plan expects. Some steps may have been done.
        OSError: when the disk refuses. Some steps may have been done.
    """
    if not is_new:
        _end_half_moves(grounds, plan.steps, tell)
    left = [step for step in plan.steps if is_new or not is_done(grounds, step)]
    for step in left:
        if step.after is None:
            _take(grounds, step, tell)
    for folder in plan.going:
        tell("remove folder")
        try:
            grounds.tree.remove_folder(folder.path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise Moved(folder.path) from error
    for folder in plan.coming:
        tell("make folder")
        try:
            grounds.tree.make_folder(folder)
        except FileExistsError:
            _expect(grounds.tree.look(folder), folder)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Moved(folder) from error
    for step in left:
        if step.after is not None:
            _put_in_place(grounds, step, tell)


def check_old_files(grounds: Grounds, steps: Iterable[Step]) -> None:
    """Make sure that what was replaced is what was merged: a program may have gone on writing to it.

    Raises:
        Moved: when it isn't.
    """
    for step in steps:
        if step.before is not None and step.before != _old_file(grounds, step):
            raise Moved(step.path)


def clear_emptied_folders(grounds: Grounds, steps: Iterable[Step], tell: Tell) -> None:
    """Remove the folders that have nothing in them since the landing took their last file away."""
    for step in steps:
        if step.after is None:
            for folder in reversed(folders_above(step.path)):
                tell("remove emptied folder")
                try:
                    grounds.tree.remove_folder(folder)
                except FileNotFoundError:
                    continue  # gone already; whoever did that may have been killed before those above it
                except OSError:
                    break  # something is in it


def touched_folders(plan: Plan) -> set[bytes]:
    """The folders of the working tree in which the plan changes a name."""
    # A folder that lost its last file is not among them: were it there again after a power cut, it would be empty.
    names = [*(step.path for step in plan.steps), *plan.coming, *(folder.path for folder in plan.going)]
    return {name.rpartition(b"/")[0] for name in names}


def take_back(grounds: Grounds, plan: Plan, tell: Tell) -> tuple[RepoPath, ...]:
    """Undo what was done of the plan; the paths that were left because a person has changed them since.

    Raises:
        OSError: when the disk refuses.
    """
    left: list[RepoPath] = []
    _end_half_moves(grounds, plan.steps, tell)
    states = {step.path: state_of(grounds, step) for step in plan.steps}
    for step in plan.steps:
        if step.after is not None and states[step.path] != "before" and not _take_away(grounds, step, tell):
            left.append(step.path)
    for folder in reversed(plan.coming):
        tell("remove new folder")
        with contextlib.suppress(OSError):
            grounds.tree.remove_folder(folder)
    for folder in reversed(plan.going):
        tell("make folder again")
        with contextlib.suppress(OSError):
            grounds.tree.make_folder(folder.path)
            grounds.tree.set_permissions(folder.path, folder.permissions)
    for step in plan.steps:
        old = grounds.waiting(step.old) if step.old is not None else None
        if old is not None and old.look() is not None and step.path not in left:
            for folder in folders_above(step.path):
                if grounds.tree.look(folder) is None:
                    tell("make folder again")
                    grounds.tree.make_folder(folder)
            tell("move back")
            try:
                old.move_to(grounds.place(step))
            except (FileExistsError, NotADirectoryError):
                left.append(step.path)
    return tuple(left)


def clear_waiting(grounds: Grounds, plan: Plan, keep: WorkingFiles, tell: Tell) -> tuple[str, ...]:
    """Remove the files that wait beside their places; the full paths of what was kept.

    A file that is neither what stood at its path nor what shall stand there was written to by somebody at the
    last moment: it is moved to `keep`, or stays where it is, and is told.
    """
    kept: list[str] = []
    for step in plan.steps:
        for name, waiting in ((b"new", step.new), (b"old", step.old)):
            seen = grounds.look_at(waiting)
            if waiting is None or seen is None:
                continue
            spot = grounds.waiting(waiting)
            # While the plan is not ready nobody but covey has written here, and perhaps not to the end.
            if plan.ready and seen not in (step.before, step.after):
                tell("keep strange file")
                kept.append(_keep(spot, Spot(keep, RepoPath(b"%d-%s" % (step.number, name)))))
            elif waiting.beside:
                tell("remove waiting file")
                spot.files.remove(spot.path)
    return tuple(kept)


def _keep(spot: Spot, safe: Spot) -> str:
    safe.files.root.mkdir(parents=True, exist_ok=True)
    try:
        spot.move_to(safe)
    except OSError:
        safe = spot
    return str(safe.files.root / os.fsdecode(safe.path))


def _take(grounds: Grounds, step: Step, tell: Tell) -> None:
    """Move the file that stands at the path to where the old one waits."""
    assert step.old is not None
    place, old = grounds.place(step), grounds.waiting(step.old)
    if place.look() != step.before:
        raise Moved(step.path)
    tell("take file away")
    try:
        place.move_to(old)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Moved(step.path) from error
    if old.look() != step.before:
        # Saved anew between the look and the move. If yet another one stands there already, this one stays
        # where it is, and `clear_waiting` tells of it.
        tell("put file back")
        with contextlib.suppress(FileExistsError):
            old.move_to(place)
        raise Moved(step.path)


def _put_in_place(grounds: Grounds, step: Step, tell: Tell) -> None:
    """Let the new file stand at the path."""
    assert step.new is not None
    place, new = grounds.place(step), grounds.waiting(step.new)
    if step.before is not None and grounds.look_at(step.old) is None:
        if place.look() != step.before:
            raise Moved(step.path)
        tell("swap files")
        try:
            swapped = place.swap_with(new)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Moved(step.path) from error
        if swapped:
            if new.look() != step.before:
                tell("swap files back")
                place.swap_with(new)
                raise Moved(step.path)
            return
        _take(grounds, step, tell)
    tell("put new file")
    try:
        new.move_to(place)
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
        raise Moved(step.path) from error


def _take_away(grounds: Grounds, step: Step, tell: Tell) -> bool:
    """Take the new file from the path again; False when a person has changed it, and it stays."""
    assert step.new is not None
    place, new = grounds.place(step), grounds.waiting(step.new)
    was_moved = step.before is None or grounds.look_at(step.old) is not None
    if new.look() == step.after:
        return True  # It never came to stand there.
    if place.look() != step.after:
        return False
    if was_moved:
        tell("take new file away")
        place.move_to(new)
    else:
        tell("swap files back")
        place.swap_with(new)
    if new.look() == step.after:
        return True
    # Saved anew between the look and the move: it belongs where it was.
    tell("put file back")
    if was_moved:
        with contextlib.suppress(FileExistsError):
            new.move_to(place)
    else:
        place.swap_with(new)
    return False


def _end_half_moves(grounds: Grounds, steps: Iterable[Step], tell: Tell) -> None:
    """Let a file that has two names have its place alone: a move was cut short where it takes two steps."""
    for step in steps:
        for waiting in (step.new, step.old):
            spot = grounds.waiting(waiting) if waiting is not None else None
            if spot is not None and spot.is_same_file(grounds.place(step)):
                tell("end half a move")
                spot.files.remove(spot.path)


def _old_file(grounds: Grounds, step: Step) -> Seen | None:
    return grounds.look_at(step.old) or grounds.look_at(step.new)


def _expect(seen: Seen | None, folder: RepoPath) -> None:
    if seen is None or seen.kind != "folder":
        raise Moved(folder)
