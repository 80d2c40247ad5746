"""The ref of a landing, set as a file, where a repository keeps its refs as files.

A process of git's takes longer than all the rest of a small landing. What is written here is what git would write
(gitrepository-layout(5)); nobody else writes below `refs/covey/landings/`, and the landing lock is held. Where
refs are kept otherwise, or anything is in the way, git does it.
"""

import stat
from pathlib import Path

from merge.files.writing import write_file
from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository
from merge.store.syncing import Unsynced
from merge.store.trees import ObjectId

LANDINGS = "refs/covey/landings/"


def set_landing_ref(repository: Repository, landing: str, commit: ObjectId, staging: Path) -> Unsynced:
    """Let the ref of a landing point to its commit; what then waits to be synced. `staging` is where files wait.

    Raises:
        GitFailed: when git can't write it.
    """
    written = _set_as_file(repository, landing, commit, staging) if _are_files(repository) else None
    if written is not None:
        return written
    place = GitPlace(repository.root, git_dir=repository.git_dir, switches=("core.fsync=all",))
    run_git(place, "update-ref", f"{LANDINGS}{landing}", commit)
    return Unsynced(str(repository.common_dir), ())


def has_landing_ref(repository: Repository, landing: str, commit: ObjectId) -> bool:
    """Whether the ref of a landing is there, for this very commit.

    Raises:
        GitFailed: when git can't read it.
    """
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
    ref = f"{LANDINGS}{landing}"
    return run_git(place, "for-each-ref", "--format=%(objectname)", ref).line() == commit


def remove_landing_ref(repository: Repository, landing: str) -> None:
    """Take the ref of a landing away, if it has one: it has not landed after all.

    Raises:
        GitFailed: when git can't delete it.
    """
    ref = f"{LANDINGS}{landing}"
    if _are_files(repository) and not _is_named(repository, ref):
        return
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir, switches=("core.fsync=all",))
    run_git(place, "update-ref", "-d", ref)


def _are_files(repository: Repository) -> bool:
    """Whether a file here is a ref, with the permissions that it has by itself."""
    # Where refs are kept in another way, git lets a file stand in the place of `heads`, so that older versions keep
    # their hands off. Where several people share a repository, git gives permissions of its own.
    refs = repository.common_dir / "refs"
    if not (refs / "heads").is_dir() or (repository.common_dir / "reftable").exists():
        return False
    return not refs.stat().st_mode & stat.S_ISGID


def _is_named(repository: Repository, ref: str) -> bool:
    if (repository.common_dir / ref).is_file():
        return True
    packed = repository.common_dir / "packed-refs"
    return packed.is_file() and f" {ref}\n".encode() in packed.read_bytes()


def _set_as_file(repository: Repository, landing: str, commit: ObjectId, staging: Path) -> Unsynced | None:
    """In one step: a file that is written elsewhere and moved into its place. None: not to be done so."""
    made = staging / f"{landing}-ref"
    target = repository.common_dir.joinpath(LANDINGS, landing)
    try:
        write_file(made, f"{commit}\n".encode())
        try:
            made.rename(target)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.rename(target)
    except OSError:
        return None
    names = (f"covey/landings/{landing}", "covey/landings", "covey", "")
    return Unsynced(f"{repository.common_dir}/refs", names)
