"""Notices a model that repeats one tool call with one result: a warning first, then the end of the turn.

Pure counting; the loop asks after each call. A different call, input or output starts the count again.
"""

from worker.conversation import ToolCall

WARN_AT = 3
STOP_AT = 6

LOOP_WARNING = (
    "[LOOP_DETECTED: You have attempted the same action multiple times with the same result. Please try a different"
    " approach or provide more information.]"
)


class LoopDetector:
    """Counts how often in a row the same (tool, input, output) came."""

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._count = 0

    def count(self, call: ToolCall, output: str) -> int:
        """Take in one finished call and return how many alike in a row there are with it."""
        seen = (call.name, call.arguments, output)
        self._count = self._count + 1 if seen == self._last else 1
        self._last = seen
        return self._count
