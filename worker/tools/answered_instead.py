"""A command that only reads or searches, answered by `read` or `search`, which tag lines and skip what nobody wants.

Which commands these are, `worker.tools.answered_by_read` and `answered_by_search` tell. The answer names the call, so
that the model learns to make it.
"""

from collections.abc import Mapping

import msgspec

from worker.tools import read, search
from worker.tools.answered_by_read import read_call
from worker.tools.answered_by_search import SearchCall, search_calls
from worker.tools.refusals import counted
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


async def answer_instead(command: str, workspace: Workspace) -> ToolAnswer | None:
    """What `read` or `search` answers to a command that is a call of theirs; None for any other command."""
    reading = read_call(command)
    if reading is not None:
        answer = await read.run(reading, workspace)
        given = {name: value for name, value in msgspec.structs.asdict(reading).items() if value is not None}
        return ToolAnswer(f"{_named('read', given)}\n{answer.text}", answer.images, answer.failed)
    searches = search_calls(command)
    if searches is None:
        return None
    answers = [(call, await _search(call, workspace)) for call in searches]
    text = "\n".join(f"{_named('search', call.arguments)}\n{answer.text}" for call, answer in answers)
    return ToolAnswer(text, failed=any(answer.failed for _, answer in answers))


async def _search(call: SearchCall, workspace: Workspace) -> ToolAnswer:
    answer = await search.run(msgspec.convert(call.arguments, search.SearchArguments), workspace)
    lines = answer.text.split("\n")
    # What a search found comes first, then notes in brackets.
    found = len(lines)
    while found and lines[found - 1].startswith("["):
        found -= 1
    notes = lines[found:]
    if call.most_lines is not None and found > call.most_lines:
        notes.insert(0, f"[{counted(found - call.most_lines, 'more line')}, cut by head]")
        found = call.most_lines
    if call.lists_folders and not answer.failed:
        notes.append("[Files only. To list folders of this name, add -type d.]")
    return ToolAnswer("\n".join([*lines[:found], *notes]), failed=answer.failed)


def _named(tool: str, arguments: Mapping[str, object]) -> str:
    return f"[answered by {tool} {msgspec.json.encode(arguments).decode()}]"
