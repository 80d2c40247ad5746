"""Contract. The journal: what is written is read back the same, live or late, whole or after a crash."""

from pathlib import Path

import msgspec
import pytest
import trio

from merge.landings.landing import Conflicted, Held, Landed, NothingToLand
from orchestrator.checks.results import CheckResult, RanTooLong
from orchestrator.events import (
    AnyFact,
    CheckFinished,
    CheckStarted,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Compacted,
    Died,
    Dismissed,
    ErrorRecorded,
    Event,
    JobEnded,
    ModelHeldBack,
    ModelRetried,
    ModelSwitched,
    NeverBegan,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    QuestionId,
    QuestionsAnswered,
    QuestionsAsked,
    Replied,
    RequestGiven,
    SessionFinished,
    SessionStarted,
    Stopped,
    TextAdded,
    Told,
    TurnFinished,
)
from orchestrator.journal import (
    PARENT,
    Entry,
    Heard,
    Journal,
    JournalBroken,
    JournalUnwritable,
    read_entries,
)
from tests.full_disk import no_room_beyond
from worker.conversation import AssistantMessage, CallId, Image, ToolCall, ToolMessage, UserMessage
from worker.model import Malformed, Reply, Usage
from worker.protocol import Answered, ChildId, ToolFinished, ToolStarted
from worker.tools.ask import Option, Question

CHILD = ChildId("fix-it-0a1b")

FACTS: tuple[AnyFact, ...] = (
    SessionStarted("s", "/w", "http://x", "m"),
    ModelSwitched("n"),
    Noticed("an agent file is left out"),
    RequestGiven("do ü"),
    Told((UserMessage("do ü"), ToolMessage(CallId("1"), "t", (Image("image/png", b"\x00\xff"),)))),
    Replied(Reply(AssistantMessage("hm", (ToolCall(CallId("1"), "read", "{"),)), Usage(1, 2, 3)), 0.5),
    Compacted((UserMessage("do ü"), AssistantMessage("hm")), 100, 10, Usage(1, 2, 3), 0.5),
    ModelRetried(Malformed("html"), 1, 0.25),
    ModelHeldBack(1, 2.5),
    ToolStarted(CallId("1"), "read", "read a"),
    ToolFinished(CallId("1"), "read", "read a", "text\nmore", True, 0.1),
    ChildStarted(CHILD, "implement", "fix it", "fix it now", True),
    ChildQueued(8, 2),
    ChildWorking("/w-children/fix-it-0a1b", ("a",), ("b (too large)",)),
    ChildFinished(Answered("done"), Landed("l1", ("a",), ("moved",)), 1.0, Usage()),
    ChildFinished(Died("exit status 1", "oh"), Conflicted("/c", ("a: both changed it",)), 1.0, Usage()),
    ChildFinished(Stopped("the person"), Held("/c", "interrupted"), 1.0, Usage()),
    ChildFinished(NeverBegan("disk full"), NothingToLand(), 1.0, Usage()),
    Dismissed(),
    PermissionAsked(
        QuestionId("q1"), CallId("1"), "write", "write a", "a\nb", ("write a",), "by policy.toml"
    ),
    PermissionAnswered(QuestionId("q1"), "approved"),
    QuestionsAsked("ask-1", (Question("Which?", (Option("this"),), True),)),
    QuestionsAnswered("ask-1", (("this", "and that"),)),
    QuestionsAnswered("ask-1", None),
    CheckStarted("tests", "make test"),
    CheckFinished(CheckResult("tests", "make test", RanTooLong(5.0), 5.1, "…", "/l/c.log", "1a2b")),
    ErrorRecorded("the receipt", "the disk is full"),
    TurnFinished(Stopped("the person"), 2.0),
    JobEnded("job-1a2b", "$ make", "exit code 0", 12.5),
    JobEnded("job-1a2b", "$ make", "lost", None),
    SessionFinished(),
)


def test_every_fact_there_is_comes_back_as_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "s" / "journal.jsonl")
    written = [journal.record(CHILD, fact) for fact in FACTS]
    journal.close()
    assert list(read_entries(journal.path)) == written
    assert [entry.number for entry in written] == list(range(len(FACTS)))
    sounds = {"TextAdded", "ThinkingAdded", "CallComposing", "Compacting"}
    kinds = {fact.__name__ for fact in Event.__subclasses__()} | {"ToolStarted", "ToolFinished"}
    assert {type(fact).__name__ for fact in FACTS} == kinds - sounds


def test_each_line_is_json_that_anyone_can_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(PARENT, RequestGiven("two\nlines"))
    journal.close()
    (line,) = journal.path.read_bytes().splitlines()
    assert msgspec.json.decode(line)["event"] == {"type": "RequestGiven", "text": "two\nlines", "by": ""}


async def test_a_late_reader_and_a_live_one_read_the_same(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    read: dict[str, list[Entry]] = {"live": [], "late": []}

    async def follow(name: str) -> None:
        async for item in journal.follow():
            if isinstance(item, Entry):
                read[name].append(item)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow, "live")
        for fact in FACTS[:5]:
            journal.record(PARENT, fact)
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(follow, "late")
        for fact in FACTS[5:]:
            journal.record(CHILD, fact)
        journal.close()
    assert read["live"] == read["late"] == list(read_entries(journal.path))


async def test_sounds_reach_who_listens_and_are_not_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    heard: list[Heard] = []

    async def follow() -> None:
        async for item in journal.follow():
            if isinstance(item, Heard):
                heard.append(item)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow)
        await trio.testing.wait_all_tasks_blocked()
        journal.hear(PARENT, TextAdded("hel"))
        journal.hear(PARENT, TextAdded("lo"))
        await trio.testing.wait_all_tasks_blocked()
        journal.close()
    assert [sound.event for sound in heard] == [TextAdded("hel"), TextAdded("lo")]
    assert list(read_entries(journal.path)) == []


def test_a_torn_last_line_is_passed_over_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.record(PARENT, FACTS[0])
    journal.close()
    with path.open("ab") as file:
        file.write(b'{"number":1,"at":1.0,"wh')
    assert [entry.event for entry in read_entries(path)] == [FACTS[0]]
    journal = Journal(path)
    assert journal.record(PARENT, FACTS[1]).number == 1
    journal.close()
    assert [entry.event for entry in read_entries(path)] == list(FACTS[:2])


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"nonsense\n")
    with pytest.raises(JournalBroken, match=r"journal\.jsonl, line 1"):
        list(read_entries(path))


def test_a_fact_that_finds_no_room_leaves_the_journal_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.record(PARENT, RequestGiven("first"))
    with (
        no_room_beyond(path.stat().st_size + 50),
        pytest.raises(JournalUnwritable, match=r"File too large. Make"),
    ):
        journal.record(PARENT, RequestGiven("x" * 1_000))
    journal.record(PARENT, RequestGiven("second"))
    journal.close()
    assert [entry.event for entry in read_entries(path)] == [RequestGiven("first"), RequestGiven("second")]
