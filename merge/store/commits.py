"""Commits of ours: read the few facts that are needed of one, write one that is the same for the same tree.

A commit of ours is signed by `covey` and dated like its parent, so that children that start together share
one. No ref moves here.
"""

import msgspec

from merge.store.object_store import ObjectStore, open_store
from merge.store.repository import Repository
from merge.store.trees import ObjectId

_COVEY = "covey <covey@localhost>"


class Commit(msgspec.Struct, frozen=True):
    """What covey needs to know of a commit. `seconds` is when it was committed, since 1970."""

    tree: ObjectId
    parents: tuple[ObjectId, ...]
    seconds: int


def read_commit(repository: Repository, commit: ObjectId) -> Commit:
    """Read a commit.

    Raises:
        ObjectMissing: when the repository does not hold it.
    """
    return read_commit_from(open_store(repository), commit)


def read_commit_from(store: ObjectStore, commit: ObjectId) -> Commit:
    """`read_commit`, from an open store."""
    tree: ObjectId | None = None
    parents: list[ObjectId] = []
    seconds = 0
    header, _, _ = store.read_all([commit])[0].partition(b"\n\n")
    for line in header.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name == b"tree":
            tree = ObjectId(value.decode())
        elif name == b"parent":
            parents.append(ObjectId(value.decode()))
        elif name == b"committer":
            # "NAME <EMAIL> SECONDS ZONE"; an old repository may lack the last two.
            words = value.rpartition(b">")[2].split()
            seconds = int(words[0]) if words and words[0].isdigit() else 0
    assert tree is not None, f"{commit} is no commit"
    return Commit(tree, tuple(parents), seconds)


def write_commit(
    repository: Repository, tree: ObjectId, parent: ObjectId | None, message: str, *, seconds: int
) -> ObjectId:
    """Store a commit of `tree` by covey; its id."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent is not None else [])]
    lines += [f"{role} {_COVEY} {seconds} +0000" for role in ("author", "committer")]
    text = "\n".join([*lines, "", message, ""])
    return open_store(repository).write("commit", text.encode())
