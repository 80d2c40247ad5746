"""Every tool there is, and which of them a session offers, in the one order in which every request lists them.

The order is part of the prompt's prefix: parent and children send the same bytes. A tool an agent may not use stays in
the list and is refused when it is called; a tool that is not offered runs all the same when it is called by its name.
"""

from collections.abc import Iterable

from worker.tool_settings import ToolSettings
from worker.tools import ask, edit, read, run_command, search, task, write
from worker.tools.classic_bash import bash_tool
from worker.tools.classic_edit_file import edit_file_tool
from worker.tools.classic_read_file import read_file_tool
from worker.tools.classic_write_file import write_file_tool
from worker.tools.schema import schema_of
from worker.tools.skill import skill_tool
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

_SETS = {
    "covey": ("read", "search", "edit", "write", "run_command", "skill"),
    "classic": ("bash", "read_skill", "read_file", "write_file", "edit_file"),
}


def every_tool(settings: ToolSettings) -> tuple[AnyTool, ...]:
    """All that may be called, of either set."""
    limit = settings.max_output
    return (
        *TOOLS,
        skill_tool("skill", settings.skills, limit),
        skill_tool("read_skill", settings.skills, limit),
        bash_tool(limit),
        read_file_tool(limit),
        write_file_tool(limit),
        edit_file_tool(limit),
    )


def offered(tools: Iterable[AnyTool], settings: ToolSettings) -> list[AnyTool]:
    """Those of `tools` that the model is told of: the chosen set, then what is in neither."""
    named = {tool.name: tool for tool in tools}
    of_sets = {name for names in _SETS.values() for name in names}
    left_out: set[str] = set()
    if not settings.skills:
        left_out |= {"skill", "read_skill"}
    if settings.set == "classic" and not settings.has_shell:
        left_out.add("bash")
    if settings.set == "classic" and not settings.has_edits:
        left_out |= {"read_file", "write_file", "edit_file"}
    chosen = [*_SETS[settings.set], *(name for name in named if name not in of_sets)]
    return [named[name] for name in chosen if name in named and name not in left_out]


def advertised(tools: Iterable[AnyTool]) -> tuple[ToolSpec, ...]:
    """What the model is told of each tool."""
    return tuple(ToolSpec(tool.name, tool.description, schema_of(tool.arguments)) for tool in tools)
