"""Small generated folders for laws: few names, so that files, folders and links often take each other's place."""

from hypothesis import strategies as st

from merge.files.removal import remove_tree
from tests.merge.places import Place

NAMES = st.sampled_from(["a", "b", "a.x", "é"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
KINDS = st.sampled_from(["one\n", "two\n", "crlf\r\n", "exec", "link"])
FOLDERS = st.dictionaries(PATHS, KINDS, max_size=5)


def fill(place: Place, files: dict[str, str]) -> None:
    """Make the working tree hold exactly `files`, as far as they don't stand in each other's way."""
    for entry in place.root.iterdir():
        if entry.name != ".git":
            remove_tree(entry)
    for path, kind in files.items():
        file = place.root / path
        if file.exists() or any(above.is_file() or above.is_symlink() for above in file.parents):
            continue
        if kind == "link":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to("somewhere")
        else:
            place.write(path, kind, executable=kind == "exec")
