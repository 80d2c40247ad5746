"""A scenario: which replies, and which faults, a scripted endpoint gives to which conversation.

The file is TOML; `docs/scripted.md` tells its keys with examples. It is read and checked whole before
anything is played, so that a mistake in it is one clear sentence and not a puzzling reply.
"""

import re
import tomllib
from pathlib import Path
from typing import Literal

import msgspec


class ScenarioInvalid(Exception):
    """Raised when a scenario file cannot be played. `str()` names the file, the key and the remedy."""


class Fault(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """Base of what can go wrong in place of a reply, or in its middle (`after_bytes` of the stream)."""


class Status(Fault, frozen=True, tag="status"):
    """An HTTP answer of another status, e.g. 429 with `headers = { retry-after = "1" }`."""

    status: int
    headers: dict[str, str] = {}
    body: str = '{"error": {"message": "scripted fault", "type": "scripted"}}'


class Html(Fault, frozen=True, tag="html"):
    """A web page with status 200, as a captive portal or a wrong address answers."""

    body: str = "<!doctype html><html><head><title>Welcome</title></head><body>Log in.</body></html>"


class Hang(Fault, frozen=True, tag="hang"):
    """No answer at all; the connection stays open."""


class Stall(Fault, frozen=True, tag="stall"):
    """The stream stops after some bytes; the connection stays open."""

    after_bytes: int | None = None


class Cut(Fault, frozen=True, tag="cut"):
    """The stream ends early: by a reset, by a close in its middle, or in good order but without its end."""

    after_bytes: int | None = None
    how: Literal["reset", "close", "end"] = "close"


class Malformed(Fault, frozen=True, tag="malformed"):
    """An event in the stream that is no JSON."""

    data: str = '{"choices": [{"delta"'


class ErrorEvent(Fault, frozen=True, tag="error"):
    """An error inside the stream, in the format's own shape."""

    message: str = "scripted fault"
    type: str = "server_error"


AnyFault = Status | Html | Hang | Stall | Cut | Malformed | ErrorEvent


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call.

    `arguments` is a table or JSON text of an object; `raw_arguments` is sent as it is, broken or not.
    """

    name: str
    arguments: dict[str, object] | str = {}
    raw_arguments: str | None = None

    def arguments_text(self) -> str:
        """What the endpoint sends: JSON text, or the raw arguments."""
        if self.raw_arguments is not None:
            return self.raw_arguments
        if isinstance(self.arguments, str):
            return self.arguments
        return msgspec.json.encode(self.arguments).decode()


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tokens that a reply claims; what is left out is estimated from lengths."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply of the model, or a fault that comes before it.

    With a `fault` the client gets no whole reply, so the script does not move on: the next request of the
    same conversation gets the entry after it. `times` plays the entry so often, `repeat` for ever.
    `delay_ms` waits before the first byte, `pace_ms` between events; `chunk` is how many characters an
    event carries (all, when left out) and `dribble_bytes` how many bytes are sent at once.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    cut_off: bool = False
    usage: Usage = Usage()
    send_usage: bool = True
    fault: AnyFault | None = None
    delay_ms: int | None = None
    pace_ms: int = 0
    chunk: int | None = None
    dribble_bytes: int | None = None
    times: int = 1
    repeat: bool = False


class Conversation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The script of every conversation whose first user message holds `marker`.

    With `told` it is only of those in which some text that the model was told holds that too: what follows an event.

    `captures` are regular expressions by name. In what follows, `{name}` stands for the first match in the
    texts of user messages and tool results so far: its first group, or all of it when it has none.
    """

    marker: str
    replies: tuple[Reply, ...]
    captures: dict[str, str] = {}
    told: str = ""


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that an endpoint plays. The first conversation whose marker fits is taken."""

    conversations: tuple[Conversation, ...]
    model: str = "scripted"
    delay_ms: int = 0


def load_scenario(path: Path) -> Scenario:
    """Read and check the scenario file at `path`.

    Raises:
        ScenarioInvalid: when it cannot be read, is no TOML, or holds what cannot be played.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioInvalid(f"{path} cannot be read as a scenario: {error}.") from error
    try:
        return parse_scenario(text)
    except ScenarioInvalid as error:
        raise ScenarioInvalid(f"{path}: {error}") from error


def parse_scenario(text: str) -> Scenario:
    """The scenario that TOML `text` tells.

    Raises:
        ScenarioInvalid: as `load_scenario`.
    """
    try:
        scenario = msgspec.convert(tomllib.loads(text), Scenario)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioInvalid(f"no TOML: {error}.") from error
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$").removeprefix(".") or "the top level"
        raise ScenarioInvalid(f"{key}: {message}.") from error
    _check(scenario)
    return scenario


def _check(scenario: Scenario) -> None:
    """Raises ScenarioInvalid at the first thing that types can't tell."""
    markers: set[tuple[str, str]] = set()
    for index, conversation in enumerate(scenario.conversations):
        place = f"conversations[{index}]"
        if (conversation.marker, conversation.told) in markers:
            raise ScenarioInvalid(
                f"{place}.marker: {conversation.marker!r} stands above already, so this one would never be "
                "played; give it another marker."
            )
        markers.add((conversation.marker, conversation.told))
        for name, pattern in conversation.captures.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ScenarioInvalid(
                    f"{place}.captures.{name}: {pattern!r} is no regular expression: {error}."
                ) from error
        for number, reply in enumerate(conversation.replies):
            _check_reply(reply, f"{place}.replies[{number}]")
            if reply.repeat and number + 1 < len(conversation.replies):
                raise ScenarioInvalid(
                    f"{place}.replies[{number}].repeat: only the last reply can repeat for ever."
                )


def _check_reply(reply: Reply, place: str) -> None:
    for name, number, least in (
        ("times", reply.times, 1),
        ("chunk", reply.chunk, 1),
        ("dribble_bytes", reply.dribble_bytes, 1),
        ("delay_ms", reply.delay_ms, 0),
        ("pace_ms", reply.pace_ms, 0),
    ):
        if number is not None and number < least:
            raise ScenarioInvalid(f"{place}.{name}: {number} is too small; give at least {least}.")
    match reply.fault:
        case Status(status=status) if not 200 <= status <= 599:
            raise ScenarioInvalid(f"{place}.fault.status: {status} is no HTTP status of an answer.")
        case Stall(after_bytes=count) | Cut(after_bytes=count) if count is not None and count < 0:
            raise ScenarioInvalid(f"{place}.fault.after_bytes: {count} is too small; give at least 0.")
        case _:
            pass
    for index, call in enumerate(reply.calls):
        if call.raw_arguments is not None and call.arguments:
            raise ScenarioInvalid(f"{place}.calls[{index}]: give arguments or raw_arguments, not both.")
        if isinstance(call.arguments, str):
            try:
                msgspec.json.decode(call.arguments, type=dict[str, msgspec.Raw])
            except msgspec.MsgspecError as error:
                raise ScenarioInvalid(
                    f"{place}.calls[{index}].arguments: no JSON object ({error}); "
                    "broken JSON goes to raw_arguments."
                ) from error
