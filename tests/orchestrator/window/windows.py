"""A window in a test: driven by textual's pilot on an asyncio loop of its own, with deeds that are only remembered.

textual runs on asyncio and the other tests on trio, so a test of the window is a plain function that hands its part to
`in_window`. The clock stands still.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from textual import events
from textual.pilot import Pilot

from orchestrator.drawing.look import Look
from orchestrator.events import Answer, QuestionId
from orchestrator.view.dialog import Answered
from orchestrator.window.app import Window
from tests.orchestrator.drawing.looks import FULL
from tests.orchestrator.view.stories import AnyHappening, Teller


class Remembered:
    """Deeds that were asked for, in their order."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def send(self, text: str) -> None:
        self.asked.append(text)

    def stop(self) -> None:
        self.asked.append("stop")

    def leave(self, exit_code: int) -> None:
        self.asked.append(("leave", exit_code))

    def answer(self, answered: Answered) -> None:
        self.asked.append(answered)

    def permit(self, question: QuestionId, answer: Answer) -> None:
        self.asked.append((question, answer))


class Played:
    """A window under way: what a test does with it."""

    def __init__(self, window: Window, pilot: Pilot[int], deeds: Remembered) -> None:
        self.window = window
        self.pilot = pilot
        self.deeds = deeds
        self._teller = Teller()
        self._teller.stories = window.stories

    async def tell(self, *happenings: AnyHappening) -> None:
        """Things happen, and are drawn."""
        self._teller.tell(*happenings)
        self.window.draw()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Put `text` where the keys go, as a terminal hands over what was pasted."""
        self.window.post_message(events.Paste(text))
        await self.pilot.pause()

    def screen(self) -> list[str]:
        """The lines that are seen, without what is blank at their ends."""
        strips = self.window.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return [strip.text.rstrip() for strip in strips]

    def text(self) -> str:
        return "\n".join(self.screen())


def in_window(
    test: Callable[[Played], Awaitable[None]],
    *,
    size: tuple[int, int] = (100, 30),
    look: Look = FULL,
    history: Sequence[str] = (),
    files: Sequence[str] = (),
    is_watching: bool = False,
) -> None:
    """Run `test` with a window of that size."""

    async def play() -> None:
        deeds = Remembered()
        window = Window(
            deeds, look, lambda: 110.0, history=history, files=lambda: files, is_watching=is_watching
        )
        async with window.run_test(size=size) as pilot:
            await test(Played(window, pilot, deeds))

    asyncio.run(play())
