"""Contract. What the next session makes of a child whose session died, by what the ledger and the journal say of it."""

from pathlib import Path

import pytest

from orchestrator.children.ledger import LedgerRow, State, open_ledger
from orchestrator.children.orphans import settle_orphans
from orchestrator.events import AnyEnding, ChildFinished, ChildStarted, Replied, Stopped
from orchestrator.journal import Journal, read_entries
from tests.orchestrator.review.places import GONE, make_place
from worker.conversation import AssistantMessage, CallId, ToolCall
from worker.model import Reply
from worker.protocol import Answered, ChildId

CHILD = ChildId("scout-a1")


def replied(text: str, *, cut_off: bool = False, calls: bool = False) -> Replied:
    made = (ToolCall(CallId("c"), "read", "{}"),) if calls else ()
    return Replied(Reply(AssistantMessage(text, made), cut_off=cut_off), 1.0)


@pytest.mark.parametrize(
    ("state", "replies", "ending"),
    [
        ("finished", (replied("the answer"),), Answered("the answer")),
        (
            "finished",
            (
                replied("not this, ", cut_off=True),
                replied("it looked", calls=True),
                replied("all of ", cut_off=True),
                replied("a long ", cut_off=True),
                replied("answer"),
            ),
            Answered("all of a long answer"),
        ),
        ("working", (replied("half of ", cut_off=True),), Stopped("the death of its session")),
    ],
)
async def test_a_child_that_had_answered_is_on_record_with_its_whole_answer(
    tmp_path: Path, state: State, replies: tuple[Replied, ...], ending: AnyEnding
) -> None:
    place = make_place(tmp_path / "repo")
    path = place.root / ".covey/sessions/s-1/journal.jsonl"
    path.parent.mkdir(parents=True)
    journal = Journal(path)
    journal.record(CHILD, ChildStarted(CHILD, "research", "scout", "Look.", False, ""))
    for reply in replies:
        journal.record(CHILD, reply)
    journal.close()
    place.put(LedgerRow(CHILD, "s-1", GONE, "research", "scout", "Look.", state, 1.0, 2.0))
    with open_ledger(place.repository) as ledger:
        await settle_orphans(place.repository, ledger)
    (finished,) = (entry.event for entry in read_entries(path) if isinstance(entry.event, ChildFinished))
    assert finished.ending == ending
