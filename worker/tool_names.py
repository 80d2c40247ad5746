"""The tools by the name that is advertised, and the other names that each has had or has elsewhere.

Agent files, policies and counters know a tool by any of them. Pure; a name that is nobody's stands for itself.
"""

from collections.abc import Mapping

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file", "list_dir", "show_image", "ls", "list", "view", "notebookread"),
    "search": ("grep", "glob", "find"),
    "edit": (
        *("edit_file", "replace_text", "replace_texts", "replace_lines", "insert_after", "delete_lines"),
        *("multiedit", "notebookedit", "patch"),
    ),
    "write": ("write_file",),
    "run_command": ("bash", "shell"),
    "lsp": ("diagnostics", "definition"),
    "skill": ("read_skill",),
    "task": ("agent",),
    "ask": ("askuserquestion",),
    "web": ("web_search", "web_fetch", "websearch", "webfetch"),
    "browser": (),
}
"""Each tool by its advertised name, with its other names in lower case."""


def advertised_name(name: str) -> str | None:
    """The advertised tool that people call `name`, in upper or lower case; None where it is nobody's."""
    plain = name.lower()
    return next((tool for tool, others in OTHER_NAMES.items() if plain == tool or plain in others), None)
