"""Whatever is passed in, an exception comes out, and the world is as it was."""

import threading

import numpy as np
import pytest
import random_calls

import tippe

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def world():
    world = tippe.World(dt=0.01)
    world.add_body(tippe.Shape.half_space(), kind="fixed", name="floor")
    world.add_body(tippe.Shape.sphere(0.1), (0, 0, 1), name="ball")
    world.add_body(tippe.Shape.box((1, 1, 1)), (9, 0, 0), name="lift", kind="kinematic")
    return world


CALLS = {
    "n of 0": lambda w: w.step(0),
    "n below 0": lambda w: w.step(-1),
    "n of half": lambda w: w.step(0.5),
    "n as text": lambda w: w.step("1"),
    "dt 0": lambda w: w.step(dt=0.0),
    "dt below 0": lambda w: w.step(dt=-0.1),
    "dt nan": lambda w: w.step(dt=NAN),
    "dt inf": lambda w: w.step(dt=INF),
    "dt text": lambda w: w.step(dt="x"),
    "own dt 0": lambda w: setattr(w, "dt", 0.0),
    "own dt nan": lambda w: setattr(w, "dt", NAN),
    "gravity nan": lambda w: setattr(w, "gravity", (0, 0, NAN)),
    "gravity of two": lambda w: setattr(w, "gravity", (0, 0)),
    "threads 0": lambda w: setattr(w, "threads", 0),
    "threads many": lambda w: setattr(w, "threads", 10**9),
    "time set": lambda w: setattr(w, "time", 1.0),
    "method unknown": lambda w: w.set_method("magic"),
    "method number": lambda w: w.set_method(3),
    "parameter unknown": lambda w: w.set_method("sequential", swep=3),
    "parameter senseless": lambda w: w.set_method("sequential", sweeps=-3),
    "parameter text": lambda w: w.set_method("sequential", sweeps="many"),
    "friction below 0": lambda w: w.set_surface(friction=-1.0),
    "friction nan": lambda w: w.set_surface(friction=NAN),
    "restitution above 1": lambda w: w.set_surface(restitution=1.5),
    "sphere of 0": lambda w: tippe.Shape.sphere(0.0),
    "sphere of nan": lambda w: tippe.Shape.sphere(NAN),
    "sphere of inf": lambda w: tippe.Shape.sphere(INF),
    "box of two": lambda w: tippe.Shape.box((1, 1)),
    "box below 0": lambda w: tippe.Shape.box((1, 1, -1)),
    "capsule nan": lambda w: tippe.Shape.capsule(NAN, 1),
    "cylinder text": lambda w: tippe.Shape.cylinder("a", 1),
    "cone 0": lambda w: tippe.Shape.cone(1, 0),
    "hull of three": lambda w: tippe.Shape.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]),
    "hull of nan": lambda w: tippe.Shape.hull(np.full((9, 3), NAN)),
    "hull of pairs": lambda w: tippe.Shape.hull([(0, 0), (1, 0)]),
    "half-space of 0": lambda w: tippe.Shape.half_space((0, 0, 0)),
    "shape as text": lambda w: w.add_body("sphere"),
    "shape none": lambda w: w.add_body(None),
    "position nan": lambda w: w.add_body(tippe.Shape.sphere(1), (0, NAN, 0)),
    "position of four": lambda w: w.add_body(tippe.Shape.sphere(1), (0, 0, 0, 0)),
    "rotation 0": lambda w: w.add_body(tippe.Shape.sphere(1), rotation=(0, 0, 0, 0)),
    "rotation of three": lambda w: w.add_body(tippe.Shape.sphere(1), rotation=(1, 0, 0)),
    "mass below 0": lambda w: w.add_body(tippe.Shape.sphere(1), mass=-1.0),
    "mass nan": lambda w: w.add_body(tippe.Shape.sphere(1), mass=NAN),
    "mass tiny": lambda w: w.add_body(tippe.Shape.sphere(1), mass=1e-308),
    "velocity inf": lambda w: w.add_body(tippe.Shape.sphere(1), velocity=(INF, 0, 0)),
    "kind unknown": lambda w: w.add_body(tippe.Shape.sphere(1), kind="dynamik"),
    "half-space that moves": lambda w: w.add_body(tippe.Shape.half_space()),
    "body unknown": lambda w: w.body("bal"),
    "joint unknown": lambda w: w.joint("hinge"),
    "articulation unknown": lambda w: w.articulation("arm"),
    "motor unknown": lambda w: w.aim_motor("arm", 1.0),
    "out of ints": lambda w: w.poses(out=np.zeros((3, 7), dtype=int)),
    "out of f32": lambda w: w.poses(out=np.zeros((3, 7), dtype=np.float32)),
    "out too small": lambda w: w.poses(out=np.zeros((2, 7))),
    "out too wide": lambda w: w.poses(out=np.zeros((3, 8))),
    "out of one dimension": lambda w: w.poses(out=np.zeros(21)),
    "out transposed": lambda w: w.poses(out=np.zeros((7, 3)).T),
    "out strided": lambda w: w.poses(out=np.zeros((6, 7))[::2]),
    "out list": lambda w: w.poses(out=[[0.0] * 7] * 3),
    "out read-only": lambda w: w.velocities(out=frozen((3, 6))),
    "force nan": lambda w: w.body("ball").apply_force((NAN, 0, 0)),
    "force text": lambda w: w.body("ball").apply_force("up"),
    "force on floor": lambda w: w.body("floor").apply_force((1, 0, 0)),
    "impulse at nan": lambda w: w.body("ball").apply_impulse((1, 0, 0), (NAN, 0, 0)),
    "torque on lift": lambda w: w.body("lift").apply_torque((1, 0, 0)),
    "velocity of floor": lambda w: w.body("floor").set_velocity((1, 0, 0)),
    "pose of lift": lambda w: w.body("lift").set_pose((1, 0, 0)),
    "pose nan": lambda w: w.body("ball").set_pose((NAN, 0, 0)),
    "steer a ball": lambda w: w.body("ball").steer((1, 0, 0)),
    "steer to nan": lambda w: w.body("lift").steer((NAN, 0, 0)),
    "ray without direction": lambda w: w.ray((0, 0, 0), (0, 0, 0)),
    "ray of nan": lambda w: w.ray((0, NAN, 0), (0, 0, 1)),
    "ray of length nan": lambda w: w.ray((0, 0, 0), (0, 0, 1), NAN),
    "picture of 0": lambda w: w.render(0, 10),
    "picture too large": lambda w: w.render(10**6, 10**6),
    "snapshot of nothing": lambda w: tippe.World.restore(b""),
    "snapshot of noise": lambda w: tippe.World.restore(bytes(range(256)) * 9),
    "snapshot cut off": lambda w: tippe.World.restore(w.snapshot()[:-7]),
    "snapshot as text": lambda w: tippe.World.restore("bytes"),
    "scene missing": lambda w: tippe.Scene.load("no/such/scene.toml"),
    "scene senseless": lambda w: tippe.Scene.parse("version = 1\n[[body]]\nmass = -1\n"),
    "scene no toml": lambda w: tippe.Scene.parse("]["),
    "scene in yaml": lambda w: tippe.Scene.parse("", format="yaml"),
    "impact of K nan": lambda w: tippe.impact(np.full((3, 3), NAN), (0, 0, -1)),
    "impact law unknown": lambda w: tippe.impact(np.eye(3), (0, 0, -1), law="hooke"),
    "restitution of 2": lambda w: tippe.impact(np.eye(3), (0, 0, -1), restitution=2.0),
}


def frozen(shape):
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_misuse_raises_and_changes_nothing(world, call):
    before = world.hash()
    with pytest.raises((tippe.Error, TypeError, ValueError, OverflowError, AttributeError)):
        call(world)
    assert world.hash() == before
    world.step()


def test_exceptions_name_field_and_reason(world):
    with pytest.raises(tippe.UnknownId, match="did you mean \"ball\"") as found:
        world.body("bal")
    assert isinstance(found.value, KeyError) and found.value.field == "body"
    with pytest.raises(tippe.BuildError) as found:
        tippe.Shape.sphere(-1)
    assert isinstance(found.value, ValueError) and "radius" in found.value.field
    with pytest.raises(tippe.SceneError) as found:
        tippe.Scene.parse("version = 1\n[[body]]\nname = 'b'\nshape.sphere = { radius = 0.1 }\nmass = -1\n")
    assert found.value.place == "scene:5:8" and "must be positive" in str(found.value)


def test_a_body_that_was_removed_is_unknown(world):
    ball = world.body("ball")
    ball.remove()
    for use in (lambda: ball.position, lambda: ball.remove(), lambda: ball.apply_force((0, 0, 1))):
        with pytest.raises(tippe.Error):
            use()
    assert "removed" in repr(ball)


def test_what_belongs_to_another_world_is_refused(world):
    other = tippe.World()
    stranger = other.add_body(tippe.Shape.sphere(0.1), (0, 0, 2), name="stranger")
    with pytest.raises(tippe.UnknownId):
        world.body("stranger")
    assert stranger != world.body("ball") and stranger not in world.bodies
    # A handle acts on its own world alone.
    before = world.hash()
    stranger.set_velocity((1, 0, 0))
    assert world.hash() == before and other.hash() != before


def test_a_world_in_use_is_refused_to_other_threads(world):
    told, go = [], threading.Event()

    def use():
        go.wait()
        for _ in range(2000):
            for call in (world.poses, world.snapshot, world.body("ball").apply_force):
                try:
                    call(*([(0, 0, 1)] if call.__name__ == "apply_force" else []))
                except tippe.BusyError as error:
                    told.append(error)
            if told:
                break

    thread = threading.Thread(target=lambda: _quietly(use))
    thread.start()
    go.set()
    while thread.is_alive() and not told:
        try:
            world.step(50)
        except tippe.BusyError as error:
            told.append(error)
    thread.join()
    assert np.isfinite(world.poses()).all()


def _quietly(call):
    try:
        call()
    except tippe.BusyError:
        pass


def test_a_handle_keeps_its_world_alive():
    ball = tippe.World().add_body(tippe.Shape.sphere(0.1), (0, 0, 2))
    assert ball.position[2] == 2.0


def test_random_calls_never_crash():
    # `python python/tests/random_calls.py 100000` makes more of them.
    answered, refused = random_calls.call(4000, 7)
    assert answered > 500 and refused > 1000
