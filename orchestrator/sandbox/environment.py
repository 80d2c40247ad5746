"""What a process that the model steers finds in its environment: no credentials, no git variables of a caller.

Pure. Holds for a child's worker, and for the commands that the parent's own model runs. A child finds no way to an
agent or a daemon either where it is held back, and has a place for temporary files of its own.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from orchestrator.sandbox.sandbox_places import ADDRESSES_OF_SERVICES
from worker.protocol import ChildId

CHILD_VARIABLE = "COVEY_CHILD"
"""Marks a child's processes, so that what escaped a killed worker is found by its environment. See `child_marker`."""

_CREDENTIAL = re.compile(
    # As a word at the end: `MONKEY` is no key, and `PWD` no password.
    r"(^|_)(KEY|KEYS|PAT|PASS|AUTH|AUTH_CONFIG)$"
    r"|(APIKEY|TOKEN|TOKENS|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|SSHPASS|MYSQL_PWD)$"
    r"|^(AWS|AZURE|ARM|GOOGLE_APPLICATION|CLOUDSDK|OCI|ALICLOUD|VAULT)_",
    re.IGNORECASE,
)


def is_credential(name: str) -> bool:
    """Whether a variable of this name is taken for a secret: `OPENAI_API_KEY`, `DB_PASSWORD`, `AWS_PROFILE`."""
    return _CREDENTIAL.search(name) is not None


def clean_environment(environment: Mapping[str, str], allowed: Collection[str] = ()) -> dict[str, str]:
    """`environment` without credentials, but for those `allowed`, and without the `GIT_*` that pin a repository."""
    return {
        name: value
        for name, value in environment.items()
        if name in allowed
        or (not is_credential(name) and not (name.startswith("GIT_") and name not in _GIT_KEPT))
    }


# Who commits, and which configuration files git reads: wanted by a child's commands, harmless to the parent.
_GIT_KEPT = {
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSL_CAINFO",
    "GIT_EXEC_PATH",
}


def child_marker(common_dir: Path, child: ChildId) -> tuple[str, str]:
    """The variable, and its value, that the processes of `child` carry and no others on the machine.

    `common_dir` is the repository's: another repository may have a child of the same name.
    """
    return CHILD_VARIABLE, f"{child} of {common_dir}"


def child_environment(
    environment: Mapping[str, str], marker: tuple[str, str], allowed: Collection[str] = ()
) -> dict[str, str]:
    """What the worker of a child and everything it starts finds; `marker` is the child's."""
    return {**clean_environment(environment, allowed), marker[0]: marker[1]}


def without_services(environment: Mapping[str, str], allowed: Collection[str] = ()) -> dict[str, str]:
    """`environment` without what leads to an agent, a daemon or a screen of the person's, but for those `allowed`."""
    return {
        name: value
        for name, value in environment.items()
        if name in allowed or name not in ADDRESSES_OF_SERVICES
    }


def temporary_variables(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """What makes programs keep their temporary files in `folder`."""
    # Java looks at no variable for that, so it is told by an option.
    java = f"{environment.get('JAVA_TOOL_OPTIONS', '')} -Djava.io.tmpdir={folder}".strip()
    return {**dict.fromkeys(("TMPDIR", "TMP", "TEMP", "TMUX_TMPDIR"), str(folder)), "JAVA_TOOL_OPTIONS": java}
