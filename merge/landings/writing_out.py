"""Blobs written as files, as a checkout would: filters, line endings, encodings, symlinks, the umask.

git does it, into a folder that is nobody's working tree, with an index of our own. The attributes are those
that will rule over the files once they have landed. But a filter is a program, and what runs is for the
parent's side to say: filters run in the parent's folder, one that only the new attributes name is not run, and
one that can't run leaves the content as it is stored. The last two are told.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merge.files.working_files import WorkingFiles, folders_above
from merge.merging.present import OnDisk
from merge.store.filters import (
    configured_filters,
    filters_of,
    neutral_switches,
    read_config,
    settings_to_run_in,
)
from merge.store.git import GitAnswer, GitFailed, GitPlace, ask_git, run_git
from merge.store.plain_rules import attributes_above
from merge.store.trees import Entry, RepoPath, show_path

_SWITCHES = (
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.fsmonitor=false",
    "core.sparseCheckout=false",
    "index.sparse=false",
)

# git-lfs reads from where it fetches in here: while it runs, the parent's counts, whatever lands.
_LFS_CONFIG = RepoPath(b".lfsconfig")


def write_out(
    present: OnDisk,
    entries: Mapping[RepoPath, Entry],
    changed: Collection[RepoPath],
    folder: WorkingFiles,
    index: Path,
) -> tuple[str, ...]:
    """Write `entries` below the empty `folder`; what a person should be told of some.

    `changed` are all paths that change with them, also those that go. `index` is where the private index may
    be. Files are not synced; attribute files of the parent's may stand among them.

    Raises:
        GitFailed: when one of them can't be written.
    """
    if not entries:
        return ()
    repository = present.repository
    config = read_config(present.place)
    settings = settings_to_run_in(repository.root, config)
    switches = (*_SWITCHES, *(f"{key}={value}" for key, value in settings.items()))
    place = GitPlace(
        folder.root, git_dir=repository.git_dir, work_tree=folder.root, index=index, switches=switches
    )
    hidden = _carry_rules(present, (attributes_above(entries) - set(changed)) | {_LFS_CONFIG}, folder)
    early = {path: entry for path, entry in entries.items() if path != _LFS_CONFIG}
    _fill_index(place, {**hidden, **early})
    # Attributes first, since git would read a file of them that is just being written; and without any filter,
    # since they may name one for themselves.
    rules = [path for path in early if _is_rule(path)]
    _check_out_unfiltered(place, rules, configured_filters(config))
    rest = [path for path in early if not _is_rule(path)]
    unwanted: dict[RepoPath, str] = {}
    if any(map(_is_rule, changed)):
        before, after = filters_of(present.place, rest), filters_of(place, rest)
        unwanted = {path: name for path, name in after.items() if before.get(path) != name}
    notes = _check_out(place, folder, [path for path in rest if path not in unwanted])
    _check_out_unfiltered(place, unwanted, unwanted.values())
    notes += [_told(path, name, "is new here and was not run") for path, name in unwanted.items()]
    if _LFS_CONFIG in entries:
        if folder.look(_LFS_CONFIG) is not None:
            folder.remove(_LFS_CONFIG)
        _fill_index(place, {_LFS_CONFIG: entries[_LFS_CONFIG]})
        notes += _check_out(place, folder, [_LFS_CONFIG])
    return tuple(notes)


def _fill_index(place: GitPlace, entries: Mapping[RepoPath, Entry]) -> None:
    lines = (b"%06o %s\t%s\0" % (entry.mode, entry.object.encode(), path) for path, entry in entries.items())
    run_git(place, "update-index", "-z", "--index-info", feed=b"".join(lines))


def _is_rule(path: RepoPath) -> bool:
    return path.rpartition(b"/")[2] == b".gitattributes"


def _carry_rules(present: OnDisk, rules: Iterable[RepoPath], folder: WorkingFiles) -> dict[RepoPath, Entry]:
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
    _check_out_unfiltered(place, filtered, filtered.values())
    return [_told(path, name, "failed") for path, name in filtered.items()]


def _check_out_unfiltered(place: GitPlace, paths: Collection[RepoPath], filters: Iterable[str]) -> None:
    """Check out files as they are stored, as far as these filters are concerned."""
    if not paths:
        return
    plain = replace(place, switches=(*place.switches, *neutral_switches(sorted(set(filters)))))
    answer = _checkout_index(plain, paths)
    if answer.status != 0:
        raise GitFailed(("checkout-index",), answer.status, answer.error)


def _checkout_index(place: GitPlace, paths: Iterable[RepoPath]) -> GitAnswer:
    return ask_git(place, "checkout-index", "-z", "--stdin", feed=b"".join(path + b"\0" for path in paths))


def _told(path: RepoPath, name: str, why: str) -> str:
    return f"{show_path(path)} is written as it is stored: its filter {name} {why}"
