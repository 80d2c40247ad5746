"""The door to a repository's object database: bytes of blobs and trees by id, in and out.

libgit2 (through pygit2, imported only here) answers in microseconds. Where it refuses a repository (SHA-256
ids, an extension that it does not know) or misses an object, git's own plumbing answers the same questions:
slower, never differently. Ids are never checked here against a type; `merge.store.objects` knows what a tree is. A
store belongs to one thread; opening one costs a tenth of a millisecond (`keep_open` for who asks often).
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pygit2
from pygit2.enums import ObjectType, RepositoryOpenFlag

from merge.store.git import GitFailed, GitPlace, run_git
from merge.store.repository import Repository
from merge.store.trees import SUBMODULE, Entry, ObjectId, encode_tree

# What pygit2 raises. Git is asked next, and has the last word on whether it can be done at all.
_REFUSALS = (pygit2.GitError, KeyError, ValueError, OSError)


class ObjectMissing(GitFailed):
    """Raised when the repository lacks an object that it should hold. `str()` names it and the remedy."""

    def __init__(self, repository: Repository, wanted: ObjectId) -> None:
        super().__init__(("cat-file", "--batch"), 0, f"{wanted} missing")
        self.object = wanted
        self.sentence = (
            f"{repository.common_dir} does not hold the object {wanted}; run `git fsck` there, "
            "and `git fetch` if it is a partial or shallow clone."
        )

    def __str__(self) -> str:
        return self.sentence


class ObjectStore(Protocol):
    """What both ways into an object database can do. Lists keep their order.

    Every one of them raises `GitFailed` when git itself can't do it, on a full disk say.
    """

    known_trees: dict[ObjectId, Mapping[bytes, Entry]]
    """What has been read of trees so far, entries by name: no tree is taken apart twice."""

    starts_processes: bool
    """Whether each question starts a git."""

    def read_all(self, ids: Sequence[ObjectId]) -> list[bytes]:
        """The content of each object.

        Raises:
            ObjectMissing: when one is not there.
        """
        ...

    def write(self, kind: Literal["blob", "commit"], data: bytes) -> ObjectId:
        """Store `data` as it is, no filter applied."""
        ...

    def write_trees(self, trees: Sequence[Mapping[bytes, Entry]]) -> list[ObjectId]:
        """Store trees, each the entries of one folder by name."""
        ...

    def read_small(self, ids: Sequence[ObjectId], limit_bytes: int) -> list[bytes] | None:
        """The content of each object; None when one is larger, or can't be had without git."""
        ...

    def head(self) -> tuple[ObjectId | None] | None:
        """The commit that HEAD is at, which may be none yet; None when only git can tell."""
        ...


@dataclass(frozen=True)
class OpenRepository(Repository):
    """A repository whose object database stays open, for one thread that asks it again and again."""

    store: ObjectStore = field(compare=False, repr=False)


def keep_open(repository: Repository) -> Repository:
    """The same repository with its object database open: what is asked of it in this thread costs less."""
    if isinstance(repository, OpenRepository):
        return repository
    return OpenRepository(
        repository.root, repository.git_dir, repository.common_dir, store=open_store(repository)
    )


def open_store(repository: Repository) -> ObjectStore:
    """The fastest way into the repository's object database that works there."""
    if isinstance(repository, OpenRepository):
        return repository.store
    try:
        # NO_SEARCH: this repository or none; never one that a parent folder happens to hold.
        opened = pygit2.Repository(str(repository.git_dir), RepositoryOpenFlag.NO_SEARCH)
    except _REFUSALS:
        return _GitStore(repository)
    return _Libgit2Store(repository, opened)


def open_store_borrowing(repository: Repository, place: GitPlace, objects: Path) -> ObjectStore:
    """The object database that git sees at `place`, with a folder of objects beside it that somebody else wrote.

    Read by git, in a process of its own: what is in there may be anything.
    """
    return _GitStore(repository, dataclasses.replace(place, borrows=objects))


def set_ref(repository: Repository, name: str, commit: ObjectId, *, new: bool) -> None:
    """Let a ref of ours name `commit`. A `new` one must not be there yet.

    Raises:
        GitFailed: when it can't be set.
    """
    try:
        opened = pygit2.Repository(str(repository.git_dir), RepositoryOpenFlag.NO_SEARCH)
        opened.references.create(name, commit, force=not new)
    except _REFUSALS:
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        run_git(place, "update-ref", name, commit, *(["0" * len(commit)] if new else []))


def lacking(repository: Repository, place: GitPlace, ids: Collection[ObjectId]) -> set[ObjectId]:
    """Those of `ids` that neither the repository nor git at `place` knows."""
    store = open_store(repository)
    if isinstance(store, _Libgit2Store):
        ids = store.unknown(ids)
    return _GitStore(repository, place).unknown(ids)


class _Libgit2Store:
    starts_processes = False

    def __init__(self, repository: Repository, opened: pygit2.Repository) -> None:
        self._repository = repository
        self._opened = opened
        self.known_trees: dict[ObjectId, Mapping[bytes, Entry]] = {}
        # libgit2 makes a file also for an object that is there. Siblings share commits, few blobs and trees.
        self._commits: dict[bytes, ObjectId] = {}

    def unknown(self, ids: Collection[ObjectId]) -> set[ObjectId]:
        return {wanted for wanted in ids if wanted not in self._opened}

    def read_all(self, ids: Sequence[ObjectId]) -> list[bytes]:
        try:
            return [self._opened.read(wanted)[1] for wanted in ids]
        except _REFUSALS:
            # Perhaps in a place or a format that only git knows.
            return _GitStore(self._repository).read_all(ids)

    def write(self, kind: Literal["blob", "commit"], data: bytes) -> ObjectId:
        if kind == "commit" and data in self._commits:
            return self._commits[data]
        try:
            written = ObjectId(str(self._opened.write(ObjectType[kind.upper()], data)))
        except _REFUSALS:
            return _GitStore(self._repository).write(kind, data)
        if kind == "commit":
            self._commits[data] = written
        return written

    def write_trees(self, trees: Sequence[Mapping[bytes, Entry]]) -> list[ObjectId]:
        try:
            return [ObjectId(str(self._opened.write(ObjectType.TREE, encode_tree(tree)))) for tree in trees]
        except _REFUSALS:
            return _GitStore(self._repository).write_trees(trees)

    def read_small(self, ids: Sequence[ObjectId], limit_bytes: int) -> list[bytes] | None:
        try:
            if any(self._opened.odb.read_header(wanted)[1] > limit_bytes for wanted in ids):
                return None
            return [self._opened.read(wanted)[1] for wanted in ids]
        except _REFUSALS:
            return None

    def head(self) -> tuple[ObjectId | None] | None:
        try:
            if self._opened.head_is_unborn:
                return (None,)
            return (ObjectId(str(self._opened.head.target)),)
        except _REFUSALS:
            return None


class _GitStore:
    starts_processes = True

    def __init__(self, repository: Repository, place: GitPlace | None = None) -> None:
        self._repository = repository
        self.known_trees: dict[ObjectId, Mapping[bytes, Entry]] = {}
        # The working tree is named, since the one that a submodule's settings name may be gone.
        folder = repository.common_dir
        self._place = place or GitPlace(folder, git_dir=repository.git_dir, work_tree=folder)

    def unknown(self, ids: Collection[ObjectId]) -> set[ObjectId]:
        if not ids:
            return set()
        feed = "".join(f"{wanted}\n" for wanted in ids).encode()
        lines = run_git(self._place, "cat-file", "--batch-check", feed=feed).output.split(b"\n")
        return {ObjectId(line.split(b" ")[0].decode()) for line in lines if line.endswith(b" missing")}

    def read_all(self, ids: Sequence[ObjectId]) -> list[bytes]:
        if not ids:
            return []
        feed = "".join(f"{wanted}\n" for wanted in ids).encode()
        output = run_git(self._place, "cat-file", "--batch", feed=feed).output
        contents: list[bytes] = []
        position = 0
        for wanted in ids:
            # "ID TYPE SIZE\nCONTENT\n", or "ID missing\n" (git-cat-file(1), batch output).
            end = output.index(b"\n", position)
            words = output[position:end].split(b" ")
            if len(words) != 3:
                raise ObjectMissing(self._repository, wanted)
            size = int(words[2])
            contents.append(output[end + 1 : end + 1 + size])
            position = end + 1 + size + 1
        return contents

    def write(self, kind: Literal["blob", "commit"], data: bytes) -> ObjectId:
        return ObjectId(run_git(self._place, "hash-object", "-w", "-t", kind, "--stdin", feed=data).line())

    def write_trees(self, trees: Sequence[Mapping[bytes, Entry]]) -> list[ObjectId]:
        if not trees:
            return []
        feed = b"".join(_describe(tree) + b"\0" for tree in trees)
        # --missing: a submodule's commit is never here, and git must not go and fetch a partial clone's
        # blobs.
        output = run_git(self._place, "mktree", "-z", "--missing", "--batch", feed=feed).output
        return [ObjectId(line.decode()) for line in output.split()]

    def read_small(self, ids: Sequence[ObjectId], limit_bytes: int) -> list[bytes] | None:
        return None

    def head(self) -> tuple[ObjectId | None] | None:
        return None


def _describe(tree: Mapping[bytes, Entry]) -> bytes:
    """One tree as git-mktree(1) reads it with -z."""
    return b"".join(
        b"%06o %s %s\t%s\0" % (entry.mode, _type_of(entry), entry.object.encode(), name)
        for name, entry in tree.items()
    )


def _type_of(entry: Entry) -> bytes:
    if entry.is_folder:
        return b"tree"
    return b"commit" if entry.mode == SUBMODULE else b"blob"
