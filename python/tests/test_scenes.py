"""Scenes and batches: the same bits as the command, values by path, seeds."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tippe

SCENES = pathlib.Path(__file__).parents[2] / "scenes"
# The command, where it has been built: the test program of the repository says where it is.
COMMAND = os.environ.get("TIPPE_COMMAND")

ROLLING = """
version = 1
[world]
gravity = [0, 0, -9.81]
[method]
dt = 0.005
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
material = "wood"
[[body]]
name = "block"
shape.box = { size = [0.4, 0.4, 0.2] }
position = [0, 0, 0.1]
velocity = [2, 0, 0]
mass = 3
material = "wood"
[[material]]
name = "wood"
friction = 0.5
"""


@pytest.mark.skipif(COMMAND is None, reason="TIPPE_COMMAND does not name the command")
@pytest.mark.parametrize("method", ["sequential", "iterative", "simultaneous", "forces", "events"])
@pytest.mark.parametrize("name", ["stack", "bounce", "table", "office-toy", "break-3"])
def test_the_command_and_python_give_the_same_bits(name, method):
    path = SCENES / f"{name}.toml"
    steps = 20
    scene = tippe.Scene.load(path, method=method)
    seconds = steps * scene.dt
    arguments = [COMMAND, "run", str(path), "--method", method, "--seconds", repr(seconds), "--json"]
    told = subprocess.run(arguments, capture_output=True, text=True)
    summary = json.loads(told.stdout.strip().splitlines()[-1])
    world = scene.world()
    world.step(summary["steps"])
    assert f"{world.hash():#018x}" == summary["hash"]


def test_a_scene_knows_its_step_and_its_bodies():
    scene = tippe.Scene.load(SCENES / "stack.toml")
    world = scene.world()
    assert world.dt == scene.dt and scene.seconds > 0 and len(world) > 3
    report = world.step(10)
    assert report.certified, report


def test_a_block_slides_as_far_as_coulomb_says():
    for mu in (0.2, 0.4):
        scene = tippe.Scene.parse(ROLLING, set={"material.wood.friction": mu})
        world = scene.world()
        world.step(400)
        x = world.body("block").position[0]
        assert abs(x - 4 / (2 * mu * 9.81)) < 1e-6, mu


def test_a_batch_is_its_worlds_one_by_one_whatever_the_threads():
    scene = tippe.Scene.parse(ROLLING)
    speeds = [[v, 0.0, 0.0] for v in np.linspace(0.5, 3, 12)]
    hashes = []
    for threads in (1, 2):
        batch = tippe.Batch(scene, 12, vary={"body.block.velocity": speeds}, threads=threads)
        batch.step(100)
        hashes.append(batch.hashes())
    assert hashes[0] == hashes[1]
    for i in (0, 7):
        world = tippe.Scene.parse(ROLLING, set={"body.block.velocity": speeds[i]}).world()
        world.step(100)
        assert world.hash() == hashes[0][i]
    poses = batch.poses()
    assert poses.shape == (12, 2, 7) and np.all(np.diff(poses[:, 1, 0]) > 0)
    assert all(batch.certified())


def test_worlds_of_a_batch_are_reset_one_by_one():
    batch = tippe.Batch(tippe.Scene.parse(ROLLING), 4)
    start = batch.hashes()
    batch.step(5)
    moved = batch.hashes()
    batch.reset([1, 3])
    assert batch.hashes() == [moved[0], start[1], moved[2], start[3]]
    batch.reset()
    assert batch.hashes() == start
    with pytest.raises(tippe.BuildError, match="4 worlds"):
        batch.reset([4])


def test_seeds_depend_on_the_world_and_not_on_the_size_of_the_batch():
    scene = tippe.Scene.parse(ROLLING)

    def mass(seed):
        return float(np.random.default_rng(seed).uniform(1, 5))

    def drawn(n, seed):
        batch = tippe.Batch(scene, n, vary={"body.block.mass": mass}, seed=seed)
        assert batch.seed_of(1) != batch.seed_of(0)
        masses = [batch.world(i).body("block").mass for i in range(n)]
        assert masses == [mass(batch.seed_of(i)) for i in range(n)]
        return masses

    assert drawn(3, 11) == drawn(6, 11)[:3]
    assert len(set(drawn(6, 11))) == 6
    assert set(drawn(3, 12)).isdisjoint(drawn(3, 11))


def test_bodies_of_single_worlds_are_put_elsewhere():
    batch = tippe.Batch(tippe.Scene.parse(ROLLING), 3)
    batch.set_poses("block", [[1, 2, 0.1, 1, 0, 0, 0], [3, 0, 0.1, 2, 0, 0, 0]], worlds=[0, 2])
    poses, speeds = batch.poses(), batch.velocities()
    assert poses.shape == (3, 2, 7) and speeds.shape == (3, 2, 6)
    assert np.array_equal(poses[:, 1, :2], [[1, 2], [0, 0], [3, 0]])
    assert np.array_equal(speeds[:, 1, 0], [2, 2, 2]) and np.array_equal(poses[2, 1, 3:], [1, 0, 0, 0])
    before = batch.hashes()
    for body, rows, worlds, error in (
        ("block", [[0.0] * 7], None, tippe.BuildError),
        ("block", [[0, 0, 0, 0, 0, 0, 0]] * 3, None, tippe.BuildError),
        ("block", [[np.nan, 0, 0, 1, 0, 0, 0]] * 3, None, tippe.BuildError),
        ("block", [[0, 0, 1, 1, 0, 0, 0]], [3], tippe.BuildError),
        ("blok", [[0, 0, 1, 1, 0, 0, 0]] * 3, None, tippe.UnknownId),
        ("block", [[0, 0, 1]] * 3, None, (TypeError, ValueError)),
    ):
        with pytest.raises(error):
            batch.set_poses(body, rows, worlds)
    assert batch.hashes() == before


def test_forces_and_edits_reach_single_worlds():
    batch = tippe.Batch(tippe.Scene.parse(ROLLING, set={"body.block.velocity": [0, 0, 0]}), 3)
    for _ in range(50):
        batch.apply_force("block", [[0, 0, 0], [30, 0, 0], [0, 30, 0]])
        batch.step()
    still, along_x, along_y = (batch.world(i).body("block").position for i in range(3))
    assert abs(still[0]) < 1e-9 and along_x[0] > 0.1 and along_y[1] > 0.1
    batch.edit(0, lambda world: world.body("block").set_velocity((1, 0, 0)))
    assert batch.world(0).body("block").velocity[0] == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda s: tippe.Batch(s, 0),
        lambda s: tippe.Batch(s, 3, vary={"body.block.mass": [1, 2]}),
        lambda s: tippe.Batch(s, 1, vary={"body.block.mas": [1]}),
        lambda s: tippe.Batch(s, 1, vary={"body.block.mass": [float("nan")]}),
        lambda s: tippe.Batch(s, 1, threads=0),
        lambda s: tippe.Batch(s, 1, seed=-1),
        lambda s: tippe.Batch("scene", 1),
        lambda s: tippe.Batch(s, 2).apply_force("block", [[0, 0, 0]]),
        lambda s: tippe.Batch(s, 2).apply_force("blok", [[0, 0, 0]] * 2),
        lambda s: tippe.Batch(s, 2).aim_motor("none", [0, 0]),
        lambda s: tippe.Batch(s, 2).world(2),
        lambda s: tippe.Batch(s, 2).step(dt=-1.0),
    ],
)
def test_senseless_batches_are_refused(make):
    scene = tippe.Scene.parse(ROLLING)
    with pytest.raises((tippe.Error, TypeError, OverflowError)):
        make(scene)
