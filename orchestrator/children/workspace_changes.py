"""What changed in a workspace between two moments, told by comparing trees: by whomever, committed or not.

What git ignores is not looked at. Knows no session.
"""

import trio

from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import ObjectId, show_path
from orchestrator.children.grounds import take_between_landings


async def tree_now(repository: Repository) -> ObjectId | None:
    """The tree that the workspace holds, or None where git can't tell."""
    try:
        return (await trio.to_thread.run_sync(take_between_landings, repository)).tree
    except (GitFailed, OSError):
        return None


async def paths_changed(
    repository: Repository, before: ObjectId | None, after: ObjectId | None
) -> tuple[str, ...] | None:
    """The paths that differ, as they are told; None where either tree is not known."""
    if before is None or after is None:
        return None
    try:
        return await trio.to_thread.run_sync(_differing, repository, before, after)
    except (GitFailed, OSError):
        return None


def _differing(repository: Repository, before: ObjectId, after: ObjectId) -> tuple[str, ...]:
    from merge.merging.parts import changed_within

    return tuple(sorted(show_path(change.path) for change in changed_within(repository, before, after)))
