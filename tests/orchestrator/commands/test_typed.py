"""Pure. How a line becomes something that covey itself is told."""

import pytest

from orchestrator.commands.typed import (
    COMMANDS,
    AnyCommand,
    Compact,
    Dismiss,
    Help,
    Kill,
    Mistake,
    New,
    Quit,
    Review,
    Show,
    ShowChildren,
    SteerChild,
    Switch,
    SwitchModel,
    Undo,
    help_lines,
    read_line,
)
from tests.orchestrator.drawing.looks import texts


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("fix it", None),
        (" /etc/hosts says what?", None),
        ("", None),
        ("/help", Help()),
        ("/children  ", ShowChildren()),
        ("/kill fix-tabs-ab12", Kill("fix-tabs-ab12")),
        ("/steer fix-tabs-ab12  use  four blanks", SteerChild("fix-tabs-ab12", "use  four blanks")),
        ("/steer x first\nsecond", SteerChild("x", "first\nsecond")),
        ("/dismiss x", Dismiss("x")),
        ("/compact", Compact()),
        ("/modules skills off", Switch("skills", on=False)),
        ("/model", Show("model")),
        ("/model box/m-2", SwitchModel("box/m-2")),
        ("/quit", Quit()),
    ],
)
def test_a_line_is_a_command_or_for_the_model(text: str, command: AnyCommand | None) -> None:
    assert read_line(text) == command


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("/kil x", "There is no command /kil; did you mean /kill?"),
        ("/childs", "There is no command /childs; did you mean /children?"),
        ("/h", "There is no command /h; did you mean /help?"),
        ("/", "There is no command /; "),
        ("/etc/hosts says what?", "There is no command /etc/hosts; /help lists them."),
        ("/kill", "/kill is written /kill ID, not '/kill'."),
        ("/kill a b", "/kill is written /kill ID, not '/kill a b'."),
        ("/steer a", "/steer is written /steer ID TEXT, not '/steer a'."),
        ("/modules skills", "What of skills? /modules skills on, or off."),
        ("/modules skills maybe", "What of skills? /modules skills on, or off."),
        ("/quit now", "/quit is written /quit, not '/quit now'."),
    ],
)
def test_a_mistake_gets_one_sentence_that_says_what_to_do(text: str, sentence: str) -> None:
    mistake = read_line(text)
    assert isinstance(mistake, Mistake)
    assert mistake.sentence.startswith(sentence)
    assert "\n" not in mistake.sentence


def test_a_command_with_an_argument_that_may_be_left_out_is_read_either_way() -> None:
    assert read_line("/review") == Review()
    assert read_line("/review fix") == Review("fix")
    assert isinstance(read_line("/review fix it"), Mistake)
    assert read_line("/undo 3") == Undo("3")
    assert read_line("/new") == New()


def test_help_lists_every_command() -> None:
    lines = texts(help_lines())
    assert [line.split()[0] for line in lines[: len(COMMANDS)]] == [each.name for each in COMMANDS]


def test_every_command_that_is_listed_is_one() -> None:
    for each in COMMANDS:
        words = each.arguments.replace("[NAME on|off]", "skills on")
        assert not isinstance(read_line(f"{each.name} {words}"), Mistake | None), each.usage
