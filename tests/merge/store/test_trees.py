"""Pure. Trees as git encodes them, and paths as a person reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.store.trees import (
    EXECUTABLE,
    FILE,
    FOLDER,
    SUBMODULE,
    SYMLINK,
    Entry,
    ObjectId,
    decode_tree,
    encode_tree,
    show_path,
)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"src/app.py", "src/app.py"),
        ("café 日本.py".encode(), "café 日本.py"),
        (b"with space", "with space"),
        (b"caf\xe9.py", '"caf\\351.py"'),
        (b"new\nline", '"new\\nline"'),
        (b'quo"te', '"quo\\"te"'),
        (b"back\\slash", '"back\\\\slash"'),
        (b"\x1b[31m", '"\\033[31m"'),
        ("\u202egpj".encode(), '"\\342\\200\\256gpj"'),
    ],
)
def test_a_path_is_shown_plainly_or_quoted(path: bytes, shown: str) -> None:
    assert show_path(path) == shown


def test_folders_sort_as_if_their_name_ended_in_a_slash() -> None:
    entry = Entry(FILE, ObjectId("0" * 40))
    folder = Entry(FOLDER, ObjectId("0" * 40))
    encoded = encode_tree({b"a": folder, b"a.b": entry, b"a0": entry})
    assert list(decode_tree(encoded, 20)) == [b"a.b", b"a", b"a0"]


NAMES = st.binary(min_size=1, max_size=6).filter(lambda name: b"\0" not in name and b"/" not in name)
MODES = st.sampled_from([FILE, EXECUTABLE, SYMLINK, SUBMODULE, FOLDER])


@given(
    st.sampled_from([20, 32]), st.dictionaries(NAMES, st.tuples(MODES, st.binary(min_size=32, max_size=32)))
)
def test_what_is_encoded_decodes(size: int, files: dict[bytes, tuple[int, bytes]]) -> None:
    entries = {name: Entry(mode, ObjectId(raw[:size].hex())) for name, (mode, raw) in files.items()}
    assert decode_tree(encode_tree(entries), size) == entries
