"""What the window asks of whoever holds the session: few words, each without an answer.

What comes of it is read in the journal, as by any screen. Everything that has a command goes through `send`.
"""

from typing import Protocol

from orchestrator.events import Answer, QuestionId
from orchestrator.view.dialog import Answered


class Deeds(Protocol):
    """The session behind the window. None of these waits."""

    def send(self, text: str) -> None:
        """A typed line: a command, a request, or a message into the turn that runs."""
        ...

    def stop(self) -> None:
        """Stop the turn; told a second time, kill what it started at once."""
        ...

    def leave(self, exit_code: int) -> None:
        """End the session, and the window with it."""
        ...

    def answer(self, answered: Answered) -> None:
        """Answer the model's questions."""
        ...

    def permit(self, question: QuestionId, answer: Answer) -> None:
        """Answer whether a call may run."""
        ...
