"""How fast the window answers: a key in a session of a hundred thousand events with sixty children at work.

`python -m benchmarks.screens`. textual's pilot presses the keys; measured is the time from the key to the drawn screen,
in the same process as the session's stream of events, beside an empty window in the same run.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator

from textual import events
from textual.pilot import Pilot

from benchmarks.table import render_table, times
from orchestrator.drawing.look import Look
from orchestrator.events import Answer, ChildStarted, ChildWorking, QuestionId, Replied, RequestGiven
from orchestrator.journal import PARENT, Entry
from orchestrator.view.dialog import Answered
from orchestrator.window.app import Window
from worker.conversation import AssistantMessage, CallId
from worker.model import Reply, Usage
from worker.protocol import ChildId, ToolFinished, ToolStarted

EVENTS = 100_000
CHILDREN = 60
ROUNDS = 30
GOAL_MS = 50

_LOOK = Look(live=True, colour=True, unicode=True)
_KEYS = ("pageup", "pageup", "up", "down", "pagedown", "ctrl+end", "x", "backspace", "ctrl+home", "ctrl+end")


class Deaf:
    """Deeds that nobody does."""

    def send(self, text: str) -> None: ...

    def stop(self) -> None: ...

    def leave(self, exit_code: int) -> None: ...

    def answer(self, answered: Answered) -> None: ...

    def permit(self, question: QuestionId, answer: Answer) -> None: ...


def session(events: int, children: int) -> Iterator[Entry]:
    """A long session: replies and calls of the parent, and children who call and reply among them."""
    now = time.time()
    number = 0

    def entry(who: ChildId, event: object) -> Entry:
        nonlocal number
        number += 1
        return Entry(number - 1, now + number / 1_000, who, event)  # pyright: ignore[reportArgumentType]

    yield entry(PARENT, RequestGiven("Do a very long piece of work."))
    ids = [ChildId(f"child-{index:02}-ab12") for index in range(children)]
    for id in ids:
        yield entry(id, ChildStarted(id, "implement", f"Work of {id}", "Please work.", False))
        yield entry(id, ChildWorking(f"/w-children/{id}", (), ()))
    index = 0
    while number < events:
        who = ids[index % children] if ids and index % 3 else PARENT
        call = CallId(f"c{index}")
        yield entry(who, ToolStarted(call, "read", f"read src/module_{index}.py"))
        yield entry(
            who, ToolFinished(call, "read", f"read src/module_{index}.py", "1:ab|x\n" * 20, False, 0.01)
        )
        if index % 4 == 0:
            text = f"**Step {index}.** I looked at `module_{index}.py`:\n\n- one\n- two\n"
            yield entry(who, Replied(Reply(AssistantMessage(text), Usage(1_000, 50)), 0.4))
        index += 1


Spent = tuple[float, float]
"""Milliseconds on the clock, and of the processor: on a machine with other work a key also waits for its turn."""


async def measure(entries: list[Entry], *, live: bool) -> tuple[list[Spent], float]:
    """What each key took, and how many seconds it took to take in all that had happened."""
    window = Window(Deaf(), _LOOK, time.time)
    async with window.run_test(size=(140, 45)) as pilot:
        began = time.perf_counter()
        for each in entries:
            window.take(each)
        taken = time.perf_counter() - began
        window.draw()
        await pilot.pause()
        spent = [await _press(window, pilot, key, live) for _ in range(ROUNDS) for key in _KEYS]
    return spent, taken


async def _press(window: Window, pilot: "Pilot[int]", key: str, live: bool) -> Spent:
    """How long a key takes until what it does has been drawn; where it is `live`, events come at the same time."""
    if live:
        last = window.stories.entries
        for offset in range(20):
            who = ChildId(f"child-{offset:02}-ab12")
            started = ToolStarted(CallId(f"live{last}-{offset}"), "read", f"read {last}")
            window.take(Entry(last + offset, time.time(), who, started))
    drawn = asyncio.Event()
    began, worked = time.perf_counter(), time.process_time()
    character = key if len(key) == 1 else None
    window.post_message(events.Key(key, character))
    window.call_after_refresh(drawn.set)
    await drawn.wait()
    await pilot._wait_for_screen()  # pyright: ignore[reportPrivateUsage]
    return (time.perf_counter() - began) * 1_000, (time.process_time() - worked) * 1_000


def report(name: str, spent: list[Spent]) -> list[str]:
    clock, processor = (sorted(each) for each in zip(*spent, strict=True))
    late = int(len(spent) * 0.99)
    return [
        name,
        f"{statistics.median(clock):.1f} ms",
        f"{clock[late]:.1f} ms",
        f"{statistics.median(processor):.1f} ms",
    ]


def main() -> int:
    empty, _ = asyncio.run(measure([], live=False))
    entries = list(session(EVENTS, CHILDREN))
    spent, taken = asyncio.run(measure(entries, live=True))
    print(f"A key at the window, from the press to the drawn screen ({ROUNDS * len(_KEYS)} keys each)\n")
    rows = [report("an empty session", empty), report(f"{EVENTS:,} events, {CHILDREN} at work", spent)]
    print(render_table(["", "median", "99 of 100", "processor"], rows))
    ratio = times(statistics.median(each[0] for each in spent), statistics.median(each[0] for each in empty))
    print(f"\nThe long session takes {ratio} what the empty one does; the goal is {GOAL_MS} ms.")
    print(f"Taking in {EVENTS:,} events took {taken:.2f} s, {taken / EVENTS * 1e6:.1f} µs each.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
