"""What can go wrong, as exceptions with ``field``, ``reason`` and ``place``."""


class Error(Exception):
    """Anything that Tippe refuses or that stops it."""

    def __init__(self, field: str = "", reason: str = "", place: str = "") -> None:
        super().__init__(field, reason, place)
        self.field = field
        self.reason = reason
        self.place = place
        self.message = ": ".join(part for part in (place, field, reason) if part)

    def __str__(self) -> str:
        return self.message


class BuildError(Error, ValueError):
    """A part of a world, or an argument, was refused."""


class StepError(Error, RuntimeError):
    """A step did not happen; the world is as it was."""


class SnapshotError(Error, ValueError):
    """Bytes that are no snapshot of this version."""


class UnknownId(Error, KeyError):
    """A name or handle that names nothing in this world."""

    __str__ = Error.__str__


class SceneError(Error, ValueError):
    """A scene was refused; the message has all that is wrong in it."""


class RobotError(Error, RuntimeError):
    """The dynamics of a tree have no answer."""


class BusyError(Error, RuntimeError):
    """Another thread is using the world."""
