"""Which files a search finds, newest first: ripgrep finds them, names and times are weighed here.

One pass of ripgrep counts the hits of every file; lines are fetched afterwards, for one page only. So a pattern that
hits everywhere costs no more memory than one that hits nowhere. Knows no wording.
"""

import math
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import trio

from worker.tools.ripgrep import RipgrepMissing, run_ripgrep
from worker.tools.ripgrep_output import read_counts, read_paths
from worker.tools.search_index import FromIndex, find_in_indexes, have_indexed, indexes_for
from worker.tools.search_query import Query
from worker.tools.search_roots import Root, Roots
from worker.tools.survey import BUILD_FOLDERS, HISTORY_FOLDERS, SYSTEM_FOLDERS, Reach, Survey, survey
from worker.workspace import Workspace

LARGEST_BYTES = 1024 * 1024
"""Larger files are data, not text to be read; they are found by name, and searched when they are named as a path."""

# A content search surveys so many entries: about 30 ms beside ripgrep, and more than most repositories have.
_SURVEYED_ENTRIES = 20_000

# A disk that does not answer holds the survey's thread; it is not waited for longer than this.
_LET_GO_SECONDS = 1.0


class Found(NamedTuple):
    """One file that a search found. A name search counts no hits."""

    path: str
    hits: int
    mtime_ns: int


@dataclass(frozen=True)
class Findings:
    """What a search found, newest first, and what it met on the way. `trouble` is what ripgrep complained of.

    What comes `from_index` was not walked to.
    """

    files: list[Found]
    survey: Survey
    trouble: str
    timed_out: bool
    from_index: FromIndex | None = None


class RipgrepRefused(Exception):
    """Raised when ripgrep does not take a pattern, a type or a glob. `str()` is what it says of it."""


async def find_files(query: Query, roots: Roots, workspace: Workspace) -> Findings:
    """Find the files of `query`.

    Raises:
        RipgrepMissing: when there is none to run.
        RipgrepRefused: when it does not take what it is asked.
    """
    indexes = await trio.to_thread.run_sync(
        indexes_for, query, roots.found, workspace, abandon_on_cancel=True
    )
    if indexes is not None and workspace.names is not None:
        paths, used = await find_in_indexes(query, roots.found, indexes, workspace.names)
        weigh = partial(_weigh, [(path, 0) for path in paths], query, roots, workspace)
        files = await trio.to_thread.run_sync(weigh, abandon_on_cancel=True)
        return Findings(files, Survey(), "", timed_out=False, from_index=used)
    began = time.monotonic()
    findings = await _walk(query, roots, workspace)
    have_indexed(query, roots.found, workspace, time.monotonic() - began)
    return findings


async def _walk(query: Query, roots: Roots, workspace: Workspace) -> Findings:
    limit = workspace.search_limit_seconds
    by_name = not query.patterns
    runs = _Runs(query, roots)
    surveys: list[Survey] = []

    async def look_about() -> None:
        deadline = time.monotonic() + limit
        walk = partial(
            survey,
            [root.path for root in roots.found if root.is_folder],
            Reach(query.depth, query.no_ignore, partial(_leaves_out, query, roots, workspace)),
            most_entries=None if by_name else _SURVEYED_ENTRIES,
            stopped=lambda: time.monotonic() > deadline,
        )
        with trio.move_on_after(limit + _LET_GO_SECONDS):
            surveys.append(await trio.to_thread.run_sync(walk, abandon_on_cancel=True))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_about)
        with trio.move_on_after(limit) as time_limit:
            await runs.run()
        if runs.fault is not None:
            nursery.cancel_scope.cancel()
    if runs.fault is not None:
        raise runs.fault
    surveyed = surveys[0] if surveys else Survey(complete=False)
    candidates = runs.found()
    if by_name and not query.types:
        candidates += [(path, 0) for path in surveyed.links]
    weigh = partial(_weigh, candidates, query, roots, workspace)
    files = await trio.to_thread.run_sync(weigh, abandon_on_cancel=True)
    timed_out = time_limit.cancelled_caught or (by_name and not surveyed.complete)
    return Findings(files, surveyed, runs.trouble, timed_out)


class _Runs:
    """The runs of ripgrep for one search, and what they wrote so far. `fault` is why there is nothing to find."""

    def __init__(self, query: Query, roots: Roots) -> None:
        self.fault: RipgrepMissing | RipgrepRefused | None = None
        self.trouble = ""
        self._query = query
        self._roots = roots
        self._output = bytearray()
        # In its own folder ripgrep looks up shorter paths, a hundred thousand times: a tenth of its work.
        self._inside = _only_folder(roots.found)

    async def run(self) -> None:
        for group in _groups(self._roots.found):
            arguments = file_arguments(self._query, group, inside=self._inside is not None)
            try:
                ended = await run_ripgrep(arguments, self._take, folder=self._inside or "/")
            except RipgrepMissing as missing:
                self.fault = missing
                return
            complaints = ended.complaints
            if self._inside is not None:
                complaints = _with_folder(complaints, self._inside)
            if ended.code == 2 and not _is_about_files(complaints, group):
                self.fault = RipgrepRefused(complaints)
                return
            self.trouble += complaints
            if ended.code is not None and ended.code < 0:
                self.trouble += f"all of it: the system ended ripgrep (signal {-ended.code})\n"

    def found(self) -> list[tuple[str, int]]:
        """The files that were found, with the number of their hits, or 0 where those are not counted."""
        output = bytes(self._output)
        if self._query.counts_hits:
            return [(self._whole(path), hits) for path, hits in read_counts(output)]
        return [(self._whole(path), 0) for path in self._query.names.sieve(read_paths(output))]

    def _whole(self, path: bytes) -> str:
        return os.fsdecode(path) if self._inside is None else f"{self._inside}/{os.fsdecode(path[2:])}"

    def _take(self, piece: bytes) -> bool:
        self._output += piece
        return True


def file_arguments(query: Query, roots: Sequence[Root], *, inside: bool = False) -> list[str]:
    """What to tell ripgrep so that it finds the files: their paths, and how many hits each has.

    It runs `inside` the one root, or else in the root of all folders, with absolute paths.
    """
    arguments = ["--hidden", "--no-require-git", *(f"--glob=!{name}" for name in HISTORY_FOLDERS)]
    if not inside:
        arguments += [f"--glob=!{folder}" for folder in SYSTEM_FOLDERS]
    if query.no_ignore:
        arguments.append("--no-ignore")
    else:
        arguments += [f"--glob=!{name}/" for name in BUILD_FOLDERS]
    if not all(root.in_repository for root in roots):
        # Outside of repositories an ignore file speaks of its own folder: the one in a home folder, say, of the
        # person's settings, and not of every project below it.
        arguments.append("--no-ignore-parent")
    if query.depth is not None:
        arguments.append(f"--max-depth={query.depth}")
    option = "--glob" if query.names.case_sensitive else "--iglob"
    arguments += [f"{option}=!{glob}" for glob in query.names.exclude_globs()]
    if query.types:
        arguments += [f"--type={name}" for name in query.types]
    elif globs := query.names.type_globs():
        arguments += [*(f"--type-add=wanted:{glob}" for glob in globs), "--type=wanted"]
    if query.patterns:
        # Whether a file has a hit is known at its first one.
        arguments.append("--count" if query.counts_hits else "--files-with-matches")
        arguments += ["--with-filename", f"--max-filesize={LARGEST_BYTES}", *pattern_arguments(query)]
    else:
        arguments.append("--files")
    return [*arguments, "--null", "--", *(["./"] if inside else [root.path for root in roots])]


def pattern_arguments(query: Query) -> list[str]:
    """What to tell ripgrep of the patterns, the same when it counts and when it shows."""
    arguments = ["--crlf", "--case-sensitive" if query.case_sensitive else "--ignore-case"]
    if query.literal:
        arguments.append("--fixed-strings")
    if query.word:
        arguments.append("--word-regexp")
    if query.multiline:
        arguments += ["--multiline", "--multiline-dotall"]
    return [*arguments, *(f"--regexp={pattern}" for pattern in query.patterns)]


def _is_about_files(complaints: str, roots: Iterable[Root]) -> bool:
    """Whether ripgrep complains of files, rather than of what it was asked: then it names one, by its full path."""
    return any(line.startswith(f"rg: {root.path}") for line in complaints.splitlines() for root in roots)


def _only_folder(roots: Sequence[Root]) -> str | None:
    """The one folder to search, where there is one and no folder of the system's is in it."""
    if len(roots) != 1 or not roots[0].is_folder:
        return None
    path = roots[0].path.rstrip("/")
    holds_system = any(f"{system}/".startswith(f"{path}/") for system in SYSTEM_FOLDERS)
    return path if not holds_system and os.access(path, os.R_OK | os.X_OK) else None


def _with_folder(complaints: str, folder: str) -> str:
    """What ripgrep complained of while it ran in `folder`, with whole paths."""
    return re.sub(r"^rg: \./", lambda _: f"rg: {folder}/", complaints, flags=re.MULTILINE)


def _groups(roots: Iterable[Root]) -> Iterator[list[Root]]:
    """The roots by whether they are in a repository, for which ripgrep is told different things."""
    for in_repository in (True, False):
        group = [root for root in roots if root.in_repository is in_repository]
        if group:
            yield group


def _weigh(
    candidates: Iterable[tuple[str, int]], query: Query, roots: Roots, workspace: Workspace
) -> list[Found]:
    """The candidates that are wanted, each once, newest first. A hundred thousand of them take a third of a second."""
    if not query.names.wants_everything:
        wants = query.names.wants
        candidates = [one for one in candidates if wants(*_forms(one[0], roots, workspace))]
    if len(roots.found) > 1:
        # Of two paths that lead to one file the first stands.
        once = {roots.key_of(path): (path, hits) for path, hits in reversed(list(candidates))}
        candidates = once.values()
    since_ns = -math.inf if query.newer_than is None else query.newer_than * 1e9
    files: list[Found] = []
    for path, hits in candidates:
        try:
            found = os.stat(path)  # noqa: PTH116 - making a Path costs more than the call
        except OSError:
            continue  # it has gone since it was found, or since an index was made
        mtime_ns = found.st_mtime_ns
        if not stat.S_ISREG(found.st_mode):
            continue
        if mtime_ns >= since_ns:
            files.append(Found(path, hits, mtime_ns))
    files.sort(key=attrgetter("path"))
    files.sort(
        key=attrgetter("mtime_ns"), reverse=True
    )  # stable: files of one time stay in the order of their paths
    return files


def _leaves_out(query: Query, roots: Roots, workspace: Workspace, path: str) -> bool:
    return query.names.leaves_out(*_forms(path, roots, workspace))


def _forms(path: str, roots: Roots, workspace: Workspace) -> tuple[str, ...]:
    """The ways in which a model may mean a path: from where the search began, and from the workspace."""
    relative = roots.relative(path)
    root = f"{workspace.root}/"
    return (relative, path[len(root) :]) if path.startswith(root) else (relative,)
