"""Which language servers a workspace would need, by its project files, and which of them are on the PATH.

A new language is a row of the table. Nothing is started: whether a server works is known when it is used.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from orchestrator.doctor.findings import Finding

ABOUT = "language servers"


class Language(NamedTuple):
    """A language: the files that a project of it has, and its servers, the usual one first."""

    name: str
    markers: tuple[str, ...]
    servers: tuple[str, ...]


LANGUAGES = (
    Language("Rust", ("Cargo.toml",), ("rust-analyzer",)),
    Language("Go", ("go.mod",), ("gopls",)),
    Language(
        "TypeScript and JavaScript",
        ("tsconfig.json", "package.json"),
        ("typescript-language-server", "vtsls"),
    ),
    Language(
        "Python",
        ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"),
        ("basedpyright-langserver", "pyright-langserver", "pylsp", "jedi-language-server"),
    ),
)


def look_for_servers(root: Path, environment: Mapping[str, str]) -> list[Finding]:
    """A finding for each language that the workspace at `root` has a project file of."""
    path = environment.get("PATH", "")
    findings: list[Finding] = []
    for language in LANGUAGES:
        marker = next((name for name in language.markers if (root / name).is_file()), None)
        if marker is None:
            continue
        found = next((server for server in language.servers if shutil.which(server, path=path)), None)
        if found is not None:
            findings.append(Finding(ABOUT, "ok", f"{found} for {language.name} ({marker})"))
        else:
            says = f"none for {language.name} ({marker}) is on the PATH"
            remedy = (
                f"Install {language.servers[0]} for commands that use it; covey's own tools ask none yet."
            )
            findings.append(Finding(ABOUT, "note", says, remedy))
    return findings or [Finding(ABOUT, "ok", "none is needed: no project file at the root of the workspace")]
