"""Contract. The window, driven by keys and the mouse through textual's pilot."""

import pytest
from textual import events

from orchestrator.drawing.lines import line
from orchestrator.events import (
    ChildFinished,
    ChildWorking,
    PermissionAsked,
    QuestionId,
    QuestionsAnswered,
    QuestionsAsked,
    TextAdded,
    TurnFinished,
)
from orchestrator.journal import PARENT
from orchestrator.view.dialog import Answered as Given
from orchestrator.window.panes import ModuleState
from tests.orchestrator.drawing.looks import ASCII
from tests.orchestrator.view.stories import (
    FIRST,
    SECOND,
    AnyHappening,
    begins,
    child,
    ends,
    request,
    said,
)
from tests.orchestrator.window.windows import Played, in_window
from worker.conversation import CallId
from worker.model import Usage
from worker.protocol import Answered, ChildId
from worker.tools.ask import Option, Question

COLOUR = Question("Which colour?", (Option("red"), Option("blue")))
CALL = (begins("bash", "bash: pytest -q"), ends("bash", "bash: pytest -q", "3 passed in 0.1 s"))
CHILDREN = (child(FIRST, "Fix the tabs"), child(SECOND, "Fix the width"))
OVER: AnyHappening = (PARENT, TurnFinished(Answered("Done."), 3.0))


def ended(who: AnyHappening) -> AnyHappening:
    return who[0], ChildFinished(Answered("Did it."), None, 2.0, Usage(1_000, 200))


def asks(tool: str = "bash") -> AnyHappening:
    asked = PermissionAsked(QuestionId("q1"), CallId("c1"), tool, "rm -rf build", "rm -rf build", ("rm",))
    return PARENT, asked


def test_a_turn_is_shown_and_what_is_typed_is_sent() -> None:
    async def test(played: Played) -> None:
        await played.type("do it")
        await played.press("enter")
        assert played.deeds.asked == ["do it"]
        await played.tell(request("do it"), said("I **look**."), *CALL, (PARENT, TextAdded("And n")))
        lines = played.screen()
        assert "› do it" in lines[0]
        assert lines[2].startswith("I look.")
        assert lines[4].startswith("‣ 🛠️  bash  pytest -q")
        assert "✓ 0.5 s" in lines[4]
        assert lines[6].startswith("And n")
        assert "Esc stops" in played.text()

    in_window(test)


def test_a_call_is_unfolded_by_key_and_by_mouse() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *CALL)
        assert "3 passed" not in played.text()
        await played.press("tab", "up", "enter")
        assert "    3 passed in 0.1 s" in played.text()
        await played.press("enter")
        assert "3 passed" not in played.text()
        await played.pilot.click("#transcript", offset=(3, 2))
        assert "3 passed" in played.text()
        await played.press("ctrl+o", "ctrl+o")
        assert "3 passed" not in played.text()

    in_window(test)


def test_a_child_is_opened_told_something_and_left_again() -> None:
    async def test(played: Played) -> None:
        await played.tell(
            request(), *CHILDREN, said("I fix it.", FIRST), begins("read", "read a.py", who=FIRST)
        )
        await played.press("tab", "tab", "enter")
        assert "I fix it." in played.text()
        assert "read  a.py" in played.text()
        assert f"{FIRST}: Esc goes back" in played.text()
        await played.type("hurry")
        await played.press("enter")
        assert played.deeds.asked == [f"/steer {FIRST} hurry"]
        await played.press("escape")
        assert "2 children" in played.text()
        assert played.deeds.asked[1:] == []

    in_window(test)


def test_a_row_of_a_card_opens_its_child() -> None:
    twin = ChildId(f"{FIRST[:-4]}ee99")

    async def test(played: Played) -> None:
        await played.tell(request(), *CHILDREN, child(twin, "Fix the tabs"))
        lines = played.text().splitlines()
        (row,) = [y for y, line in enumerate(lines) if line.startswith("    ") and twin in line[:80]]
        await played.pilot.click("#transcript", offset=(8, row))
        assert f"{twin}: Esc goes back" in played.text()

    in_window(test)


def test_a_child_is_stopped_and_taken_out_of_view_from_the_list() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *CHILDREN)
        await played.press("tab", "tab", "down", "k", "d")
        assert played.deeds.asked == [f"/kill {SECOND}", f"/dismiss {SECOND}"]
        await played.pilot.click("#side", offset=(5, 1))
        assert f"{FIRST}: Esc goes back" in played.text()

    in_window(test)


def test_escape_stops_the_turn_and_ctrl_d_leaves() -> None:
    async def test(played: Played) -> None:
        await played.tell(request())
        await played.press("escape")
        assert played.deeds.asked == ["stop"]
        played.window.stopping = True
        await played.tell(said("Hm."))
        assert "stopping all of it; Esc again kills at once" in played.text()
        await played.press("escape", "ctrl+d")
        assert played.deeds.asked == ["stop", "stop", ("leave", 0)]

    in_window(test)


def test_ctrl_c_erases_then_stops_then_leaves() -> None:
    async def test(played: Played) -> None:
        await played.type("no")
        await played.press("ctrl+c")
        assert "› no" not in played.text()
        await played.tell(request())
        await played.press("ctrl+c")
        await played.tell(OVER)
        await played.press("ctrl+c")
        assert "Ctrl-C again leaves" in played.text()
        await played.press("ctrl+c")
        assert played.deeds.asked == ["stop", ("leave", 0)]

    in_window(test)


def test_a_question_of_the_model_is_answered_with_its_keys() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), (PARENT, QuestionsAsked("a1", (COLOUR,))))
        assert "? Which colour?" in played.text()
        await played.press("down", "enter")
        assert played.deeds.asked == [Given("a1", (("blue",),))]
        await played.tell((PARENT, QuestionsAnswered("a1", (("blue",),))))
        assert "Which colour?" not in played.text()

    in_window(test)


def test_a_message_that_was_begun_before_a_question_came_does_not_answer_it() -> None:
    async def test(played: Played) -> None:
        await played.tell(request())
        await played.type("also do")
        await played.tell((PARENT, QuestionsAsked("a1", (COLOUR,))))
        assert "You are typing a message" in played.text()
        await played.type("cs")
        await played.press("enter")
        await played.type("green")
        await played.press("enter")
        assert played.deeds.asked == ["also docs", Given("a1", (("green",),))]

    in_window(test)


@pytest.mark.parametrize(
    ("key", "answer"), [("a", "approved"), ("s", "approved for this session"), ("r", "rejected")]
)
def test_whether_a_call_may_run_is_answered_with_one_key(key: str, answer: str) -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), asks())
        assert "a approves" in played.text()
        await played.press(key)
        assert played.deeds.asked == [("q1", answer)]

    in_window(test)


def test_the_letters_of_a_message_answer_no_permission() -> None:
    async def test(played: Played) -> None:
        await played.tell(request())
        await played.press("w")
        await played.tell(asks())
        await played.press("a", "s")
        assert played.deeds.asked == []
        await played.press("enter")
        assert played.deeds.asked == ["was"]

    in_window(test)


def test_a_search_goes_to_what_it_finds_and_unfolds_it() -> None:
    async def test(played: Played) -> None:
        more = [said(f"Line {number} of many.") for number in range(40)]
        await played.tell(request(), *CALL, *more)
        assert "pytest" not in played.text()
        await played.press("ctrl+f")
        await played.type("passed")
        assert "3 passed in 0.1 s" in played.text()
        await played.type("x")
        assert "passedx is not in this transcript." in played.text()
        await played.press("escape", "ctrl+end")
        assert "Line 39 of many." in played.text()

    in_window(test)


def test_pages_and_wheel_move_and_the_end_is_followed_again() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *(said(f"Line {number} of many.") for number in range(60)))
        assert "Line 59" in played.text()
        await played.press("pageup")
        assert "Line 59" not in played.text()
        assert "Ctrl-End to the end" in played.text()
        await played.tell(said("Something new."))
        assert "Something new." not in played.text()
        await played.press("ctrl+home")
        assert "› please do the work" in played.screen()[0]
        await played.press("ctrl+end")
        assert "Something new." in played.text()

    in_window(test)


def test_commands_and_files_are_completed() -> None:
    async def test(played: Played) -> None:
        await played.type("/ki")
        assert "stop a child and everything it started" in played.text()
        await played.tell(request(), *CHILDREN)
        await played.press("tab")
        await played.press("down", "enter", "enter")
        assert played.deeds.asked == [f"/kill {SECOND} ".strip()]
        await played.type("look at @pars")
        await played.press("tab", "enter")
        assert played.deeds.asked[1:] == ["look at @src/parser.py"]

    in_window(test, files=("README.md", "src/parser.py"))


def test_what_is_typed_faster_than_it_is_drawn_is_not_completed_to_something_else() -> None:
    async def test(played: Played) -> None:
        await played.type("/r")
        for sign in "eview x":
            played.window.post_message(events.Key("space" if sign == " " else sign, sign))
        played.window.post_message(events.Key("enter", None))
        await played.pilot.pause()
        assert played.deeds.asked == ["/review x"]

    in_window(test)


def test_what_was_sent_before_comes_back_with_the_arrow() -> None:
    async def test(played: Played) -> None:
        await played.type("new")
        await played.press("up", "up", "down", "enter")
        assert played.deeds.asked == ["second"]
        await played.press("up", "up", "up", "enter")
        assert played.deeds.asked == ["second", "first"]

    in_window(test, history=("first", "second"))


def test_lines_are_begun_with_alt_enter_and_a_backslash() -> None:
    async def test(played: Played) -> None:
        await played.type("one")
        await played.press("alt+enter")
        await played.type("two")
        await played.press("backslash", "enter")
        await played.type("three")
        await played.press("enter")
        assert played.deeds.asked == ["one\ntwo\nthree"]

    in_window(test)


def test_the_help_shows_every_key_and_command() -> None:
    async def test(played: Played) -> None:
        await played.press("f1")
        assert "close what is on top" in played.text()
        assert "/steer ID TEXT" in played.text()
        await played.press("ctrl+d", "pageup")
        assert played.deeds.asked == []
        await played.press("escape")
        assert "close what is on top" not in played.text()

    in_window(test, size=(120, 70))


def test_without_colour_and_unicode_every_state_is_still_a_word() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *CHILDREN, (FIRST, ChildWorking("/w", (), ())), ended(CHILDREN[1]))
        text = played.text()
        assert "* running fix-tabs" in text
        assert "+ finished fix-width" in text

    in_window(test, look=ASCII)


def test_a_narrow_window_gives_the_transcript_all_of_it() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *CHILDREN)
        assert "Children" not in played.text()
        assert "starting" in played.text()
        await played.pilot.resize_terminal(120, 30)
        await played.pilot.pause()
        assert "Children  2 at work" in played.text()

    in_window(test, size=(40, 20))


def test_who_only_watches_can_look_and_leave_but_say_nothing() -> None:
    async def test(played: Played) -> None:
        await played.tell(request(), *CALL, (PARENT, QuestionsAsked("a1", (COLOUR,))))
        assert "Which colour?" not in played.text()
        await played.press("x", "up", "enter")
        assert "3 passed" in played.text()
        await played.press("ctrl+c")
        assert played.deeds.asked == [("leave", 0)]

    in_window(test, is_watching=True)


def test_the_settings_switch_a_module() -> None:
    async def test(played: Played) -> None:
        modules = [ModuleState("skills", True, "reads skills"), ModuleState("web", False, "looks in the web")]
        played.window.show_settings(modules, [line("[children]")])
        await played.pilot.pause()
        assert "[x] on   skills" in played.text()
        assert "[children]" in played.text()
        await played.press("down", "enter")
        assert played.deeds.asked == ["/modules web on"]
        assert "[x] on   web" in played.text()
        await played.press("escape")
        assert "[children]" not in played.text()

    in_window(test)
