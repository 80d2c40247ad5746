"""One child's part of its session's journal: what it tells once that session is dead, and the end that it lacks.

Pure but for finding, reading and writing the file. A child may be taken up again by the same session: then only what
came after it began last counts.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from merge.landings.landing import AnyLanding
from merge.store.repository import Repository, working_trees
from orchestrator.children.first_message import ending_told
from orchestrator.children.ledger import LedgerRow
from orchestrator.events import (
    AnyEnding,
    ChildFinished,
    ChildStarted,
    ChildWorking,
    Compacted,
    Replied,
    Stopped,
)
from orchestrator.journal import Entry, Journal, JournalBroken, read_entries
from worker.model import Reply, Usage
from worker.protocol import Answered, ChildId

THE_DEATH_OF_ITS_SESSION = "the death of its session"

LOST_ANSWER = "[what it answered is lost: the session's journal was torn]"
"""Stands for the answer of a child of which only the ledger tells that it finished."""


class ChildStory(msgspec.Struct, frozen=True):
    """What a journal tells of one child.

    `answer` is its last reply, if that asked for no tool, with the replies before it that were cut off. `worked` tells
    whether a worker was started.
    """

    start: ChildStarted | None = None
    began_at: float | None = None
    ended: bool = False
    worked: bool = False
    answer: str | None = None
    usage: Usage = Usage()


def story_of(entries: Iterable[Entry], child: ChildId) -> ChildStory:
    """The story of `child`, from when it began last."""
    story, replies = ChildStory(), list[Reply]()
    for entry in entries:
        if entry.who != child:
            continue
        match entry.event:
            case ChildStarted() as start:
                story, replies = ChildStory(start, entry.at), list[Reply]()
            case ChildWorking():
                story = msgspec.structs.replace(story, worked=True)
            case ChildFinished():
                story = msgspec.structs.replace(story, ended=True)
            case Replied(reply=reply):
                replies.append(reply)
                story = msgspec.structs.replace(story, usage=story.usage + reply.usage)
            case Compacted(usage=usage):
                story = msgspec.structs.replace(story, usage=story.usage + usage)
            case _:
                pass
    return msgspec.structs.replace(story, answer=_answer_of(replies))


def _answer_of(replies: Sequence[Reply]) -> str | None:
    """The answer that the last reply ends, from the first of the replies before it that were cut off."""
    if not replies or replies[-1].message.calls:
        return None
    first = len(replies) - 1
    while first and replies[first - 1].cut_off and not replies[first - 1].message.calls:
        first -= 1
    return "".join(reply.message.text for reply in replies[first:])


def ending_of(story: ChildStory, *, finished: bool, words: str = "") -> AnyEnding:
    """How its work ended: in the `words` of its row where those tell, else by whether it `finished`."""
    told = ending_told(words, story.answer or "")
    if told is not None and not isinstance(told, Answered):
        return told
    if finished or told is not None:
        return Answered(story.answer if story.answer is not None else LOST_ANSWER)
    return Stopped(THE_DEATH_OF_ITS_SESSION)


def missing_facts(
    story: ChildStory, row: LedgerRow, ending: AnyEnding, landing: AnyLanding | None, *, unwritten: bool
) -> tuple[ChildStarted | ChildFinished, ...]:
    """What the journal lacks of a child whose row is closed: its end, and its beginning where that is not there."""
    began_at = story.began_at if story.began_at is not None else row.began_at
    end = ChildFinished(ending, landing, max(0.0, row.changed_at - began_at), story.usage, unwritten)
    # The row comes before the beginning: its session may have died between the two.
    start = ChildStarted(row.child, row.kind, row.title, row.task, False, row.agent)
    return (end,) if story.start is not None else (start, end)


def find_journal(repository: Repository, session: str, *roots: Path) -> Path | None:
    """The journal of a session in any working tree of the repository, those at `roots` first."""
    for root in dict.fromkeys((*roots, *working_trees(repository))):
        path = root / ".covey" / "sessions" / session / "journal.jsonl"
        if path.is_file():
            return path
    return None


def entries_in(path: Path | None) -> list[Entry]:
    """What the journal tells; nothing where it is broken or there is none."""
    try:
        return list(read_entries(path)) if path is not None else []
    except (JournalBroken, OSError):
        return []  # what it said is lost; what the child did is in its checkout


def write_down(path: Path, child: ChildId, facts: Sequence[ChildStarted | ChildFinished]) -> None:
    """Put facts of a child's into the journal of a session that runs no more, where `covey resume` reads them.

    Raises:
        JournalInUse: when the session runs again.
        JournalBroken: when the journal can't be read, so that nothing may be written behind it.
        CantRecord: when it can't be written.
    """
    journal = Journal(path)
    try:
        for fact in facts:
            journal.record_durably(child, fact)
    finally:
        journal.close()
