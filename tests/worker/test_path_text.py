"""Pure."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.path_text import quote_path, unquote_path


@given(st.binary().filter(lambda name: b"\0" not in name))
def test_a_quoted_path_is_one_plain_line_and_names_the_same_file_again(name: bytes) -> None:
    path = os.fsdecode(name)
    shown = quote_path(path)
    assert shown.isprintable()
    shown.encode()
    assert unquote_path(shown) == path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a.py", "src/a.py"),
        ("Süd & Nord.txt", "Süd & Nord.txt"),
        ('say "hi".txt', 'say "hi".txt'),
        ("two\nlines", '"two\\nlines"'),
        (os.fsdecode(b"caf\xe9.py"), '"caf\\351.py"'),
        ('"quoted"', '"\\"quoted\\""'),
    ],
)
def test_only_a_name_that_can_not_travel_is_quoted(path: str, shown: str) -> None:
    assert quote_path(path) == shown


@pytest.mark.parametrize("text", ["", '"', '"open', 'a "b" c', '"a"b"'])
def test_what_was_never_quoted_is_left_as_it_is(text: str) -> None:
    assert unquote_path(text) == text
