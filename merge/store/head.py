"""Where HEAD of a working tree is: its branch and its commit. Reads, and knows nothing of what they mean."""

import os

import msgspec

from merge.store.git import GitPlace, ask_git
from merge.store.object_store import open_store
from merge.store.repository import Repository
from merge.store.trees import ObjectId

_BRANCH = "ref: refs/heads/"


class Head(msgspec.Struct, frozen=True):
    """`branch` is None on a detached HEAD, `commit` before the first commit."""

    branch: str | None
    commit: ObjectId | None


def read_head(repository: Repository) -> Head:
    """Read HEAD as it is now."""
    found = open_store(repository).head()
    try:
        word = os.fsdecode((repository.git_dir / "HEAD").read_bytes()).strip()
    except OSError:
        found, word = None, ""
    if found is not None:
        return Head(word.removeprefix(_BRANCH) if word.startswith(_BRANCH) else None, found[0])
    place = GitPlace(repository.root, git_dir=repository.git_dir)
    name = ask_git(place, "symbolic-ref", "-q", "HEAD").line()
    commit = ask_git(place, "rev-parse", "-q", "--verify", "HEAD^{commit}").line()
    return Head(name.removeprefix("refs/heads/") or None, ObjectId(commit) if commit else None)
