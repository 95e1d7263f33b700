"""Environments for gymnasium (``pip install "tippe[gym]"``): ``Tippe/CartPole-v0``, alone and as a vector on a batch.

>>> import gymnasium, tippe.gym
>>> env = gymnasium.make("Tippe/CartPole-v0")
>>> observation, info = env.reset(seed=1)
>>> observation.shape
(4,)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._tippe import Batch, Scene

# The usual task: a pole of 1 m and 0.1 kg on a cart of 1 kg that is pushed left or right with 10 N, fifty times a second.
CART_POLE = """
version = 1
name = "Cart and pole"
[method]
dt = 0.005
[[articulation]]
name = "cart_pole"
[[articulation.link]]
name = "cart"
joint = "prismatic"
axis = [1, 0, 0]
shape.box = { size = [0.5, 0.3, 0.2] }
mass = 1
[[articulation.link.link]]
name = "pole"
axis = [0, 1, 0]
shapes = [{ box = { size = [0.04, 0.04, 1] }, position = [0, 0, 0.5] }]
mass = 0.1
"""
PUSH = 10.0
SUBSTEPS = 4
FAR, TILT = 2.4, np.deg2rad(12.0)
EPISODE = 500


def _limits() -> Box:
    high = np.array([2 * FAR, np.inf, 2 * TILT, np.inf])
    return Box(-high, high, dtype=np.float64)


class CartPoleVector(VectorEnv):
    """Carts side by side in one batch of worlds."""

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self, num_envs: int = 1, *, threads: int = 1, autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP
    ) -> None:
        if autoreset_mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            raise ValueError(f"autoreset_mode: must be NEXT_STEP or SAME_STEP, got {autoreset_mode}")
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode}
        self.mode = autoreset_mode
        self.single_observation_space, self.single_action_space = _limits(), Discrete(2)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.batch = Batch(Scene.parse(CART_POLE), num_envs, threads=threads)
        self.steps = np.zeros(num_envs, dtype=int)
        self.ended = np.zeros(num_envs, dtype=bool)

    def _observe(self) -> np.ndarray:
        q, v = self.batch.articulation_states("cart_pole")
        return np.stack([q[:, 0], v[:, 0], q[:, 1], v[:, 1]], axis=1)

    def _begin(self, which: np.ndarray) -> None:
        """Puts carts near the middle and poles nearly upright."""
        indices = np.flatnonzero(which)
        start = self.np_random.uniform(-0.05, 0.05, (len(indices), 4))
        self.batch.reset(indices.tolist())
        self.batch.set_articulation_states("cart_pole", start[:, [0, 2]], start[:, [1, 3]], indices.tolist())
        self.steps[which] = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.ended[:] = False
        self._begin(np.ones(self.num_envs, dtype=bool))
        return self._observe(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.isin(actions, (0, 1)).all():
            raise ValueError(f"actions: must be {self.num_envs} numbers that are 0 or 1")
        begin = self.ended.copy() if self.mode is AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, dtype=bool)
        push = np.zeros((self.num_envs, 3))
        push[:, 0] = PUSH * (2 * actions - 1)
        for _ in range(SUBSTEPS):
            self.batch.apply_force("cart_pole.cart", push)
            self.batch.step()
        if begin.any():
            self._begin(begin)
        self.steps[~begin] += 1
        observation = self._observe()
        fallen = (np.abs(observation[:, 0]) > FAR) | (np.abs(observation[:, 2]) > TILT)
        late = ~fallen & (self.steps >= EPISODE)
        reward = np.where(begin, 0.0, 1.0)
        self.ended = fallen | late
        info: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP and self.ended.any():
            info = {"final_obs": np.array(list(observation), dtype=object), "_final_obs": self.ended.copy()}
            self._begin(self.ended)
            observation = self._observe()
        return observation, reward, fallen, late, info


class CartPole(gymnasium.Env[np.ndarray, int]):
    """One cart: keep the pole upright."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode: must be None or 'rgb_array', got {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space, self.action_space = _limits(), Discrete(2)
        self.vector = CartPoleVector(1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.vector.np_random = self.np_random
        observation, info = self.vector.reset()
        return observation[0], info

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.vector.ended[:] = False
        observation, reward, ended, late, info = self.vector.step(np.array([action]))
        return observation[0], float(reward[0]), bool(ended[0]), bool(late[0]), info

    def render(self) -> np.ndarray | None:
        return self.vector.batch.world(0).render(600, 400) if self.render_mode == "rgb_array" else None


gymnasium.register(
    id="Tippe/CartPole-v0",
    entry_point="tippe.gym:CartPole",
    vector_entry_point="tippe.gym:CartPoleVector",
    max_episode_steps=EPISODE,
)
