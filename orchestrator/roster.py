"""Who is at work in a session, and how each stands at one moment: what a screen, a receipt or a picture draws.

Values only; how they follow from the journal is `orchestrator.seeing`'s. A screen adds nothing of its own to them.
"""

from typing import Literal, assert_never

import msgspec

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.checks.results import CheckResult
from orchestrator.events import AnyEnding, PermissionAsked, QuestionId, QuestionsAsked, Stopped
from worker.model import OutOfBudget, Usage
from worker.protocol import Answered, AnyOutcome, ChildId, Kind, ModelGaveUp

State = Literal[
    "queued", "starting", "running", "finished", "landed", "conflict", "kept", "stopped", "failed"
]
"""What a child is at, in the word that every screen shows for it."""


class Retry(msgspec.Struct, frozen=True):
    """A model call that failed and is tried again at `next_at`; `attempt` is the one that failed, from 1.

    One that `is_held` did not fail itself: `failure` says what it waits for, and `attempt` may be 0.
    """

    failure: str
    attempt: int
    next_at: float
    is_held: bool = False

    def in_words(self, now: float) -> str:
        """What is tried, and when next."""
        seconds = max(0.0, self.next_at - now)
        if seconds < 0.5:
            return f"{self.failure} {'It is in line.' if self.is_held else 'Trying again now.'}"
        when = f"Attempt {self.attempt + 1} in {seconds:.0f} s."
        return f"{self.failure} {when}"


class AtWork(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody does at the moment and has used so far: the parent in its turn, or a child.

    `steps` are the model calls, `calls` the finished tool calls by tool. Times are seconds since the epoch.
    """

    began_at: float = 0.0
    ended_at: float | None = None
    last_action: str = ""
    steps: int = 0
    usage: Usage = Usage()
    calls: dict[str, int] = {}
    retry: Retry | None = None

    def seconds(self, now: float) -> float:
        """How long the work has taken until `now`, or until it ended."""
        return max(0.0, (self.ended_at if self.ended_at is not None else now) - self.began_at)


class ChildRow(AtWork, frozen=True):
    """One child as a row: who it is, what it does now or how it ended. `agent` is the name of its agent file."""

    id: ChildId
    kind: Kind
    title: str
    background: bool
    working: bool = False
    ending: AnyEnding | None = None
    landing: AnyLanding | None = None
    unwritten: bool = False
    """Whether its checkout stayed as an empty folder, to be filled in the background."""
    dismissed: bool = False
    agent: str = ""
    queued: bool = False
    at_once: int = 0
    """How many work at once while it is queued, and after how many others it comes."""
    ahead: int = 0

    def waits_for(self, now: float) -> str:
        """What it waits for, with the time that is left, or nothing when it does not wait."""
        return self.retry.in_words(now) if self.retry is not None and self.ending is None else ""

    @property
    def state(self) -> State:
        if self.ending is None:
            return "running" if self.working else "queued" if self.queued else "starting"
        if isinstance(self.ending, Stopped) or _is_out_of_budget(self.ending):
            return "stopped"
        if not isinstance(self.ending, Answered):
            return "failed"
        match self.landing:
            case None | NothingToLand():
                return "finished"
            case Landed():
                return "landed"
            case Conflicted():
                return "conflict"
            case Held():
                return "kept"
            case _:
                assert_never(self.landing)


def _is_out_of_budget(ending: AnyEnding) -> bool:
    return isinstance(ending, ModelGaveUp) and isinstance(ending.failure, OutOfBudget)


class Pending(msgspec.Struct, frozen=True):
    """A question to the person that waits, and who asks it."""

    who: ChildId
    asked: PermissionAsked


class Picture(AtWork, frozen=True):
    """A session's turn at one moment: the request, its children, what the parent does and has used.

    `earlier` are the children of the turns before, `checks` the last result of each check since the request, by name.
    `questions` wait for the person, the oldest first.
    """

    request: str = ""
    children: dict[ChildId, ChildRow] = {}
    earlier: dict[ChildId, ChildRow] = {}
    ending: AnyOutcome | Stopped | None = None
    checks: dict[str, CheckResult] = {}
    questions: dict[QuestionId, Pending] = {}
    asked: QuestionsAsked | None = None

    def all_children(self) -> dict[ChildId, ChildRow]:
        """Every child of the session, in the order they started."""
        return {**self.earlier, **self.children}

    def landed(self) -> tuple[str, ...]:
        """Every path that landed in this turn, sorted, each once."""
        return tuple(
            sorted(
                {
                    path
                    for row in self.children.values()
                    if isinstance(row.landing, Landed)
                    for path in row.landing.paths
                }
            )
        )

    def children_usage(self) -> Usage:
        """The tokens of every child of the turn."""
        return sum((row.usage for row in self.children.values()), Usage())

    def whole_usage(self) -> Usage:
        """The tokens of the parent and of every child of the turn."""
        return self.usage + self.children_usage()

    def whole_calls(self) -> dict[str, int]:
        """The finished tool calls of the parent and of every child of the turn, by tool."""
        whole = dict(self.calls)
        for row in self.children.values():
            for name, count in row.calls.items():
                whole[name] = whole.get(name, 0) + count
        return whole
