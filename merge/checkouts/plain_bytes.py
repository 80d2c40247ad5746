"""Whether git, in a checkout, makes nothing else of any file than what it stores: then nobody need ask it for one.

Asked before there are files, so it is about settings and attributes that are in no tree; whoever asks looks for
`.gitattributes` himself. Any attribute is a no here, since a file may hold whatever a child writes. What is asked of
files of the person's working tree, with the attributes that are there, is `merge.store.plain_rules`'.
"""

from pathlib import Path

from merge.store.conversion import attributes_of_person, attributes_of_system, converts_nothing
from merge.store.private_git import Inheritance


def stores_bytes_as_they_are(inheritance: Inheritance) -> bool:
    """Whether git, under these settings, stores files as they are wherever no `.gitattributes` rules over them."""
    if not converts_nothing(inheritance.config) or inheritance.info.get("attributes", b"").strip():
        return False
    own = attributes_of_person(inheritance.config)
    # A relative one would be a file of the checkout, which is not there yet.
    files = [*([Path(own)] if own is not None else []), *map(Path, attributes_of_system())]
    return all(path.is_absolute() and not _may_be_there(path) for path in files)


def _may_be_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it can't be told
    return True
