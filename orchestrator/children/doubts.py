"""What speaks against landing a child's result by itself, though it would merge: nobody asks for what it would do.

Who settles a child keeps such a result for the person; who shows it says what it would do. The person may land it all
the same. Knows no worker and no landing.
"""

from merge.checkouts.result import Result
from merge.checkouts.turned_back import taken_along, turned_back
from merge.checkouts.unresolved import unresolved
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath, show_path
from orchestrator.children.first_message import listed


def doubt_about(repository: Repository, head: ObjectId | None, base: ObjectId, result: Result) -> str:
    """Why a person should decide about `result`, in words without a period; empty when nothing speaks against it.

    `head` is the person's commit when the child began, `base` the tree that it began with. Reads objects, so it blocks.

    Raises:
        GitFailed: when one of them can't be read.
    """
    undone = turned_back(repository, head, base, result.changes)
    if undone:
        return f"it would take back what you have not committed: {_named(undone)}"
    without = _without_what_came_since(repository, head, base, result)
    if without:
        return f"it works on an older commit and would take back what came since: {_named(without)}"
    marked = unresolved(repository, result.changes)
    if marked:
        return f"the child left conflict markers in: {_named(marked)}"
    return ""


def _without_what_came_since(
    repository: Repository, head: ObjectId | None, base: ObjectId, result: Result
) -> tuple[RepoPath, ...]:
    # From the parent's own commit only what is not committed can be gone, which is looked at as a whole.
    if result.works_on in (None, head):
        return ()
    return taken_along(repository, result.works_on, base, result.changes)


def _named(paths: tuple[RepoPath, ...]) -> str:
    return listed([show_path(path) for path in paths])
