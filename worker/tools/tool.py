"""What a tool is: a name, a description, an argument struct that yields its schema, and a function.

A tool module holds one `TOOL`. The struct is decoded once, in `worker.toolbox`, from the JSON the model wrote. A tool
never raises for an ordinary failure: it answers `failed(...)` with a text that tells the model what to do next.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from worker.conversation import Image
from worker.workspace import Workspace

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

Access = Literal["read", "write", "shell", "delegate", "ask"]
"""What a call needs: it decides who may make it (a research child only reads) and what runs beside it."""


class ToolAnswer(msgspec.Struct, frozen=True):
    """What a call gave, for the model: text, perhaps pictures, and whether it failed."""

    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False


def failed(text: str) -> ToolAnswer:
    """The answer of a call that could not do what was asked; `text` says why and what to do."""
    return ToolAnswer(text, failed=True)


@dataclass(frozen=True)
class Tool(Generic[Arguments]):
    """One tool. `title` is a line for a person; paths in it are relative to the workspace.

    `access` is the most that a call needs; where that depends on the arguments, `access_by` tells it of one call.
    """

    name: str
    description: str
    arguments: type[Arguments]
    access: Access
    title: Callable[[Arguments, Workspace], str]
    run: Callable[[Arguments, Workspace], Awaitable[ToolAnswer]]
    access_by: Callable[[Arguments], Access] | None = None

    def access_of(self, arguments: Arguments) -> Access:
        """What this one call needs."""
        return self.access if self.access_by is None else self.access_by(arguments)


AnyTool = Tool[Any]
