"""Every message between the parent and a worker. `python -m worker.protocol` prints this page as a table.

Commands go down, reports go up; each is a frozen tagged struct in one of the two unions below, sent as one frame
(`worker.pipe.frames`). A worker's life on the wire: it sends `Ready`, receives `Start`, works, and its last report is
always `Finished`. Either side learns of the other's death by the end of the pipe; closing the pipe tells a worker
to stop. Nothing here knows how a frame travels or what a report means to the parent.
"""

from typing import Literal, NewType

import msgspec

from worker.conversation import AnyMessage, CallId
from worker.model import AnyModelFailure, Reply
from worker.policy.question import Permission, Question
from worker.policy.rules import Policy
from worker.tool_settings import ToolSettings

ChildId = NewType("ChildId", str)
"""Names a child in the session, on disk (`<repo>-children/<id>`) and on the screen."""

Kind = Literal["research", "implement"]
"""What a child may do: a research child reads its parent's workspace, an implement child edits its own checkout."""

PROTOCOL_VERSION = 2
"""Changed with every change of a message. 2: a reply may replace the conversation it follows."""


# Commands: parent → worker


class Command(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what the parent tells a worker."""


class ToolLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The only tools that an agent may call, by every name they have; `refusal` is what any other call is told."""

    names: tuple[str, ...]
    refusal: str


class Start(Command, frozen=True):
    """The first command: who the worker is, where it works, and the conversation it begins or goes on with.

    `workspace` and `temporary`, the folder for its logs, are absolute paths as the file system has them.
    `conversation` ends with a user's or a tool's message. `command_limit_seconds` bounds one shell command,
    `search_limit_seconds` one search. Without a `limit` the worker may call every tool that its kind may. Where the
    `policy` asks, the worker asks the parent. `tools` are set as the parent's are.
    """

    child: ChildId
    kind: Kind
    workspace: bytes
    temporary: bytes
    conversation: tuple[AnyMessage, ...]
    command_limit_seconds: float = 3600.0
    search_limit_seconds: float = 30.0
    limit: ToolLimit | None = None
    policy: Policy = Policy()
    tools: ToolSettings = ToolSettings()


class ModelReplied(Command, frozen=True):
    """The answer to the `ModelAsked` of the same `ask`.

    Where the conversation had grown too long, `conversation` is the shorter one that stands in its place from now on,
    for both sides; the reply answers that.
    """

    ask: int
    reply: Reply
    conversation: tuple[AnyMessage, ...] | None = None


class ModelFailed(Command, frozen=True):
    """The `ModelAsked` of the same `ask` got no answer, and will not."""

    ask: int
    failure: AnyModelFailure


class PermissionDecided(Command, frozen=True):
    """The answer to the `PermissionWanted` of the same `ask`."""

    ask: int
    permission: Permission


class Steer(Command, frozen=True):
    """A message for the model, to be read before its next reply."""

    text: str


AnyCommand = Start | ModelReplied | ModelFailed | PermissionDecided | Steer


# Outcomes: how a child's work ended, as the worker itself tells it


class Outcome(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of the ways a turn ends."""


class Answered(Outcome, frozen=True):
    """The model asked for no more tools; `text` is its last answer, whole, however many replies it came in."""

    text: str


class ModelGaveUp(Outcome, frozen=True):
    """A model call failed for good. `text` is the last the model had said, perhaps nothing."""

    failure: AnyModelFailure
    text: str = ""


class LoopStopped(Outcome, frozen=True):
    """The turn was ended: the model repeated one call, or its answer found no end."""

    detail: str
    text: str = ""


class Failed(Outcome, frozen=True):
    """A fault of ours inside the worker; `detail` is the traceback."""

    detail: str


AnyOutcome = Answered | ModelGaveUp | LoopStopped | Failed


# Reports: worker → parent


class Report(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what a worker tells the parent."""


class Ready(Report, frozen=True):
    """The first report: the worker runs and waits for `Start`."""

    pid: int
    version: int = PROTOCOL_VERSION


class ModelAsked(Report, frozen=True):
    """The worker wants a reply. Of the conversation the first `kept` messages are as the parent knows them.

    `messages` follow those. The parent answers with `ModelReplied` or `ModelFailed`; both sides then append the
    reply's message.
    """

    ask: int
    kept: int
    messages: tuple[AnyMessage, ...]


class ToolStarted(Report, frozen=True):
    """A tool call begins. `title` is a line for a person, with paths relative to the workspace."""

    call: CallId
    name: str
    title: str


class ToolFinished(Report, frozen=True):
    """The tool call ended; every `ToolStarted` has exactly one. `text` is what the model reads."""

    call: CallId
    name: str
    title: str
    text: str
    failed: bool
    seconds: float


class PermissionWanted(Report, frozen=True):
    """A call may run only if a person allows it. The parent answers with `PermissionDecided`."""

    ask: int
    question: Question


class Finished(Report, frozen=True):
    """The last report of a worker."""

    outcome: AnyOutcome


AnyReport = Ready | ModelAsked | ToolStarted | ToolFinished | PermissionWanted | Finished


def protocol_rows() -> list[tuple[str, str, str, str]]:
    """The protocol as rows of direction, name, fields, meaning."""
    directions = (("command", Command), ("report", Report), ("outcome", Outcome))
    return [
        (
            direction,
            struct.__name__,
            ", ".join(struct.__struct_fields__),
            (struct.__doc__ or "").strip().splitlines()[0],
        )
        for direction, base in directions
        for struct in base.__subclasses__()
    ]


def main() -> None:
    rows = [("direction", "name", "fields", "meaning"), *protocol_rows()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))


if __name__ == "__main__":
    main()
