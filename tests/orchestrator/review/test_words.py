"""Pure. Commands are safe to paste."""

from orchestrator.review.words import command


def test_a_path_in_a_command_is_quoted_for_the_shell() -> None:
    assert command("a-1", "--ours", "it's here.py") == "covey review a-1 --ours 'it'\"'\"'s here.py'"
