"""Where a person's own settings are."""

from collections.abc import Mapping
from pathlib import Path


def covey_home(environment: Mapping[str, str]) -> Path:
    """The folder of a person's own settings: `$COVEY_HOME`, else `~/.covey`."""
    named = environment.get("COVEY_HOME")
    return Path(named) if named else Path.home() / ".covey"
