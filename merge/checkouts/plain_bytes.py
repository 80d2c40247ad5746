"""Whether a file's bytes are what git stores of it: then nobody need ask git to write or read it.

Pure but for looking at the files that give attributes to all of a person's repositories. Says no where it is not sure.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from merge.store.private_git import Inheritance

_SYSTEM_ATTRIBUTES = ("/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes")

_NOT_AS_USUAL = {
    "core.autocrlf": ("true", "input", "yes", "on", "1"),
    "core.filemode": ("false", "no", "off", "0"),
    "core.symlinks": ("false", "no", "off", "0"),
    "core.ignorecase": ("true", "yes", "on", "1"),
    "core.precomposeunicode": ("true", "yes", "on", "1"),
}
"""Settings, and the values with which git makes something else of a file than what it is."""


def stores_bytes_as_they_are(inheritance: Inheritance) -> bool:
    """Whether git, under these settings, stores files as they are wherever no `.gitattributes` rules over them."""
    config: Mapping[str, str] = inheritance.config
    if any(config.get(key, "").lower() in values for key, values in _NOT_AS_USUAL.items()):
        return False
    if inheritance.info.get("attributes", b"").strip():
        return False
    home = Path(config.get("core.attributesfile") or _persons_attributes()).expanduser()
    return not any(_may_be_there(Path(place)) for place in (home, *_SYSTEM_ATTRIBUTES))


def _may_be_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it can't be told
    return True


def _persons_attributes() -> str:
    """Where git looks for them unless told otherwise (gitattributes(5))."""
    return str(Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "git/attributes")
