"""Teaches a policy to push a block that has to slide to a mark: a cross-entropy search in NumPy.

    python python/examples/push_block.py [SEED ...]

Prints what part of 200 new starts it succeeds in, beside chance, and beside itself on a table with half the friction.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

from tippe.gym import PushBlockVector

Array = NDArray[np.float64]
CANDIDATES, STARTS, ELITE, ROUNDS = 50, 8, 8, 30
FEATURES = 4
TESTS = 200


def force(weights: Array, seen: Array) -> Array:
    """The force on each pusher: weights times features of what is seen, (n, features)."""
    place, speed, _, _, mark = seen.T
    features = np.stack([np.ones_like(mark), (mark - 0.8) / 0.4, (speed / 3.0) ** 2, place / 0.5], axis=1)
    size: Array = np.sum(weights * features, axis=1)
    return np.clip(size, -1.0, 1.0).reshape(-1, 1)


def play(env: PushBlockVector, weights: Array | None, seed: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """One episode in every world: how far the blocks end from their marks, and whether they rest there; without weights by chance."""
    seen, _ = env.reset(seed=seed)
    success = np.zeros(env.num_envs)
    for _ in range(env.episode):
        chance = rng.uniform(-1.0, 1.0, (env.num_envs, 1))
        seen, _, _, _, info = env.step(chance if weights is None else force(weights, seen))
        success = info["is_success"].astype(float)
    return np.abs(seen[:, 4] - seen[:, 0]), success


def train(seed: int) -> Array:
    """Weights found by moving a normal distribution towards the best of its draws."""
    rng = np.random.default_rng(seed)
    env = PushBlockVector(CANDIDATES * STARTS)
    mean, spread = np.zeros(FEATURES), np.ones(FEATURES)
    for k in range(ROUNDS):
        drawn = rng.normal(mean, spread, (CANDIDATES, FEATURES))
        away, _ = play(env, np.repeat(drawn, STARTS, axis=0), 1000 * seed + k, rng)
        score = np.exp(-away / 0.2).reshape(CANDIDATES, STARTS).mean(axis=1)
        best = drawn[np.argsort(score)[-ELITE:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.1 * (1 - k / ROUNDS) ** 2
    return mean


def main() -> None:
    seeds = [int(word) for word in sys.argv[1:]] or [1, 2, 3, 4, 5]
    for seed in seeds:
        begin = time.process_time()
        weights = train(seed)
        spent = time.process_time() - begin
        rng = np.random.default_rng(seed)
        told = []
        for friction, policy in ((0.4, weights), (0.4, None), (0.2, weights)):
            env = PushBlockVector(TESTS, friction=friction)
            told.append(play(env, policy, 500_000 + seed, rng)[1].mean())
        print(f"seed {seed}: success {told[0]:.3f}, by chance {told[1]:.3f}, with half the friction {told[2]:.3f}; {spent:.0f} s")


if __name__ == "__main__":
    main()
