"""What a session's tools are set to, the same for the parent and every child: it travels with a worker's `Start`."""

from typing import Literal

import msgspec

from worker.tools.skill import Skill

ToolSet = Literal["covey", "classic"]
"""Which names are advertised. Every name of either runs whatever the set is."""


class ToolSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`max_output` is in characters, for the tools of the classic set and skills; `skills` is the catalogue.

    `has_shell` and `has_edits` say whether the classic set advertises `bash`, and its tools for files.
    """

    set: ToolSet = "covey"
    max_output: int = 20_000
    has_shell: bool = True
    has_edits: bool = True
    skills: tuple[Skill, ...] = ()
