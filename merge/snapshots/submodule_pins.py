"""Refs in a submodule's repository that hold what children and landings of the repository around it need.

They are apart from those that a covey session in the submodule itself keeps, whose landings have numbers of their own.
"""

from collections.abc import Iterable

from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository
from merge.store.trees import ObjectId

_CHILDREN = "refs/covey/super/children/"
_LANDINGS = "refs/covey/super/landings/"


def pin_child(submodule: Repository, child: str, side: str, commit: ObjectId) -> None:
    """Keep `commit` as the `side` (`base` or `result`) of a child.

    Raises:
        GitFailed: when git can't write the ref.
    """
    _update(submodule, [f"update {_CHILDREN}{child}/{side}\0{commit}\0\0"])


def pin_landing(submodule: Repository, landing: str, before: ObjectId, after: ObjectId) -> None:
    """Keep the two commits of a landing; when this returns they are kept, whatever happens next.

    Raises:
        GitFailed: when git can't write the refs.
    """
    ends = (("before", before), ("after", after))
    _update(submodule, [f"update {_LANDINGS}{landing}/{name}\0{commit}\0\0" for name, commit in ends])


def unpin(submodule: Repository, *, children: Iterable[str] = (), landings: Iterable[str] = ()) -> None:
    """Let go of what is kept for these. A submodule whose repository is gone has nothing to let go of.

    Raises:
        GitFailed: when git can't delete a ref.
    """
    refs = [f"{_CHILDREN}{child}/{side}" for child in children for side in ("base", "result")]
    refs += [f"{_LANDINGS}{landing}/{end}" for landing in landings for end in ("before", "after")]
    if refs and submodule.git_dir.is_dir():
        _update(submodule, [f"delete {ref}\0\0" for ref in refs])


def _update(submodule: Repository, commands: list[str]) -> None:
    # The working tree is named, since the one that the submodule's settings name may be gone.
    git_dir = submodule.git_dir
    place = GitPlace(git_dir, git_dir=git_dir, work_tree=git_dir, switches=("core.fsync=all",))
    run_git(place, "update-ref", "-z", "--stdin", feed="".join(commands).encode())
