"""Work that a child committed, staged or stashed in its checkout and that would not land with the files there.

A child that stashes, or commits on a branch and leaves it, or adds what git ignores, has work that would go with
the checkout. It is looked for in the refs of the checkout's `.git`, read as plain files, and in a copy of its index;
git is never run with that directory as its own.
"""

import dataclasses
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from merge.store.commits import read_commit_from
from merge.store.git import GitFailed, GitPlace, ask_git
from merge.store.object_store import ObjectStore, lacking, open_store_borrowing
from merge.store.objects import compare_trees, read_entries
from merge.store.repository import Repository
from merge.store.scratch import open_scratch
from merge.store.trees import SUBMODULE, LeftOut, ObjectId, RepoPath, show_path

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_STASH = "refs/stash"


class OwnCommit(msgspec.Struct, frozen=True):
    """A commit that a child made. `subject` is the first line of its message."""

    commit: ObjectId
    subject: str


def own_commits(repository: Repository, twin: GitPlace, git_dir: Path) -> tuple[OwnCommit, ...]:
    """The commits that a checkout's branches hold and the repository does not, stashes aside, the newest first.

    Raises:
        GitFailed: when what the child left can't be read.
    """
    refs = list(read_refs(git_dir)) if git_dir.is_dir() and not git_dir.is_symlink() else []
    heads = lacking(repository, twin, {commit for name, commit in refs if name != _STASH})
    if not heads:
        return ()
    store = open_store_borrowing(repository, twin, git_dir / "objects")
    commits = list(_history(repository, twin, store, heads))
    found: list[tuple[int, OwnCommit]] = []
    for commit, content in zip(commits, store.read_all(commits), strict=True):
        message = content.partition(b"\n\n")[2].strip().partition(b"\n")[0]
        seconds = read_commit_from(store, commit).seconds
        found.append((seconds, OwnCommit(commit, message.decode(errors="replace"))))
    return tuple(own for _, own in sorted(found, key=lambda each: -each[0]))


def went_below(repository: Repository, twin: GitPlace, git_dir: Path, commit: ObjectId) -> ObjectId | None:
    """The last of the commits before `commit`, where a checkout began, that its HEAD still holds.

    None where HEAD holds `commit` itself, where the two have nothing in common, and where that can't be read.
    """
    refs = dict(read_refs(git_dir)) if git_dir.is_dir() and not git_dir.is_symlink() else {}
    head = refs.get("HEAD", commit)
    if head == commit:
        return None
    place = dataclasses.replace(twin, borrows=git_dir / "objects")
    answer = ask_git(place, "merge-base", head, commit)
    common = answer.output.decode().strip()
    return ObjectId(common) if answer.status == 0 and common != commit else None


def unlanded_history(
    repository: Repository,
    twin: GitPlace,
    git_dir: Path,
    base: ObjectId,
    result: ObjectId,
    stays_behind: Callable[[RepoPath, bool], bool],
) -> list[LeftOut]:
    """One line for each ref in a checkout's `git_dir` that holds work which the result does not, and for its index.

    What HEAD's commits hold is older than the files and counts as known, except a file that still stands there and
    is ignored: whoever adds such a file wants it. `stays_behind(path, in_base)` names paths that would not land
    anyway.
    """
    refs = list(read_refs(git_dir)) if git_dir.is_dir() and not git_dir.is_symlink() else []
    own = lacking(repository, twin, {commit for _, commit in refs})
    told: list[LeftOut] = []
    added = _added_to_index(repository, twin, git_dir, dict(refs).get("HEAD", base)) if refs else []
    staged = [
        path for path in _not_in(repository, result, git_dir.parent, added) if not stays_behind(path, False)
    ]
    if staged:
        told.append(LeftOut(".git", f"its index holds files that git ignores ({_shown(staged)})"))
    if not own:
        return told
    store = open_store_borrowing(repository, twin, git_dir / "objects")
    head = {commit for name, commit in refs if name == "HEAD"} & own
    found: dict[str, list[RepoPath]] = {}
    try:
        known = _history(repository, twin, store, head)
        wanted = [
            path
            for commit in head
            for path in _ignored(repository, store, commit, base, result, git_dir.parent)
            if not stays_behind(path, False)
        ]
        for name, commit in refs:
            if commit in own - known:
                for path in _beyond(repository, store, commit, base, result, is_stash=name == _STASH):
                    if not stays_behind(path[0], path[1]):
                        found.setdefault(name, []).append(path[0])
    except GitFailed as failure:
        return [*told, LeftOut(".git", f"it may hold commits of the child's, and can't be read: {failure}")]
    if wanted:
        told.append(LeftOut(".git", f"its commits hold files that git ignores ({_shown(wanted)})"))
    return told + [LeftOut(".git", _describe(name, paths)) for name, paths in sorted(found.items())]


def _describe(name: str, paths: list[RepoPath]) -> str:
    what = "a stash" if name == _STASH else f"the branch {name.removeprefix('refs/heads/')}"
    return f"{what} holds work that is not in the files ({_shown(paths)})"


def _shown(paths: list[RepoPath]) -> str:
    shown = ", ".join(show_path(path) for path in sorted(set(paths))[:3])
    return f"{shown}{', …' if len(set(paths)) > 3 else ''}"


def _ignored(
    repository: Repository,
    store: ObjectStore,
    commit: ObjectId,
    base: ObjectId,
    result: ObjectId,
    folder: Path,
) -> Iterator[RepoPath]:
    """Paths that the commit brought, that still stand in the folder, and that the result leaves out."""
    brought = [
        change.path
        for change in compare_trees(store, base, read_commit_from(store, commit).tree)
        # A repository inside is told of by whoever reads the files.
        if change.before is None and change.after is not None and change.after.mode != SUBMODULE
    ]
    yield from _not_in(repository, result, folder, brought)


def _not_in(
    repository: Repository, result: ObjectId, folder: Path, paths: Sequence[RepoPath]
) -> Iterator[RepoPath]:
    """Those of `paths` that stand in the folder and not in the result."""
    now = read_entries(repository, result, paths) if paths else {}
    for path in paths:
        if now[path] is None and os.path.lexists(folder / os.fsdecode(path)):
            yield path


def _added_to_index(repository: Repository, twin: GitPlace, git_dir: Path, head: ObjectId) -> list[RepoPath]:
    """The paths that a checkout's index holds beyond its HEAD, repositories aside; none where it can't be read."""
    index = git_dir / "index"
    if index.is_symlink() or not index.is_file():
        return []
    with open_scratch(repository.common_dir) as folder:
        # The child's own file, read beside the twin: no setting of the child's counts, nothing is written to it.
        copied = shutil.copyfile(index, folder / "index")
        place = dataclasses.replace(twin, index=copied, borrows=git_dir / "objects")
        answer = ask_git(
            place,
            "diff-index",
            "--cached",
            "-z",
            "--no-renames",
            "--diff-filter=A",
            "--ignore-submodules",
            head,
        )
    if answer.status != 0:
        return []
    # ":MODE MODE ID ID STATUS" and a path, in turn (git-diff-index(1)).
    fields = answer.fields()
    return [
        RepoPath(path)
        for words, path in zip(fields[0::2], fields[1::2], strict=True)
        if int(words.split(b" ")[1], 8) != SUBMODULE
    ]


def _beyond(
    repository: Repository,
    store: ObjectStore,
    commit: ObjectId,
    base: ObjectId,
    result: ObjectId,
    *,
    is_stash: bool,
) -> Iterator[tuple[RepoPath, bool]]:
    """Paths that the commit has otherwise than base and result, each with whether the base has it."""
    read = read_commit_from(store, commit)
    changes = list(compare_trees(store, base, read.tree))
    if is_stash and len(read.parents) == 3:
        # git-stash(1): the third parent of a stash holds the untracked files.
        changes += compare_trees(store, None, read_commit_from(store, read.parents[2]).tree)
    now = read_entries(repository, result, [change.path for change in changes])
    for change in changes:
        if now[change.path] != change.after:
            yield change.path, change.before is not None


def _history(
    repository: Repository, twin: GitPlace, store: ObjectStore, commits: set[ObjectId]
) -> set[ObjectId]:
    """The commits and those before them, as far as the repository lacks them."""
    known: set[ObjectId] = set()
    while commits:
        known |= commits
        before = {parent for commit in commits for parent in read_commit_from(store, commit).parents}
        commits = lacking(repository, twin, before - known)
    return known


def read_refs(git_dir: Path) -> Iterator[tuple[str, ObjectId]]:
    """Every ref with its commit, HEAD's and older stashes' too (gitrepository-layout(5))."""
    loose: dict[str, str] = {}
    for folder, _, names in os.walk(git_dir / "refs"):
        for name in names:
            file = Path(folder, name)
            loose[file.relative_to(git_dir).as_posix()] = _read(file).strip()
    packed = {
        line[len(found[0]) + 1 :]: found[0]
        for line in _read(git_dir / "packed-refs").splitlines()
        if (found := _ID.match(line)) is not None
    }
    refs = packed | loose
    head = _read(git_dir / "HEAD").strip()
    refs["HEAD"] = refs.get(head.removeprefix("ref: "), head)
    yield from ((name, ObjectId(value)) for name, value in refs.items() if _ID.fullmatch(value))
    for line in _read(git_dir / "logs" / _STASH).splitlines():
        words = line.split(" ", 2)
        if len(words) == 3 and _ID.fullmatch(words[1]):
            yield _STASH, ObjectId(words[1])


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="surrogateescape") if file.is_file() and not file.is_symlink() else ""
    except OSError:
        return ""
