"""What a search result says besides what it found: what was skipped, what could not be read, and how to go on. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence

from worker.path_text import quote_path
from worker.tools.name_filter import NameFilter
from worker.tools.refusals import counted, short
from worker.tools.search_index import FromIndex
from worker.tools.survey import Survey

_MOST_NAMED = 12
_MOST_ALIKE = 2

Show = Callable[[str], str]
"""Tells a path to a reader."""


def skipped_note(survey: Survey, names: NameFilter, show: Show) -> list[str]:
    """Which folders and ignored files were left out, as far as they could have held what was wanted."""
    # A file whose name does not fit would not have been found either.
    files = [path for path in survey.skipped_files if names.fits(path.rpartition("/")[2], show(path))]
    if not survey.skipped_folders and not files:
        return []
    parts: list[str] = []
    if survey.skipped_folders:
        parts.append(f"folders {_named(_folders(survey.skipped_folders, show))}")
    if files:
        parts.append(f"gitignored files {_named([show(path) for path in sorted(files, key=_from_the_top)])}")
    more = "" if survey.complete else ", and perhaps more"
    return [f"[Skipped: {'; '.join(parts)}{more}. With no_ignore: true they are searched too.]"]


def unread_notes(survey: Survey, trouble: str, not_opened: Sequence[str], show: Show) -> list[str]:
    """What could not be read or opened, each path once."""
    notes: list[str] = []
    if survey.unreadable_folders:
        named = _named(_folders(survey.unreadable_folders, show))
        notes.append(f"[Could not be read: folders {named}.]")
    folders = [f"rg: {path}: " for path in survey.unreadable_folders]
    complaints = [
        short(line.removeprefix("rg: "))
        for line in trouble.splitlines()
        if line and not any(line.startswith(folder) for folder in folders)
    ]
    if complaints:
        more = f"; and {len(complaints) - 5} more" if len(complaints) > 5 else ""
        notes.append(f"[Could not be read: {'; '.join(complaints[:5])}{more}.]")
    notes += [f"[Not searched: {reason}]" for reason in not_opened[:5]]
    if len(not_opened) > 5:
        notes.append(f"[Not searched: {counted(len(not_opened) - 5, 'more path')}.]")
    return notes


def paging_note(first: int, shown: int, total: int, kind: str) -> list[str]:
    """Which part of a long result this is, and how to get to the next or to a shorter one."""
    if first + shown >= total:
        return []
    return [
        f"[{kind} {first + 1}-{first + shown} of {total:,}, newest first; cut at 50 KB. Go on with offset"
        f" {first + shown}, or narrow it with path, glob, name, newer, depth or word.]"
    ]


def time_note(seconds: float) -> str:
    """That a search was stopped, and that what it found is not all."""
    return f"[Stopped after {seconds:g} s: this is only what was found until then. Narrow it with path, glob or depth.]"


def index_note(used: FromIndex, show: Show) -> str:
    """That an index answered, how old it is, and what it does not know."""
    where = _named([show(root) for root in used.roots])
    renewed = " It is being made anew now." if used.is_refreshing else ""
    return (
        f"[From an index of {where}, {_age(used.age_seconds)} old: newer files are not in it, every hit was looked at."
        f"{renewed} It knows no .gitignore; build folders are left out, with no_ignore: true they are not.]"
    )


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _folders(paths: Sequence[str], show: Show) -> list[str]:
    """Folders for a reader, the topmost first; many of one name, as builds leave them, together."""
    by_name = Counter(path.rpartition("/")[2] for path in paths)
    often = [name for name, number in by_name.items() if number > _MOST_ALIKE]
    apart = [path for path in sorted(paths, key=_from_the_top) if path.rpartition("/")[2] not in often]
    return [f"{by_name[name]:,} named {quote_path(name)}/" for name in often] + [
        show(path) + "/" for path in apart
    ]


def _from_the_top(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
