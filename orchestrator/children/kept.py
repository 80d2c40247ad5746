"""What a person types to be rid of a kept checkout; covey itself never deletes one.

Pure. A checkout is named as events name it: plain, or quoted where its path is not plain text.
"""

import os
import re
import shlex

from worker.path_text import unquote_path


def removal_hint(checkout: str) -> str:
    """The command that removes a kept checkout, safe to paste whatever characters the path holds."""
    return f"rm -rf {for_shell(unquote_path(checkout))}"


def for_shell(path: str) -> str:
    """`path` as one word of a shell command."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", path) is None:
        return shlex.quote(path)
    # The bytes one by one, as bash, zsh and ksh read them: such a path has no other safe form.
    return "$'" + "".join(_shell_escaped(byte) for byte in os.fsencode(path)) + "'"


def _shell_escaped(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and byte not in b"'\\"
    return chr(byte) if plain else f"\\{byte:03o}"
