"""Pure. Text that must survive a request, a journal and a screen."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.text import mend, short_line

any_text = st.text(st.characters(codec=None))


@given(any_text)
def test_mended_text_encodes_and_good_text_is_left_alone(text: str) -> None:
    mended = mend(text)
    mended.encode()
    assert mend(mended) == mended
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert mended == text


def test_halves_of_a_pair_are_joined_and_lone_ones_replaced() -> None:
    assert mend("\ud83c\udf89!") == "\N{PARTY POPPER}!"
    assert mend("a\udce9b") == "a\ufffdb"


@given(any_text)
def test_a_short_line_is_short_and_one_line(text: str) -> None:
    line = short_line(text, None)
    assert len(line) <= 300
    assert line.isprintable()
    assert not line.endswith((".", " "))


def test_a_short_line_holds_no_key() -> None:
    assert short_line("bad key\n sk-1 (sk-1).", Key("sk-1")) == "bad key (key) ((key))"


def test_a_key_at_the_cut_is_taken_out_before_the_cut() -> None:
    assert "sk-123" not in short_line("x" * 294 + "sk-123456789", Key("sk-123456789"))
