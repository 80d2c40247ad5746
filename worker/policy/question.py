"""A question to a person about one call, and what may come of it: what crosses from an agent to who asks for it."""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
import trio

from worker.conversation import CallId


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person is asked: whether the call may run. `title` is its line, `detail` what it would do, whole.

    `reason` is the rule's own, or nothing.

    `grants` says in words what "for this session" allows; what has been granted is not asked again.
    """

    call: CallId
    tool: str
    title: str
    detail: str
    grants: tuple[str, ...]
    reason: str = ""


Permission = Literal["approved", "rejected", "nobody"]
"""What came of a question; `nobody` is there to ask."""

AskPerson = Callable[[Question], Awaitable[Permission]]


async def ask_nobody(question: Question) -> Permission:
    """For an agent that has nobody to ask."""
    await trio.lowlevel.checkpoint()
    return "nobody"
