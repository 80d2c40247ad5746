"""The tools every agent is offered, in the one order in which every request lists them.

The order is part of the prompt's prefix: parent and children send the same bytes. A tool an agent may not use stays in
the list and is refused when it is called.
"""

from collections.abc import Iterable

from worker.tools import ask, edit, read, run_command, search, task, write
from worker.tools.schema import schema_of
from worker.tools.spec import ToolSpec
from worker.tools.tool import AnyTool

TOOLS: tuple[AnyTool, ...] = (
    read.TOOL,
    search.TOOL,
    edit.TOOL,
    write.TOOL,
    run_command.TOOL,
    task.TOOL,
    ask.TOOL,
)


def advertised(tools: Iterable[AnyTool]) -> tuple[ToolSpec, ...]:
    """What the model is told of each tool."""
    return tuple(ToolSpec(tool.name, tool.description, schema_of(tool.arguments)) for tool in tools)
