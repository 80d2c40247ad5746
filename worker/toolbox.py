"""Runs the calls a model makes: finds the tool, decodes its arguments, asks whether it may run, and runs it.

Whatever goes wrong on the way becomes a text for the model: an unknown tool, broken JSON, an unknown argument, a
refusal, an exception out of a tool. Knows no model and no conversation.
"""

import difflib
import traceback
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from worker.conversation import ToolCall
from worker.older_names import OLDER_NAMES
from worker.policy.permission import Permits
from worker.protocol import ToolLimit
from worker.tools.schema import told_arguments
from worker.tools.tool import Access, AnyTool, ToolAnswer, failed
from worker.workspace import Workspace


class Toolbox:
    """The tools of one agent in one workspace.

    `refusals` tells, per kind of access that this agent has not, the text its calls are answered with: a tool it may
    not use stays in the advertised list, so that every agent's requests begin with the same bytes. `limit` names the
    tools of an agent file. What is left is judged by `permits`. `told` are the names that the model knows, where it
    does not know all.
    """

    def __init__(
        self,
        tools: Iterable[AnyTool],
        workspace: Workspace,
        refusals: Mapping[Access, str] | None = None,
        *,
        limit: ToolLimit | None = None,
        permits: Permits | None = None,
        told: Sequence[str] | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._workspace = workspace
        self._refusals = refusals or {}
        self._limit = limit
        self._permits = permits
        self._told = list(self._tools) if told is None else list(told)

    def _find(self, call: ToolCall) -> AnyTool | None:
        """The tool that carries out `call`, also by a name that it had before."""
        older = OLDER_NAMES.get(call.name)
        return self._tools.get(older.tool if older is not None else call.name)

    def title(self, call: ToolCall) -> str:
        """One line for a person that says what `call` does; the tool's name where the call can't be read."""
        tool = self._find(call)
        if tool is None:
            return call.name
        try:
            return tool.title(self._decode(tool, call), self._workspace)
        except Exception:
            # The title is drawn before the call is judged; a call that can't be read is told so by `run`.
            return call.name

    def runs_beside_others(self, call: ToolCall) -> bool:
        """Whether `call` may run at the same time as its neighbours: it writes nothing here, or delegates."""
        tool = self._find(call)
        return tool is not None and tool.access in ("read", "delegate")

    async def run(self, call: ToolCall) -> ToolAnswer:
        """Run one call to its end. Never raises but for cancellation."""
        tool = self._find(call)
        if tool is None:
            return failed(self._unknown(call.name))
        try:
            arguments = self._decode(tool, call)
        except msgspec.ValidationError as error:
            return failed(self._bad_arguments(tool, str(error)))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            return failed(f"The arguments of {call.name} are not valid JSON ({error}); send the call again.")
        refusal = self._refusals.get(tool.access_of(arguments))
        if refusal is None and self._limit is not None and tool.name not in self._limit.names:
            refusal = self._limit.refusal
        if refusal is not None:
            return failed(f"{call.name}: {refusal}")
        try:
            if self._permits is not None:
                refusal = await self._permits.refusal(call, tool, arguments, self._workspace)
                if refusal is not None:
                    return failed(refusal)
                arguments = self._permits.narrowed(arguments)
            return await tool.run(arguments, self._workspace)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            return failed(
                f"{call.name} failed inside covey: {type(error).__name__}: {error} ({last.name}, line {last.lineno})."
                " Try it another way."
            )

    def _decode(self, tool: AnyTool, call: ToolCall) -> msgspec.Struct:
        # A model that has nothing to say may send no arguments at all.
        words = call.arguments.encode() or b"{}"
        arguments: type[msgspec.Struct] = tool.arguments
        older = OLDER_NAMES.get(call.name)
        if older is None:
            return msgspec.json.decode(words, type=arguments)
        return msgspec.convert(older.translate(msgspec.json.decode(words, type=dict[str, Any])), arguments)

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._told, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        return f"There is no tool named {name!r}.{hint} The tools are: {', '.join(self._told)}."

    def _bad_arguments(self, tool: AnyTool, fault: str) -> str:
        fields = ", ".join(told_arguments(tool.arguments))
        return f"The arguments of {tool.name} do not fit: {fault}. It takes: {fields}."


def groups_of(calls: Sequence[ToolCall], toolbox: Toolbox) -> list[list[ToolCall]]:
    """The calls of one reply in order, neighbours that may run at the same time put together."""
    groups: list[list[ToolCall]] = []
    beside = False
    for call in calls:
        may = toolbox.runs_beside_others(call)
        if may and beside:
            groups[-1].append(call)
        else:
            groups.append([call])
        beside = may
    return groups
