"""Every table and key of `config.toml`: one struct a table, one field a key, each with its default.

This is the one place where a table or a key is added; reading it, refusing a wrong type or an unknown name, the
variable `COVEY_TABLE_KEY`, and `covey config` follow from here. What a workspace may do with a key stands in its
annotation (`orchestrator.config.rules`); a key without a rule is the person's alone. Knows no file.
"""

from typing import Annotated, Literal

import msgspec

from orchestrator.config.module import Module
from orchestrator.config.rules import (
    WORKSPACE_ADDS,
    WORKSPACE_LOWERS,
    WORKSPACE_SETS,
    WORKSPACE_TURNS_OFF,
    WORKSPACE_TURNS_ON,
    workspace_tightens,
)
from orchestrator.conversation.budget import Budget, Price
from orchestrator.gateway.endpoint import Format
from worker.confinement.confinement import Network
from worker.tool_settings import ToolSet

_Above0 = Annotated[int, msgspec.Meta(gt=0)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the tables."""


class EndpointTable(Table, frozen=True):
    """`[endpoint]`: where the model is. `key_variable` names an environment variable that holds the key.

    `context_tokens` is how much the model reads at once, where that is not known by its name. Without `images` no
    picture is sent to it.
    """

    url: str | None = None
    model: str | None = None
    format: Format | None = None
    key: str | None = None
    key_variable: str | None = None
    max_output_tokens: int | None = None
    context_tokens: Annotated[int, msgspec.Meta(ge=1_000)] | None = None
    stall_seconds: float | None = None
    images: bool = True


Checkouts = Literal["auto", "overlay", "pool", "reflink", "plain"]
"""How the checkouts of children are made; `auto` is the best that the system can do in full."""


_Folder = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(?!(?:.*/)?(?:\.\.?|\.git|\.covey)(?:/|$))[^/\0]+(?:/[^/\0]+)*$",
        description="that is the path of a folder in the repository",
    ),
]


class ChildrenTable(Table, frozen=True):
    """`[children]`: `max` are at work at once, the others are queued. `checkouts` says how their folders are made.

    `caches` are folders that children share with the parent; `*` is any folder. With `watch` the working tree is
    watched, so that a fan-out need not scan it. Untracked files are carried to children up to `untracked_bytes` in all.
    """

    max: Annotated[_Above0 | None, WORKSPACE_LOWERS] = None
    checkouts: Checkouts = "auto"
    caches: tuple[_Folder, ...] = ("target", "node_modules")
    watch: bool = False
    untracked_bytes: Annotated[int, msgspec.Meta(ge=0)] = 1 << 30


class JobsTable(Table, frozen=True):
    """`[jobs]`: a command goes on as a job after `after_secs`; a turn waits `defer_secs` for a job that it started."""

    after_secs: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    defer_secs: Annotated[float, msgspec.Meta(ge=0)] = 10.0


class LandingTable(Table, frozen=True):
    """`[landing]`: with `verify`, a child's edits stay only when the project's checks pass with them."""

    verify: Annotated[bool, WORKSPACE_TURNS_ON] = False


class ToolsTable(Table, frozen=True):
    """`[tools]`: which names the model is told of, and what the classic ones are limited to.

    `max_output` is in characters; `preview_lines` of a command's output are shown to the person. `bash` and `edit`
    take the shell and the file tools out of the classic set; without `bash` no command runs under any name.
    """

    set: Annotated[ToolSet, WORKSPACE_SETS] = "covey"
    max_output: Annotated[_Above0, WORKSPACE_SETS] = 20_000
    preview_lines: Annotated[Annotated[int, msgspec.Meta(ge=0)], WORKSPACE_SETS] = 5
    bash: Annotated[bool, WORKSPACE_TURNS_OFF] = True
    edit: Annotated[bool, WORKSPACE_TURNS_OFF] = True
    skills_dir: str | None = None


Permissions = Literal["allow", "ask", "deny"]
"""What holds for edits and commands where no rule of `policy.toml` speaks of them."""


_Place = Annotated[str, msgspec.Meta(pattern="^(/|~/|~$)", description="that begins with / or ~/")]
_Name = Annotated[
    str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", description="that is a variable's name")
]


class SandboxTable(Table, frozen=True):
    """`[sandbox]`: what children's commands may touch beside what `orchestrator.sandbox.sandbox_places` lists.

    `readable` opens what is unreadable otherwise; `environment` are variables that they get though they look like
    credentials.
    """

    enabled: Annotated[bool, WORKSPACE_TURNS_ON] = True
    writable: tuple[_Place, ...] = ()
    readable: tuple[_Place, ...] = ()
    unreadable: Annotated[tuple[_Place, ...], WORKSPACE_ADDS] = ()
    environment: tuple[_Name, ...] = ()
    network: Annotated[Network, workspace_tightens("allow", "deny")] = "allow"


class SearchTable(Table, frozen=True):
    """`[search]`: a search stops after `search_secs` with what it found.

    A place outside the workspace where a search for names took `search_index_after_ms` is indexed, and anew when its
    index is older than `search_index_secs`.
    """

    search_secs: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    search_index_after_ms: Annotated[float, msgspec.Meta(ge=0)] = 3_000.0
    search_index_secs: Annotated[float, msgspec.Meta(ge=0)] = 3_600.0


class ModulesTable(Table, frozen=True):
    """`[modules]`: capabilities that can be turned off. A new one is a row here, and asked for where it begins."""

    task: Annotated[bool, Module("delegates to parallel children", ("task",))] = True
    agents: Annotated[bool, Module("agent files that children can be")] = True
    jobs: Annotated[bool, Module("commands that run on in the background")] = True
    skills: Annotated[
        bool, Module("instructions that the model reads when needed", ("skill", "read_skill"))
    ] = True


class Configuration(Table, frozen=True):
    """The whole of `config.toml`. `prices` are by the model's name, for a million tokens."""

    endpoint: EndpointTable = EndpointTable()
    children: ChildrenTable = ChildrenTable()
    budget: Annotated[Budget, WORKSPACE_LOWERS] = Budget()
    prices: dict[str, Price] = {}
    landing: LandingTable = LandingTable()
    tools: ToolsTable = ToolsTable()
    permissions: Annotated[Permissions, workspace_tightens("allow", "ask", "deny")] = "allow"
    sandbox: SandboxTable = SandboxTable()
    jobs: JobsTable = JobsTable()
    search: SearchTable = SearchTable()
    modules: Annotated[ModulesTable, WORKSPACE_TURNS_OFF] = ModulesTable()


SECRETS = {("endpoint", "key")}
"""Keys whose value is never shown."""
