"""Worlds: physics through the package, arrays, handles, errors, snapshots, threads."""

import copy
import doctest
import pathlib
import pickle
import threading

import numpy as np
import pytest

import tippe

G = 9.81


def ball_world(**options):
    world = tippe.World(dt=1 / 60, **options)
    world.set_surface(friction=0.5, restitution=0.9)
    world.add_body(tippe.Shape.half_space(), kind="fixed", name="floor")
    ball = world.add_body(tippe.Shape.sphere(0.1), (0, 0, 1.1), name="ball")
    return world, ball


def test_the_lines_of_the_readme_print_what_they_say(capsys):
    text = (pathlib.Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = text.split("```python\n")[1].split("```")[0]
    exec(lines, {})
    said = [line.split("# prints: ")[1] for line in lines.splitlines() if "# prints: " in line]
    assert len(said) == 4 and capsys.readouterr().out.splitlines() == said


def test_the_example_of_the_package_runs():
    assert doctest.testmod(tippe).failed == 0


def test_a_ball_bounces_as_the_closed_form_says():
    # Dropped 1 m with e = 0.9; after 1 s it falls from the top of its first bounce.
    world, ball = ball_world()
    report = world.step(60)
    fall = np.sqrt(2 / G)
    t = 1 - fall
    height = 0.9 * G * fall * t - G * t * t / 2
    assert abs(ball.position[2] - 0.1 - height) < 1e-6
    assert report.certified and report.steps == 60 and report.collisions == 1
    assert abs(report.energy.unexplained) < 1e-9


def test_steps_at_once_are_steps_one_by_one():
    (a, _), (b, _) = ball_world(), ball_world()
    a.step(30)
    for _ in range(30):
        b.step()
    assert a.hash() == b.hash() and a.time == b.time and a.step_count == 30


def test_arrays_are_rows_in_the_order_of_the_names():
    world, ball = ball_world()
    world.step()
    poses, speeds = world.poses(), world.velocities()
    assert world.body_names == ["floor", "ball"] and poses.shape == (2, 7) and speeds.shape == (2, 6)
    assert poses.dtype == np.float64 and poses.flags.c_contiguous
    assert np.array_equal(poses[1, :3], ball.position) and np.array_equal(poses[1, 3:], [1, 0, 0, 0])
    out = np.full((2, 7), np.nan)
    assert world.poses(out=out) is out and np.array_equal(out, poses)
    poses[:] = 7.0
    assert ball.position[2] < 1.2, "an array of a world is a copy"


def test_a_stick_is_turned_with_w_first():
    world = tippe.World(gravity=(0, 0, 0))
    half = np.sqrt(0.5)
    body = world.add_body(tippe.Shape.box((1, 0.1, 0.1)), rotation=(half, 0, 0, half))
    assert np.allclose(body.rotation, [half, 0, 0, half])
    hit = world.ray((0, 5, 0), (0, -1, 0))[0]
    assert hit[0] == body and abs(hit[1] - 4.0) < 1e-12, "its long edge lies along y"


def test_forces_and_contacts_balance():
    world = tippe.World(dt=0.01)
    world.add_body(tippe.Shape.half_space(), kind="fixed", name="floor")
    box = world.add_body(tippe.Shape.box((0.5, 0.5, 0.5)), (0, 0, 0.5), name="box", mass=2.0)
    for _ in range(20):
        box.apply_force((0, 0, -5.0))
        world.step()
    up = sum(c.force[2] if c.body_b == box else -c.force[2] for c in world.contacts())
    assert abs(up - (2 * G + 5)) < 1e-6
    assert not any(c.sliding for c in world.contacts())


def test_events_have_times():
    world, _ = ball_world()
    hits = []
    for _ in range(40):
        world.step()
        hits += [e for e in world.events() if e.kind == "impact"]
    assert len(hits) == 1 and abs(hits[0].time - np.sqrt(2 / G)) < 1e-6
    assert abs(hits[0].speed - np.sqrt(2 * G)) < 1e-6


def test_copies_snapshots_and_pickles_go_on_with_the_same_bits():
    world, _ = ball_world()
    world.step(10)
    twins = [world.copy(), copy.copy(world), copy.deepcopy(world), pickle.loads(pickle.dumps(world))]
    twins.append(tippe.World.restore(world.snapshot(), dt=world.dt))
    world.step(50)
    for twin in twins:
        assert twin.dt == world.dt
        twin.step(50)
        assert twin.hash() == world.hash()


def test_a_picture_shows_something():
    world, _ = ball_world()
    picture = world.render(160, 100)
    assert picture.shape == (100, 160, 3) and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 10


@pytest.mark.parametrize("method", ["sequential", "iterative", "simultaneous", "forces", "events"])
def test_every_method_lets_a_ball_bounce(method):
    world, ball = ball_world(method=method)
    world.step(60)
    assert world.method == method and abs(ball.position[2] - 0.810949) < 1e-4


def test_a_second_thread_is_told_at_once():
    world = tippe.World(dt=1e-3)
    world.add_body(tippe.Shape.half_space(), kind="fixed")
    for i in range(200):
        world.add_body(tippe.Shape.sphere(0.1), (0.19 * (i % 6), 0.19 * (i // 6 % 6), 0.2 + 0.19 * (i // 36)))
    told = []
    begin = threading.Barrier(2)

    def run():
        begin.wait()
        for _ in range(50):
            try:
                world.step(20)
            except tippe.BusyError as error:
                told.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    begin.wait()
    while thread.is_alive() and not told:
        try:
            world.step(20)
        except tippe.BusyError as error:
            told.append(error)
    thread.join()
    assert told and isinstance(told[0], RuntimeError) and "another thread" in str(told[0])
    assert np.isfinite(world.poses()).all()


def test_an_impact_with_friction_sticks():
    # A uniform ball of 1 kg on a floor: 1/m along the normal, 7/(2m) along the floor.
    found = tippe.impact(np.diag([3.5, 3.5, 1.0]), (1, 0.5, -1), friction=0.3, restitution=0.8)
    assert found["slip"] == "sticks" and np.allclose(found["velocity"], [0, 0, 0.8])
