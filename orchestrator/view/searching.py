"""Finding a text in a transcript, block by block, from where a person is. Pure."""

from collections.abc import Sequence

from orchestrator.view.blocks import AnyBlock, text_of


def find_block(blocks: Sequence[AnyBlock], wanted: str, start: int, *, backwards: bool = False) -> int | None:
    """The place of the next block that holds `wanted`, `start` itself included; round the end once.

    Case does not count unless `wanted` has a capital.
    """
    if not wanted or not blocks:
        return None
    exact = wanted != wanted.lower()
    count = len(blocks)
    step = -1 if backwards else 1
    for distance in range(count):
        place = (start + step * distance) % count
        text = text_of(blocks[place])
        if wanted in (text if exact else text.lower()):
            return place
    return None
