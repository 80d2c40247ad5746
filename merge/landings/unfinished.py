"""Whether a landing was begun and not ended: one look into two folders, without anything that a recovery takes."""

from merge.store.repository import Repository


def has_unfinished(repository: Repository) -> bool:
    """Whether `merge.landings.recovery` has something to do, or a landing is going on just now."""
    own = repository.common_dir / "covey"
    landings, staging = own / "landings", own / "staging"
    begun = landings.is_dir() and any(file.suffix in (".json", ".new") for file in landings.iterdir())
    return begun or (staging.is_dir() and any(staging.iterdir()))
