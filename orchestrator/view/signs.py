"""The signs for what a child is at, for a tool and for what is counted, as every screen shows them.

Where only ASCII shows, a sign has a stand-in or is left out; the word beside it says the same. Pure.
"""

from collections.abc import Mapping

from orchestrator.drawing.lines import Tone
from orchestrator.drawing.look import Look
from orchestrator.roster import State
from worker.tool_names import advertised_name


def state_mark(look: Look, state: State) -> str:
    """One column that stands for a child's state."""
    return _STATE_MARKS[state][0 if look.unicode else 1]


def tool_mark(look: Look, tool: str) -> str:
    """What a tool's line begins with, spaces after it included."""
    return _TOOL_MARKS.get(tool, "•  ") if look.unicode else ("$ " if tool in _SHELL else "* ")


def counter_mark(look: Look, family: str) -> str:
    """What a counter begins with; nothing where only ASCII shows."""
    return f"{_COUNTER_MARKS[family]} " if look.unicode else ""


_STATE_MARKS: Mapping[State, tuple[str, str]] = {
    "queued": ("○", "."),
    "starting": ("◌", "."),
    "running": ("●", "*"),
    "finished": ("✓", "+"),
    "landed": ("✓", "+"),
    "conflict": ("≠", "!"),
    "kept": ("◆", "!"),
    "stopped": ("■", "-"),
    "failed": ("✗", "x"),
}

STATE_TONES: Mapping[State, Tone] = {
    "queued": "dim",
    "starting": "dim",
    "running": "accent",
    "finished": "good",
    "landed": "good",
    "conflict": "warn",
    "kept": "warn",
    "stopped": "warn",
    "failed": "bad",
}

_SHELL = frozenset({"run_command", "bash"})

# Terminals disagree about the width of the first; its second space is for those that draw it over two
# columns.
_TOOL_MARKS: Mapping[str, str] = {
    **dict.fromkeys(_SHELL, "🛠️  "),
    **dict.fromkeys(("skill", "read_skill"), "📖 "),
    **dict.fromkeys(("read", "read_file"), "📄 "),
    **dict.fromkeys(("edit", "edit_file", "write", "write_file"), "📝 "),
    "search": "🔍 ",
    "lsp": "🔎 ",
    "task": "👥 ",
    "web": "🌐 ",
    "ask": "💬 ",
}

_COUNTER_MARKS: Mapping[str, str] = {
    "command": "⚙",
    "file op": "📝",
    "search": "🔍",
    "skill": "📖",
    "lsp call": "🔎",
}

# What a counter counts, in the order of the recap line. Any name that a tool has or had counts the same.
_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "command": ("run_command",),
    "file op": ("read", "edit", "write"),
    "search": ("search",),
    "skill": ("skill",),
    "lsp call": ("lsp",),
}


def counters(calls: Mapping[str, int]) -> list[tuple[str, int]]:
    """Finished tool calls by family, without empty families and tools of none (`task`)."""
    today: dict[str, int] = {}
    for name, number in calls.items():
        known = advertised_name(name) or name
        today[known] = today.get(known, 0) + number
    sums = ((family, sum(today.get(name, 0) for name in names)) for family, names in _FAMILIES.items())
    return [(family, number) for family, number in sums if number]
