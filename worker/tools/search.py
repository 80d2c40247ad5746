"""`search`: finds text in files, and files by name, anywhere on disk, newest first, by pages of 50 KB.

Ripgrep searches; this module tells what it found. Binary files, files over 1 MiB, what an ignore file leaves out and
build folders are skipped; a result names what was ignored.
"""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import trio

from worker.path_text import quote_path
from worker.tools.pages import PAGE_BYTES
from worker.tools.refusals import ToolRefused, counted, plain, short, title_path
from worker.tools.ripgrep import RipgrepMissing
from worker.tools.ripgrep_runs import RipgrepRefused
from worker.tools.search_files import Findings, Found, find_files
from worker.tools.search_lines import LinePage
from worker.tools.search_notes import index_note, paging_note, skipped_note, time_note, unread_notes
from worker.tools.search_query import Query, SearchArguments, understand
from worker.tools.search_roots import Roots, find_roots
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import PathRefused, Workspace

DESCRIPTION = """\
Find text in files (`pattern`: a regular expression or a list of alternatives) and files by name (`name`: words in any
order; `glob`), in the workspace or anywhere (`path`). Given together, the contents of the files so named are searched.
Hits are `path:N:col:line`, newest files first; with `tags: true` they are `path:N:hash|line`, with the tag for edit.
Case is ignored unless `case_sensitive`. Binaries, files over 1 MiB, build folders and gitignored files are skipped."""

# Fetching the lines of one page takes milliseconds; a disk that hangs must not hang the call.
_FETCH_SECONDS = 10.0


def title(arguments: SearchArguments, workspace: Workspace) -> str:
    """`search "TODO" in src`: what is looked for, and where if not everywhere."""
    pattern = arguments.pattern if isinstance(arguments.pattern, str) else " | ".join(arguments.pattern or ())
    glob = arguments.glob if isinstance(arguments.glob, str) else ", ".join(arguments.glob or ())
    wanted = [f'"{pattern}"'] if pattern else []
    wanted += [f"files named {text}" for text in (arguments.name, glob) if text]
    given = [arguments.path or (), arguments.paths or ()]
    paths = [path for some in given for path in ([some] if isinstance(some, str) else some)]
    where = f" in {', '.join(title_path(workspace, path) for path in paths)}" if paths else ""
    text = f"search {' in '.join(wanted) or 'files'}{where}"
    return plain(" ".join(short(text).replace("\0", "␀").split()))


async def run(arguments: SearchArguments, workspace: Workspace) -> ToolAnswer:
    try:
        query = understand(arguments, str(workspace.root), now=time.time())
        roots = await trio.to_thread.run_sync(
            partial(find_roots, query.paths, workspace), abandon_on_cancel=True
        )
        findings = await find_files(query, roots, workspace)
        text = await _tell(query, roots, findings, workspace)
    except (ToolRefused, PathRefused, RipgrepMissing) as refusal:
        return failed(plain(str(refusal)))
    except RipgrepRefused as refusal:
        return failed(plain(_why_refused(str(refusal))))
    return ToolAnswer(plain(text))


def _why_refused(complaint: str) -> str:
    said = short(complaint.strip().removeprefix("rg: ").removeprefix("error: "))
    if "unrecognized file type" in complaint:
        return f"{said}. Give a glob instead, such as *.py."
    return f"This can't be searched for:\n{said}\nTo search for the text as it is, give literal: true."


async def _tell(query: Query, roots: Roots, findings: Findings, workspace: Workspace) -> str:
    show = partial(_show, f"{workspace.root}/")
    if query.patterns and query.output == "lines":
        lines, entries, total, kind = await _hits(query, findings.files, show)
    else:
        listed, total, kind = _listing(query, findings.files, show)
        lines = _fitting(itertools.islice(listed, query.offset, None))
        entries = len(lines)
    notes = paging_note(query.offset, entries, total, kind)
    if not findings.files:
        lines = [_nothing(query, workspace)]
    elif query.offset >= total:
        lines, notes = [f"no entries at offset {query.offset} (there are {total:,})"], []
    elif not lines:
        lines, notes = ["the files with hits went or changed while they were read; search again"], []
    elif query.output == "count" and query.patterns:
        hits = sum(file.hits for file in findings.files)
        notes.append(f"[{counted(hits, 'hit')} in {counted(len(findings.files), 'file')}]")
    if findings.timed_out:
        notes.append(time_note(workspace.search_limit_seconds))
    if findings.from_index is not None:
        notes.append(index_note(findings.from_index, show))
    notes += skipped_note(findings.survey, query.names, show)
    notes += unread_notes(findings.survey, findings.trouble, roots.not_opened, show)
    return "\n".join([*lines, *notes])


async def _hits(
    query: Query, files: Sequence[Found], show: Callable[[str], str]
) -> tuple[list[str], int, int, str]:
    """The page of hits at the query's offset, how many it shows, how many there are, and what they are called."""
    total = sum(file.hits for file in files)
    skipped = query.offset
    first = 0
    while first < len(files) and files[first].hits <= skipped:
        skipped -= files[first].hits
        first += 1
    page = LinePage(query, show, PAGE_BYTES)
    with trio.move_on_after(_FETCH_SECONDS):
        await page.fetch(files[first:], skipped)
    # A file that changed since it was counted has more or fewer hits now; what is told must not promise more.
    shown = page.entries if page.is_full else max(page.entries, total - query.offset)
    return page.lines, shown, total, "Hits"


def _listing(
    query: Query, files: Sequence[Found], show: Callable[[str], str]
) -> tuple[Iterable[str], int, str]:
    """The entries of a result that lists files, told as far as they are wanted; their number; what they are called."""
    if query.output == "folders":
        folders = Counter(
            file.path.rpartition("/")[0] for file in files
        )  # in the order of the newest file of each
        told = (f"{show(path)}/: {counted(number, 'file')}" for path, number in folders.items())
        return told, len(folders), "Folders"
    if query.output != "count":
        return (show(file.path) for file in files), len(files), "Files"
    if query.patterns:
        return (f"{show(file.path)}:{file.hits}" for file in files), len(files), "Files"
    return [counted(len(files), "file")], 1, "Files"


def _fitting(lines: Iterable[str]) -> list[str]:
    """As many of the lines as a page holds; at least one."""
    size = 0
    page: list[str] = []
    for line in lines:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > PAGE_BYTES and page:
            break
        page.append(line)
    return page


def _nothing(query: Query, workspace: Workspace) -> str:
    where = ", ".join(title_path(workspace, path) for path in query.paths)
    what = "matches" if query.patterns else "files of this name"
    return f"no {what} in {short(where)}" + (f" at offset {query.offset}" if query.offset else "")


def _show(root: str, path: str) -> str:
    """A path that was found, for a reader; what `Workspace.show` does, at a tenth of the cost."""
    inside = path[len(root) :] if path.startswith(root) else "." if f"{path}/" == root else path
    return quote_path(inside)


TOOL = Tool("search", DESCRIPTION, SearchArguments, "read", title, run)
