"""Pure. Who is at work and who waits in the line."""

from orchestrator.children.slots import Slot, Slots, default_limit


def line_of(slots: Slots, *, askers: int) -> list[Slot]:
    return [slots.ask() for _ in range(askers)]


def test_as_many_as_the_limit_are_served_at_once_and_the_others_stand_in_the_order_of_asking() -> None:
    slots = Slots(2)
    asked = line_of(slots, askers=5)
    assert [slot.is_given for slot in asked] == [True, True, False, False, False]
    assert [slot.ahead for slot in asked] == [0, 0, 0, 1, 2]


async def test_a_slot_that_is_left_goes_to_the_first_in_the_line() -> None:
    slots = Slots(1)
    first, second, third = line_of(slots, askers=3)
    with first:
        pass
    await second.wait()
    assert (third.is_given, third.ahead) == (False, 0)


def test_who_leaves_the_line_holds_nobody_up_and_takes_nobodys_slot() -> None:
    slots = Slots(1)
    first, second, third = line_of(slots, askers=3)
    with second:
        pass
    assert (third.is_given, third.ahead) == (False, 0)
    with first:
        pass
    assert third.is_given
    with third:
        assert not slots.ask().is_given, "there is one slot still"


def test_a_small_machine_serves_eight_all_the_same() -> None:
    assert default_limit() >= 8
    assert Slots().limit == default_limit()
