"""Real processes. The roster of a session: who works, who waits, who is asked for, and what is shared by all."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Held, Landed
from merge.store.repository import find_repository
from orchestrator.children.children import Children, open_children
from orchestrator.children.grounds import Grounds
from orchestrator.children.landing_turn import PlainTurn
from orchestrator.children.ledger import LedgerRow, open_ledger
from orchestrator.children.slots import Slots
from orchestrator.children.spawning import open_spawner
from orchestrator.conversation.budget import Budget, Purse
from orchestrator.events import (
    AnyFact,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Dismissed,
    Stopped,
    Told,
)
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import open_gateway
from orchestrator.journal import Journal, read_entries
from orchestrator.scripted.scenario import Conversation, Hang, Reply
from orchestrator.terms.agents import Agent, AgentFiles
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import breaks, call, says, serving, talk
from worker.conversation import UserMessage
from worker.model import OutOfBudget
from worker.protocol import ChildId, Kind, ModelGaveUp, ToolFinished
from worker.tools.task import TaskArguments
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

HANGS = breaks(Hang())


@dataclass
class Bench:
    """A session's children without the session."""

    children: Children
    grounds: Grounds
    workspace: Workspace
    _read: trio.Event = field(default_factory=trio.Event)

    async def task(self, arguments: TaskArguments) -> ToolAnswer:
        return await self.children.answer(arguments, self.workspace)

    async def start(self, prompt: str, kind: Kind = "research", agent: str | None = None) -> ChildId:
        """Start a child in the background."""
        before = set(self.children.roster)
        answer = await self.task(
            TaskArguments(kind=kind, title=prompt, prompt=prompt, background=True, agent=agent)
        )
        assert not answer.failed, answer
        (new,) = set(self.children.roster) - before
        return new

    async def kill(self, child: ChildId) -> ToolAnswer:
        return await self.task(TaskArguments(child=child, kill=True))

    async def until(self, child: ChildId, kind: type[AnyFact]) -> None:
        """Wait until something of that kind has happened to the child."""
        with trio.fail_after(30):
            while not any(isinstance(fact, kind) for fact in self.facts(child)):
                await self._read.wait()

    async def until_there_are(self, children: int) -> None:
        """Wait until so many children have been asked for."""
        with trio.fail_after(30):
            while len(self.children.roster) < children:
                await self._read.wait()

    async def follow(self) -> None:
        async for _ in self.grounds.journal.follow():
            self._read.set()
            self._read = trio.Event()

    def facts(self, child: ChildId) -> list[AnyFact]:
        return [entry.event for entry in read_entries(self.grounds.journal.path) if entry.who == child]

    def kinds(self, child: ChildId) -> list[type[AnyFact]]:
        kinds = (ChildStarted, ChildQueued, ChildWorking, ChildFinished)
        return [type(fact) for fact in self.facts(child) if isinstance(fact, kinds)]

    def row(self, child: ChildId) -> LedgerRow:
        row = self.grounds.ledger.read(child)
        assert row is not None
        return row


@asynccontextmanager
async def bench(
    repository: Path,
    *talks: Conversation,
    limit: int = 2,
    budget: Budget | None = None,
    agents: tuple[Agent, ...] = (),
) -> AsyncGenerator[Bench]:
    place = find_repository(repository)
    logs = repository / ".git" / "logs-of-children"
    journal = Journal(repository / ".git" / "journal.jsonl")
    async with (
        serving(*talks) as server,
        open_gateway(Endpoint("openai", server.url, "m"), "", ()) as gateway,
        open_spawner() as spawner,
    ):
        with closing(journal), open_ledger(place) as ledger, trio.fail_after(60):
            grounds = Grounds(
                "s-1",
                place,
                gateway,
                journal,
                ledger,
                spawner,
                logs,
                PlainTurn(place),
                slots=Slots(limit),
                purse=Purse(budget),
                agents=AgentFiles(agents),
            )
            async with open_children(grounds) as children, trio.open_nursery() as nursery:
                it = Bench(children, grounds, Workspace(repository, logs))
                nursery.start_soon(it.follow)
                yield it
                nursery.cancel_scope.cancel()


async def test_what_is_over_the_limit_is_queued_in_the_order_of_the_calls_and_says_so(
    repository_of: RepositoryOf,
) -> None:
    async with bench(repository_of("python_package"), talk("Hang", HANGS)) as it:
        first, second, third, fourth = [await it.start(f"Hang {n}.") for n in range(4)]
        await it.until(second, ChildWorking)
        await it.until(fourth, ChildQueued)
        listed = (await it.task(TaskArguments())).text
        assert listed.startswith("running 2 of 2, queued 2, ended 0\n")
        assert f"child {third} (research) queued: Hang 2." in listed
        assert [it.row(child).state for child in (third, fourth)] == ["queued", "queued"]
        assert ChildQueued(2, 0) in it.facts(third)
        assert ChildQueued(2, 1) in it.facts(fourth)

        await it.kill(second)
        await it.until(third, ChildWorking)
        assert it.row(third).state == "working"
        assert it.kinds(fourth) == [ChildStarted, ChildQueued]
        await it.kill(first)
        await it.until(fourth, ChildWorking)
        assert (await it.task(TaskArguments())).text.startswith("running 2 of 2, queued 0, ended 2\n")


async def test_a_background_child_over_the_limit_answers_at_once_that_it_is_queued(
    repository_of: RepositoryOf,
) -> None:
    async with bench(repository_of("python_package"), talk("Hang", HANGS), limit=1) as it:
        await it.start("Hang first.")
        answer = await it.task(
            TaskArguments(kind="research", title="Hang next", prompt="Hang next.", background=True)
        )
        _, queued = it.children.roster
        assert answer.text == (
            f"queued child {queued} (research) in the background: 1 at work, which is the limit; its report reaches you"
            f" when it finishes. Ask with child: {queued}."
        )
        state = (await it.task(TaskArguments(child=queued, wait_secs=0.01))).text
        assert state.startswith(f"child {queued} (research) queued: Hang next\n")


async def test_a_queued_child_that_is_killed_never_begins_and_makes_way(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with bench(repository, talk("Hang", HANGS), talk("Go.", says("gone")), limit=1) as it:
        first = await it.start("Hang first.")
        killed = await it.start("Hang next.", "implement")
        last = await it.start("Go.")
        assert f"child {killed} (implement) stopped by the model" in (await it.kill(killed)).text
        assert it.kinds(killed) == [ChildStarted, ChildQueued, ChildFinished]
        assert it.row(killed).state == "ended"
        await it.kill(first)
        await it.until(last, ChildFinished)
    assert not repository.with_name(f"{repository.name}-children").exists()


async def test_an_interrupted_turn_ends_the_queued_children_too(repository_of: RepositoryOf) -> None:
    async with bench(repository_of("python_package"), talk("Hang", HANGS), limit=1) as it:
        async with trio.open_nursery() as calls:
            for n in range(3):
                calls.start_soon(it.task, TaskArguments(kind="implement", prompt=f"Hang {n}."))
            await it.until_there_are(3)
            (first, *_) = it.children.roster
            await it.until(first, ChildWorking)
            calls.cancel_scope.cancel()
        ends = [it.facts(child)[-1] for child in it.children.roster]
        assert [end.ending for end in ends if isinstance(end, ChildFinished)] == [Stopped("the person")] * 3
        with it.grounds.slots.ask() as slot:
            assert slot.is_given, "none of the three holds the only one, or stands in the line"


async def test_a_child_that_waits_for_its_landing_holds_no_slot(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    writes = talk("Write", says("", call("write", path="new.txt", content="x\n")), says("written"))
    async with bench(repository, writes, talk("Go.", says("gone")), limit=1) as it:
        assert isinstance(it.grounds.landing_turn, PlainTurn)
        async with it.grounds.landing_turn.line.lock:
            writer = await it.start("Write it.", "implement")
            await it.until(await it.start("Go."), ChildFinished)
            assert it.children.roster[writer].report is None
        await it.until(writer, ChildFinished)
    assert (repository / "new.txt").exists()


async def test_children_that_were_asked_for_together_start_from_the_same_tree_however_long_they_wait(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    writes = talk("Write", says("", call("write", path="note.txt", content="x\n")), says("written"))
    looks = talk("Look", says("", call("run_command", command="ls")), says("looked"))
    async with bench(repository, writes, talk("Hang", HANGS), looks, limit=1) as it:
        it.children.begin_group()
        writer = await it.start("Write it.", "implement")
        between = await it.start("Hang in between.")
        together = await it.start("Look now.", "implement")
        await it.until(writer, ChildFinished)
        finished = it.facts(writer)[-1]
        assert isinstance(finished, ChildFinished)
        assert isinstance(finished.landing, Landed)
        await it.kill(between)
        await it.until(together, ChildFinished)
        it.children.begin_group()
        later = await it.start("Look later.", "implement")
        await it.until(later, ChildFinished)
        seen = {
            child: fact.text
            for child in (together, later)
            for fact in it.facts(child)
            if isinstance(fact, ToolFinished)
        }
    assert "note.txt" not in seen[together]
    assert "note.txt" in seen[later]


async def test_a_queued_child_starts_from_the_tree_of_its_call_not_of_its_start(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    looks = talk("Look.", says("", call("run_command", command="ls")), says("looked"))
    async with bench(repository, talk("Hang", HANGS), looks, limit=1) as it:
        first = await it.start("Hang first.", "implement")
        await it.until(first, ChildWorking)  # the snapshot that the next one shares has been taken
        queued = await it.start("Look.", "implement")
        (repository / "later.txt").write_text("written while it waits\n")
        await it.kill(first)
        await it.until(queued, ChildFinished)
        (seen,) = [fact.text for fact in it.facts(queued) if isinstance(fact, ToolFinished)]
    assert "later.txt" not in seen


async def test_a_message_to_a_queued_child_is_read_when_it_begins(repository_of: RepositoryOf) -> None:
    goes = talk("Go.", Reply(text="gone", repeat=True))
    async with bench(repository_of("python_package"), talk("Hang", HANGS), goes, limit=1) as it:
        first, queued = await it.start("Hang first."), await it.start("Go.")
        told = await it.task(TaskArguments(child=queued, prompt="and look at the tests"))
        assert not told.failed
        await it.kill(first)
        await it.until(queued, ChildFinished)
        heard = [fact.messages for fact in it.facts(queued) if isinstance(fact, Told)]
    assert any(UserMessage("and look at the tests") in messages for messages in heard)


async def test_dismissing_hides_a_row_and_nothing_else(repository_of: RepositoryOf) -> None:
    async with bench(repository_of("python_package"), talk("Go.", says("all is well", delay_ms=200))) as it:
        child = await it.start("Go.")
        it.grounds.journal.record(child, Dismissed())
        while not (reports := it.children.take()):
            await it.children.news.wait()
        (report,) = reports
        assert "all is well" in report.text
        assert "all is well" in (await it.task(TaskArguments(child=child))).text
        assert it.row(child).state == "ended"


REVIEWER = Agent("reviewer", "Reviews.", "Be strict.\n\nSay what is wrong.", ("read", "search"), "opus")


async def test_an_agents_instructions_open_the_first_message_and_its_name_is_kept_everywhere(
    repository_of: RepositoryOf,
) -> None:
    async with bench(
        repository_of("python_package"), talk("Be strict.", says("ok")), agents=(REVIEWER,)
    ) as it:
        child = await it.start("Review the money.", agent="Reviewer")
        await it.until(child, ChildFinished)
        started, *_ = it.facts(child)
        (message,) = next(fact.messages for fact in it.facts(child) if isinstance(fact, Told))
        report = await it.task(TaskArguments(child=child))
        assert it.row(child).agent == "reviewer"
    assert isinstance(started, ChildStarted)
    assert started.agent == "reviewer"
    assert report.text.startswith(f"child {child} (research, agent reviewer) finished")
    parts = [
        str(it.workspace.root),
        "You are the agent reviewer.",
        REVIEWER.instructions,
        "Review the money.",
    ]
    places = [message.text.index(part) for part in parts]
    assert places == sorted(places)


async def test_an_agent_may_call_only_its_tools_and_is_told_which(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    tries = talk(
        "Be strict.",
        says(
            "",
            call("read", path="README.md"),
            call("write", path="new.txt", content="x"),
            call("run_command", command="touch new.txt"),
        ),
        says("could not"),
    )
    async with bench(repository, tries, agents=(REVIEWER,)) as it:
        child = await it.start("Try it.", "implement", agent="reviewer")
        await it.until(child, ChildFinished)
        calls = {fact.name: fact for fact in it.facts(child) if isinstance(fact, ToolFinished)}
    assert not calls["read"].failed
    for name in ("write", "run_command"):
        assert calls[name].failed
        assert calls[name].text.startswith(f"{name}: the agent reviewer may use only read and search;")
    assert not (repository / "new.txt").exists()


@pytest.mark.parametrize(
    ("agents", "says_"),
    [
        ((REVIEWER, Agent("writer", "", "Write.")), "The agents are: reviewer, writer."),
        ((), "No agent file is here; leave agent out."),
    ],
)
async def test_an_agent_that_is_not_known_starts_no_child(
    repository_of: RepositoryOf, agents: tuple[Agent, ...], says_: str
) -> None:
    async with bench(repository_of("python_package"), agents=agents) as it:
        answer = await it.task(TaskArguments(kind="research", prompt="Go.", agent="nobody"))
        assert answer.failed
        assert answer.text == f"There is no agent 'nobody'. {says_}"
        assert not it.children.roster


async def test_a_running_child_has_the_sessions_model_and_takes_no_other_agent(
    repository_of: RepositoryOf,
) -> None:
    async with bench(repository_of("python_package"), talk("Hang", HANGS), agents=(REVIEWER,)) as it:
        child = await it.start("Hang on.")
        reviewer = await it.start("Hang and review.", agent="reviewer")
        state = await it.task(TaskArguments(child=reviewer))
        assert state.text.endswith("its agent file asks for the model opus; it has the session's")
        answer = await it.task(TaskArguments(child=child, prompt="now review", agent="reviewer"))
        assert answer.failed
        assert "agent goes with a new child" in answer.text


@pytest.mark.keeps_checkouts
async def test_a_child_that_is_out_of_budget_ends_and_what_it_did_is_kept(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    replies = (
        Reply(text="first half", calls=(call("write", path="half.txt", content="half\n"),)),
        says("never said"),
    )
    async with bench(repository, talk("Write", *replies), budget=Budget(tokens=10)) as it:
        child = await it.start("Write it.", "implement")
        await it.until(child, ChildFinished)
        finished = it.facts(child)[-1]
        assert isinstance(finished, ChildFinished)
        assert isinstance(finished.ending, ModelGaveUp)
        assert isinstance(finished.ending.failure, OutOfBudget)
        assert finished.ending.text == "first half"
        assert isinstance(finished.landing, Held)
        assert finished.landing.reason.startswith("the session's budget was spent before the child finished")
        assert (Path(finished.landing.checkout) / "half.txt").read_text() == "half\n"
        assert it.row(child).state == "kept"
        assert it.row(child).steps == 1, "the one that was refused was no call"
        assert finished.usage == it.grounds.purse.usage
        assert "The session's budget is spent" in (await it.task(TaskArguments(child=child))).text
        assert it.children.unmerged() == (child,)
        shutil.rmtree(finished.landing.checkout)
        assert it.children.unmerged() == (), "whoever removes what was kept has decided"
    assert not (repository / "half.txt").exists()


async def test_when_the_budget_is_spent_no_child_makes_a_further_call(repository_of: RepositoryOf) -> None:
    reads = [says("read", call("read", path=f"notes-{n}.txt")) for n in range(99)]
    async with bench(
        repository_of("python_package"), talk("Read", *reads), limit=6, budget=Budget(tokens=20_000)
    ) as it:
        for n in range(6):
            await it.start(f"Read {n}.")
        for child in it.children.roster.values():
            await child.ended.wait()
        endings = [child.report.ending for child in it.children.roster.values() if child.report is not None]
        assert all(
            isinstance(ending, ModelGaveUp) and isinstance(ending.failure, OutOfBudget) for ending in endings
        )
        spent = sum(child.work.usage.total_tokens for child in it.children.roster.values())
        assert spent == it.grounds.purse.usage.total_tokens >= 20_000
