"""The children of one session: starts them, knows them by id, and answers the model's `task` calls.

Every child lives in the one nursery of `open_children`; leaving that block stops those that still run and waits for
the proof. What a child's life consists of is in `orchestrator.children.child`; here is who runs, who waits for whom,
and that each report reaches the parent's model exactly once.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from merge.landings.landing import Landed
from orchestrator.children.child_ids import new_id
from orchestrator.children.child_words import begun, list_of, state_of, unknown_agent
from orchestrator.children.first_message import role
from orchestrator.children.grounds import Grounds, SharedSnapshot
from orchestrator.children.kept_folders import KeptFolders
from orchestrator.children.ledger import OPEN_STATES, LedgerRow
from orchestrator.children.new_child import NewChild
from orchestrator.events import THE_PERSON, Noticed
from orchestrator.journal import PARENT
from orchestrator.terms.agents import Agent
from worker.conversation import UserMessage
from worker.path_text import unquote_path
from worker.protocol import ChildId
from worker.tools.task import TaskArguments
from worker.tools.tool import ToolAnswer, failed
from worker.workspace import Workspace

if TYPE_CHECKING:
    from orchestrator.children.child import Child

THE_END_OF_ITS_TIME = "the end of the session's time"


class Children:
    """The roster. `answer` is the function behind the `task` tool; the rest is for the session and the screens."""

    def __init__(self, grounds: Grounds, nursery: trio.Nursery) -> None:
        self.roster: dict[ChildId, Child] = {}
        self.news = trio.Event()
        self._grounds = grounds
        self._nursery = nursery
        self.landed = 0
        """How many results have landed in this session."""
        self._delivered: set[ChildId] = set()
        self._shared = self._new_snapshot()
        self.kept = KeptFolders(
            nursery, lambda sentence: grounds.journal.record(PARENT, Noticed(sentence)), grounds.ways.tidy
        )
        self._in_turn = trio.Lock()  # a fair one: children begin in the order of the calls
        self._said: list[str] = []

    # What the loop asks (worker.agent, orchestrator.inbox)

    def begin_group(self) -> None:
        """Calls that run at once are about to start: children among them share one new snapshot."""
        self._shared = self._new_snapshot()

    def _new_snapshot(self) -> SharedSnapshot:
        grounds = self._grounds
        return SharedSnapshot(grounds.repository, grounds.reading)

    def take(self) -> list[UserMessage]:
        """What the person said during the turn, and every report that no `task` call has carried yet.

        Those are of background children, and of children whose call was interrupted while they ended.
        """
        said, self._said = self._said, []
        reports = [self._deliver(child) for child in self._unread()]
        return [UserMessage(text) for text in (*said, *reports)]

    # What the person and the session ask

    def say(self, text: str) -> None:
        """A message of the person's for the model, during its turn."""
        self._said.append(text)
        self._tell()

    async def send_back(self, child: ChildId, message: str) -> ToolAnswer:
        """Let a child that is kept go on with `message`; its report. What the model does with `child` and `prompt`."""
        await trio.to_thread.run_sync(load_what_children_need)
        return await self._answer_about(TaskArguments(child=child, prompt=message), child)

    def stop(self, child: ChildId, by: str) -> None:
        self.roster[child].stop(by)

    def kill_all(self, by: str) -> None:
        """Kill every child that runs, with all it started, at once."""
        for child in self.running():
            child.kill(by)

    async def stop_all(self, by: str) -> None:
        """Stop every child that runs and wait until each is gone and its work is kept or landed."""
        running = self.running()
        for child in running:
            child.stop(by)
        for child in running:
            await child.ended.wait()

    def running(self) -> "list[Child]":
        return [child for child in self.roster.values() if not child.ended.is_set()]

    def told_anew(self) -> str:
        """Every child of the session, for a model that has lost sight of them; nothing where there is none."""
        grounds = self._grounds
        earlier = [
            f"child {row.child} ({role(row.kind, row.agent)}) {row.state}: {row.title}"
            for row in grounds.ledger.rows()
            if row.session == grounds.session and row.child not in self.roster
        ]
        return "\n\n".join([*earlier, *([self._list_of_all()] if self.roster else [])])

    def _list_of_all(self) -> str:
        return list_of(self.roster.values(), self._grounds.slots.limit)

    def unmerged(self) -> tuple[ChildId, ...]:
        """Children of the session that are alive, or whose edits are in a folder of their own and nowhere else.

        The ledger says so, because a person may have landed or dropped one from another terminal.
        """
        rows = self._grounds.ledger.rows({*OPEN_STATES, "kept"})
        return tuple(
            row.child
            for row in rows
            if row.session == self._grounds.session and (row.state != "kept" or _has_folder(row))
        )

    # The task tool

    async def answer(self, arguments: TaskArguments, workspace: Workspace) -> ToolAnswer:
        """Carry out one `task` call."""
        if arguments.child is not None:
            if arguments.agent is not None:
                return failed("agent goes with a new child; this one has its instructions already.")
            return await self._answer_about(arguments, arguments.child)
        if arguments == TaskArguments():
            return ToolAnswer(self._list_of_all())
        if arguments.kill or arguments.wait_secs is not None:
            return failed("kill and wait_secs go with child: ID; name the child.")
        if arguments.kind is None or not arguments.prompt or not arguments.prompt.strip():
            return failed("A new child needs kind (research or implement) and prompt (its whole task).")
        agent: Agent | None = None
        if arguments.agent is not None:
            agent = self._grounds.agents.find(arguments.agent)
            if agent is None:
                return failed(unknown_agent(arguments.agent, self._grounds.agents.agents))
        async with self._in_turn:
            await trio.to_thread.run_sync(load_what_children_need)
            child = self._new_child(arguments, agent)
        return await self._run(child)

    async def _run(self, child: "Child") -> ToolAnswer:
        """Let a child live: its report, or at once that it was started in the background."""
        self.roster[child.new.id] = child
        self._nursery.start_soon(self._live, child, self._shared)
        if child.new.background:
            return ToolAnswer(begun(child, self._grounds.slots.limit))
        try:
            await child.ended.wait()
        except trio.Cancelled:
            child.stop(THE_END_OF_ITS_TIME if self._grounds.purse.is_late() else THE_PERSON)
            with trio.CancelScope(shield=True):
                await child.ended.wait()
            raise
        return self._whole_report(child)

    def _new_child(self, arguments: TaskArguments, agent: Agent | None) -> "Child":
        assert arguments.kind is not None
        assert arguments.prompt is not None
        from orchestrator.children.child import Child  # see `load_what_children_need`

        grounds = self._grounds
        title = " ".join((arguments.title or arguments.prompt).split())[:60]
        id = new_id(title, grounds.repository, grounds.ledger, self.roster)
        new = NewChild(id, arguments.kind, title, arguments.prompt, arguments.background, agent)
        return Child(new, grounds)

    async def _live(self, child: "Child", shared: SharedSnapshot) -> None:
        await child.live(shared)
        if child.checkout is not None:
            self.kept.begin(self._grounds.repository, child.checkout)
        self.landed += child.report is not None and isinstance(child.report.landing, Landed)
        self._tell()

    async def _answer_about(self, arguments: TaskArguments, name: str) -> ToolAnswer:
        child = self.roster.get(ChildId(name))
        if child is None and (row := self._grounds.ledger.read(ChildId(name))) is not None:
            return await self._answer_about_another(arguments, row)
        if child is None:
            known = ", ".join(self.roster) or "none yet"
            return failed(f"There is no child {name!r} in this session. Children: {known}.")
        if arguments.kill:
            if child.report is None:
                child.stop("the model")
                await child.ended.wait()
            return self._whole_report(child)
        if arguments.prompt is not None:
            if await child.steer(arguments.prompt):
                return ToolAnswer(f"told {child.new.id}; it reads the message before its next reply.")
            row = self._grounds.ledger.read(child.new.id)
            if row is not None and row.state == "kept":
                return await self._take_up(arguments, row)
            return failed(f"{child.new.id} has finished; it no longer reads messages.\n{state_of(child)}")
        if arguments.wait_secs is not None:
            with trio.move_on_after(arguments.wait_secs):
                await child.ended.wait()
        return self._whole_report(child) if child.report is not None else ToolAnswer(state_of(child))

    async def _answer_about_another(self, arguments: TaskArguments, row: LedgerRow) -> ToolAnswer:
        """A child of another session, or from before this one was resumed: asked about, or taken up when it is kept."""
        from orchestrator.review.for_model import tell_model  # see `load_what_children_need`

        if arguments.prompt is not None and row.state == "kept":
            return await self._take_up(arguments, row)
        if arguments.kill or arguments.prompt is not None:
            return failed(f"{row.child} is no running child of this session; it can only be asked about.")
        grounds = self._grounds
        return ToolAnswer(await trio.to_thread.run_sync(tell_model, grounds.repository, row, grounds.session))

    async def _take_up(self, arguments: TaskArguments, row: LedgerRow) -> ToolAnswer:
        """Let a kept child go on in its own checkout and conversation, with `prompt` as the next that it is told."""
        from orchestrator.children.child import Child
        from orchestrator.children.taking_up import CantGoOn, take_up

        assert arguments.prompt is not None
        try:
            taken = await take_up(self._grounds, self.kept, row)
        except CantGoOn as error:
            return failed(str(error))
        agent = self._grounds.agents.find(row.agent) if row.agent else None
        if row.agent and agent is None:
            # Its file may limit what it may call, so it does not go on without it.
            return failed(
                f"{row.child} belongs to the agent {row.agent!r}, whose file is gone; start a new child."
            )
        new = NewChild(row.child, row.kind, row.title, arguments.prompt, arguments.background, agent)
        self._delivered.discard(row.child)
        return await self._run(Child(new, self._grounds, taken))

    def _whole_report(self, child: "Child") -> ToolAnswer:
        if child.report is None:  # it could not be written down, which ends the session
            return failed(f"The end of {child.new.id} could not be recorded; its edits are in its checkout.")
        return ToolAnswer(self._deliver(child))

    def _deliver(self, child: "Child") -> str:
        assert child.report is not None
        self._delivered.add(child.new.id)
        return child.report.text

    def _unread(self) -> "list[Child]":
        return [
            child
            for child in self.roster.values()
            if child.report is not None and child.new.id not in self._delivered
        ]

    def _tell(self) -> None:
        news, self.news = self.news, trio.Event()
        news.set()


def _has_folder(row: LedgerRow) -> bool:
    return row.checkout is not None and Path(unquote_path(row.checkout)).is_dir()


def load_what_children_need() -> None:
    """Import what only a child's life needs, git's libraries above all: a tenth of a second, once.

    Called in a thread, so that nothing else waits for it.
    """
    import orchestrator.children.child  # noqa: F401  # pyright: ignore[reportUnusedImport]


@asynccontextmanager
async def open_children(grounds: Grounds) -> AsyncGenerator[Children]:
    """The children of a session; at the end of the block those that still run are stopped, and are gone.

    What was kept is in folders then, unless it was given up.
    """
    async with trio.open_nursery() as nursery:
        children = Children(grounds, nursery)
        try:
            yield children
        except BaseException:
            children.kept.give_up()
            raise
        finally:
            with trio.CancelScope(shield=True):
                await children.stop_all("the end of the session")
            await children.kept.finish()
