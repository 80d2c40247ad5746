"""`--worktree`: a whole session in a linked worktree, and what becomes of it when the session has ended.

Nothing changed: worktree and branch go, the session's record moves home. Something did: at a terminal it is offered for
merging, elsewhere it is told how. After a signal both stay as they are. Knows nothing of what the session did.
"""

import shutil
import sys
from pathlib import Path

import msgspec

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from merge.landings.worktrees import (
    Worktree,
    WorktreeRefused,
    WorktreeState,
    add_worktree,
    look_at_worktree,
    remove_worktree,
    take_over,
)
from merge.snapshots.snapshot import take_snapshot
from merge.store.git import GitFailed
from merge.store.repository import Repository
from orchestrator.children.first_message import listed
from orchestrator.children.kept import for_shell
from orchestrator.drawing.figures import count
from orchestrator.faults import UserError
from orchestrator.parent.own_folder import own_folder
from worker.path_text import quote_path

_FIRST_OF_SIGNALS = 128


class OwnWorktree(msgspec.Struct, frozen=True):
    """The worktree of one session; `copied` are the settings that were put into it, which git does not carry."""

    worktree: Worktree
    copied: tuple[Path, ...]

    @property
    def repository(self) -> Repository:
        return self.worktree.repository


def begin_worktree(repository: Repository, name: str) -> OwnWorktree:
    """Make the worktree and say where it is, on standard error.

    Raises:
        UserError: when there can't be one of that name.
    """
    try:
        worktree = add_worktree(repository, name)
    except (WorktreeRefused, GitFailed) as error:
        raise UserError(str(error)) from error
    _say(f"working in {quote_path(str(worktree.repository.root))} on the branch {worktree.branch}.")
    if worktree.missing:
        _say(
            f"these submodules are empty in there, for what it names of them is not here: {listed(worktree.missing)}"
        )
    changes = take_snapshot(repository).changes
    if changes:
        left = count(len(changes), "uncommitted change")
        _say(f"it begins at the last commit, without {left} of {repository.root}.")
    return OwnWorktree(worktree, _copy_settings(repository.root, worktree.repository.root))


def finish_worktree(own: OwnWorktree, exit_code: int, *, attended: bool) -> None:
    """Deal with a worktree whose session has ended with `exit_code`; say what became of it.

    Raises:
        UserError: when git can't tell what is in it; it stays.
    """
    worktree = own.worktree
    root = quote_path(str(worktree.repository.root))
    if exit_code > _FIRST_OF_SIGNALS:
        _say(f"{root} and the branch {worktree.branch} stay; `cd {root} && covey resume` goes on.")
        return
    try:
        _take_settings_back(own)
        state = look_at_worktree(worktree)
        if state.is_untouched:
            _bring_record_home(worktree)
            remove_worktree(worktree)
            _say(f"nothing was changed in {root}; it is removed.")
        elif attended and not state.commits and _asks_to_merge(worktree, state):
            _merge(worktree, state)
        else:
            _tell_how(worktree, state)
    except (GitFailed, OSError) as error:
        raise UserError(f"{root} stays, with the branch {worktree.branch}: {error}.") from error


def _asks_to_merge(worktree: Worktree, state: WorktreeState) -> bool:
    _say(f"changed in {quote_path(str(worktree.repository.root))}: {listed(state.changes)}")
    try:
        answer = input(f"Merge this into {quote_path(str(worktree.home.root))} now? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        print(file=sys.stderr)
        return False
    return answer.strip().lower() in ("y", "yes")


def _merge(worktree: Worktree, state: WorktreeState) -> None:
    landing = take_over(worktree)
    match landing:
        case Landed(landing=number, paths=paths, notes=notes):
            _say(f"merged {count(len(paths), 'file')}; `covey undo {number}` takes it back.")
            for note in notes:
                _say(note)
            _remove_what_was_merged(worktree, state, landing)
        case NothingToLand():
            _say("all of it was there already.")
            _remove_what_was_merged(worktree, state, landing)
        case Conflicted(conflicts=conflicts):
            _say("it conflicts, so nothing was merged:")
            for conflict in conflicts:
                print(f"  {conflict}", file=sys.stderr)
            _tell_how(worktree, state)
        case Held(reason=reason):
            _say(f"nothing was merged: {reason}.")
            _tell_how(worktree, state)


def _remove_what_was_merged(worktree: Worktree, state: WorktreeState, landing: AnyLanding) -> None:
    after = look_at_worktree(worktree)
    if after != state or state.other:
        _say(f"{quote_path(str(worktree.repository.root))} stays: it holds what was not merged.")
        return
    _bring_record_home(worktree)
    remove_worktree(worktree, landing)


def _tell_how(worktree: Worktree, state: WorktreeState) -> None:
    root, home = (for_shell(str(each.root)) for each in (worktree.repository, worktree.home))
    what = [count(state.commits, "commit")] if state.commits else []
    what += [listed(state.changes)] if state.changes else []
    what += state.other
    _say(f"the work is in {root} on the branch {worktree.branch}: {'; '.join(what)}. To take it over:")
    for part in state.parts:
        inner = for_shell(str(worktree.repository.root / part))
        print(f"  git -C {inner} add --all && git -C {inner} commit", file=sys.stderr)
    if state.changes:
        print(f"  git -C {root} add --all && git -C {root} commit", file=sys.stderr)
    print(f"  git -C {home} merge {worktree.branch}", file=sys.stderr)
    print("To throw it away:", file=sys.stderr)
    print(
        f"  git -C {home} worktree remove --force {root} && git -C {home} branch -D {worktree.branch}",
        file=sys.stderr,
    )


def _bring_record_home(worktree: Worktree) -> None:
    """The sessions that were held in there are told of where the person is from now on."""
    theirs = worktree.repository.root / ".covey" / "sessions"
    if not theirs.is_dir():
        return
    ours = own_folder(worktree.home) / "sessions"
    ours.mkdir(exist_ok=True)
    for session in sorted(theirs.iterdir()):
        shutil.move(session, ours / session.name)


def _copy_settings(home: Path, worktree: Path) -> tuple[Path, ...]:
    """The workspace's own settings for the session, where they are not committed."""
    copied: list[Path] = []
    for name in ("config.toml", "check.toml", "policy.toml"):
        source, target = home / ".covey" / name, worktree / ".covey" / name
        if source.is_file() and not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(source, target)
            copied.append(target)
    return tuple(copied)


def _take_settings_back(own: OwnWorktree) -> None:
    """Remove the copies that are as they were made: they are no work of the session."""
    for copy in own.copied:
        source = own.worktree.home.root / ".covey" / copy.name
        if copy.is_file() and source.is_file() and copy.read_bytes() == source.read_bytes():
            copy.unlink()


def _say(sentence: str) -> None:
    print(f"covey: {sentence}", file=sys.stderr)
