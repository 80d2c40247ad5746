"""Real files."""

from pathlib import Path

from tests.worker.tools.test_survey import look, make, relative
from worker.tools.ignore_chain import IgnoreChain, chain_above, repository_of


def test_rules_above_hold_below_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    make(
        tmp_path,
        "repository/d/e/a.log",
        "repository/d/e/a.tmp",
        "repository/d/e/a.out",
        "repository/.git/info/exclude",
    )
    (tmp_path / ".gitignore").write_text("*.out\n")
    (repository / ".gitignore").write_text("*.log\n")
    (repository / ".git/info/exclude").write_text("*.tmp\n")
    found = look(repository / "d" / "e")
    assert relative(repository / "d/e", found.skipped_files) == {"a.log", "a.tmp"}
    assert repository_of(str(repository / "d" / "e")) == str(repository)
    assert chain_above(str(repository)) == IgnoreChain()


def test_a_linked_worktree_has_the_exclude_file_of_its_repository(tmp_path: Path) -> None:
    make(tmp_path, "main/.git/info/exclude", "tree/a.log")
    (tmp_path / "main/.git/info/exclude").write_text("*.log\n")
    (tmp_path / "main/.git/worktrees/tree").mkdir(parents=True)
    (tmp_path / "main/.git/worktrees/tree/commondir").write_text("../..\n")
    (tmp_path / "tree/.git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    assert relative(tmp_path, look(tmp_path / "tree").skipped_files) == {"tree/a.log"}


def test_a_stronger_kind_of_ignore_file_outweighs_a_nearer_one(tmp_path: Path) -> None:
    make(tmp_path, "d/a", "d/b", "d/c")
    (tmp_path / ".rgignore").write_text("!a\nb\n")
    (tmp_path / "d" / ".ignore").write_text("a\n!b\n")
    (tmp_path / "d" / ".gitignore").write_text("a\n!b\nc\n")
    chain = (
        IgnoreChain()
        .below(str(tmp_path), {".rgignore"})
        .below(str(tmp_path / "d"), {".ignore", ".gitignore"})
    )
    assert [name for name in "abc" if chain.ignores(f"{tmp_path}/d/{name}", is_folder=False)] == ["b", "c"]


def test_an_ignore_file_that_can_not_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / ".ignore").symlink_to("nowhere")
    assert not IgnoreChain().below(str(tmp_path), {".gitignore", ".ignore"}).speaks
