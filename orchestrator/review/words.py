"""Small texts that several views share: ages, and commands a person may copy. Pure."""

from orchestrator.children.kept import for_shell
from orchestrator.terminal.figures import count


def age(seconds: float) -> str:
    """How long ago something was, roughly: `now`, `5 min`, `3 h`, `2 days`."""
    minutes = int(max(0.0, seconds)) // 60
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else count(minutes // (24 * 60), "day")


def ago(seconds: float) -> str:
    """`just now`, `5 min ago`."""
    return "just now" if age(seconds) == "now" else f"{age(seconds)} ago"


def command(child: str, *words: str) -> str:
    """A `covey review` command about a child, safe to paste."""
    return " ".join(["covey review", for_shell(child), *map(for_shell, words)])
