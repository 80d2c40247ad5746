"""The parts of a transcript, as values: what was asked, said, called, delegated, noticed, and how it ended.

A block is replaced by a newer one when more is known of it; its place in the transcript never changes. Knows no width,
no colour and no journal.
"""

import msgspec

from orchestrator.drawing.lines import Line, plain
from orchestrator.roster import ChildRow, Picture
from worker.conversation import CallId
from worker.protocol import ChildId


class Block(msgspec.Struct, frozen=True, tag=True):
    """Base of the parts. `at` is when it began, in seconds since the epoch."""

    at: float


class Opening(Block, frozen=True):
    """A session began, or was gone on with. `instructions` are the files whose text is in its system prompt."""

    session: str
    workspace: str
    model: str
    endpoint: str
    instructions: tuple[str, ...] = ()


class Request(Block, frozen=True):
    """What a person asked for: it begins a turn."""

    text: str


class Message(Block, frozen=True):
    """What somebody told the model: the person in the turn, a child's report, the parent to a child."""

    text: str


class Answer(Block, frozen=True):
    """What the model said, as Markdown. `is_whole` is false while it is still being said."""

    text: str
    is_whole: bool = True


class Called(Block, frozen=True):
    """One tool call. `text` is what it gave; None as long as it runs."""

    call: CallId
    name: str
    title: str
    text: str | None = None
    failed: bool = False
    seconds: float = 0.0


class Card(Block, frozen=True):
    """Children that one reply of the model started together, in their order."""

    children: tuple[ChildId, ...]


class Question(Block, frozen=True):
    """Something the person was asked, and what they said to it; `answer` is empty as long as it waits."""

    text: str
    answer: str = ""


class Note(Block, frozen=True):
    """A sentence about the session: a notice, a retry, a child that waits."""

    text: str
    is_warning: bool = True


class Shortened(Block, frozen=True):
    """The conversation was made shorter; `summary` stands for what is gone, empty where only answers were cut."""

    summary: str
    before_tokens: int
    after_tokens: int


class TurnEnd(Block, frozen=True):
    """A turn ended; `picture` is all that there is to say of it."""

    picture: Picture


class ChildEnd(Block, frozen=True):
    """A child ended; `row` tells how."""

    row: ChildRow


class Shown(Block, frozen=True):
    """What came of a command that the person typed: lines of the screen's own, in no journal."""

    lines: tuple[Line, ...]


class Gone(Block, frozen=True):
    """A call that became part of a card: nothing is shown in its place."""


AnyBlock = (
    Opening
    | Request
    | Message
    | Answer
    | Called
    | Card
    | Question
    | Note
    | Shortened
    | TurnEnd
    | ChildEnd
    | Shown
    | Gone
)


def is_foldable(block: AnyBlock) -> bool:
    """Whether there is more to it than the one line that it is shown as at first."""
    match block:
        case Called(text=text):
            return bool(text)
        case Shortened(summary=summary):
            return bool(summary)
        case Card():
            return True
        case TurnEnd(picture=picture):
            return bool(picture.children)
        case Message(text=text):
            return "\n" in text.strip()
        case _:
            return False


def text_of(block: AnyBlock) -> str:
    """All the text of a block, for a search."""
    match block:
        case Request(text=text) | Message(text=text) | Answer(text=text) | Note(text=text):
            return text
        case Shortened(summary=summary):
            return summary
        case Called(title=title, text=text):
            return f"{title}\n{text or ''}"
        case Question(text=text, answer=answer):
            return f"{text}\n{answer}"
        case Card(children=children):
            return " ".join(children)
        case ChildEnd(row=row):
            return f"{row.id} {row.title}"
        case Opening(workspace=workspace, session=session):
            return f"{workspace} {session}"
        case Shown(lines=lines):
            return "\n".join(map(plain, lines))
        case TurnEnd() | Gone():
            return ""
