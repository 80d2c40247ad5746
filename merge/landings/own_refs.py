"""The two refs of a landing, set in one step: as files of a folder, where a repository keeps its refs as files.

A process of git's takes longer than all the rest of a small landing. What is written here is what git would write
(gitrepository-layout(5)); nobody else writes below `refs/covey/landings/`, and the landing lock is held. Where
refs are kept otherwise, or anything is in the way, git does it.
"""

import stat

from merge.landings.landing_journal import staging_folder
from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository
from merge.store.syncing import Unsynced
from merge.store.trees import ObjectId

LANDINGS = "refs/covey/landings/"


def set_landing_refs(repository: Repository, landing: str, before: ObjectId, after: ObjectId) -> Unsynced:
    """Let the refs of a landing point to its two commits; what then waits to be synced.

    Raises:
        GitFailed: when git can't write them.
    """
    ends = {"before": before, "after": after}
    written = _set_as_files(repository, landing, ends) if _are_files(repository) else None
    if written is not None:
        return written
    place = GitPlace(repository.root, git_dir=repository.git_dir, switches=("core.fsync=all",))
    feed = "".join(f"update {LANDINGS}{landing}/{name}\0{commit}\0\0" for name, commit in ends.items())
    run_git(place, "update-ref", "-z", "--stdin", feed=feed.encode())
    return Unsynced(str(repository.common_dir), ())


def has_landing_refs(repository: Repository, landing: str, after: ObjectId) -> bool:
    """Whether the refs of a landing are there, for this very commit.

    Raises:
        GitFailed: when git can't read them.
    """
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
    ref = f"{LANDINGS}{landing}/after"
    return run_git(place, "for-each-ref", "--format=%(objectname)", ref).line() == after


def remove_landing_refs(repository: Repository, landing: str) -> None:
    """Take the refs of a landing away, if it has any: it has not landed after all.

    Raises:
        GitFailed: when git can't delete them.
    """
    if _are_files(repository) and not _is_named(repository, f"{LANDINGS}{landing}/"):
        return
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir, switches=("core.fsync=all",))
    refs = run_git(place, "for-each-ref", "--format=%(refname)", f"{LANDINGS}{landing}/").output.split()
    if refs:
        feed = b"".join(b"delete %s\0\0" % ref for ref in refs)
        run_git(place, "update-ref", "-z", "--stdin", feed=feed)


def _are_files(repository: Repository) -> bool:
    """Whether a file here is a ref, with the permissions that it has by itself."""
    # Where refs are kept in another way, git lets a file stand in the place of `heads`, so that older versions keep
    # their hands off. Where several people share a repository, git gives permissions of its own.
    refs = repository.common_dir / "refs"
    if not (refs / "heads").is_dir() or (repository.common_dir / "reftable").exists():
        return False
    return not refs.stat().st_mode & stat.S_ISGID


def _is_named(repository: Repository, prefix: str) -> bool:
    if (repository.common_dir / prefix).is_dir():
        return True
    packed = repository.common_dir / "packed-refs"
    return packed.is_file() and f" {prefix}".encode() in packed.read_bytes()


def _set_as_files(repository: Repository, landing: str, ends: dict[str, ObjectId]) -> Unsynced | None:
    """All of them in one step: a folder that is made elsewhere and moved into its place. None: not to be done so."""
    made = staging_folder(repository.common_dir, landing) / "refs"
    target = repository.common_dir.joinpath(LANDINGS, landing)
    try:
        made.mkdir(parents=True, exist_ok=True)
        for name, commit in ends.items():
            (made / name).write_text(f"{commit}\n")
        target.parent.mkdir(parents=True, exist_ok=True)
        made.rename(target)  # over an empty folder at the most
    except OSError:
        return None
    below = f"covey/landings/{landing}"
    names = [*(f"{below}/{name}" for name in ends), below, "covey/landings", "covey", ""]
    return Unsynced(f"{repository.common_dir}/refs", names)
