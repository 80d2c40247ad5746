"""Whether two children that are at work would conflict with each other, told before either lands.

Asked of what their checkouts hold at the moment (`merge.checkout.glance`): a prediction, which the next edit may make
wrong. Nothing on the disk changes but that objects are added.
"""

from dataclasses import dataclass

from merge.objects import edit_tree
from merge.present import StoredTree
from merge.repository import Repository
from merge.three_way import Clashed, merge_trees
from merge.trees import Change, ObjectId, RepoPath


@dataclass(frozen=True)
class AtWork:
    """What a child holds at the moment: its base, its tree, and the changes between them."""

    base: ObjectId
    tree: ObjectId
    changes: tuple[Change, ...]


def find_overlap(repository: Repository, first: AtWork, second: AtWork) -> tuple[RepoPath, ...]:
    """The paths at which the second would conflict, had the first landed.

    Costs nothing where no path is changed by both: what renames could bring about is left to the landing.
    """
    changed = {change.path for change in first.changes}
    if changed.isdisjoint(change.path for change in second.changes):
        return ()
    landed = edit_tree(repository, second.base, [(change.path, change.after) for change in first.changes])
    merged = merge_trees(repository, second.base, StoredTree(repository, landed), second.tree)
    if not isinstance(merged, Clashed):
        return ()
    return tuple(dict.fromkeys(conflict.path for conflict in merged.conflicts))
