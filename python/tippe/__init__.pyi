from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

_F = NDArray[np.float64]

class Error(Exception):
    field: str
    reason: str
    place: str
    message: str
    def __init__(self, field: str = ..., reason: str = ..., place: str = ...) -> None: ...

class BuildError(Error, ValueError): ...
class StepError(Error, RuntimeError): ...
class SnapshotError(Error, ValueError): ...
class UnknownId(Error, KeyError): ...
class SceneError(Error, ValueError): ...
class RobotError(Error, RuntimeError): ...
class BusyError(Error, RuntimeError): ...

class Shape:
    @staticmethod
    def sphere(radius: float) -> Shape: ...
    @staticmethod
    def box(half: ArrayLike) -> Shape: ...
    @staticmethod
    def capsule(half_length: float, radius: float) -> Shape: ...
    @staticmethod
    def cylinder(half_length: float, radius: float) -> Shape: ...
    @staticmethod
    def cone(half_length: float, radius: float) -> Shape: ...
    @staticmethod
    def hull(points: ArrayLike) -> Shape: ...
    @staticmethod
    def half_space(normal: ArrayLike = ...) -> Shape: ...

class Energy:
    kinetic: float
    potential: float
    elastic: float
    gravity: float
    external: float
    motors: float
    prescribed: float
    elastic_work: float
    friction: float
    restitution: float
    drag: float
    joint_friction: float
    contact_damping: float
    shock: float
    numerical_damping: float
    gained: float
    position_correction: float
    unexplained: float
    def as_dict(self) -> dict[str, float]: ...

class Residuals:
    complementarity: float
    friction_cone: float
    stick_slip: float
    joint_position: float
    joint_velocity: float
    def as_dict(self) -> dict[str, float]: ...

class Report:
    time: float
    dt: float
    steps: int
    certified_steps: int
    certified: bool
    missed: list[str]
    contacts: int
    collisions: int
    penetration: float
    penetration_found: float
    residuals: Residuals
    energy: Energy
    energy_scale: float
    caps_open: int
    momentum: _F
    angular_momentum: _F

class Body:
    name: str
    kind: Literal["fixed", "kinematic", "dynamic", "link"]
    mass: float
    position: _F
    rotation: _F
    velocity: _F
    angular_velocity: _F
    def set_pose(self, position: ArrayLike, rotation: ArrayLike = ...) -> None: ...
    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike = ...) -> None: ...
    def apply_force(self, force: ArrayLike, point: ArrayLike | None = None) -> None: ...
    def apply_torque(self, torque: ArrayLike) -> None: ...
    def apply_impulse(self, impulse: ArrayLike, point: ArrayLike | None = None) -> None: ...
    def steer(self, velocity: ArrayLike, angular_velocity: ArrayLike = ...) -> None: ...
    def remove(self) -> None: ...

class Joint:
    name: str
    positions: _F
    rates: _F

class Articulation:
    positions: _F
    velocities: _F
    links: list[Body]
    def set_state(self, positions: ArrayLike, velocities: ArrayLike) -> None: ...
    def mass_matrix(self) -> _F: ...

class Contact:
    body_a: Body
    body_b: Body
    point: _F
    normal: _F
    force: _F
    impulse: _F
    gap: float
    sliding: bool

class Event:
    kind: Literal["begin", "end", "impact", "sensor_begin", "sensor_end", "joint_break"]
    time: float
    speed: float
    body_a: Body
    body_b: Body

class World:
    dt: float
    gravity: _F
    threads: int
    @property
    def time(self) -> float: ...
    @property
    def step_count(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def bodies(self) -> list[Body]: ...
    @property
    def body_names(self) -> list[str]: ...
    @property
    def sensor_names(self) -> list[str]: ...
    @property
    def ledger(self) -> Energy: ...
    def __init__(
        self, method: str = "sequential", *, gravity: ArrayLike = ..., dt: float = 0.001, threads: int = 1, **params: Any
    ) -> None: ...
    def __len__(self) -> int: ...
    def __copy__(self) -> World: ...
    def __deepcopy__(self, memo: Any) -> World: ...
    def step(self, n: int = 1, dt: float | None = None) -> Report: ...
    def set_method(self, name: str, **params: Any) -> None: ...
    def set_surface(self, friction: float = 0.5, restitution: float = 0.0) -> None: ...
    def add_body(
        self,
        shape: Shape,
        position: ArrayLike = ...,
        *,
        name: str = "",
        kind: Literal["dynamic", "fixed", "kinematic"] = "dynamic",
        rotation: ArrayLike = ...,
        velocity: ArrayLike = ...,
        angular_velocity: ArrayLike = ...,
        mass: float | None = None,
    ) -> Body: ...
    def body(self, name: str) -> Body: ...
    def joint(self, name: str) -> Joint: ...
    def articulation(self, name: str) -> Articulation: ...
    def poses(self, out: _F | None = None) -> _F: ...
    def velocities(self, out: _F | None = None) -> _F: ...
    def sensors(self) -> _F: ...
    def contacts(self) -> list[Contact]: ...
    def events(self) -> list[Event]: ...
    def aim_motor(self, name: str, target: float) -> None: ...
    def ray(
        self, origin: ArrayLike, direction: ArrayLike, length: float = 1e3
    ) -> list[tuple[Body, float, list[float], list[float]]]: ...
    def render(self, width: int = 640, height: int = 400, *, contacts: bool = False) -> NDArray[np.uint8]: ...
    def snapshot(self) -> bytes: ...
    @staticmethod
    def restore(snapshot: bytes, dt: float = 0.001) -> World: ...
    def hash(self) -> int: ...
    def copy(self) -> World: ...

class Scene:
    name: str
    description: str
    dt: float
    seconds: float
    warnings: list[str]
    @staticmethod
    def load(
        path: str | PathLike[str], *, set: Mapping[str, Any] | None = None, method: str | None = None, dt: float | None = None
    ) -> Scene: ...
    @staticmethod
    def parse(
        text: str,
        *,
        format: Literal["toml", "json"] = "toml",
        set: Mapping[str, Any] | None = None,
        method: str | None = None,
        dt: float | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> Scene: ...
    def world(self) -> World: ...

class Batch:
    def __init__(
        self,
        scene: Scene,
        n: int,
        *,
        vary: Mapping[str, Sequence[Any] | NDArray[Any] | Callable[[int], Any]] | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> None: ...
    def __len__(self) -> int: ...
    def step(self, n: int = 1, dt: float | None = None) -> None: ...
    def reset(self, worlds: Sequence[int] | None = None) -> None: ...
    def edit(self, index: int, change: Callable[[World], Any]) -> None: ...
    def aim_motor(self, name: str, targets: ArrayLike) -> None: ...
    def apply_force(self, body: str, forces: ArrayLike) -> None: ...
    def sensors(self) -> _F: ...
    def poses(self) -> _F: ...
    def hashes(self) -> list[int]: ...
    def certified(self) -> list[bool]: ...
    def world(self, index: int) -> World: ...
    def seed_of(self, index: int) -> int: ...

def impact(
    K: ArrayLike,
    u: ArrayLike,
    *,
    normal: ArrayLike = ...,
    friction: float = 0.0,
    restitution: float = 0.0,
    law: Literal["stronge", "poisson", "newton"] = "stronge",
) -> dict[str, Any]: ...
