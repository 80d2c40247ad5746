"""Which repository a folder belongs to, and whether something in it is half done.

Answers come from the files that git itself documents (gitrepository-layout(5)), so that a session can start
without running git or importing a library. Knows nothing of trees.
"""

import os
from dataclasses import dataclass
from pathlib import Path


class NotARepository(Exception):
    """Raised when a folder is in no git repository, or in a bare one. `str()` tells a person what to do."""


class InNoRepository(NotARepository):
    """Raised when there is no repository at all, neither here nor above."""


@dataclass(frozen=True)
class Repository:
    """One working tree and its repository, all paths absolute.

    `git_dir` is where HEAD and the index of this working tree are; `common_dir` holds objects and refs. The
    two differ in a linked worktree. Neither need be in `root`.
    """

    root: Path
    git_dir: Path
    common_dir: Path


def find_repository(folder: Path) -> Repository:
    """The repository whose working tree holds `folder`, found upwards as git does.

    Raises:
        InNoRepository: when there is none.
        NotARepository: when there is only a bare one, or one that is broken.
    """
    folder = folder.resolve()
    for candidate in (folder, *folder.parents):
        repository = repository_at(candidate)
        if repository is not None:
            git_dir = repository.git_dir
            if not looks_like_git_dir(git_dir):
                raise NotARepository(
                    f"{candidate / '.git'} names {git_dir}, which is no git repository; "
                    "run `git worktree repair` or `git submodule update` where it belongs."
                )
            if git_dir == candidate / ".git" and _is_bare(git_dir):
                raise NotARepository(f"{candidate} holds a bare git repository; go to a checkout of it.")
            return repository
        if looks_like_git_dir(candidate):
            kind = "git's own folder" if candidate.name == ".git" else "a bare git repository"
            raise NotARepository(f"{candidate} is {kind}; go to a checkout of it.")
    raise InNoRepository(f"{folder} is not in a git repository; run `git init` there or go to one.")


def repository_at(folder: Path) -> Repository | None:
    """The repository whose working tree is `folder` itself, or None; a `.git` there may name what is gone."""
    git_dir = _git_dir_at(folder)
    return repository_with(folder, git_dir) if git_dir is not None else None


def repository_with(root: Path, git_dir: Path) -> Repository:
    """The repository of a working tree whose git directory is known."""
    return Repository(root, git_dir, _common_dir(git_dir))


def children_folder(repository: Repository) -> Path:
    """Where the children's checkouts are: `<repo>-children`, beside the repository's root."""
    return repository.root.with_name(f"{repository.root.name}-children")


def working_trees(repository: Repository) -> tuple[Path, ...]:
    """The root of each of the repository's working trees, this one's first (gitrepository-layout(5))."""
    roots = [repository.root]
    if repository.common_dir.name == ".git":
        roots.append(repository.common_dir.parent)
    for pointer in sorted(repository.common_dir.glob("worktrees/*/gitdir")):
        dot_git = Path(pointer.read_text(errors="surrogateescape").strip())
        roots.append((pointer.parent / dot_git).resolve().parent)
    return tuple(dict.fromkeys(roots))


def places_of_children(repository: Repository) -> tuple[Path, ...]:
    """Where checkouts may stand: the folder beside each of the repository's working trees, this one's first."""
    return tuple(root.with_name(f"{root.name}-children") for root in working_trees(repository) if root.name)


def twins_folder(repository: Repository) -> Path:
    """Where each checkout has its twin: the git directory by which it is read, and the layers of an overlay."""
    return repository.common_dir / "covey" / "checkouts"


_HALF_DONE = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
}


def operation_in_progress(repository: Repository) -> str | None:
    """What the person has begun and not ended in this working tree (`a merge`, `a rebase`), or None."""
    try:
        there = set(os.listdir(repository.git_dir))
    except OSError:
        return None
    return next((name for mark, name in _HALF_DONE.items() if mark in there), None)


def _git_dir_at(folder: Path) -> Path | None:
    dot_git = folder / ".git"
    if dot_git.is_dir():
        return dot_git if looks_like_git_dir(dot_git) else None
    if dot_git.is_file():
        # A linked worktree or a submodule: "gitdir: PATH", relative to the file's folder.
        words = dot_git.read_text(errors="surrogateescape").strip()
        if words.startswith("gitdir: "):
            return (folder / words.removeprefix("gitdir: ")).resolve()
    return None


def looks_like_git_dir(folder: Path) -> bool:
    """Whether git would take `folder` for a git directory."""
    return (folder / "HEAD").is_file() and (
        (folder / "commondir").is_file() or ((folder / "objects").is_dir() and (folder / "refs").is_dir())
    )


def _is_bare(git_dir: Path) -> bool:
    """Whether `core.bare` is set in the repository's own config file (git-config(1), "Syntax")."""
    config = git_dir / "config"
    section = ""
    if not config.is_file():
        return False
    for line in config.read_text(errors="surrogateescape").splitlines():
        words = line.strip().lower()
        if words.startswith("["):
            section, _, words = words.partition("]")
        name, _, value = words.partition("=")
        if section == "[core" and name.strip() == "bare":
            return value.split("#")[0].split(";")[0].strip(' "') in ("", "true", "yes", "on", "1")
    return False


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if pointer.is_file():
        return (git_dir / pointer.read_text(errors="surrogateescape").strip()).resolve()
    return git_dir
