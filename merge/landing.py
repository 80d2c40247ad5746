"""Landing: one child's result merged into the parent's working tree, all of it or none."""

import msgspec


class Landing(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what became of a child's result. Paths are as `show_path` tells them."""


class Landed(Landing):
    """Every path is in the parent's working tree, durably. `landing` is the id that `covey undo` takes.

    `notes` tell what a reader would not expect: a file moved with a renamed folder, a branch that was switched.
    """

    landing: str
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()


class NothingToLand(Landing):
    """The child changed nothing that lands, or the parent has it all already."""


class Conflicted(Landing):
    """Parent and child changed the same places; the parent is as it was and the checkout stays.

    `conflicts` are lines such as `src/a.py: both changed it`, one or more a path.
    """

    checkout: str
    conflicts: tuple[str, ...]


class Held(Landing):
    """Not merged now, for a reason that is no conflict (`a rebase is in progress`); the checkout stays."""

    checkout: str
    reason: str


AnyLanding = Landed | NothingToLand | Conflicted | Held
