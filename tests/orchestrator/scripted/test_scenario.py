"""Real files. Scenario files that can be played, and what is said of those that can't."""

import re
from pathlib import Path

import pytest

from orchestrator.scripted.scenario import (
    Call,
    Cut,
    Reply,
    ScenarioInvalid,
    Status,
    load_scenario,
    parse_scenario,
)

ROOT = Path(__file__).resolve().parents[3]

HEAD = '[[conversations]]\nmarker = "m"\n'


def test_a_scenario_is_read_whole() -> None:
    scenario = parse_scenario(
        """
        delay_ms = 5
        [[conversations]]
        marker = "fix"
        captures = { child = 'child (\\w+)' }
        [[conversations.replies]]
        text = "Hm."
        usage = { output_tokens = 3 }
        [[conversations.replies.calls]]
        name = "read"
        arguments = { path = "a.py", lines = [1, 2] }
        [[conversations.replies.calls]]
        name = "read"
        arguments = '{"path": null}'
        [[conversations.replies.calls]]
        name = "read"
        raw_arguments = '{"path'
        [[conversations.replies]]
        fault = { kind = "status", status = 429, headers = { retry-after = "1" } }
        times = 2
        [[conversations.replies]]
        fault = { kind = "cut", how = "reset", after_bytes = 3 }
        [[conversations.replies]]
        text = "Done."
        repeat = true
        """
    )
    (conversation,) = scenario.conversations
    assert conversation.captures == {"child": r"child (\w+)"}
    first, refused, cut, last = conversation.replies
    assert [call.arguments_text() for call in first.calls] == [
        '{"path":"a.py","lines":[1,2]}',
        '{"path": null}',
        '{"path',
    ]
    assert first.calls[2] == Call("read", raw_arguments='{"path')
    assert refused == Reply(fault=Status(429, {"retry-after": "1"}), times=2)
    assert cut.fault == Cut(3, "reset")
    assert last == Reply("Done.", repeat=True)
    assert scenario.delay_ms == 5


def test_the_scenario_in_the_documentation_can_be_played() -> None:
    page = (ROOT / "docs" / "scripted.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(parse_scenario(example).conversations) == 2


def test_the_documentation_names_every_key_and_every_fault() -> None:
    page = (ROOT / "docs" / "scripted.md").read_text()
    for struct in (Reply, Call, Status, Cut):
        assert [name for name in struct.__struct_fields__ if f"`{name}`" not in page] == []


WRONG: dict[str, tuple[str, str]] = {
    "no TOML": ("x = [", "no TOML: .*"),
    "no conversations": ("model = 'x'", "the top level: Object missing required field `conversations`"),
    "an unknown key at the top": (f"delay = 3\n{HEAD}replies = []", "the top level: .*unknown field `delay`"),
    "an unknown key of a reply": (
        f"{HEAD}replies = [{{ txt = 'x' }}]",
        r"conversations\[0\].replies\[0\]: Object contains unknown field `txt`",
    ),
    "a wrong type": (
        f"{HEAD}replies = [{{ text = 'x' }}, {{ text = 3 }}]",
        r"conversations\[0\].replies\[1\].text: Expected `str`, got `int`",
    ),
    "an unknown fault": (
        f"{HEAD}replies = [{{ fault = {{ kind = 'explode' }} }}]",
        r"conversations\[0\].replies\[0\].fault.kind: Invalid value 'explode'",
    ),
    "a status that is none": (
        f"{HEAD}replies = [{{ fault = {{ kind = 'status', status = 42 }} }}]",
        r"replies\[0\].fault.status: 42 is no HTTP status",
    ),
    "a negative place in the stream": (
        f"{HEAD}replies = [{{ fault = {{ kind = 'cut', after_bytes = -1 }} }}]",
        r"replies\[0\].fault.after_bytes: -1 is too small; give at least 0",
    ),
    "no times at all": (
        f"{HEAD}replies = [{{ times = 0 }}]",
        r"replies\[0\].times: 0 is too small; give at least 1",
    ),
    "a chunk of nothing": (f"{HEAD}replies = [{{ chunk = 0 }}]", r"replies\[0\].chunk: 0 is too small"),
    "both kinds of arguments": (
        f"{HEAD}replies = [{{ calls = [{{ name = 'x', arguments = {{ a = 1 }}, raw_arguments = '' }}] }}]",
        r"calls\[0\]: give arguments or raw_arguments, not both",
    ),
    "arguments that are broken": (
        f"{HEAD}replies = [{{ calls = [{{ name = 'x', arguments = '{{' }}] }}]",
        r"calls\[0\].arguments: no JSON object .*; broken JSON goes to raw_arguments",
    ),
    "arguments that are no object": (
        f"{HEAD}replies = [{{ calls = [{{ name = 'x', arguments = '[]' }}] }}]",
        r"calls\[0\].arguments: no JSON object",
    ),
    "a capture that is no expression": (
        f"{HEAD}captures = {{ a = '(' }}\nreplies = []",
        r"conversations\[0\].captures.a: '\(' is no regular expression",
    ),
    "a marker that stands twice": (
        f"{HEAD}replies = []\n{HEAD}replies = []",
        r"conversations\[1\].marker: 'm' stands above already.*; give it another",
    ),
    "something after what repeats for ever": (
        f"{HEAD}replies = [{{ repeat = true }}, {{ text = 'x' }}]",
        r"replies\[0\].repeat: only the last reply can repeat",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_sentence_with_file_and_key(tmp_path: Path, name: str) -> None:
    text, message = WRONG[name]
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ScenarioInvalid, match=message) as caught:
        load_scenario(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(".")


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    with pytest.raises(ScenarioInvalid, match=r"scenario.toml cannot be read as a scenario: .*No such file"):
        load_scenario(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioInvalid, match="cannot be read as a scenario"):
        load_scenario(path)
