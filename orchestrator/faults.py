"""What a person is told when they ask for something that can't be done: one sentence, printed plain, exit 1."""


class UserError(Exception):
    """Raised when a person's input or set-up is at fault. `str()` names the thing and the remedy."""
