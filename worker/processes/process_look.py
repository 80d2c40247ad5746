"""One look at all processes of the machine, and what of them belongs to a tree. Many who ask at once share one look.

A look reads a file or two of each process, some milliseconds that no other thread of this program can use. When a
hundred children end together, a look for each would hold up everything else; so who asks while one is under way gets
the next, together with all others who wait. An answer never comes from a look that began before it was asked for.
"""

import os
from collections.abc import Mapping

import trio

from worker.processes.process_table import ProcessKey, environment_of, holds, list_processes

Marker = tuple[str, str]
"""Name and value of an environment variable that all processes of a tree have, and nothing else has."""


class Look:
    """The processes that lived at one moment, but for this one and the first of the system."""

    def __init__(self) -> None:
        own = os.getpid()
        self._alive = {
            entry.key.pid: entry
            for entry in list_processes()
            if not entry.ended and entry.key.pid not in (1, own)
        }
        self._children: dict[int, list[int]] = {}
        self._sessions: dict[int, list[int]] = {}
        self._environments: dict[int, bytes] = {}
        for pid, entry in self._alive.items():
            self._children.setdefault(entry.parent, []).append(pid)
            self._sessions.setdefault(entry.session, []).append(pid)

    def tree_of(self, known: Mapping[int, ProcessKey], marker: Marker | None) -> tuple[ProcessKey, ...]:
        """What is alive of the tree of which `known` was seen before."""
        oldest = min((key.start_time for key in known.values()), default=0.0)
        belonging = [
            pid
            for pid, entry in self._alive.items()
            # Nothing of a tree is older than its root, and environments take longest to read.
            if known.get(pid) == entry.key
            or (
                marker is not None
                and entry.key.start_time >= oldest
                and holds(self._environment(pid), *marker)
            )
        ]
        # One that has ended still names the session it began, unless its id is another's now.
        for leader in known.keys() - self._alive.keys():
            belonging += self._sessions.get(leader, ())
        found: set[int] = set()
        while belonging:
            pid = belonging.pop()
            if pid not in found:
                found.add(pid)
                belonging += self._children.get(pid, ())
                belonging += self._sessions.get(pid, ())
        return tuple(sorted(self._alive[pid].key for pid in found))

    def _environment(self, pid: int) -> bytes:
        if pid not in self._environments:
            self._environments[pid] = environment_of(pid)
        return self._environments[pid]


class _Asked:
    """A question that waits for a look."""

    def __init__(self, known: Mapping[int, ProcessKey], marker: Marker | None) -> None:
        self.known = known
        self.marker = marker
        self.answer: tuple[ProcessKey, ...] | None = None


class _Looks:
    """The looks of one run of the loop, one at a time."""

    def __init__(self) -> None:
        # A limiter of its own: however many threads wait for git or a disk, a tree can be ended.
        self._limiter = trio.CapacityLimiter(1)
        self._under_way: trio.Event | None = None
        self._waiting: list[_Asked] = []

    async def tree_of(self, known: Mapping[int, ProcessKey], marker: Marker | None) -> tuple[ProcessKey, ...]:
        asked = _Asked(known, marker)
        self._waiting.append(asked)
        while asked.answer is None:
            if self._under_way is not None:
                await self._under_way.wait()
            else:
                await self._look(asked)
        return asked.answer

    async def _look(self, asked: _Asked) -> None:
        self._under_way = ended = trio.Event()
        served, self._waiting = self._waiting, []
        try:
            await trio.to_thread.run_sync(_serve, served, limiter=self._limiter)
        except BaseException:
            self._waiting = [each for each in served if each is not asked] + self._waiting
            raise
        finally:
            self._under_way = None
            ended.set()


def _serve(asked: list[_Asked]) -> None:
    look = Look()
    for each in asked:
        each.answer = look.tree_of(each.known, each.marker)


_LOOKS: trio.lowlevel.RunVar[_Looks | None] = trio.lowlevel.RunVar("covey's looks at processes")


async def look_for_tree(known: Mapping[int, ProcessKey], marker: Marker | None) -> tuple[ProcessKey, ...]:
    """`Look.tree_of` in a thread, in one look with all who ask meanwhile."""
    looks = _LOOKS.get(None)
    if looks is None:
        looks = _Looks()
        _LOOKS.set(looks)
    return await looks.tree_of(known, marker)
