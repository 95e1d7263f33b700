"""Tippe: rigid and articulated bodies in contact, with a certificate for every step.

>>> import tippe
>>> world = tippe.World(dt=1 / 60)
>>> world.set_surface(friction=0.5, restitution=0.9)
>>> floor = world.add_body(tippe.Shape.half_space(), kind="fixed")
>>> ball = world.add_body(tippe.Shape.sphere(0.1), (0, 0, 1.1), name="ball")
>>> report = world.step(60)
>>> report.certified, round(float(ball.position[2]), 4)
(True, 0.8109)
"""

from ._errors import (
    BuildError,
    BusyError,
    Error,
    RobotError,
    SceneError,
    SnapshotError,
    StepError,
    UnknownId,
)
from ._tippe import (
    Articulation,
    Batch,
    Body,
    Contact,
    Energy,
    Event,
    Joint,
    Report,
    Residuals,
    Scene,
    Shape,
    World,
    impact,
)

__all__ = [
    "Articulation",
    "Batch",
    "Body",
    "BuildError",
    "BusyError",
    "Contact",
    "Energy",
    "Error",
    "Event",
    "Joint",
    "Report",
    "Residuals",
    "RobotError",
    "Scene",
    "SceneError",
    "Shape",
    "SnapshotError",
    "StepError",
    "UnknownId",
    "World",
    "impact",
]
