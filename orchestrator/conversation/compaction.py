"""A long conversation made short: what is kept word for word, and what a summary stands for.

Kept are the first message, what else the person said, and everything from the model's last reply on, so that no call
loses its answer and no result is read twice. Between them stands one message with the model's own summary, the files
in play, and the children. Pure: from messages and a summary to messages.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, cast

import msgspec

from worker.agent import CUT_OFF
from worker.conversation import AnyMessage, AssistantMessage, ToolMessage, UserMessage

SUMMARISE = """\
This conversation is about to be made shorter: everything up to here will be replaced by what you write now, except
for the person's own messages. Write a summary that lets you go on without a break, and call no tool. Say in this order:
1. what was asked for, and what was decided since, with the reasons;
2. what is done and checked, with paths, names and commands as they are;
3. what is known that took work to find out: causes, places (path:line), what did not work and why;
4. what is under way, what is still to do, in order, and the very next step.
State facts from the conversation only, briefly. Leave out what no longer matters."""
"""Asked after the conversation as it stands, so that the endpoint's cache of it is used."""

_HEAD = "[The conversation before this was made shorter. Your own summary of it:]"
_FILES = "Files in play, the latest last:"

_WORDS_LIMIT = 40_000
"""Characters of the person's earlier messages that are kept, the newest first; the newest is always kept whole."""

_FILES_LIMIT = 40

_PATH_NAMES = frozenset({"path", "paths", "file_path", "to"})
"""The names that tools give to an argument that names files."""

_REPORT_OF_A_CHILD = re.compile(r"child \S+ \((?:research|implement)")


class Parts(NamedTuple):
    """A conversation, cut for compaction: `words` and `tail` stay as they are, `dropped` is what a summary replaces.

    A former summary alone is not worth a new one: then `dropped` is empty.
    """

    words: list[UserMessage]
    dropped: list[AnyMessage]
    tail: list[AnyMessage]


def parts_of(conversation: Sequence[AnyMessage]) -> Parts:
    """Cut a conversation that begins with a user's message."""
    begin = len(conversation)
    while begin > 1 and not isinstance(conversation[begin - 1], AssistantMessage):
        begin -= 1
    begin = max(1, begin - 1)
    words: list[UserMessage] = []
    dropped: list[AnyMessage] = []
    for message in conversation[1:begin]:
        if isinstance(message, UserMessage) and _is_said_by_a_person(message.text):
            words.append(message)
        else:
            dropped.append(message)
    first = conversation[0]
    assert isinstance(first, UserMessage)
    kept = _newest(words)
    dropped = [*words[: len(words) - len(kept)], *dropped]
    is_worth_it = any(not _is_summary(message) for message in dropped)
    return Parts([first, *kept], dropped if is_worth_it else [], list(conversation[begin:]))


def compacted(conversation: Sequence[AnyMessage], summary: str, roster: str) -> list[AnyMessage]:
    """The conversation with `summary` in place of its middle; `roster` tells of the children, perhaps nothing."""
    words, _, tail = parts_of(conversation)
    told = [_HEAD, summary.strip()]
    files = files_in_play(conversation)
    if files:
        told.append("\n".join([_FILES, *(f"- {path}" for path in files)]))
    if roster:
        told.append(f"The children of this session:\n{roster}")
    return [*words, UserMessage("\n\n".join(told)), *tail]


def summary_in(messages: Sequence[AnyMessage]) -> str:
    """The latest summary that a shorter conversation holds, with the files and children told below it, or nothing."""
    found = [message for message in messages if isinstance(message, UserMessage) and _is_summary(message)]
    return found[-1].text.removeprefix(_HEAD).strip() if found else ""


def shortened(conversation: Sequence[AnyMessage], limit: int) -> list[AnyMessage]:
    """The same messages with every tool's answer and every argument cut to `limit` characters, without pictures."""
    return [_shortened(message, limit) for message in conversation]


def later_half(conversation: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The first message and the later half of the rest, in whole exchanges."""
    rest = list(conversation[1 + len(conversation) // 2 :])
    while rest and isinstance(rest[0], ToolMessage):  # its call is gone
        rest.pop(0)
    return [conversation[0], *rest]


def files_in_play(conversation: Sequence[AnyMessage]) -> list[str]:
    """The files that tool calls named, each once, in the order of their last mention; of many, the last ones."""
    found: dict[str, None] = {}
    for message in conversation:
        for path in _named_in(message):
            found.pop(path, None)
            found[path] = None
    return list(found)[-_FILES_LIMIT:]


def _named_in(message: AnyMessage) -> list[str]:
    if isinstance(message, UserMessage) and _is_summary(message):
        listed = message.text.rpartition(f"\n{_FILES}\n")[2].splitlines()
        ends = next((n for n, text in enumerate(listed) if not text.startswith("- ")), len(listed))
        return [text.removeprefix("- ") for text in listed[:ends]]
    if not isinstance(message, AssistantMessage):
        return []
    return [path for call in message.calls for path in _paths(_decoded(call.arguments))]


def _decoded(arguments: str) -> object:
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None


def _paths(value: object, *, is_named: bool = False) -> list[str]:
    """The texts in a call's arguments that stand under a name for files."""
    if isinstance(value, str):
        return [value] if is_named and value.strip() and "\n" not in value else []
    if isinstance(value, list):
        each = cast(list[object], value)
        return [path for one in each for path in _paths(one, is_named=is_named)]
    if isinstance(value, dict):
        named = cast(dict[str, object], value)
        return [path for name, one in named.items() for path in _paths(one, is_named=name in _PATH_NAMES)]
    return []


def _is_summary(message: AnyMessage) -> bool:
    return isinstance(message, UserMessage) and message.text.startswith(_HEAD)


def _is_said_by_a_person(text: str) -> bool:
    """Whether a user's message is a person's own: no report, no summary, no word of the loop's."""
    return text != CUT_OFF and not text.startswith(_HEAD) and not _REPORT_OF_A_CHILD.match(text)


def _newest(words: list[UserMessage]) -> list[UserMessage]:
    """The last of `words` and as many before it as the limit allows."""
    kept = 0
    characters = 0
    for message in reversed(words):
        characters += len(message.text)
        if kept and characters > _WORDS_LIMIT:
            break
        kept += 1
    return words[len(words) - kept :]


def _shortened(message: AnyMessage, limit: int) -> AnyMessage:
    change = msgspec.structs.replace
    match message:
        case ToolMessage(text=text, images=images):
            note = "\n[a picture was left out]" if images else ""
            return change(message, text=_cut(text, limit) + note, images=())
        case AssistantMessage(calls=calls) if any(len(call.arguments) > limit for call in calls):
            return change(
                message,
                calls=tuple(
                    change(call, arguments=_cut_arguments(call.arguments, limit))
                    if len(call.arguments) > limit
                    else call
                    for call in calls
                ),
            )
        case _:
            return message


def _cut_arguments(arguments: str, limit: int) -> str:
    paths = _paths(_decoded(arguments))
    return msgspec.json.encode({"path": paths[:1], "cut": _cut(arguments, limit // 2)}).decode(
        errors="replace"
    )


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters were cut to make room …]\n{text[-half:]}"
