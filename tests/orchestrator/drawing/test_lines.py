"""Pure. Lines as values, and text from outside that must not steer a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.lines import Span, answered, indented, line, plain, tame, tame_line


def test_a_line_is_its_texts_whatever_their_tone() -> None:
    assert plain(indented(line("a ", Span("b", "bad")), 2)) == "  a b"


def test_escape_sequences_are_shown_and_not_obeyed() -> None:
    assert tame("\x1b]0;title\x07\x1b[2J\x9b1m\x7f") == "^[]0;title^G^[[2J\\x9b1m^?"


def test_line_ends_stay_and_tabs_become_blanks() -> None:
    assert tame("a\r\nb\tc\n") == "a\nb       c\n"


def test_a_lone_carriage_return_can_not_hide_what_stands_before_it() -> None:
    assert tame("rm -rf /\rls") == "rm -rf /^Mls"


def test_a_text_becomes_one_line() -> None:
    assert tame_line("  src/\n  a.py\x1b[A ") == "src/ a.py^[[A"


def test_an_answer_is_a_line_for_each_of_its_lines() -> None:
    assert [plain(each) for each in answered("\none\n\n  two\n")] == ["one", "", "  two"]


@given(st.text())
def test_tame_text_holds_no_control_character_but_the_newline(text: str) -> None:
    assert not [character for character in tame(text) if character != "\n" and ord(character) in CONTROLS]


CONTROLS = {*range(0x20), *range(0x7F, 0xA0)}
