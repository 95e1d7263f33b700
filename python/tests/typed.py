"""A program that a type checker reads against the package's types."""

import numpy as np

import tippe


def height_after(seconds: float) -> float:
    world = tippe.World("iterative", dt=0.01)
    world.set_surface(friction=0.5, restitution=0.5)
    world.add_body(tippe.Shape.half_space(), kind="fixed")
    ball = world.add_body(tippe.Shape.sphere(0.1), (0, 0, 1), name="ball")
    report: tippe.Report = world.step(round(seconds / world.dt))
    if not report.certified:
        print(report.missed, report.energy.as_dict())
    poses = world.poses(out=np.zeros((len(world), 7)))
    forces = [contact.force for contact in world.contacts() if contact.body_b == ball]
    total = np.sum(forces, axis=0) if forces else np.zeros(3)
    print(total, [event.kind for event in world.events()])
    return float(poses[1, 2])


def masses(path: str) -> list[int]:
    scene = tippe.Scene.load(path, set={"body.block.mass": 2.0})
    batch = tippe.Batch(scene, 4, vary={"body.block.mass": np.linspace(1, 2, 4)}, threads=2)
    try:
        batch.step(10)
    except tippe.StepError as error:
        print(error.field, error.reason, error.place)
    return batch.hashes()
