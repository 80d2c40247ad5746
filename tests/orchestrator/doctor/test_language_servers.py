"""Real files. Language servers are looked for by project files, on the PATH that covey was started with."""

from pathlib import Path

import pytest

from orchestrator.doctor.language_servers import LANGUAGES, Language, look_for_servers


def server_on(folder: Path, name: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize("language", LANGUAGES, ids=[language.name for language in LANGUAGES])
def test_a_project_file_asks_for_a_server_and_any_of_them_is_found(
    tmp_path: Path, language: Language
) -> None:
    (tmp_path / language.markers[-1]).touch()
    environment = server_on(tmp_path / "bin", language.servers[-1])
    (found,) = look_for_servers(tmp_path, environment)
    assert found.level == "ok"
    assert language.servers[-1] in found.says
    assert language.name in found.says


def test_a_missing_server_is_a_note_that_names_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").touch()
    (missing,) = look_for_servers(tmp_path, {"PATH": str(tmp_path)})
    assert missing.level == "note"
    assert "rust-analyzer" in missing.remedy


def test_a_folder_without_a_project_needs_none(tmp_path: Path) -> None:
    (nothing,) = look_for_servers(tmp_path, {})
    assert nothing.level == "ok"
