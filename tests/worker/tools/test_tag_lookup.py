"""Pure."""

import pytest

from worker.tools.body import Body
from worker.tools.lines import hash_of, tag_line
from worker.tools.refusals import ToolRefused
from worker.tools.tag_lookup import line_named
from worker.tools.text_file import Coding

BODY = Body(b"def f():\n    return 1\n\ndef g():\n    return 1\n\n", Coding())


def test_a_tag_whose_number_and_hash_agree_names_its_line() -> None:
    for number in range(1, 7):
        tag = tag_line(number, BODY.line(number))
        assert line_named(tag, BODY) == number
        assert line_named(tag.split("|")[0], BODY) == number


def test_a_bare_hash_names_a_line_that_no_other_line_equals() -> None:
    assert line_named(hash_of(b"def g():"), BODY) == 4
    with pytest.raises(ToolRefused) as refused:
        line_named(hash_of(b"    return 1"), BODY)
    assert str(refused.value).splitlines() == [
        f"The hash {hash_of(b'    return 1')} is ambiguous; these lines have it:",
        tag_line(2, b"    return 1"),
        tag_line(5, b"    return 1"),
    ]
    with pytest.raises(ToolRefused, match="is stale: no line has it"):
        line_named(hash_of(b"gone"), BODY)


def test_a_line_that_moved_is_told_and_not_taken() -> None:
    with pytest.raises(ToolRefused) as refused:
        line_named(f"3:{hash_of(b'def g():')}", BODY)
    assert str(refused.value).splitlines() == [
        f"Tag 3:{hash_of(b'def g():')} is stale; line 3 is now:",
        tag_line(3, b""),
        "The line seems to be here now:",
        tag_line(4, b"def g():"),
    ]


def test_a_line_that_stands_in_several_places_is_ambiguous() -> None:
    with pytest.raises(ToolRefused) as refused:
        line_named(f"1:{hash_of(b'    return 1')}", BODY)
    assert str(refused.value).splitlines()[2:] == [
        "It is ambiguous which of these is meant:",
        tag_line(2, b"    return 1"),
        tag_line(5, b"    return 1"),
    ]


def test_of_many_lines_alike_only_some_are_told() -> None:
    many = Body(b"x\n" * 500, Coding())
    with pytest.raises(ToolRefused, match=r"\[… and 490 more\]"):
        line_named(hash_of(b"x"), many)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (f"2:{hash_of(b'return 2')}", "No line has this hash: read the file again."),
        (f"9:{hash_of(b'return 2')}", "the file has 6 lines now"),
        (f"0:{hash_of(b'x')}", "is stale"),
        ("12", "'12' is no tag; a tag is N:hash"),
        ("", "'' is no tag"),
    ],
)
def test_what_names_no_line_is_refused(written: str, told: str) -> None:
    with pytest.raises(ToolRefused, match=told.replace(".", r"\.")):
        line_named(written, BODY)


def test_an_empty_text_has_no_line_to_name() -> None:
    with pytest.raises(ToolRefused, match="the file has 0 lines now"):
        line_named(f"1:{hash_of(b'')}", Body(b"", Coding()))
