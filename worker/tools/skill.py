"""`skill` and `read_skill`: what a person has written down about how something is done, read when it is needed.

The names and descriptions stand in the tool's description; the text is read from its file at the call. Only a name of
the catalogue leads to a file, so no name can lead anywhere else. One catalogue under two names, one for each set.
"""

import difflib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from worker.path_text import quote_path
from worker.tools.cut_output import cut_output
from worker.tools.refusals import answer_from_thread, plain, short
from worker.tools.regular_file import read_whole
from worker.tools.tool import AnyTool, Tool, ToolAnswer, failed
from worker.workspace import Workspace

LIMIT_BYTES = 1_000_000

FOLDER_FILE = "SKILL.md"
"""The text of a skill that is a folder, with files beside it."""

_DESCRIPTION = """\
Read a skill: instructions for a kind of work, written down by the person. Read the one that fits before you begin such
work, and follow it. The skills are:"""


class Skill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One skill of the catalogue. `path` is its file as the file system has it, absolute."""

    name: str
    description: str
    path: bytes


class SkillArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which skill."""

    name: Annotated[str, msgspec.Meta(description="Skill name, exactly as listed in the tool description.")]


def describe_skills(skills: Sequence[Skill]) -> str:
    """What the tool's description says: one line a skill, sorted by name."""
    lines = [
        f"  {skill.name} — {skill.description}".removesuffix(" — ")
        for skill in sorted(skills, key=lambda skill: skill.name)
    ]
    return "\n".join([_DESCRIPTION, *lines])


def _title(tool: str, arguments: SkillArguments, workspace: Workspace) -> str:
    return f"{tool}: {short(' '.join(plain(arguments.name).split()))}"


async def _run(
    tells_folder: bool,
    skills: Sequence[Skill],
    max_output: int,
    arguments: SkillArguments,
    workspace: Workspace,
) -> ToolAnswer:
    # A path leads nowhere but to its last part.
    name = os.path.basename(arguments.name.strip().rstrip("/"))  # noqa: PTH119
    known = {skill.name: skill for skill in skills}
    skill = known.get(name) or known.get(name.removesuffix(".md"))
    if skill is None:
        return failed(_unknown(plain(short(arguments.name)), sorted(known)))
    return await answer_from_thread(partial(_read, skill, max_output, tells_folder))


def _read(skill: Skill, max_output: int, tells_folder: bool) -> ToolAnswer:
    path = Path(os.fsdecode(skill.path))
    data, _ = read_whole(path, f"The skill {skill.name}", LIMIT_BYTES)
    text = cut_output(data.decode("utf-8", "replace"), max_output)
    if tells_folder and path.name == FOLDER_FILE:
        text = f"{text.rstrip()}\n[Files that it names are in {quote_path(str(path.parent))}.]"
    return ToolAnswer(text)


def _unknown(name: str, known: Sequence[str]) -> str:
    if not known:
        return f'No skill named "{name}". There are no skills here.'
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f'No skill named "{name}". Available skills: {", ".join(known)}{hint and "." + hint}'


def skill_tool(name: Literal["skill", "read_skill"], skills: Sequence[Skill], max_output: int) -> AnyTool:
    """The tool by either of its names."""
    run = partial(_run, name == "skill", tuple(skills), max_output)
    return Tool(name, describe_skills(skills), SkillArguments, "read", partial(_title, name), run)
