"""Pure. The heads of Markdown files as people write them, and what is said of those that can't be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.terms.front_matter import Field, FrontMatterBroken, read_front_matter, split_list


def value_of(written: str) -> str | tuple[str, ...] | None:
    """What the key `a` has, where `written` stands between the lines `---`."""
    return read_front_matter(f"---\n{written}\n---\nbody\n").fields["a"].value


READ: dict[str, tuple[str, str | tuple[str, ...] | None]] = {
    "plain": ("a: some text", "some text"),
    "nothing": ("a:", ""),
    "a colon in a plain text": ("a: Use this: when it fits", "Use this: when it fits"),
    "a number sign in a plain text": ("a: fixes #12 at once", "fixes #12 at once"),
    "a comment after a plain text": ("a: text # why", "text"),
    "a comment on its own line": ("# first\na: text", "text"),
    "a plain text over lines": ("a: one\n  two\n\n  three", "one two\nthree"),
    "a plain text below its key": ("a:\n  one\n  two", "one two"),
    "single quotes": ("a: 'it''s # all'", "it's # all"),
    "double quotes": (r'a: "one\ntwo \"three\" é \x41"', 'one\ntwo "three" é A'),
    "halves of a pair": (r'a: "\ud83d\ude00 \ud83d"', "\U0001f600 \ufffd"),
    "quotes over lines": ('a: "one\n  two"  # end', "one two"),
    "a block": ("a: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree"),
    "a folded block": ("a: >-\n  one\n  two\n\n  three", "one two\nthree"),
    "a list in brackets": ("a: [x, 'y z', \"w, v\"]", ("x", "y z", "w, v")),
    "an empty list": ("a: []", ()),
    "a list in brackets over lines": ("a: [x,\n  y, # the second\n  z,\n]", ("x", "y", "z")),
    "a list below its key": ("a:\n  - x\n  - 'y z'\n  - w\n    v", ("x", "y z", "w v")),
    "a list at the margin": ("a:\n- x\n- y\nb: 1", ("x", "y")),
    "brackets inside a list": ("a: [Bash(git add:*, git rm:*), Read]", ("Bash(git add:*, git rm:*)", "Read")),
    "a mapping": ("a:\n  b: 1\n  c:\n    - d", None),
    "a mapping in braces": ("a: {b: 1}", None),
    "a quoted key": ('"a": text', "text"),
    "spaces before the colon": ("a : text", "text"),
}


@pytest.mark.parametrize("name", READ)
def test_what_people_write_is_read(name: str) -> None:
    written, meant = READ[name]
    assert value_of(written) == meant


def test_line_ends_of_any_system_and_a_byte_order_mark_make_no_difference() -> None:
    text = "---\na: 1\nb: 2\n---\n\nThe body.\n"
    plain = read_front_matter(text)
    assert plain.body == "The body."
    assert plain.fields == {"a": Field(2, "1"), "b": Field(3, "2")}
    assert plain.end == 4
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
        assert read_front_matter(other) == plain


def test_rules_below_the_head_belong_to_the_body() -> None:
    assert read_front_matter("---\na: 1\n---\nx\n---\ny").body == "x\n---\ny"


BROKEN: dict[str, tuple[str, int, str]] = {
    "no head": ("# Title\n", 1, "does not begin with a line ---"),
    "an empty file": ("", 1, "does not begin"),
    "no end": ("---\na: 1\ntext\n", 1, "no second line ---"),
    "no key": ("---\na: 1\n<example>\n---\n", 3, "'<example>' names no key"),
    "no space": ("---\nname:x\n---\n", 2, "put a space after the colon"),
    "indented": ("---\n  a: 1\n---\n", 2, "belongs to no key"),
    "given twice": ("---\na: 1\nb: 2\na: 3\n---\n", 4, "a is given a second time"),
    "an open quote": ('---\n\na: "one\nb: 2\n---\n', 3, 'the quote " that opens here is not closed'),
    "more after a quote": ("---\na: 'one' two\n---\n", 2, "something follows the closing quote '"),
    "an open bracket": ("---\na: [x, y\n---\n", 2, "not closed by ]"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cant_be_read_is_told_with_its_line(name: str) -> None:
    text, line, reason = BROKEN[name]
    with pytest.raises(FrontMatterBroken) as caught:
        read_front_matter(text)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_a_list_is_parted_at_commas_outside_of_brackets_and_quotes() -> None:
    assert split_list("Read, Bash(git add:*, x),, 'a, b' ,") == ["Read", "Bash(git add:*, x)", "'a, b'"]


@given(st.text(alphabet=st.sampled_from("ab:-#'\"[]{}|>, \n\t\\x0(")))
def test_any_text_is_read_or_refused_with_a_line_of_it(written: str) -> None:
    text = f"---\n{written}\n---\nbody"
    try:
        line = read_front_matter(text).end
    except FrontMatterBroken as broken:
        line = broken.line
    assert 1 <= line <= text.count("\n") + 1
