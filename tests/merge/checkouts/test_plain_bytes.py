"""Pure. Where git makes something else of a file than it is, it is asked."""

from pathlib import Path

import pytest

from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.store.private_git import Inheritance


def under(config: dict[str, str], attributes: bytes = b"") -> Inheritance:
    return Inheritance(config, (), {"attributes": attributes}, None)


def test_usual_settings_change_no_file() -> None:
    assert stores_bytes_as_they_are(under({"core.filemode": "true", "core.autocrlf": "false"}))


@pytest.mark.parametrize(
    ("config", "attributes"),
    [
        ({"core.autocrlf": "input"}, b""),
        ({"core.autocrlf": "True"}, b""),
        ({"core.filemode": "false"}, b""),
        ({"core.symlinks": "false"}, b""),
        ({"core.ignorecase": "2"}, b""),
        ({"core.attributesfile": "in-the-tree"}, b""),
        ({"core.attributesfile": "~nobody-of-this-name/attributes"}, b""),
        ({"core.attributesfile": ":(optional)/nowhere"}, b""),
        ({}, b"*.txt eol=crlf\n"),
    ],
)
def test_settings_that_change_files_are_gits_affair(config: dict[str, str], attributes: bytes) -> None:
    assert not stores_bytes_as_they_are(under(config, attributes))


def test_attributes_of_the_person_are_gits_affair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "attributes"
    named.write_text("*.txt text\n")
    assert not stores_bytes_as_they_are(under({"core.attributesfile": str(named)}))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert stores_bytes_as_they_are(under({}))
    (tmp_path / "git").mkdir()
    (tmp_path / "git/attributes").write_text("*.txt text\n")
    assert not stores_bytes_as_they_are(under({}))
