"""Pure."""

from hypothesis import given
from hypothesis import strategies as st

from worker.tools.edit_plan import OneEdit, plan
from worker.tools.edit_report import changed_lines, lines_shifted
from worker.tools.lines import split_lines, tag_line, tag_lines
from worker.tools.text_file import Coding

TEXT = b"".join(b"%d\n" % number for number in range(1, 101))


def report(text: bytes, *edits: OneEdit) -> list[str]:
    planned = plan(text, Coding(), edits)
    return changed_lines(planned.text, planned.splices)


def tag(number: int) -> str:
    return tag_line(number, b"%d" % number)


def test_a_changed_line_is_shown_between_its_neighbours() -> None:
    assert report(TEXT, OneEdit(old="50\n", new="fifty\n")) == [
        *tag_lines([b"49", b"fifty", b"51"], 49),
    ]
    assert report(TEXT, OneEdit(tag=tag(50), new="a\nb")) == tag_lines([b"49", b"a", b"b", b"51"], 49)
    assert report(TEXT, OneEdit(tag=tag(50), text="new")) == tag_lines([b"50", b"new", b"51"], 50)


def test_the_place_of_what_was_deleted_is_shown() -> None:
    assert report(TEXT, OneEdit(tag=tag(50), op="delete"))[:2] == tag_lines([b"49", b"51"], 49)


def test_the_first_and_the_last_line_have_one_neighbour() -> None:
    assert report(TEXT, OneEdit(tag=tag(1), new="x")) == tag_lines([b"x", b"2"])
    assert report(TEXT, OneEdit(tag=tag(100), new="x")) == tag_lines([b"99", b"x"], 99)
    assert report(b"a", OneEdit(old="a", new="b")) == tag_lines([b"b"])
    assert report(b"a\n", OneEdit(tag=tag_line(1, b"a"), op="delete")) == []


def test_places_apart_are_told_apart_and_places_close_by_together() -> None:
    edits = (OneEdit(tag=tag(10), new="x"), OneEdit(tag=tag(12), text="y"), OneEdit(tag=tag(80), op="delete"))
    assert report(TEXT, *edits) == [
        *tag_lines([b"9", b"x", b"11", b"12", b"y", b"13"], 9),
        "…",
        *tag_lines([b"79", b"81", b"82"], 80),
    ]


def test_a_long_change_is_shown_in_part() -> None:
    lines = report(TEXT, OneEdit(tag=tag(50), new="\n".join("x" * 200)))
    assert len(lines) == 61
    assert lines[-1] == "[More has changed; read it from line 109 on.]"
    everywhere = report(b"x\n\n\n\n\n" * 500, OneEdit(old="x", new="y", all=True))
    assert len(everywhere) <= 61


def test_how_far_the_lines_below_have_moved_is_counted() -> None:
    longer = plan(TEXT, Coding(), [OneEdit(old="50", new="a\nb\nc"), OneEdit(tag=tag(80), text="new")])
    assert lines_shifted(TEXT, longer.splices) == 3
    shorter = plan(TEXT, Coding(), [OneEdit(tag=tag(50), end_tag=tag(59), op="delete")])
    assert lines_shifted(TEXT, shorter.splices) == -10


@given(st.lists(st.sampled_from(["", "a", "bb"]), min_size=1, max_size=12), st.data())
def test_every_tag_that_is_shown_names_its_line(lines: list[str], data: st.DataObject) -> None:
    text = "".join(f"{line}\n" for line in lines).encode()
    chosen = data.draw(st.sets(st.integers(1, len(lines)), min_size=1))
    change = st.one_of(st.just(None), st.text("xy\n", max_size=4))
    edits: list[OneEdit] = []
    for number in sorted(chosen):
        tagged = tag_line(number, lines[number - 1].encode())
        new = data.draw(change)
        edits.append(OneEdit(tag=tagged, op="delete") if new is None else OneEdit(tag=tagged, new=new))
    planned = plan(text, Coding(), edits)
    now = tag_lines(split_lines(planned.text))
    shown = changed_lines(planned.text, planned.splices)
    assert [line for line in shown if line != "…"] == [line for line in now if line in shown]
