"""Environments for gymnasium (``pip install "tippe[gym]"``), alone and side by side on a batch of worlds.

``Tippe/CartPole-v0`` balances a pole; ``Tippe/PushBlock-v0`` pushes a block that has to slide to a mark, where friction decides.

>>> import gymnasium, tippe.gym
>>> env = gymnasium.make("Tippe/CartPole-v0")
>>> observation, info = env.reset(seed=1)
>>> observation.shape
(4,)
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import Batch, Scene

Outcome = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]
# Actions are given fifty times a second.
CONTROL = 0.02


def along_x(sizes: np.ndarray) -> np.ndarray:
    """Vectors of these sizes along x."""
    vectors = np.zeros((len(sizes), 3))
    vectors[:, 0] = sizes
    return vectors


class BatchVector(VectorEnv):
    """Environments side by side in one batch of worlds; what the task is, those derived from it say."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
    # Length of an episode [steps].
    episode: int
    # The body that actions push.
    pushed: ClassVar[str]

    def __init__(
        self,
        scene: Scene,
        spaces: tuple[Space[Any], Space[Any]],
        num_envs: int,
        threads: int,
        autoreset_mode: AutoresetMode,
        max_episode_steps: int | None,
    ) -> None:
        if autoreset_mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            raise ValueError(f"autoreset_mode: must be NEXT_STEP or SAME_STEP, got {autoreset_mode}")
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode}
        self.mode = autoreset_mode
        if max_episode_steps is not None:
            self.episode = max_episode_steps
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.batch = Batch(scene, num_envs, threads=threads)
        self.substeps = round(CONTROL / scene.dt)
        self.steps = np.zeros(num_envs, dtype=int)
        self.ended = np.zeros(num_envs, dtype=bool)

    def _start(self, indices: np.ndarray) -> None:
        """Puts these worlds, as their scene begins, where an episode begins."""
        raise NotImplementedError

    def _forces(self, actions: np.ndarray) -> np.ndarray:
        """Checks actions and answers with the forces on `pushed`."""
        raise NotImplementedError

    def _observe(self) -> np.ndarray:
        raise NotImplementedError

    def _judge(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Rewards, which episodes failed, and what else there is to tell."""
        raise NotImplementedError

    def _begin(self, which: np.ndarray) -> None:
        indices = np.flatnonzero(which)
        self.batch.reset(indices.tolist())
        self._start(indices)
        self.steps[which] = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.ended[:] = False
        self._begin(np.ones(self.num_envs, dtype=bool))
        return self._observe(), {}

    def step(self, actions: np.ndarray) -> Outcome:
        forces = self._forces(np.asarray(actions))
        begin = self.ended & (self.mode is AutoresetMode.NEXT_STEP)
        for _ in range(self.substeps):
            self.batch.apply_force(self.pushed, forces)
            self.batch.step()
        if begin.any():
            self._begin(begin)
        self.steps[~begin] += 1
        observation = self._observe()
        reward, failed, info = self._judge(observation)
        reward, failed = np.where(begin, 0.0, reward), failed & ~begin
        late = ~failed & (self.steps >= self.episode)
        self.ended = failed | late
        if self.mode is AutoresetMode.SAME_STEP and self.ended.any():
            info |= {"final_obs": np.array(list(observation), dtype=object), "_final_obs": self.ended.copy()}
            self._begin(self.ended)
            observation = self._observe()
        return observation, reward, failed, late, info


class Alone(gymnasium.Env[np.ndarray, Any]):
    """One environment of a vector."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, vector: BatchVector, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode: must be None or 'rgb_array', got {render_mode!r}")
        self.render_mode = render_mode
        self.vector = vector
        self.observation_space, self.action_space = vector.single_observation_space, vector.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.vector.np_random = self.np_random
        observation, info = self.vector.reset()
        return observation[0], info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.vector.ended[:] = False
        observation, reward, ended, late, info = self.vector.step(np.asarray(action)[None])
        alone = {key: value[0] for key, value in info.items()}
        return observation[0], float(reward[0]), bool(ended[0]), bool(late[0]), alone

    def render(self) -> np.ndarray | None:
        return self.vector.batch.world(0).render(600, 400) if self.render_mode == "rgb_array" else None


# The usual task: a pole of 1 m and 0.1 kg on a cart of 1 kg that is pushed left or right with 10 N.
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


class CartPoleVector(BatchVector):
    """Carts side by side: an episode ends when the cart is 2.4 m away or the pole leans by 12 degrees."""

    episode = 500
    pushed = "cart_pole.cart"
    push, far, tilt = 10.0, 2.4, np.deg2rad(12.0)

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        high = np.array([2 * self.far, np.inf, 2 * self.tilt, np.inf])
        spaces = (Box(-high, high, dtype=np.float64), Discrete(2))
        super().__init__(Scene.parse(CART_POLE), spaces, num_envs, threads, autoreset_mode, max_episode_steps)

    def _start(self, indices: np.ndarray) -> None:
        start = self.np_random.uniform(-0.05, 0.05, (len(indices), 4))
        self.batch.set_articulation_states("cart_pole", start[:, [0, 2]], start[:, [1, 3]], indices.tolist())

    def _forces(self, actions: np.ndarray) -> np.ndarray:
        if actions.shape != (self.num_envs,) or not np.isin(actions, (0, 1)).all():
            raise ValueError(f"actions: must be {self.num_envs} numbers that are 0 or 1")
        return along_x(self.push * (2.0 * actions - 1.0))

    def _observe(self) -> np.ndarray:
        q, v = self.batch.articulation_states("cart_pole")
        return np.stack([q[:, 0], v[:, 0], q[:, 1], v[:, 1]], axis=1)

    def _judge(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        fallen = (np.abs(observation[:, 0]) > self.far) | (np.abs(observation[:, 2]) > self.tilt)
        return np.ones(self.num_envs), fallen, {}


class CartPole(Alone):
    """One cart: keep the pole upright."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(CartPoleVector(1), render_mode)


# A pusher on a rail that ends at x = 0 and a block on a table. The coordinate of the pusher is where the middle of the block is when they
# touch: beyond 0 the block slides alone.
PUSH_BLOCK = """
version = 1
name = "Pusher and block"
[method]
dt = 0.01
[[material]]
name = "wood"
friction = 0.4
[[material]]
name = "glide"
friction = 0
[[pair]]
materials = ["wood", "glide"]
friction = 0
[[body]]
name = "table"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
material = "wood"
[[body]]
name = "block"
shape.box = { size = [0.2, 0.2, 0.1] }
position = [-0.45, 0, 0.05]
mass = 1
material = "wood"
[[articulation]]
name = "rail"
[[articulation.link]]
name = "pusher"
joint = "prismatic"
axis = [1, 0, 0]
position = [-0.15, 0, 0.06]
start = [-0.6]
limits = [-0.7, 0]
shape.box = { size = [0.1, 0.2, 0.08] }
mass = 1
material = "glide"
"""


class PushBlockVector(BatchVector):
    """Blocks side by side: push each so that it comes to rest within 5 cm of its mark, 0.4 m to 1.2 m beyond the reach of the pusher.

    Observed are place and speed of the block, place and speed of the pusher, and the mark; the action is the force on the pusher, from -1 to 1.
    The reward is how much nearer to the mark the block came, and 1 more at the end of the episode where it rests there
    (`info["is_success"]`). `friction` is that of the block on the table.
    """

    episode = 90
    pushed = "rail.pusher"
    push, near, still = 60.0, 0.05, 0.01
    starts, marks = (-0.5, -0.4), (0.4, 1.2)

    def __init__(
        self,
        num_envs: int = 1,
        *,
        friction: float = 0.4,
        threads: int = 1,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        high = np.array([np.inf, np.inf, 1.0, np.inf, 2.0])
        spaces = (Box(-high, high, dtype=np.float64), Box(-1.0, 1.0, (1,), dtype=np.float64))
        scene = Scene.parse(PUSH_BLOCK, set={"material.wood.friction": friction})
        self.mark, self.away = np.zeros(num_envs), np.zeros(num_envs)
        super().__init__(scene, spaces, num_envs, threads, autoreset_mode, max_episode_steps)

    def _start(self, indices: np.ndarray) -> None:
        places = self.np_random.uniform(*self.starts, len(indices))
        self.mark[indices] = self.np_random.uniform(*self.marks, len(indices))
        self.away[indices] = self.mark[indices] - places
        poses = np.tile([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0], (len(indices), 1))
        poses[:, 0] = places
        self.batch.set_poses("block", poses, indices.tolist())

    def _forces(self, actions: np.ndarray) -> np.ndarray:
        if actions.shape != (self.num_envs, 1) or not (np.abs(actions) <= 1).all():
            raise ValueError(f"actions: must be {self.num_envs} rows of one number from -1 to 1")
        return along_x(self.push * actions[:, 0])

    def _observe(self) -> np.ndarray:
        q, v = self.batch.articulation_states("rail")
        place, speed = self.batch.poses()[:, 1, 0], self.batch.velocities()[:, 1, 0]
        return np.stack([place, speed, q[:, 0], v[:, 0], self.mark], axis=1)

    def _judge(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        away = np.abs(self.mark - observation[:, 0])
        there = (away < self.near) & (np.abs(observation[:, 1]) < self.still)
        reward = self.away - away + (there & (self.steps >= self.episode))
        self.away = away
        return reward, np.zeros(self.num_envs, dtype=bool), {"is_success": there}


class PushBlock(Alone):
    """One block: let it slide to its mark."""

    def __init__(self, render_mode: str | None = None, friction: float = 0.4) -> None:
        super().__init__(PushBlockVector(1, friction=friction), render_mode)


for task, alone, vector in (("CartPole", CartPole, CartPoleVector), ("PushBlock", PushBlock, PushBlockVector)):
    gymnasium.register(
        id=f"Tippe/{task}-v0",
        entry_point=f"tippe.gym:{alone.__name__}",
        vector_entry_point=f"tippe.gym:{vector.__name__}",
        max_episode_steps=vector.episode,
    )
