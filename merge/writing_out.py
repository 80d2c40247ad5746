"""Blobs written as files, as a checkout would: filters, line endings, encodings, symlinks, the umask.

git does it, into a folder that is nobody's working tree, with an index of our own. The attributes are those
that will rule over the files once they have landed. But a filter is a program, and which programs run is for
the parent's side to say: a filter that only the new attributes name is not run, and a filter that can't run
leaves the content as it is stored. Both are told.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merge.filters import filters_of, neutral_switches
from merge.git import GitAnswer, GitFailed, GitPlace, ask_git, run_git
from merge.present import OnDisk, attributes_above
from merge.trees import Entry, RepoPath, show_path
from merge.working_files import WorkingFiles, folders_above

_SWITCHES = (
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.fsmonitor=false",
    "core.sparseCheckout=false",
    "index.sparse=false",
)


def write_out(
    present: OnDisk,
    entries: Mapping[RepoPath, Entry],
    changed: Iterable[RepoPath],
    folder: WorkingFiles,
    index: Path,
) -> tuple[str, ...]:
    """Write `entries` below the empty `folder`; what a person should be told of some.

    `changed` are all paths that change with them, also those that go. `index` is where the private index may
    be. Files are not synced.

    Raises:
        GitFailed: when one of them can't be written.
    """
    repository = present.repository
    place = GitPlace(
        folder.root, git_dir=repository.git_dir, work_tree=folder.root, index=index, switches=_SWITCHES
    )
    rules = attributes_above(entries) - set(changed)
    hidden = _carry_rules(present, rules, folder)
    feed = b"".join(
        b"%06o %s\t%s\0" % (entry.mode, entry.object.encode(), path)
        for path, entry in {**hidden, **entries}.items()
    )
    run_git(place, "update-index", "-z", "--index-info", feed=feed)
    # Attributes first: git would read a file of them that is just being written.
    first = [path for path in entries if _is_rule(path)]
    rest = [path for path in entries if not _is_rule(path)]
    notes = _check_out(place, folder, first)
    unwanted: dict[RepoPath, str] = {}
    if any(map(_is_rule, changed)):
        before = filters_of(present.place, rest)
        after = filters_of(place, rest)
        unwanted = {path: name for path, name in after.items() if before.get(path) != name}
    notes += _check_out(place, folder, [path for path in rest if path not in unwanted])
    if unwanted:
        notes += _check_out_unfiltered(place, unwanted, "is new here and was not run")
    return tuple(notes)


def _is_rule(path: RepoPath) -> bool:
    return path.rpartition(b"/")[2] == b".gitattributes"


def _carry_rules(present: OnDisk, rules: set[RepoPath], folder: WorkingFiles) -> dict[RepoPath, Entry]:
    """Copy the parent's attribute files; those that a sparse checkout leaves out are answered as entries."""
    absent: list[RepoPath] = []
    for path in sorted(rules):
        seen = present.files.look(path)
        if seen is None:
            absent.append(path)
        elif seen.kind == "file":
            for above in folders_above(path):
                if folder.look(above) is None:
                    folder.make_folder(above)
            present.files.copy(path, folder, path)
    if not absent or not (present.repository.git_dir / "info" / "sparse-checkout").exists():
        return {}
    found = present.entries(dict.fromkeys(absent, ()))
    return {path: entry for path, entry in found.items() if entry is not None and not entry.is_folder}


def _check_out(place: GitPlace, folder: WorkingFiles, paths: Sequence[RepoPath]) -> list[str]:
    if not paths:
        return []
    answer = _checkout_index(place, paths)
    if answer.status == 0:
        if "filter" not in answer.error:
            return []
        # A filter that need not succeed did not: git wrote the content as it is, and says so without a name.
        return [_told(path, name, "failed") for path, name in filters_of(place, paths).items()]
    # git stops at the first file whose filter fails. The others come one by one.
    failed: dict[RepoPath, GitAnswer] = {}
    for path in paths:
        if folder.look(path) is None:
            answer = _checkout_index(place, [path])
            if answer.status != 0:
                failed[path] = answer
    filtered = filters_of(place, failed)
    for path, answer in failed.items():
        if path not in filtered:
            raise GitFailed(("checkout-index", os.fsdecode(path)), answer.status, answer.error)
    return _check_out_unfiltered(place, filtered, "failed")


def _check_out_unfiltered(place: GitPlace, filters: Mapping[RepoPath, str], why: str) -> list[str]:
    if not filters:
        return []
    plain = replace(place, switches=(*place.switches, *neutral_switches(sorted(set(filters.values())))))
    answer = _checkout_index(plain, list(filters))
    if answer.status != 0:
        raise GitFailed(("checkout-index",), answer.status, answer.error)
    return [_told(path, name, why) for path, name in filters.items()]


def _checkout_index(place: GitPlace, paths: Sequence[RepoPath]) -> GitAnswer:
    return ask_git(place, "checkout-index", "-z", "--stdin", feed=b"".join(path + b"\0" for path in paths))


def _told(path: RepoPath, name: str, why: str) -> str:
    return f"{show_path(path)} is written as it is stored: its filter {name} {why}"
