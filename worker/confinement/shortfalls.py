"""What a system can't hold a child to, in sentences for a person. Pure."""

from worker.confinement.confinement import LANDLOCK, Enforced, Network


def not_enforced(enforced: Enforced, network: Network = "allow") -> list[str]:
    """What a child's commands could do here though they should not, a sentence for each; nothing where all is held."""
    if enforced.landlock < LANDLOCK.moves:
        why = "before Linux 5.19" if enforced.landlock else "without Landlock"
        return [
            f"This system ({why}) can't hold children back: what a child's commands write or read elsewhere is not"
            " stopped."
        ]
    told: list[str] = []
    if not enforced.mounts:
        told.append(
            "Children can have no mounts of their own here: their commands could change the mode, owner and times of"
            " files elsewhere, though not what is in them, and talk to services on this machine by their sockets."
        )
        if enforced.landlock < LANDLOCK.truncation:
            told.append("Their commands could also empty files elsewhere (Linux 6.2 would stop that).")
        if enforced.landlock < LANDLOCK.devices:
            told.append("They could also control devices that they can open (Linux 6.10 would stop that).")
    if enforced.landlock < LANDLOCK.signals:
        told.append(
            "Children's commands can send signals to your other processes (Linux 6.12 would stop that)."
        )
    if network == "deny" and not enforced.network:
        told.append(
            "Children can't have a network of their own here: they can make no TCP connection, not even to this"
            " machine, but other traffic is not stopped."
            if enforced.landlock >= LANDLOCK.network
            else "The network can't be denied to children here; it is open to them."
        )
    return told
