"""What a scripted endpoint says next: a request as it was understood in, a line of the script out.

The place in a script is the number of model messages that the request holds, so conversations need no
memory here: they can be resumed, run side by side, and start in the middle. Only faults are counted, since
a client that met one comes back with the same request.
"""

import re
from collections import Counter

import msgspec

from orchestrator.scripted.scenario import Conversation, Reply, Scenario


class Asked(msgspec.Struct, frozen=True):
    """A request in either format. `told` are the texts of the user and of tool results, oldest first."""

    told: tuple[str, ...]
    replies: int
    streams: bool
    wants_usage: bool
    size_bytes: int

    @property
    def first(self) -> str:
        """The first thing the model was told, which names the conversation."""
        return self.told[0] if self.told else ""


class LineCall(msgspec.Struct, frozen=True):
    """A tool call as it is sent."""

    id: str
    name: str
    arguments: str


class Line(msgspec.Struct, frozen=True):
    """The next line of a script, with every capture filled in. `reply` tells how it is sent."""

    text: str
    thinking: str
    calls: tuple[LineCall, ...]
    reply: Reply

    @property
    def written_tokens(self) -> int:
        """An estimate, at four characters a token."""
        in_calls = sum(len(call.name) + len(call.arguments) for call in self.calls)
        return -(-(len(self.text) + len(self.thinking) + in_calls) // 4)


class Unplayable(msgspec.Struct, frozen=True):
    """The script has nothing to say to a request; `detail` tells its author why."""

    detail: str


class Script:
    """A scenario being played, and how often each of its faults has been met."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._met: Counter[tuple[str, str, int]] = Counter()
        self._captures = {
            (conversation.marker, conversation.told): {
                name: re.compile(pattern) for name, pattern in conversation.captures.items()
            }
            for conversation in scenario.conversations
        }

    def next_line(self, asked: Asked) -> Line | Unplayable:
        """The line that answers `asked`."""
        conversation = next((c for c in self.scenario.conversations if _fits(c, asked)), None)
        if conversation is None:
            return Unplayable(
                "no conversation of the scenario has a marker that is in the first message, "
                f"{asked.first[:200]!r}"
            )
        faults, reply = entries_at(conversation, asked.replies)
        if faults:
            place = (conversation.marker + conversation.told, asked.first, asked.replies)
            met = self._met[place]
            self._met[place] += 1
            if met < len(faults) or faults[-1].repeat:
                reply = faults[min(met, len(faults) - 1)]
        if reply is None:
            return Unplayable(
                f"the script of {conversation.marker!r} has no reply number {asked.replies + 1}; add one, "
                "or set repeat = true on its last"
            )
        return self._fill(conversation, reply, asked)

    def _fill(self, conversation: Conversation, reply: Reply, asked: Asked) -> Line | Unplayable:
        texts = [reply.text, reply.thinking, *(call.arguments_text() for call in reply.calls)]
        values: dict[str, str] = {}
        for name, pattern in self._captures[conversation.marker, conversation.told].items():
            if not any(f"{{{name}}}" in text for text in texts):
                continue
            match = next((match for match in map(pattern.search, asked.told) if match is not None), None)
            if match is None:
                return Unplayable(
                    f"reply number {asked.replies + 1} of {conversation.marker!r} uses {{{name}}}, and "
                    f"nothing so far matched {pattern.pattern!r}"
                )
            values[name] = (match[1] or "") if pattern.groups else match[0]
        escaped = {name: msgspec.json.encode(value).decode()[1:-1] for name, value in values.items()}
        return Line(
            text=_put(reply.text, values),
            thinking=_put(reply.thinking, values),
            calls=tuple(
                LineCall(f"call_{asked.replies}_{index}", call.name, _put(call.arguments_text(), escaped))
                for index, call in enumerate(reply.calls)
            ),
            reply=reply,
        )


def _fits(conversation: Conversation, asked: Asked) -> bool:
    return conversation.marker in asked.first and any(conversation.told in text for text in asked.told)


def entries_at(conversation: Conversation, position: int) -> tuple[list[Reply], Reply | None]:
    """What stands at `position` of a script: the faults that come first, and the reply, if there is one."""
    passed = 0
    faults: list[Reply] = []
    for entry in conversation.replies:
        if entry.fault is not None:
            faults += [entry] * entry.times
        elif entry.repeat or position < passed + entry.times:
            # Faults come once, before the first of a reply's times.
            return (faults if position == passed else []), entry
        else:
            passed += entry.times
            faults = []
    return (faults if position == passed else []), None


def _put(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
