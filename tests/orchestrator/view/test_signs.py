"""Pure. The signs of states, tools and counters: each is known by its word as well, and has a form in ASCII."""

from typing import get_args

from orchestrator.drawing.look import Look
from orchestrator.roster import State
from orchestrator.view.signs import STATE_TONES, counter_mark, counters, state_mark, tool_mark


def test_every_sign_has_a_form_in_ascii() -> None:
    plain = Look(True, True, unicode=False)
    signs = [state_mark(plain, state) for state in get_args(State)]
    signs += [tool_mark(plain, tool) for tool in ("run_command", "read", "task", "something new")]
    assert all(sign.isascii() for sign in (*signs, counter_mark(plain, "command")))


def test_states_are_told_apart_by_more_than_colour() -> None:
    """Where two states share a sign their words differ, and the word is always shown."""
    assert set(STATE_TONES) == set(get_args(State))
    for look in (Look(True, True, True), Look(True, True, False)):
        assert all(len(state_mark(look, state)) == 1 for state in get_args(State))


def test_tools_have_the_marks_that_people_know() -> None:
    look = Look(True, True, True)
    assert tool_mark(look, "bash") == tool_mark(look, "run_command") == "🛠️  "
    assert tool_mark(look, "read_skill") == "📖 "
    assert tool_mark(look, "lsp") == "🔎 "
    assert tool_mark(look, "something new") == "•  "


def test_counters_put_the_tools_of_both_sets_into_families() -> None:
    calls = {
        "lsp": 1,
        "bash": 1,
        "run_command": 2,
        "read": 3,
        "write_file": 1,
        "edit": 1,
        "search": 2,
        "task": 9,
    }
    assert counters(calls) == [("command", 3), ("file op", 5), ("search", 2), ("lsp call", 1)]
