"""Commands about a child that a person may copy. Pure."""

from orchestrator.children.kept import for_shell


def command(child: str, *words: str) -> str:
    """A `covey review` command about a child, safe to paste."""
    return " ".join(["covey review", for_shell(child), *map(for_shell, words)])
