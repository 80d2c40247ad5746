"""Which files a search finds, newest first: ripgrep finds them, names and times are weighed here.

One pass of ripgrep counts the hits of every file; lines are fetched afterwards, for one page only. So a pattern that
hits everywhere costs no more memory than one that hits nowhere. Knows no wording.
"""

import math
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import trio

from worker.tools.ripgrep_runs import RipgrepRuns
from worker.tools.search_index import FromIndex, find_in_indexes, have_indexed, indexes_for
from worker.tools.search_query import Query
from worker.tools.search_roots import Roots
from worker.tools.survey import Reach, Survey, survey
from worker.workspace import Workspace

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
    runs = RipgrepRuns(query, roots)
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
