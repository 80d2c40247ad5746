"""Pure. The dialog in which a person answers the model's questions."""

from orchestrator.drawing.lines import plain
from orchestrator.view.dialog import Answered, Dialog, DialogKey, draw_dialog, press, type_text
from tests.orchestrator.drawing.looks import ASCII, FULL
from worker.tools.ask import Option, Question

COLOUR = Question("Which colour?", (Option("red", "like fire"), Option("blue"), Option("3D green")))
PARTS = Question("Which parts?", (Option("docs"), Option("tests")), several=True)
NAME = Question("Which name?")


def played(*keys: str, questions: tuple[Question, ...] = (COLOUR,)) -> Dialog | Answered:
    """The dialog after keys by their names; everything else is typed."""
    names: dict[str, DialogKey] = {
        name: name for name in ("up", "down", "space", "enter", "escape", "backspace", "rub out line")
    }
    dialog: Dialog | Answered = Dialog("a1", questions)
    for key in keys:
        assert isinstance(dialog, Dialog), "the dialog has ended"
        dialog = press(dialog, names[key]) if key in names else type_text(dialog, key)
    return dialog


def answers(*keys: str, questions: tuple[Question, ...] = (COLOUR,)) -> object:
    ended = played(*keys, questions=questions)
    assert isinstance(ended, Answered)
    return ended.answers


def shown(dialog: Dialog | Answered) -> list[str]:
    assert isinstance(dialog, Dialog)
    return [plain(line) for line in draw_dialog(dialog, FULL, takes_keys=True)]


def test_enter_picks_the_option_that_is_pointed_at() -> None:
    assert answers("enter") == (("red",),)
    assert answers("down", "enter") == (("blue",),)
    assert answers("up", "enter") == (("3D green",),)
    assert answers("down", "down", "down", "enter") == (("red",),)


def test_a_number_picks_its_option_and_other_text_is_an_own_answer() -> None:
    assert answers("2", "enter") == (("blue",),)
    assert answers("7", "enter") == (("7",),)
    assert answers("3D", "space", "grey", "enter") == (("3D grey",),)
    assert answers("gren", "backspace", "backspace", "een", "enter") == (("green",),)
    assert answers("green", "rub out line", "enter") == (("red",),)


def test_space_toggles_where_several_may_be_picked() -> None:
    several = (PARTS,)
    assert answers("space", "down", "space", "enter", questions=several) == (("docs", "tests"),)
    assert answers("space", "space", "down", "enter", questions=several) == (("tests",),)
    assert answers("2", "enter", "enter", questions=several) == (("tests",),)
    assert answers("space", "the logo", "enter", questions=several) == (("docs", "the logo"),)


def test_a_question_without_options_wants_words() -> None:
    assert isinstance(played("enter", "up", "down", questions=(NAME,)), Dialog)
    assert answers("Ada", "enter", questions=(NAME,)) == (("Ada",),)


def test_several_questions_end_on_a_review_that_y_sends() -> None:
    both = (COLOUR, PARTS)
    assert shown(played(questions=both))[0] == "? 1 of 2  Which colour?"
    review = played("enter", "space", "enter", questions=both)
    assert shown(review) == [
        "Your answers",
        "  Which colour?",
        "    red",
        "  Which parts?",
        "    docs",
        "  y sends, e edits, Esc cancels",
    ]
    assert answers("enter", "enter", "x", "enter", "y", questions=both) == (("red",), ("docs",))
    assert answers("enter", "enter", "escape", questions=both) is None


def test_e_goes_back_to_the_first_question_with_the_answers_as_they_were() -> None:
    both = (NAME, PARTS)
    again = played("Ada", "enter", "down", "space", "enter", "e", questions=both)
    assert "  your answer: Ada_" in shown(again)
    ended = answers("Ada", "enter", "down", "space", "enter", "e", "x", "enter", "enter", "y", questions=both)
    assert ended == (("Adax",), ("tests",))


def test_escape_closes_without_an_answer() -> None:
    assert answers("escape") is None
    assert answers("gre", "escape") is None


def test_the_dialog_says_what_can_be_pressed_and_what_is_picked() -> None:
    assert shown(played("down")) == [
        "? Which colour?",
        "    1  red  like fire",
        "  › 2  blue  ",
        "    3  3D green  ",
        "  ↑ ↓ move · Enter picks · a number picks · or type your own · Esc closes",
    ]
    lines = shown(played("space", questions=(PARTS,)))
    assert lines[1].startswith("  › [x] 1  docs")
    assert "Space toggles" in lines[-1]
    dialog = played()
    assert isinstance(dialog, Dialog)
    waiting = [plain(line) for line in draw_dialog(dialog, ASCII, takes_keys=False)]
    assert waiting[-1] == "  You are typing a message: send it or erase it, then answer."
    assert "".join(waiting).isascii()
