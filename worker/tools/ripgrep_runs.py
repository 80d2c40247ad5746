"""The runs of ripgrep in which one search finds its files: what it is told, and what of its complaints is whose fault.

Roots in a repository and others are told apart, so there may be two runs. Knows no time limit and no order of files.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from worker.tools.ripgrep import RipgrepMissing, run_ripgrep
from worker.tools.ripgrep_output import read_counts, read_paths
from worker.tools.search_query import Query
from worker.tools.search_roots import Root, Roots
from worker.tools.survey import BUILD_FOLDERS, HISTORY_FOLDERS, SYSTEM_FOLDERS

LARGEST_BYTES = 1024 * 1024
"""Larger files are data, not text to be read; they are found by name, and searched when they are named as a path."""


class RipgrepRefused(Exception):
    """Raised when ripgrep does not take a pattern, a type or a glob. `str()` is what it says of it."""


class RipgrepRuns:
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
        """Run them one after the other, until there is a `fault`."""
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
