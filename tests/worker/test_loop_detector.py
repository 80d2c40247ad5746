"""Pure. How often in a row the same call gave the same: the count that warns at three and ends the turn at six."""

import pytest

from worker.conversation import CallId, ToolCall
from worker.loop_detector import LoopDetector

READ = ToolCall(CallId("1"), "read", '{"path": "a"}')


def test_calls_alike_in_a_row_are_counted_whatever_their_ids() -> None:
    detector = LoopDetector()
    calls = [ToolCall(CallId(str(number)), "read", '{"path": "a"}') for number in range(7)]
    assert [detector.count(call, "no such file") for call in calls] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (ToolCall(CallId("1"), "search", '{"path": "a"}'), "same"),
        (ToolCall(CallId("1"), "read", '{"path": "b"}'), "same"),
        (READ, "other"),
    ],
)
def test_another_tool_input_or_output_starts_the_count_again(call: ToolCall, output: str) -> None:
    detector = LoopDetector()
    assert [detector.count(READ, "same") for _ in range(5)][-1] == 5
    assert detector.count(call, output) == 1
    assert detector.count(READ, "same") == 1
