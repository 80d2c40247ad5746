"""Pure. What a terminal can show, by what it is and by what the environment says."""

import io

import pytest

from orchestrator.drawing.look import Look, look_at, speaks_unicode

UTF8 = {"LANG": "en_GB.UTF-8", "TERM": "xterm"}


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_drawn_on_in_colour() -> None:
    assert look_at(Terminal("utf-8"), UTF8) == Look(live=True, colour=True, unicode=True)


def test_a_file_or_a_pipe_is_neither_drawn_on_nor_coloured() -> None:
    assert look_at(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), UTF8) == Look(False, False, True)


@pytest.mark.parametrize("term", ["dumb", "unknown", ""])
def test_a_terminal_that_can_not_move_its_cursor_is_treated_like_a_file(term: str) -> None:
    assert look_at(Terminal("utf-8"), UTF8 | {"TERM": term}) == Look(False, False, True)


def test_no_color_takes_the_colours_and_leaves_the_drawing() -> None:
    assert look_at(Terminal("utf-8"), UTF8 | {"NO_COLOR": "1"}) == Look(True, False, True)
    assert look_at(Terminal("utf-8"), UTF8 | {"NO_COLOR": ""}).colour, "empty counts as not set"


@pytest.mark.parametrize(
    ("encoding", "environment", "speaks"),
    [
        ("utf-8", {"LANG": "en_GB.UTF-8"}, True),
        ("UTF8", {"LC_ALL": "C.UTF-8"}, True),
        ("utf-8", {"LANG": "C.UTF-8"}, True),
        ("utf-8", {}, True),
        ("utf-8", {"LC_CTYPE": "C.UTF-8"}, True),
        ("utf-8", {"LANG": "C"}, False),
        ("utf-8", {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ("utf-8", {"LC_ALL": "POSIX", "LANG": "en_GB.UTF-8"}, False),
        ("iso8859-1", {"LANG": "de_DE.ISO-8859-1"}, False),
        ("no such encoding", {}, False),
        (None, {}, False),
    ],
)
def test_signs_beyond_ascii_need_a_terminal_that_speaks_utf_8(
    encoding: str | None, environment: dict[str, str], speaks: bool
) -> None:
    assert speaks_unicode(encoding, environment) is speaks


def test_every_sign_has_a_form_in_ascii() -> None:
    plain = Look(True, True, unicode=False)
    signs = [plain.ellipsis, plain.prompt, plain.separator, plain.fold_mark(True), plain.fold_mark(False)]
    assert all(sign.isascii() for sign in signs)
