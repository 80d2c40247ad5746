"""What reaches the parent's model between its replies: the person's words, reports of children, ends of jobs.

A turn does not end while a background child runs. For a job that the turn started or asked for it waits a little;
then the turn ends, and the job's end begins another one by itself (`orchestrator.parent.session`): a server may run
for days.
"""

from collections.abc import Sequence
from typing import Protocol

import trio

from orchestrator.parent.jobs import Jobs
from worker.conversation import UserMessage


class ChildrenHeard(Protocol):
    """The children as the inbox needs them; `news` is set, and another, when there is something to take."""

    @property
    def news(self) -> trio.Event: ...

    def take(self) -> list[UserMessage]: ...

    def running(self) -> Sequence[object]: ...


class Inbox:
    """The inbox of the parent's loop (see `worker.agent.Inbox`)."""

    def __init__(self, children: ChildrenHeard, jobs: Jobs, patience_seconds: float) -> None:
        self._children = children
        self._jobs = jobs
        self._patience_seconds = patience_seconds

    def take(self) -> list[UserMessage]:
        """What has arrived since it was asked last."""
        return [*self._children.take(), *self._jobs.take()]

    async def wait_for_more(self) -> list[UserMessage]:
        """What the turn has still to wait for, or nothing when it may end."""
        deadline = trio.current_time() + self._patience_seconds
        while True:
            news = (self._children.news, self._jobs.news)
            more = self.take()
            if more:
                return more
            if self._children.running():
                await _wait_any(news)
            elif self._jobs.hold_the_turn() and trio.current_time() < deadline:
                with trio.move_on_at(deadline):
                    await _wait_any(news)
            else:
                return []


async def _wait_any(events: tuple[trio.Event, ...]) -> None:
    async with trio.open_nursery() as nursery:

        async def wait(event: trio.Event) -> None:
            await event.wait()
            nursery.cancel_scope.cancel()

        for event in events:
            nursery.start_soon(wait, event)
