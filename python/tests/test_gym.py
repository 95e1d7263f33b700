"""The environments, by gymnasium's own checker and by the physics of the pole."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import tippe.gym


@pytest.mark.parametrize("task", ["CartPole", "PushBlock"])
def test_the_checker_of_gymnasium_passes(task):
    check_env(gymnasium.make(f"Tippe/{task}-v0", render_mode="rgb_array").unwrapped)
    vector = gymnasium.make_vec(f"Tippe/{task}-v0", num_envs=3)
    observation, _ = vector.reset(seed=1)
    assert vector.observation_space.contains(observation)
    assert vector.observation_space.contains(vector.step(vector.action_space.sample())[0])


@pytest.mark.parametrize("friction", [0.2, 0.4])
def test_a_pushed_block_slides_as_far_as_coulomb_says(friction):
    env = tippe.gym.PushBlockVector(8, friction=friction)
    env.reset(seed=3)
    env.batch.set_poses("block", np.tile([-0.4, 0, 0.05, 1, 0, 0, 0], (8, 1)))
    push = np.linspace(0.75, 1.5, 8)[:, None] * friction
    left = np.full(8, np.nan)
    for _ in range(env.episode):
        seen = env.step(push)[0]
        alone = np.isnan(left) & (seen[:, 0] > 0.0) & (seen[:, 0] - seen[:, 2] > 1e-6)
        left[alone] = seen[alone, 0] + seen[alone, 1] ** 2 / (2 * friction * 9.81)
    # Within the step of 10 ms in which it stops, a block goes on at half its speed for all of the step: at most μ g h²/8 too far or too short.
    assert np.abs(seen[:, 1]).max() < 1e-9
    assert np.abs(seen[:, 0] - left).max() < friction * 9.81 * 0.01**2 / 8 + 1e-7, (seen[:, 0], left)


def test_a_block_that_rests_at_its_mark_is_a_success():
    env = tippe.gym.PushBlockVector(3)
    env.reset(seed=1)
    poses = np.tile([0.0, 0, 0.05, 1, 0, 0, 0], (3, 1))
    poses[:, 0] = env.mark + [0.0, 0.049, 0.051]
    env.batch.set_poses("block", poses)
    total = np.zeros(3)
    start = env.away.copy()
    for _ in range(env.episode):
        _, reward, failed, late, info = env.step(np.zeros((3, 1)))
        total += reward
    assert info["is_success"].tolist() == [True, True, False] and late.all() and not failed.any()
    assert np.allclose(total, start - np.abs(poses[:, 0] - env.mark) + [1, 1, 0], atol=1e-9)


def test_actions_that_make_no_sense_are_refused():
    carts, blocks = tippe.gym.CartPoleVector(2), tippe.gym.PushBlockVector(2)
    carts.reset(seed=1), blocks.reset(seed=1)
    for env, actions in (
        (carts, [0, 2]),
        (carts, [0]),
        (carts, [np.nan, 0]),
        (blocks, [[0.0], [1.5]]),
        (blocks, [[np.nan], [0.0]]),
        (blocks, [0.0, 0.0]),
    ):
        with pytest.raises(ValueError, match="actions"):
            env.step(np.array(actions))


def test_a_pole_falls_as_its_equation_says():
    # Cart and pole from rest under a constant push, against an independent integration of the textbook's equations.
    env = tippe.gym.CartPoleVector(1)
    env.reset(seed=0)
    env.batch.set_articulation_states("cart_pole", [[0.0, 0.02]], [[0.0, 0.0]])
    state = np.array([0.0, 0.0, 0.02, 0.0])

    def rates(s):
        m_cart, m, half = 1.0, 0.1, 0.5
        inertia = m * (0.04**2 + 1.0) / 12 + m * half**2
        _, v, a, w = s
        mass = np.array([[m_cart + m, m * half * np.cos(a)], [m * half * np.cos(a), inertia]])
        force = np.array([10.0 + m * half * w * w * np.sin(a), m * 9.81 * half * np.sin(a)])
        acceleration = np.linalg.solve(mass, force)
        return np.array([v, acceleration[0], w, acceleration[1]])

    for _ in range(5):
        observation = env.step(np.array([1]))[0]
        for _ in range(200):
            h = 0.02 / 200
            k1 = rates(state)
            k2 = rates(state + h / 2 * k1)
            k3 = rates(state + h / 2 * k2)
            k4 = rates(state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        assert np.allclose(observation[0], state, atol=1e-6), (observation[0], state)


def test_the_vector_is_the_environment_side_by_side():
    actions = np.random.default_rng(3).integers(0, 2, 60)
    one, many = gymnasium.make("Tippe/CartPole-v0"), tippe.gym.CartPoleVector(5, threads=2)
    first, _ = one.reset(seed=8)
    many.reset(seed=8)
    q, v = many.batch.articulation_states("cart_pole")
    q[2], v[2] = first[[0, 2]], first[[1, 3]]
    many.batch.set_articulation_states("cart_pole", q, v)
    for action in actions:
        a = one.step(int(action))
        b = many.step(np.full(5, action))
        assert np.array_equal(a[0], b[0][2]) and a[2] == b[2][2]
        if a[2]:
            break


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_ended_carts_begin_again(mode):
    env = tippe.gym.CartPoleVector(8, autoreset_mode=mode)
    env.reset(seed=1)
    ends = 0
    for _ in range(200):
        before = env.ended.copy()
        observation, reward, ended, _, info = env.step(np.ones(8, dtype=int))
        ends += int(ended.sum())
        if mode is AutoresetMode.NEXT_STEP:
            assert np.array_equal(reward == 0, before) and np.abs(observation[before]).max(initial=0) <= 0.05
        elif ended.any():
            assert np.abs(observation[ended]).max() <= 0.05 and info["_final_obs"][ended].all()
    assert ends > 20


def test_a_policy_that_leans_against_the_fall_balances_longer_than_chance():
    env = tippe.gym.CartPoleVector(16)
    rng = np.random.default_rng(0)
    lengths = {}
    for name in ("lean", "chance"):
        observation, _ = env.reset(seed=4)
        alive = np.ones(16, dtype=bool)
        lengths[name] = 0
        for _ in range(300):
            lean = (observation @ np.array([0.1, 0.3, 1.0, 0.4]) > 0).astype(int)
            actions = lean if name == "lean" else rng.integers(0, 2, 16)
            observation, _, ended, _, _ = env.step(actions)
            alive &= ~ended
            lengths[name] += int(alive.sum())
    assert lengths["lean"] > 5 * lengths["chance"], lengths
