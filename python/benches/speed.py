"""What a step costs from Python and in batches, beside the same in Rust and MuJoCo's rollout.

    cargo build --release -p tippe-scene --example batch_speed
    pip install ./python mujoco
    python python/benches/speed.py target/release/examples/batch_speed [WORLDS [STEPS]]

Lines: an empty world's step in Python less the same loop in Rust (median of 10^6 calls); a batch in Python over the same in Rust; two threads over
two processes of one thread each; steps of worlds a second on one thread for the box (G1) and the arm (G2). Times of one thread are of the processor.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import tippe

BOX = """
version = 1
[method]
dt = 0.002
[[material]]
name = "default"
friction = 0.6
[[body]]
name = "floor"
kind = "fixed"
position = [0, 0, -0.5]
shape.box = { size = [10, 10, 1] }
[[body]]
name = "cube"
position = [0, 0, 0.7]
rotation = [0.9987502603949663, 0.04997916927067833, 0, 0]
density = 1000
shape.box = { size = [1, 1, 1] }
"""


def arm() -> str:
    """Seven links straight along x on hinges that turn about y and z in turn, over a table."""
    text = """
version = 1
[method]
dt = 0.002
[[material]]
name = "default"
friction = 0.6
[[body]]
name = "table"
kind = "fixed"
position = [0, 0, -0.5]
shape.box = { size = [10, 10, 1] }
[[articulation]]
name = "arm"
position = [0, 0, 0.6]
"""
    path = "articulation"
    for i in range(7):
        path += ".link"
        axis = [0, -1, 0] if i % 2 == 0 else [0, 0, 1]
        at = [0.3, 0, 0] if i else [0, 0, 0]
        text += f"[[{path}]]\nname = \"l{i}\"\naxis = {axis}\nposition = {at}\nmass = 1\ncollision = {{ groups = [1], mask = [0] }}\n"
        text += "shapes = [{ box = { size = [0.3, 0.06, 0.06] }, position = [0.15, 0, 0] }]\n"
    return text


def mujoco_model(which: str) -> str:
    """The same scene for MuJoCo."""
    head = '<mujoco><option timestep="0.002"/><worldbody>'
    floor = '<geom type="box" size="5 5 0.5" pos="0 0 -0.5" friction="0.6 0 0" contype="1" conaffinity="2"/>'
    kind = 'contype="2" conaffinity="1" friction="0.6 0 0"'
    if which == "box":
        quat = "0.9987502603949663 0.04997916927067833 0 0"
        body = f'<body pos="0 0 0.7" quat="{quat}"><freejoint/><geom type="box" size="0.5 0.5 0.5" density="1000" {kind}/></body>'
        return f"{head}{floor}{body}</worldbody></mujoco>"
    body = ""
    for i in reversed(range(7)):
        axis = "0 -1 0" if i % 2 == 0 else "0 0 1"
        at = "0.3 0 0" if i else "0 0 0.6"
        geom = f'<geom type="box" size="0.15 0.03 0.03" pos="0.15 0 0" mass="1" {kind}/>'
        body = f'<body pos="{at}"><joint type="hinge" axis="{axis}"/>{geom}{body}</body>'
    return f"{head}{floor}{body}</worldbody></mujoco>"


def rust(program: str, *arguments: object) -> float:
    return float(subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout)


def empty_step(count: int) -> float:
    """Median cost of a step of an empty world [s]."""
    world = tippe.World()
    step, clock = world.step, time.perf_counter_ns
    times = np.empty(count, dtype=np.int64)
    for i in range(count):
        begin = clock()
        step()
        times[i] = clock() - begin
    idle = np.empty(10_000, dtype=np.int64)
    for i in range(len(idle)):
        begin = clock()
        idle[i] = clock() - begin
    return 1e-9 * float(np.median(times) - np.median(idle))


def batch(text: str, worlds: int, steps: int, threads: int) -> tuple[float, float]:
    """Processor and wall time of a batch [s]."""
    made = tippe.Batch(tippe.Scene.parse(text), worlds, threads=threads)
    cpu, wall = time.process_time(), time.perf_counter()
    made.step(steps)
    return time.process_time() - cpu, time.perf_counter() - wall


def rollout(which: str, worlds: int, steps: int) -> float | None:
    """Processor time of MuJoCo's rollout on one thread [s]."""
    try:
        import mujoco
        from mujoco import rollout as run
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_string(mujoco_model(which))
    data = mujoco.MjData(model)
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    begin = time.process_time()
    run.rollout(model, data, np.tile(state, (worlds, 1)), nstep=steps)
    return time.process_time() - begin


def two_processes(program: str, file: str, worlds: int, steps: int) -> float:
    """Wall time of two batches of half the worlds in two processes [s], as each of them measures it."""
    command = [program, file, str(worlds // 2), str(steps), "1", "wall"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return max(float(process.communicate()[0]) for process in running)


def main() -> None:
    program = sys.argv[1]
    worlds, steps = (int(word) for word in (sys.argv[2:] + ["1024", "500"][len(sys.argv) - 2 :]))
    python, own = empty_step(1_000_000), rust(program, "empty", 1_000_000)
    print(f"empty world: a step {1e6 * python:.2f} us in Python, {1e6 * own:.2f} us in Rust, {1e6 * (python - own):.2f} us more")
    for which, text in (("box", BOX), ("arm", arm())):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "scene.toml"
            file.write_text(text)
            own = min(rust(program, file, worlds, steps, 1, "cpu") for _ in range(3))
            processes = two_processes(program, str(file), worlds, steps)
        cpu = min(batch(text, worlds, steps, 1)[0] for _ in range(3))
        wall = min(batch(text, worlds, steps, 2)[1] for _ in range(3))
        other = rollout(which, worlds, steps)
        total = worlds * steps
        beside = "MuJoCo is not installed" if other is None else f"MuJoCo {total / other:,.0f}"
        print(f"{which}: {total / cpu:,.0f} steps of worlds a second in Python, {total / own:,.0f} in Rust (time {cpu / own:.3f} of it); {beside}")
        print(f"{which}: two threads are {processes / wall:.2f} times as fast as two processes ({os.cpu_count()} processors)")


if __name__ == "__main__":
    main()
