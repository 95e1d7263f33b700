"""Random calls with random arguments: exceptions, and never the end of the process.

    python python/tests/random_calls.py [COUNT [SEED]]
"""

import random
import sys

import numpy as np

import tippe

NAN, INF = float("nan"), float("inf")
SCENE = """
version = 1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "a"
position = [0, 0, 1]
shape.sphere = { radius = 0.1 }
[[body]]
name = "b"
position = [0.5, 0, 1]
shape.box = { size = [0.1, 0.2, 0.1] }
[[joint]]
name = "hinge"
kind = "hinge"
bodies = ["a", "b"]
at = [0.25, 0, 1]
axis = [0, 1, 0]
motor = { velocity = 1, max_force = 0.1 }
[[articulation]]
name = "arm"
position = [2, 0, 2]
[[articulation.link]]
name = "upper"
axis = [0, 1, 0]
shape.box = { size = [0.1, 0.1, 0.4] }
"""
REFUSED = (tippe.Error, TypeError, ValueError, OverflowError, AttributeError, IndexError)


def things() -> list[object]:
    """One of everything, in two worlds: what one of them gives is foreign to the other."""
    scene = tippe.Scene.parse(SCENE)
    found: list[object] = [scene, tippe.Shape.sphere(0.1), tippe.Batch(scene, 2), tippe, tippe.Shape]
    for world in (scene.world(), scene.world()):
        world.dt = 0.001
        report = world.step(3)
        found += [world, report, report.energy, report.residuals, *world.bodies]
        found += [world.joint("hinge"), world.articulation("arm"), *world.contacts(), *world.events()]
    return found


def call(count: int, seed: int) -> tuple[int, int]:
    """So many calls; how many were answered and how many refused."""
    rng = random.Random(seed)
    values = [0, 1, -1, 0.5, NAN, INF, None, "x", "a", "b", "arm", b"y", (0, 0, 1), (1, 0, 0, 0), [], {}, True, 2**70, -(2**63)]
    values += [np.zeros(3), np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((4, 7)), np.zeros((14, 7))[::2], np.zeros(3, dtype=np.float32)]
    values += ["sequential", "forces", "events", lambda *_: None, object()]
    answered = refused = 0
    for i in range(count):
        if i % 500 == 0:
            pool = things()
        thing = rng.choice(pool)
        names = [n for n in dir(thing) if not n.startswith("__") and n not in ("render", "gym", "np")]
        if not names:
            continue
        name = rng.choice(names)
        arguments = [rng.choice(values + pool) for _ in range(rng.randrange(4))]
        if name == "step" and arguments:
            arguments[0] = rng.choice([0, -1, 1, 2, 0.5, "x"])
        if name == "restore" or (isinstance(thing, type(tippe)) and name == "Batch"):
            arguments = arguments[:1]
        try:
            member = getattr(thing, name)
            if rng.random() < 0.05 and not isinstance(thing, (type, type(tippe))):
                setattr(thing, name, rng.choice(values))
            elif callable(member):
                member(*arguments)
            answered += 1
        except REFUSED:
            refused += 1
    for thing in things():
        if isinstance(thing, tippe.World):
            thing.step()
            assert np.isfinite(thing.poses()).all()
    return answered, refused


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    count, seed = (words + [100_000, 1][len(words):])[:2]
    answered, refused = call(count, seed)
    print(f"{count} calls of seed {seed}: {answered} answered, {refused} refused, none ended the process")
