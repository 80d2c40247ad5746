"""Pure. What completes a command, a child's id, a file."""

from orchestrator.commands.completing import Candidate, complete

FILES = ("README.md", "src/parser.py", "src/read.py", "tests/test_parser.py")


def texts(before: str) -> list[str]:
    return [each.text for each in complete(before, children=("fix-a", "fix-b", "look"), files=FILES)]


def test_a_slash_offers_the_commands_that_begin_so() -> None:
    assert texts("/qu") == ["/quit"]
    assert texts("/st") == ["/steer "]
    assert "/children" in texts("/")
    assert texts("/nothing") == []


def test_a_command_that_takes_a_child_offers_the_children() -> None:
    assert texts("/kill ") == ["fix-a ", "fix-b ", "look "]
    assert complete("/kill lo", children=("look",)) == [Candidate(6, "look ")]
    assert texts("/steer look hurry") == []
    assert texts("/quit ") == []


def test_an_at_offers_files_by_name_first_then_by_path_then_anywhere() -> None:
    assert texts("see @read") == ["README.md ", "src/read.py "]
    assert texts("see @parser") == ["src/parser.py ", "tests/test_parser.py "]
    assert texts("see @src/") == ["src/read.py ", "src/parser.py "]
    assert texts("@") != []
    assert texts("me@example") == []
    assert texts("see @a b") == []
