"""What each thing that happens adds to the transcript, as lines: the part of a session that scrolls up and
stays.

Pure: from an entry and the picture after it to lines. An empty line parts two blocks; two in a row count as
one. A terminal that draws child rows leaves out what those show (`is_shown_by_rows`); a log file gets
everything.
"""

from orchestrator.children.first_message import last_text, role
from orchestrator.conversation.compaction import summary_in
from orchestrator.drawing.lines import Line, Span, answered, dim, indented, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.events import (
    CheckStarted,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    Compacted,
    JobEnded,
    ModelHeldBack,
    ModelRetried,
    ModelSwitched,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    Replied,
    RequestGiven,
    SessionStarted,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry
from orchestrator.roster import ChildRow, Picture
from orchestrator.view.permission_lines import answered_line, asked_lines
from orchestrator.view.receipt import child_receipt, receipt
from orchestrator.view.signs import STATE_TONES, state_mark, tool_mark
from worker.agent import INTERRUPTED
from worker.protocol import ToolFinished, ToolStarted

_ECHOED = frozenset({"run_command", "bash", "lsp", "ask"})


def told(entry: Entry, picture: Picture, look: Look) -> list[Line]:
    """The lines that `entry` adds; `picture` already holds it."""
    if isinstance(entry.event, PermissionAsked):
        return asked_lines(entry.who, entry.event, look)
    if isinstance(entry.event, PermissionAnswered):
        return [answered_line(entry.who, entry.event)]
    if entry.who != PARENT:
        row = picture.all_children().get(entry.who)
        return _told_of_child(entry, row, look) if row is not None else []
    match entry.event:
        case SessionStarted(workspace=workspace, endpoint=endpoint, model=model, instructions=files):
            return [
                line(Span("covey", "strong"), " in ", tame_line(workspace)),
                dim(tame_line(f"model {model} at {endpoint}; /help lists the commands")),
                *([dim(tame_line(f"instructions from {', '.join(files)}"))] if files else []),
                (),
            ]
        case ModelSwitched(model=model):
            return [dim(f"{tame_line(model)} answers from here on")]
        case Noticed(text=text):
            return [line(Span(tame_line(text), "warn"))]
        case RequestGiven(text=text):
            return [(), *asked(text, look), ()]
        case Replied(reply=reply):
            return [(), *answered(reply.message.text), ()] if reply.message.text.strip() else []
        case Compacted() as fact:
            return [(), *_compacted(fact, look), ()]
        case ModelHeldBack():
            return [dim(picture.last_action)]
        case ModelRetried():
            return [line(Span(tame_line(picture.last_action), "warn"))]
        case ToolStarted(name=name, title=title):
            return [line(tool_mark(look, name) + _titled(name, title))]
        case ToolFinished():
            return _preview(entry.event, look)
        case CheckStarted(name=name, command=command):
            return [line(f"check {tame_line(name)}: {tame_line(command)}")]
        case JobEnded(job=job, command=command, ending=ending):
            return [dim(tame_line(f"{job} has ended: {ending}: {command}"))]
        case TurnFinished():
            return [(), *receipt(picture, look), ()]
        case _:
            return []


def is_shown_by_rows(entry: Entry) -> bool:
    """Whether a live row tells it already: all of a child but its end, and what it asks the person."""
    shown = isinstance(entry.event, ChildFinished | PermissionAsked | PermissionAnswered)
    return entry.who != PARENT and not shown


def asked(text: str, look: Look) -> list[Line]:
    """What the person said, marked as theirs."""
    first, *more = tame(text).split("\n")
    return [
        line(Span(look.prompt, "accent"), Span(first, "strong")),
        *(line(" " * len(look.prompt), Span(rest, "strong")) for rest in more),
    ]


def _told_of_child(entry: Entry, row: ChildRow, look: Look) -> list[Line]:
    match entry.event:
        case ChildStarted():
            note = ", in the background" if row.background else ""
            return [
                line(
                    Span(f"{state_mark(look, 'starting')} starting", STATE_TONES["starting"]),
                    " ",
                    Span(row.id, "strong"),
                    f" ({tame_line(role(row.kind, row.agent))}{note}) {tame_line(row.title)}",
                )
            ]
        case ChildQueued():
            return [dim(f"  {row.id}  queued, {row.last_action}")]
        case ToolStarted(name=name, title=title):
            return [dim(f"  {row.id}  {tool_mark(look, name)}{_titled(name, title)}")]
        case Compacted() as fact:
            return [dim(f"  {row.id}  {made_shorter(fact.before_tokens, fact.after_tokens)}")]
        case Noticed(text=text):
            return [line(f"  {row.id}  ", Span(tame_line(text), "warn"))]
        case ModelHeldBack():
            return [dim(f"  {row.id}  {row.last_action}")]
        case ModelRetried():
            return [line(f"  {row.id}  ", Span(tame_line(row.last_action), "warn"))]
        case ChildFinished(ending=ending):
            answer = last_text(ending).strip()
            said = _first_lines(answer, look) if answer else []
            return [*child_receipt(row, look, in_short=True), *(indented(part, 4) for part in said)]
        case _:
            return []


def made_shorter(before_tokens: int, after_tokens: int) -> str:
    """That a conversation was made shorter, in words."""
    return f"conversation made shorter: about {before_tokens:,} tokens are {after_tokens:,} now"


def _compacted(fact: Compacted, look: Look) -> list[Line]:
    """That it was made shorter, and how the summary begins that it goes on with."""
    summary = summary_in(fact.messages)
    shown = _first_lines(summary, look) if summary else []
    return [dim(made_shorter(fact.before_tokens, fact.after_tokens)), *(indented(part, 4) for part in shown)]


def _preview(finished: ToolFinished, look: Look) -> list[Line]:
    """The beginning of what a command answered; of another tool only when it failed."""
    if finished.name in _ECHOED:
        shown = (
            _first_lines(finished.text.strip("\n"), look) if finished.text.strip() else [dim("(no output)")]
        )
    elif finished.failed and finished.text != INTERRUPTED:
        title = _titled(finished.name, finished.title)
        shown = [line(Span(f"{title} failed:", "bad")), *_first_lines(finished.text.strip("\n"), look)]
    else:
        shown = []
    return [indented(part, 4) for part in shown]


def _first_lines(text: str, look: Look) -> list[Line]:
    lines = tame(text).split("\n")
    shown = [dim(part.rstrip()) for part in lines[: look.preview_lines]]
    more = len(lines) - look.preview_lines
    if more > 0:
        shown.append(dim(f"{look.ellipsis} {more} more line{'s' if more > 1 else ''}"))
    return shown


def _titled(name: str, title: str) -> str:
    """The tool and what it does; a title that begins with the tool's name stands as it is."""
    text = tame_line(title).removeprefix("$ ")  # a command's; the mark says it
    return text if text.startswith(name) else f"{name}: {text}"
