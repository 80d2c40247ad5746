"""What a call may do, decided by rules: allow, ask or deny.

Rules stand in layers, the person's and the workspace's. Each layer gives a verdict and the strictest holds, so a
layer can tighten what another allows and never loosen it. Within a layer the most specific rule that fits decides, and
of equals the strictest. A command is judged by each of its parts (`worker.policy.shell_parts`). Pure: nothing is read,
asked or refused here.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import msgspec

from worker.policy.command_part import Part
from worker.policy.shell_parts import shell_parts
from worker.tools.globs import glob_regex, has_wildcards

Verdict = Literal["allow", "ask", "deny"]
"""From the mildest to the strictest."""

_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule. What it leaves empty it does not ask about; `paths` and `commands` are never both given.

    `kinds` are kinds of access and advertised names of tools, `paths` are globs, `commands` are words that a command
    begins with. `source` says where it is written. `is_default` is a rule that any other comes before.
    """

    verdict: Verdict
    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    source: str = ""
    is_default: bool = False


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The layers of rules that hold in a session. Without any, everything is allowed."""

    layers: tuple[tuple[Rule, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(self.layers)


class Target(msgspec.Struct, frozen=True):
    """A file that a call is about: its absolute path as it was given, and with its symbolic links followed.

    `role` is `own` for what the tool itself works on; a word of a shell command may name a file that it reads, or one
    that it has written.
    """

    plain: str
    real: str
    role: Literal["own", "read", "written"] = "own"


class Request(msgspec.Struct, frozen=True):
    """A call to be judged. `tool` is its advertised name, `access` what it needs, `root` the workspace's folder."""

    tool: str
    access: str
    root: str
    targets: tuple[Target, ...] = ()
    command: str | None = None


class Allow(msgspec.Struct, frozen=True):
    """The call may run."""


class Ask(msgspec.Struct, frozen=True):
    """A person is asked first. `grants` says in words what they allow with "for this session", all of it together."""

    grants: tuple[str, ...]
    reason: str = ""


class Deny(msgspec.Struct, frozen=True):
    """The call may not run; `reason` says by which rule and why."""

    reason: str


Decision = Allow | Ask | Deny


def decide(policy: Policy, request: Request) -> Decision:
    """Judge one call."""
    parts = shell_parts(request.command) if request.command is not None else []
    asked: dict[str, None] = {}
    reasons: dict[str, None] = {}
    for layer in policy.layers:
        for thing in _things(request, parts):
            found = _judge(layer, request, thing)
            if found is None or found.verdict == "allow":
                continue
            if found.verdict == "deny":
                return Deny(_told(found))
            asked[_grant(found, request, thing)] = None
            if found.reason:
                reasons[found.reason] = None
    return Ask(tuple(asked), "; ".join(reasons)) if asked else Allow()


def looks_at_paths(policy: Policy) -> bool:
    """Whether any rule is about files: otherwise a call's need not be looked up."""
    return any(rule.paths for layer in policy.layers for rule in layer)


def closed_globs(policy: Policy) -> list[str]:
    """The globs of files that may not simply be read: a search over a folder leaves them out."""
    return [
        glob
        for layer in policy.layers
        for rule in layer
        if rule.verdict != "allow" and (not rule.kinds or {"read", "search"} & set(rule.kinds))
        for glob in rule.paths
    ]


def closed_places(policy: Policy) -> list[str]:
    """The absolute paths that nothing may read, whatever reads it: what the kernel can close as well.

    A place in which something is allowed again is left to the rules, which know the exception.
    """
    rules = [rule for layer in policy.layers for rule in layer]
    opened = [path for rule in rules if rule.verdict != "deny" for path in rule.paths if path.startswith("/")]
    closed = [
        path.rstrip("/")
        for rule in rules
        if rule.verdict == "deny" and (not rule.kinds or "read" in rule.kinds)
        for path in rule.paths
        if path.startswith("/") and not has_wildcards(path)
    ]
    return [path for path in closed if not any(f"{other}/".startswith(f"{path}/") for other in opened)]


Thing = Part | Target | None
"""What of a call is judged by itself: a command of a shell text, a file, or the call as a whole."""


def _things(request: Request, parts: Iterable[Part]) -> list[Thing]:
    return [*parts, *request.targets] or [None]


def _judge(layer: tuple[Rule, ...], request: Request, thing: Thing) -> Rule | None:
    """The rule of a layer that decides about one thing; None where none speaks of it."""
    fitting = [(rank, rule) for rule in layer if (rank := _rank(rule, request, thing)) is not None]
    if isinstance(thing, Part) and thing.is_hidden:
        # Which program it runs can't be told: it may be one that a rule is about.
        fitting += [((3, 0), _hidden(rule)) for rule in layer if rule.commands and rule.verdict != "allow"]
    if not fitting:
        return None
    return max(fitting, key=lambda each: (each[0], _STRICTNESS[each[1].verdict]))[1]


def _hidden(rule: Rule) -> Rule:
    return msgspec.structs.replace(
        rule, verdict="ask", reason=f"what it runs can't be told, and may be: {_commands(rule)}"
    )


def _rank(rule: Rule, request: Request, thing: Thing) -> tuple[int, int] | None:
    """How specific a rule is about one thing, None where it does not fit.

    Files that a command's words seem to name are spoken of by path alone, and only by rules that tighten: the words
    may mean something else.
    """
    if isinstance(thing, Target) and thing.role != "own":
        kinds = {"read", "shell"} if thing.role == "read" else {"read", "shell", "write"}
        if not rule.paths or rule.verdict == "allow" or (rule.kinds and not kinds & set(rule.kinds)):
            return None
    elif rule.kinds and request.access not in rule.kinds and request.tool not in rule.kinds:
        return None
    if rule.commands:
        return _command_rank(rule, thing) if isinstance(thing, Part) else None
    if rule.paths:
        return _path_rank(rule, request, thing) if isinstance(thing, Target) else None
    if rule.is_default:
        return 0, 0
    return (2, 0) if request.tool in rule.kinds else (1, 0)


def _command_rank(rule: Rule, part: Part) -> tuple[int, int] | None:
    fits = part.begins_with if rule.verdict == "allow" else part.may_run
    return max(((3, len(command)) for command in rule.commands if fits(command)), default=None)


def _path_rank(rule: Rule, request: Request, target: Target) -> tuple[int, int] | None:
    """A path without wildcards is more specific than any glob, a deeper one more than one above it."""
    ranks: list[tuple[int, int]] = []
    for glob in rule.paths:
        matches = [_matches(glob, path, request.root) for path in (target.plain, target.real)]
        if all(matches) if rule.verdict == "allow" else any(matches):
            ranks.append((3, 1) if has_wildcards(glob) else (4, len(glob.strip("/").split("/"))))
    return max(ranks, default=None)


def _matches(glob: str, path: str, root: str) -> bool:
    """Whether a file, or a folder that it is in, is one that `glob` means: under `root`, or by its absolute path."""
    if not glob.startswith("/"):
        if path != root and not path.startswith(root.rstrip("/") + "/"):
            return False
        path = path[len(root.rstrip("/")) + 1 :]
    return _regex(glob).match(path) is not None


@lru_cache(maxsize=1_024)
def _regex(glob: str) -> re.Pattern[str]:
    glob = glob.rstrip("/") or "/"
    # As in an ignore file: without a slash it is a name in any folder.
    anywhere = glob if "/" in glob or glob == "**" else f"**/{glob}"
    return re.compile(f"(?:{glob_regex(anywhere)})(?:/|$)", re.DOTALL)


def _told(rule: Rule) -> str:
    """Why a rule says no: its own reason, and where it stands."""
    return " ".join(filter(None, [rule.reason, f"({rule.source})" if rule.source else ""]))


def _grant(rule: Rule, request: Request, thing: Thing) -> str:
    """What "for this session" allows, in words that are the same whenever the same is allowed."""
    if isinstance(thing, Part):
        return _command_grant(thing)
    if rule.paths:
        return f"{_verb(request)} {', '.join(rule.paths)}"
    what = {"write": "every edit", "shell": "every command", "read": "reading anything"}
    return what.get(request.access, f"every call of {request.tool}")


def _verb(request: Request) -> str:
    if request.command is not None:
        return "commands that name"
    return {"write": "edits of", "read": "reading"}.get(request.access, f"{request.tool} of")


def _command_grant(part: Part) -> str:
    """A program with its subcommand where both are plain words; otherwise only this very command."""
    if part.is_bare and not part.is_hidden and not part.runs_others and None not in part.words:
        words = [word for word in part.words if word is not None]
        alone = len(words) == 1
        if words and (alone or not words[1].startswith("-")):
            prefix = " ".join(words[:2])
            if re.fullmatch(r"[\w./:@+-]+(?: [\w./:@+-]+)?", prefix):
                return f"the command {prefix}" if alone else f"commands that begin with {prefix}"
    return f"the command {part.text}"


def _commands(rule: Rule) -> str:
    return ", ".join(" ".join(command) for command in rule.commands)
