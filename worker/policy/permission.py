"""Whether a call may run: judged by the policy, and put to a person where the policy asks.

Who is asked is handed in: the parent asks at its own desk, a child over its pipe. What comes back is a text for the
model when the call may not run. Knows no front end.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec
import trio

from worker.conversation import ToolCall
from worker.policy.question import AskPerson, Question
from worker.policy.rules import Allow, Ask, Decision, Deny, Policy, closed_globs, decide, looks_at_paths
from worker.policy.subject import detail_of, request_of
from worker.tool_names import advertised_name
from worker.tools.tool import AnyTool
from worker.workspace import Workspace

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

_WHAT = {"shell": "command", "write": "edit", "read": "read", "delegate": "delegation"}


Foresee = Callable[[msgspec.Struct, Workspace], str]
"""What a call would change, as a diff; nothing where that can't be told."""

_MOST_LINES = 2_000


class Permits:
    """The policy of one agent, and who it asks. `refusal` is called before a call runs."""

    def __init__(self, policy: Policy, ask: AskPerson, foresee: Foresee | None = None) -> None:
        self._policy = policy
        self._ask = ask
        self._foresee = foresee
        self._with_files = looks_at_paths(policy)
        self._closed = closed_globs(policy)

    async def refusal(
        self, call: ToolCall, tool: AnyTool, arguments: msgspec.Struct, workspace: Workspace
    ) -> str | None:
        """Why the call may not run, for the model; None when it may."""
        if self._policy.is_empty:
            return None
        decision = await self._decide(tool, arguments, workspace)
        access = tool.access_of(arguments)
        renames = tool.name == "lsp" and access == "write"
        what = "rename" if renames else _WHAT.get(access, f"{tool.name} call")
        match decision:
            case Allow():
                return None
            case Deny(reason=reason):
                colon = "" if not reason or reason.startswith("(") else ":"
                said = f"{what} refused by the policy{colon} {reason}".rstrip()
                return f"[{said}] Do it another way, or say what you could not do."
            case Ask(grants=grants, reason=reason):
                title = tool.title(arguments, workspace)
                detail = await self._detail(arguments, workspace)
                question = Question(call.id, tool.name, title, detail, grants, reason)
                match await self._ask(question):
                    case "approved":
                        return None
                    case "rejected":
                        return f"[{what} rejected by the user]"
                    case "nobody":
                        return (
                            f"[{what} rejected: the policy asks a person first, and nobody is there to answer]"
                            " Do what needs no permission, and say what is left."
                        )

    def narrowed(self, arguments: Arguments) -> Arguments:
        """The arguments of a call that may run; a search over folders leaves out the files that may not be read."""
        if not self._closed or "exclude" not in arguments.__struct_fields__:
            return arguments
        given: str | list[str] | None = getattr(arguments, "exclude", None)
        excluded = [given] if isinstance(given, str) else list(given or ())
        return msgspec.structs.replace(arguments, exclude=[*excluded, *self._closed])

    async def _detail(self, arguments: msgspec.Struct, workspace: Workspace) -> str:
        """What the call would do, whole, but for what nobody would read to its end."""
        change = ""
        if self._foresee is not None:
            change = await trio.to_thread.run_sync(
                self._foresee, arguments, workspace, abandon_on_cancel=True
            )
        lines = (change or detail_of(arguments)).split("\n")
        more = len(lines) - _MOST_LINES
        return "\n".join([*lines[:_MOST_LINES], *([f"… {more} more lines"] if more > 0 else [])])

    async def _decide(self, tool: AnyTool, arguments: msgspec.Struct, workspace: Workspace) -> Decision:
        name = advertised_name(tool.name) or tool.name
        look = partial(
            request_of, name, tool.access_of(arguments), arguments, workspace, with_files=self._with_files
        )
        # Following symbolic links may wait for a slow disk.
        request = await trio.to_thread.run_sync(look, abandon_on_cancel=True) if self._with_files else look()
        return decide(self._policy, request)
