"""What a search call asks for: the arguments as a model may write them, and the one query that they come to.

The older names of arguments end here. Knows no disk and no ripgrep.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import msgspec

from worker.tools.globs import BadGlob
from worker.tools.name_filter import NameFilter
from worker.tools.refusals import ToolRefused, short
from worker.tools.schema import OLDER

Output = Literal["lines", "files", "count", "folders"]
_Several = str | list[str] | None

# ripgrep takes patterns as arguments, of which a system may take few; no person or model writes a longer one.
_LONGEST_PATTERNS = 20_000

_MOST_CONTEXT = 100


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for, where, and what to tell of it. The last ones are older names, which no model is told of.

    `exclude` leaves out file patterns or folders, `type` is a file type as ripgrep knows it, `multiline` lets a pattern
    span lines; `before` and `after` are lines round a hit, `paths` is `path`, and the rest are kinds of `output`.
    """

    pattern: Annotated[
        _Several,
        msgspec.Meta(description="Regular expression over file contents, or a list of alternatives."),
    ] = None
    name: Annotated[
        str | None, msgspec.Meta(description="Words that a file's name must hold, in any order: q3 report.")
    ] = None
    glob: Annotated[
        _Several,
        msgspec.Meta(
            description="File pattern (*.py, src/**/*.ts, !*.min.js); without wildcards: part of a name."
        ),
    ] = None
    path: Annotated[
        _Several,
        msgspec.Meta(description="Where: a folder or file, or a list of them. Default: the workspace."),
    ] = None
    output: Annotated[
        Output,
        msgspec.Meta(description="What to list: matching lines, files, count per file, files per folder."),
    ] = "lines"
    case_sensitive: Annotated[bool, msgspec.Meta(description="Tell A from a.")] = False
    word: Annotated[bool, msgspec.Meta(description="Match whole words only.")] = False
    literal: Annotated[bool, msgspec.Meta(description="The pattern is plain text, no expression.")] = False
    context: Annotated[int, msgspec.Meta(description="Lines to show before and after each hit.")] = 0
    newer: Annotated[
        str | None,
        msgspec.Meta(
            description="Only files modified within this span (90min, 12h, 2d, 3w), or since a date."
        ),
    ] = None
    depth: Annotated[
        int | None, msgspec.Meta(description="How many folders deep; 1 is the folder itself.")
    ] = None
    no_ignore: Annotated[
        bool, msgspec.Meta(description="Also search what .gitignore leaves out, and build folders.")
    ] = False
    tags: Annotated[
        bool, msgspec.Meta(description="Hits as path:N:hash|line, with the tag that edit takes.")
    ] = False
    offset: Annotated[
        int, msgspec.Meta(description="How many entries to pass over, to read on in a long result.")
    ] = 0
    exclude: Annotated[_Several, OLDER] = None
    type: Annotated[_Several, OLDER] = None
    multiline: Annotated[bool, OLDER] = False
    before: Annotated[int | None, OLDER] = None
    after: Annotated[int | None, OLDER] = None
    paths: Annotated[_Several, OLDER] = None
    files: Annotated[bool, OLDER] = False
    count: Annotated[bool, OLDER] = False
    group: Annotated[bool, OLDER] = False


@dataclass(frozen=True)
class Query:
    """A search, understood. Without patterns it is one for names. `newer_than` is in seconds since the epoch."""

    patterns: tuple[str, ...]
    names: NameFilter
    paths: tuple[str, ...]
    output: Output
    case_sensitive: bool
    word: bool
    literal: bool
    multiline: bool
    before: int
    after: int
    newer_than: float | None
    depth: int | None
    no_ignore: bool
    tags: bool
    offset: int
    types: tuple[str, ...]

    @property
    def counts_hits(self) -> bool:
        """Whether it is asked how many hits a file has; else it is enough to know that it has one."""
        return bool(self.patterns) and self.output in ("lines", "count")


def understand(arguments: SearchArguments, root: str, *, now: float) -> Query:
    """The query that `arguments` come to in the workspace at `root`, at the time `now`.

    Raises:
        ToolRefused: when they ask for nothing, or for what can't be.
    """
    patterns = _list(arguments.pattern)
    words = (arguments.name or "").split()
    globs, types = [glob.removeprefix(f"{root}/") for glob in _list(arguments.glob)], _list(arguments.type)
    if not (patterns or words or globs or types or arguments.newer):
        raise ToolRefused("Nothing to search for: give pattern (contents), name (words), glob or newer.")
    _refuse_odd([*patterns, *words, *globs, *types, *_list(arguments.exclude)])
    if arguments.depth is not None and arguments.depth < 1:
        raise ToolRefused(f"depth is {arguments.depth}; 1 is the folder itself, 2 the folders in it as well.")
    if arguments.offset < 0:
        raise ToolRefused(f"offset is {arguments.offset}; it counts the entries to pass over, from 0.")
    try:
        names = NameFilter(words, globs, _list(arguments.exclude), case_sensitive=arguments.case_sensitive)
    except BadGlob as error:
        raise ToolRefused(f"{short(str(error))}; close it, or put a \\ before it.") from None
    return Query(
        patterns=tuple(patterns),
        names=names,
        paths=(*_list(arguments.path), *_list(arguments.paths)) or (".",),
        output=_output(arguments),
        case_sensitive=arguments.case_sensitive,
        word=arguments.word,
        literal=arguments.literal,
        multiline=arguments.multiline
        or any(_spans_lines(pattern, arguments.literal) for pattern in patterns),
        before=_context(arguments.context if arguments.before is None else arguments.before),
        after=_context(arguments.context if arguments.after is None else arguments.after),
        newer_than=None if not arguments.newer else _since(arguments.newer, now),
        depth=arguments.depth,
        no_ignore=arguments.no_ignore,
        tags=arguments.tags,
        offset=arguments.offset,
        types=tuple(types),
    )


def _list(given: _Several) -> list[str]:
    several = [given] if isinstance(given, str) else given or []
    return [one for one in several if one]


def _refuse_odd(texts: Iterable[str]) -> None:
    total = 0
    for text in texts:
        total += len(text)
        if "\0" in text:
            raise ToolRefused(
                r"A NUL character can't be searched for; as a part of an expression it is \x00."
            )
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            raise ToolRefused("Half of a surrogate pair is no character; give plain text.")
    if total > _LONGEST_PATTERNS:
        raise ToolRefused(
            f"The patterns are {total:,} characters long; at most {_LONGEST_PATTERNS:,} can be searched for."
        )


def _output(arguments: SearchArguments) -> Output:
    if arguments.files:
        return "files"
    if arguments.count:
        return "count"
    return "folders" if arguments.group else arguments.output


def _context(lines: int) -> int:
    return min(max(lines, 0), _MOST_CONTEXT)


def _spans_lines(pattern: str, literal: bool) -> bool:
    return "\n" in pattern or (not literal and re.search(r"(?<!\\)(?:\\\\)*\\n", pattern) is not None)


_UNITS = (
    (("s", "sec", "secs", "second", "seconds"), 1.0),
    (("m", "min", "mins", "minute", "minutes"), 60.0),
    (("h", "hour", "hours"), 3_600.0),
    (("d", "day", "days"), 86_400.0),
    (("w", "week", "weeks"), 7 * 86_400.0),
    (("mo", "month", "months"), 30 * 86_400.0),
    (("y", "year", "years"), 365 * 86_400.0),
)
_SPAN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]+)")


def _since(newer: str, now: float) -> float:
    """The moment since which a file must have been modified, from a span or a date."""
    text = newer.strip().lower()
    span = _SPAN.fullmatch(text)
    if span is not None:
        for names, seconds in _UNITS:
            if span[2] in names:
                return now - float(span[1]) * seconds
    try:
        return datetime.fromisoformat(newer.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ToolRefused(
            f"newer is {short(newer)!r}; give a span such as 90min, 12h, 2d or 3w, or a date such as 2024-05-31."
        ) from None
