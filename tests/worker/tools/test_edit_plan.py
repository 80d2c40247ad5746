"""Pure."""

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from worker.tools.edit_plan import OneEdit, plan
from worker.tools.lines import split_lines, tag_line
from worker.tools.refusals import ToolRefused
from worker.tools.text_file import Coding


class Line(NamedTuple):
    """One line of the model: what it is, how it ends, and what happens to it and after it."""

    text: str
    ending: str
    change: str | None
    inserted: list[str]


_WORDS = st.text("abé", max_size=3)
_CHANGE = st.one_of(st.none(), st.just("delete"), st.lists(_WORDS, min_size=1, max_size=3).map("\n".join))
_LINE = st.builds(Line, _WORDS, st.sampled_from(["\n", "\r\n"]), _CHANGE, st.lists(_WORDS, max_size=2))


def edits_of(lines: list[Line]) -> list[OneEdit]:
    edits: list[OneEdit] = []
    for number, line in enumerate(lines, 1):
        tag = tag_line(number, line.text.encode())
        if line.change == "delete":
            edits.append(OneEdit(tag=tag, op="delete"))
        elif line.change is not None:
            edits.append(OneEdit(tag=tag, new=line.change))
        edits += [OneEdit(tag=tag, text=text) for text in line.inserted]
    return edits


@given(st.lists(_LINE, min_size=1, max_size=6), st.booleans())
def test_edits_by_tag_do_what_a_list_of_lines_would(lines: list[Line], open_ended: bool) -> None:
    text = "".join(line.text + line.ending for line in lines).encode()
    if open_ended and lines[-1].text:
        text = text.removesuffix(lines[-1].ending.encode())
    expected: list[str] = []
    for line in lines:
        if line.change is None:
            expected.append(line.text)
        elif line.change != "delete":
            expected += line.change.removesuffix("\n").split("\n")
        expected += line.inserted
    result = plan(text, Coding(), edits_of(lines)).text
    # A text that keeps no final ending can't show that its last line is an empty one.
    shown = [line.decode() for line in split_lines(result)]
    if not text.endswith(b"\n") and len(shown) < len(expected):
        shown.append("")
    assert shown == expected
    if any(expected[-1:]):
        assert result.endswith(b"\n") == text.endswith(b"\n")


@given(st.lists(_LINE, min_size=1, max_size=6))
def test_lines_that_are_not_edited_keep_their_endings(lines: list[Line]) -> None:
    text = "".join(line.text + line.ending for line in lines).encode()
    result = plan(text, Coding(), edits_of(lines)).text
    kept = [line.text + line.ending for line in lines if line.change is None]
    position = 0
    for line in kept:
        position = result.find(line.encode(), position)
        assert position >= 0
        position += len(line.encode())


@given(st.text("ab\n", max_size=30), st.text("ab\n", min_size=1, max_size=4), st.text("xy\n", max_size=3))
def test_a_replacement_is_that_of_python_where_the_text_is_unique(text: str, old: str, new: str) -> None:
    assume(old != new)
    text += "\n"
    places = sum(text.startswith(old, at) for at in range(len(text)))
    edit = OneEdit(old=old, new=new)
    if places == 1:
        assert plan(text.encode(), Coding(), [edit]).text.decode() == text.replace(old, new)
    else:
        with pytest.raises(
            ToolRefused, match="not in the file" if places == 0 else f"appears {places} times"
        ):
            plan(text.encode(), Coding(), [edit])
    if places:
        every = plan(text.encode(), Coding(), [OneEdit(old=old, new=new, all=True)])
        assert every.text.decode() == text.replace(old, new)


def tag(number: int, line: str) -> str:
    return tag_line(number, line.encode()).partition("|")[0]


@pytest.mark.parametrize(
    ("text", "edit", "result"),
    [
        (b"a\nb\nc\n", OneEdit(tag=tag(1, "a"), end_tag=tag(2, "b"), new="x"), b"x\nc\n"),
        (b"a\nb\nc\n", OneEdit(tag=tag(2, "b"), end_tag=tag(3, "c"), op="delete"), b"a\n"),
        (b"a\nb", OneEdit(tag=tag(2, "b"), op="delete"), b"a"),
        (b"a\nb", OneEdit(tag=tag(2, "b"), text="c"), b"a\nb\nc"),
        (b"a\r\nb", OneEdit(tag=tag(2, "b"), text="c\nd"), b"a\r\nb\r\nc\r\nd"),
        (b"a", OneEdit(tag=tag(1, "a"), op="delete"), b""),
        (b"", OneEdit(tag="0", text="a"), b"a\n"),
        (b"a\n", OneEdit(tag="0", text="x\n\n"), b"x\n\na\n"),
        (b"a\n", OneEdit(tag=tag(1, "a"), new=""), b"\n"),
        (b"a\n", OneEdit(tag=tag(1, "a"), new="b\n"), b"b\n"),
        (b"a\n", OneEdit(op="insert", tag=tag(1, "a"), new="b"), b"a\nb\n"),
        (b"a\na\n", OneEdit(tag=tag(2, "a"), old="a", new="b"), b"a\nb\n"),
        (b"a b c\n", OneEdit(op="delete", old=" b"), b"a c\n"),
        (b"a b\n", OneEdit(op="replace", old="b", new=""), b"a \n"),
        (b"a\nb", OneEdit(old="b", new="b\n"), b"a\nb\n"),
        (b"a\nb\n", OneEdit(old="b\n", new="c"), b"a\nc"),
        (b"a\r\nb\r\n", OneEdit(old="a\nb", new="x\ny\nz"), b"x\r\ny\r\nz\r\n"),
        (b"a\r\nb\nc\n", OneEdit(old="b", new="1\n2"), b"a\r\n1\n2\nc\n"),
        (b"a\n", OneEdit(old="a", new="x\r\ny"), b"x\r\ny\n"),
    ],
)
def test_an_edit_does_what_it_says(text: bytes, edit: OneEdit, result: bytes) -> None:
    assert plan(text, Coding(), [edit]).text == result


def test_edits_all_refer_to_the_text_as_it_was() -> None:
    edits = [OneEdit(old="a", new="b"), OneEdit(old="b", new="a"), OneEdit(tag=tag(3, "c"), text="d")]
    assert plan(b"a\nb\nc\n", Coding(), edits).text == b"b\na\nc\nd\n"


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            [OneEdit(old="ab", new="x"), OneEdit(old="bc", new="y")],
            "Edits 1 and 2 change the same place (line 1)",
        ),
        ([OneEdit(old="abc", new="x"), OneEdit(old="b", new="y")], "Edits 1 and 2"),
        ([OneEdit(tag=tag(2, ""), new="x"), OneEdit(tag=tag(2, ""), new="y")], "Edits 1 and 2"),
        ([OneEdit(tag=tag(2, ""), op="delete"), OneEdit(tag=tag(2, ""), new="y")], "Edits 1 and 2"),
        (
            [OneEdit(tag=tag(1, "abc"), end_tag=tag(3, "d"), op="delete"), OneEdit(tag=tag(2, ""), text="y")],
            "Edits 1 and 2",
        ),
        (
            [OneEdit(old="d", new="x"), OneEdit(old="zzz", new="y")],
            "Edit 2 of 2: The old text is not in the file",
        ),
        ([OneEdit(tag="1:0000", new="x")], "Tag 1:0000 is stale"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[OneEdit], told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        plan(b"abc\n\nd\n", Coding(), edits)
    assert told in str(refused.value)
    assert str(refused.value).endswith("Nothing was written.")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (OneEdit(), "It does not say what to change"),
        (OneEdit(new="x"), "It does not say what to change"),
        (OneEdit(old="a"), "new is missing"),
        (OneEdit(old="", new="x"), "old is empty"),
        (OneEdit(old="a", new="a"), "old and new are the same"),
        (OneEdit(tag="1:0000", new="x", all=True), "all is for old"),
        (OneEdit(tag=tag(1, "a")), "new is missing"),
        (OneEdit(end_tag="1:0000", new="x"), "give the first one with tag"),
        (OneEdit(text="x"), "An insert takes tag and text"),
        (OneEdit(op="insert", tag=tag(1, "a")), "An insert takes tag and text"),
        (OneEdit(op="insert", tag=tag(1, "a"), old="a", text="x"), "An insert takes tag and text"),
        (OneEdit(tag=tag(1, "a"), new="x", text="y"), "text is for inserting"),
        (OneEdit(op="delete", tag=tag(1, "a"), new="x"), "leave out new and text"),
        (OneEdit(op="delete"), "It does not say what to change"),
        (OneEdit(tag=tag(2, "b"), end_tag=tag(1, "a"), new="x"), "line 1, which stands before line 2"),
        (OneEdit(old="a", new="\ud800"), "surrogate"),
    ],
)
def test_an_edit_that_is_no_edit_says_what_is_missing(edit: OneEdit, told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        plan(b"a\nb\n", Coding(), [edit])
    assert told in str(refused.value)


def test_what_an_encoding_has_not_is_refused() -> None:
    with pytest.raises(ToolRefused, match=r"the file is Latin-1, which has no '€'"):
        plan(b"caf\xe9\n", Coding(codec="latin-1"), [OneEdit(old="café", new="5 €")])
