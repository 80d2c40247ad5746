"""The words between parent and child: the first message a child reads, and the report the parent's model reads.

Pure text from values. A child's first message names only its own folder, says what that folder holds, and what it
does not (D5, D6 of the behaviour table).
"""

from collections.abc import Sequence

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.children.kept import removal_hint
from orchestrator.events import AnyEnding, ChildFinished, Died, NeverBegan, Stopped
from orchestrator.terms.agents import Agent
from worker.protocol import Answered, ChildId, Failed, Kind, LoopStopped, ModelGaveUp

_LISTED = 20
"""Paths named one by one; the rest are counted."""


def listed(paths: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    shown = ", ".join(paths[:_LISTED])
    more = len(paths) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


STILL_EMPTY = "its files are written there in the background; until all of them are, the folder is empty"
"""What is said where a kept checkout is named that is not a folder with files yet; true also when it is one later."""


def first_message(
    kind: Kind,
    folder: str,
    title: str,
    task: str,
    carried: Sequence[str],
    left_out: Sequence[str],
    *,
    shared: Sequence[str] = (),
    agent: Agent | None = None,
) -> str:
    """What a new child is told, `task` last, the instructions of its `agent` right before it.

    `shared` are the build caches that its checkout has in common with the parent.
    """
    lines = ["You are a child session: you do one task for another session and answer once."]
    if kind == "research":
        lines += [
            f"You read the workspace {folder}. You can read and search; you cannot write or run commands.",
            "Your last message is your whole report: put the findings into it, with paths and lines.",
        ]
    else:
        lines += [
            f"You work in {folder}, an isolated checkout of your own; edit only inside it.",
            "When you finish, your edits are merged back by themselves: you need not commit or push.",
            "Your last message is your whole report: say what you changed and what you could not do.",
        ]
        if carried:
            lines.append(f"The checkout holds these uncommitted changes as well: {listed(carried)}.")
        if left_out:
            lines.append(f"It does not hold: {listed(left_out)}.")
        caches = (
            f", except the build caches {listed(shared)}, which it has as the parent has them"
            if shared
            else ""
        )
        lines.append(f"Files that git ignores are not in it{caches}.")
    if agent is not None:
        lines += ["", f"You are the agent {agent.name}. Its instructions:", "", agent.instructions]
    return "\n".join([*lines, "", f"Task: {title}", "", task])


def role(kind: Kind, agent: str) -> str:
    """What a child is, for the brackets behind its id: its kind, and its agent where it has one."""
    return f"{kind}, agent {agent}" if agent else kind


_STOPPED_BY = "stopped by "


def describe_ending(ending: AnyEnding) -> str:
    """How a child's work ended, in a few words for the same line as its name."""
    match ending:
        case Answered():
            return "finished"
        case ModelGaveUp(failure=failure):
            return f"ended early: {failure}"
        case LoopStopped(detail=detail):
            return f"ended early: {detail}"
        case Failed(detail=detail):
            return f"failed inside covey: {detail.strip().splitlines()[-1]}"
        case Died(detail=detail, last_words=words):
            return f"died: {detail}" + (f"; its last words: {words.splitlines()[-1]}" if words else "")
        case Stopped(by=by):
            return f"{_STOPPED_BY}{by}"
        case NeverBegan(detail=detail):
            return f"could not start: {detail}"


def ending_told(words: str, text: str) -> AnyEnding | None:
    """The ending that `describe_ending` tells in these `words`, as far as they tell it, or None where it is not its.

    `text` is the last that the child's model said.
    """
    kind, _, detail = words.partition(": ")
    match kind:
        case "finished":
            return Answered(text)
        case "ended early":
            return LoopStopped(detail, text)
        case "failed inside covey":
            return Failed(detail)
        case "died":
            return Died(detail)
        case "could not start":
            return NeverBegan(detail)
        case _ if words.startswith(_STOPPED_BY):
            return Stopped(words.removeprefix(_STOPPED_BY))
        case _:
            return None


def describe_landing(landing: AnyLanding, *, unwritten: bool = False) -> list[str]:
    """What became of a child's edits, as lines. `unwritten`: the folder that is kept is not filled yet."""
    still = [f"  {STILL_EMPTY}"] if unwritten else []
    match landing:
        case Landed(paths=paths, notes=notes):
            count = f"{len(paths)} file" + ("s" if len(paths) != 1 else "")
            return [f"landed {count}: {listed(paths)}", *(f"note: {note}" for note in notes), *still]
        case NothingToLand():
            return ["nothing to land"]
        case Conflicted(checkout=checkout, conflicts=conflicts):
            return [
                f"kept {checkout}: conflicts with the parent",
                *still,
                *(f"  {conflict}" for conflict in conflicts),
                f"  {removal_hint(checkout)}  # removes it when you are done with it",
            ]
        case Held(checkout=checkout, reason=reason):
            return [
                f"kept {checkout}: {reason}",
                *still,
                f"  {removal_hint(checkout)}  # removes it when you are done with it",
            ]


def never_read(unread: Sequence[str]) -> str:
    """What became of messages that a child ended before it read."""
    return f"ended before it read what it was told: {' | '.join(unread)}"


def last_text(ending: AnyEnding) -> str:
    """The last that the child's model said, perhaps nothing."""
    match ending:
        case Answered(text=text) | ModelGaveUp(text=text) | LoopStopped(text=text):
            return text
        case Failed() | Died() | Stopped() | NeverBegan():
            return ""


def report(child: ChildId, kind: Kind, end: ChildFinished, *, agent: str = "") -> str:
    """What the parent's model reads of a child that ended: the same text whenever it is made of the same end."""
    who = f"child {child} ({role(kind, agent)})"
    head = f"{who} {describe_ending(end.ending)} after {end.seconds:.1f} s, {end.usage.total_tokens:,} tokens"
    became = describe_landing(end.landing, unwritten=end.unwritten) if end.landing is not None else []
    if end.unread:
        became.append(never_read(end.unread))
    text = last_text(end.ending)
    return "\n".join([head, *became, "", text] if text else [head, *became])
