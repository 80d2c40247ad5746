"""Conversations by name that run through every wire format, and the tools and the system prompt they begin with."""

from worker.conversation import (
    AnyMessage,
    AssistantMessage,
    CallId,
    Image,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from worker.tools.spec import ToolSpec

SYSTEM = "You are covey."

TOOLS = (
    ToolSpec("read", "Reads.", b'{"type":"object","properties":{"path":{"type":"string"}}}'),
    ToolSpec("write", "Writes.", b'{"type":"object"}'),
)


def call(id: str, name: str = "read", arguments: str = '{"path": "a.py"}') -> ToolCall:
    return ToolCall(CallId(id), name, arguments)


def answer(id: str, text: str, *images: Image, failed: bool = False) -> ToolMessage:
    return ToolMessage(CallId(id), text, images, failed)


CONVERSATIONS: dict[str, tuple[AnyMessage, ...]] = {
    "a first message": (UserMessage("Hello."),),
    "an answer in words": (UserMessage("Hello."), AssistantMessage("Hi."), UserMessage("Fix it.")),
    "two messages of the user together": (UserMessage("Hello."), UserMessage("And this.")),
    "calls and their answers": (
        UserMessage("Fix it."),
        AssistantMessage("Looking.", (call("c1"), call("c2", "write", '{"path":"b"}'))),
        answer("c1", "1:aa|x"),
        answer("c2", "It is read-only.", failed=True),
    ),
    "calls without words": (
        UserMessage("Fix it."),
        AssistantMessage("", (call("c1"),)),
        answer("c1", "x"),
    ),
    "steering between two answers": (
        UserMessage("Fix it."),
        AssistantMessage("", (call("c1"), call("c2"))),
        answer("c1", "x"),
        UserMessage("Faster."),
        answer("c2", "y"),
    ),
    "a picture": (
        UserMessage("Look."),
        AssistantMessage("", (call("c1"),)),
        answer("c1", "a.png", Image("image/png", b"\x89PNG")),
        UserMessage("Well?"),
    ),
    "arguments that are no object": (
        UserMessage("Fix it."),
        AssistantMessage(
            "", (call("c1", arguments='{"path": "a'), call("c2", arguments=" "), call("c3", arguments="[1]"))
        ),
        answer("c1", "Broken JSON.", failed=True),
        answer("c2", "No path.", failed=True),
        answer("c3", "No object.", failed=True),
    ),
    "a name and an id that no endpoint takes back": (
        UserMessage("Fix it."),
        AssistantMessage("", (call("functions.read:0", "functions.read file"),)),
        answer("functions.read:0", "There is no such tool.", failed=True),
    ),
    "nothing said and nothing answered": (
        UserMessage("Fix it."),
        AssistantMessage(""),
        UserMessage(" "),
        AssistantMessage("", (call("c1"),)),
        answer("c1", ""),
    ),
    "text that is no Unicode": (
        UserMessage("caf\udce9"),
        AssistantMessage("\ud83c\udf89", (call("c1", arguments='{"path": "\udce9"}'),)),
        answer("c1", "\udce9"),
    ),
}
