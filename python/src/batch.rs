//! Many worlds of one scene, each with values of its own.
//!
//! Reads: a scene.  Writes: its worlds; arrays that belong to NumPy.
//! Called by: users of the package.
//! Source: docs/python.md, "Batches".

use crate::arrays::{pose, wxyz};
use crate::errors::{Fault, raise, refused, scene_refused, unknown};
use crate::scene::{Scene, overrides};
use crate::world::World;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, TryLockError};
use tippe_scene::LoadOptions;

/// Most worlds of a batch.
const WORLDS_MAX: usize = 1 << 20;

/// Many worlds stepped together.
#[pyclass(module = "tippe", frozen)]
pub struct Batch {
    inner: Mutex<tippe::batch::Batch>,
    dt: f64,
    seed: u64,
}

impl Batch {
    fn held(&self) -> Result<MutexGuard<'_, tippe::batch::Batch>, Fault> {
        self.inner.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => Fault::Busy,
            TryLockError::Poisoned(_) => Fault::Broken,
        })
    }

    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, tippe::batch::Batch>> {
        self.held().map_err(|fault| fault.raise(py))
    }
}

/// The values of world `i`: each entry of `vary` is a list of one value a world, or a function of the world's seed.
fn values<'py>(
    py: Python<'py>,
    vary: Option<&Bound<'py, PyDict>>,
    (i, n, seed): (usize, usize, u64),
) -> PyResult<Bound<'py, PyDict>> {
    let chosen = PyDict::new(py);
    for (path, list) in vary.iter().flat_map(|v| v.iter()) {
        let value = if list.is_callable() {
            list.call1((tippe::batch::stream(seed, i as u64),))?
        } else {
            let length = list.len()?;
            if length != n {
                let reason =
                    format!("must have one value for each of the {n} worlds, has {length}");
                return Err(refused(py, &path.to_string(), &reason));
            }
            list.get_item(i)?
        };
        chosen.set_item(path, value)?;
    }
    Ok(chosen)
}

/// The articulation of a name.
fn articulation(
    py: Python<'_>,
    world: &tippe::World,
    name: &str,
) -> PyResult<tippe::ArticulationId> {
    let trees = world
        .articulation_ids()
        .filter_map(|id| world.articulation(id).ok());
    let found = world.articulation_named(name);
    found.ok_or_else(|| {
        unknown(
            py,
            "articulation",
            name,
            trees.map(|a| a.desc.name.as_str()),
        )
    })
}

/// The body of a name.
fn body_of(py: Python<'_>, world: &tippe::World, name: &str) -> PyResult<tippe::BodyId> {
    let names = world.bodies().map(|(_, body, _)| body.name.as_str());
    world
        .body_named(name)
        .ok_or_else(|| unknown(py, "body", name, names))
}

/// The worlds that so many rows are for: those of the given numbers, or all `count`.
fn chosen(
    py: Python<'_>,
    worlds: Option<Vec<usize>>,
    rows: usize,
    count: usize,
) -> PyResult<Vec<usize>> {
    let worlds = worlds.unwrap_or_else(|| (0..count).collect());
    if rows != worlds.len() {
        let reason = format!(
            "must have a row for each of the {} worlds, there are {rows}",
            worlds.len()
        );
        return Err(refused(py, "rows", &reason));
    }
    match worlds.iter().find(|i| **i >= count) {
        Some(i) => Err(refused(
            py,
            "worlds",
            &format!("there are {count} worlds, got {i}"),
        )),
        None => Ok(worlds),
    }
}

#[pymethods]
impl Batch {
    /// `n` worlds of a scene. `vary` gives values by path, `{"body.block.mass": [1, 2, 3]}`: a list with one value a world, or a function that gets
    /// the seed of the world, a number that depends on `seed` and on which world it is alone.
    #[new]
    #[pyo3(signature = (scene, n, *, vary = None, seed = 0, threads = 1))]
    fn new(
        py: Python<'_>,
        scene: &Bound<'_, Scene>,
        n: usize,
        vary: Option<&Bound<'_, PyDict>>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        if n == 0 || n > WORLDS_MAX {
            return Err(refused(
                py,
                "n",
                &format!("must be from 1 to {WORLDS_MAX}, got {n}"),
            ));
        }
        let scene = scene.get();
        let varied = vary.is_some_and(|v| !v.is_empty());
        let mut worlds = Vec::new();
        for i in 0..n {
            if !varied {
                worlds.push(scene.scene.world.clone());
                continue;
            }
            let mut options = LoadOptions {
                set: scene.options.set.clone(),
                ..scene.options.clone()
            };
            options
                .set
                .extend(overrides(py, Some(&values(py, vary, (i, n, seed))?))?);
            let loaded = scene
                .origin
                .load(&options)
                .map_err(|found| scene_refused(py, found))?;
            worlds.push(loaded.world);
            py.check_signals()?;
        }
        let inner = tippe::batch::Batch::new(worlds, threads).map_err(|e| raise(py, e))?;
        Ok(Self {
            inner: Mutex::new(inner),
            dt: scene.scene.dt,
            seed,
        })
    }

    /// Advances every world by `n` steps of `dt` [s], the scene's own if none is given. An exception names the first world that stopped; the others
    /// have gone on.
    #[pyo3(signature = (n = 1, dt = None))]
    fn step(&self, py: Python<'_>, n: usize, dt: Option<f64>) -> PyResult<()> {
        if n == 0 {
            return Err(refused(py, "n", "must be at least 1"));
        }
        let dt = dt.unwrap_or(self.dt);
        let stopped = py.detach(|| {
            let mut inner = self.held()?;
            inner.step(dt, n);
            let first = inner
                .outcomes()
                .iter()
                .enumerate()
                .find_map(|(i, o)| Some((i, o.clone().err()?)));
            Ok::<_, Fault>(first)
        });
        match stopped.map_err(|fault| fault.raise(py))? {
            None => Ok(()),
            Some((i, error)) => {
                let raised = raise(py, error);
                raised.value(py).setattr("world", i)?;
                Err(raised)
            }
        }
    }

    /// Puts worlds back to their start: all of them, or those of the given numbers.
    #[pyo3(signature = (worlds = None))]
    fn reset(&self, py: Python<'_>, worlds: Option<Vec<usize>>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let all = 0..inner.worlds().len();
        for i in worlds.unwrap_or_else(|| all.collect()) {
            inner.reset(i).map_err(|e| raise(py, e))?;
        }
        Ok(())
    }

    /// Runs `change(world)` on a world of the batch as a world of its own, and takes it back as it is then.
    fn edit(&self, py: Python<'_>, index: usize, change: &Bound<'_, PyAny>) -> PyResult<()> {
        let taken = {
            let inner = self.lock(py)?;
            let Some(world) = inner.worlds().get(index) else {
                return Err(refused(
                    py,
                    "index",
                    &format!("there are {} worlds, got {index}", inner.worlds().len()),
                ));
            };
            Py::new(py, World::of(world.clone(), self.dt))?
        };
        change.call1((taken.clone_ref(py),))?;
        let mut changed = taken.get().lock(py)?.world.clone();
        changed.set_threads(1).map_err(|e| raise(py, e))?;
        self.lock(py)?.worlds_mut()[index] = changed;
        Ok(())
    }

    /// Aims a motor in every world, one target a world.
    fn aim_motor(&self, py: Python<'_>, name: &str, targets: Vec<f64>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let count = inner.worlds().len();
        if targets.len() != count {
            return Err(refused(
                py,
                "targets",
                &format!("must have {count} numbers, has {}", targets.len()),
            ));
        }
        for (world, target) in inner.worlds_mut().iter_mut().zip(targets) {
            let place = world.motor_named(name).map_err(|e| raise(py, e))?;
            world.aim_motor(place, target).map_err(|e| raise(py, e))?;
        }
        Ok(())
    }

    /// A force [N] on a body of every world during the next step, (n, 3), at its centre of mass.
    fn apply_force(&self, py: Python<'_>, body: &str, forces: Vec<[f64; 3]>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let count = inner.worlds().len();
        if forces.len() != count {
            return Err(refused(
                py,
                "forces",
                &format!("must have {count} rows, has {}", forces.len()),
            ));
        }
        for (world, force) in inner.worlds_mut().iter_mut().zip(forces) {
            let id = body_of(py, world, body)?;
            let centre = world.body_state(id).map_err(|e| raise(py, e))?.position;
            world
                .apply_force(id, crate::arrays::vector(force), centre)
                .map_err(|e| raise(py, e))?;
        }
        Ok(())
    }

    /// Readings of the sensors of all worlds, (n, readings).
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.lock(py)?;
        let width = inner
            .worlds()
            .iter()
            .map(|w| w.readings().len())
            .max()
            .unwrap_or(0);
        let mut flat = Vec::with_capacity(width * inner.worlds().len());
        for world in inner.worlds() {
            if world.readings().len() != width {
                return Err(refused(py, "sensors", "the worlds have different sensors"));
            }
            flat.extend_from_slice(world.readings());
        }
        PyArray1::from_vec(py, flat).reshape([inner.worlds().len(), width])
    }

    /// Poses of the bodies of all worlds, (n, bodies, 7): position, then (w, x, y, z).
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let inner = self.lock(py)?;
        let bodies = inner.worlds().first().map_or(0, tippe::World::body_count);
        let mut flat = Vec::with_capacity(7 * bodies * inner.worlds().len());
        for world in inner.worlds() {
            if world.body_count() != bodies {
                return Err(refused(
                    py,
                    "poses",
                    "the worlds have different numbers of bodies",
                ));
            }
            for (_, body, state) in world.bodies() {
                let frame = state.frame(body);
                flat.extend(frame.position.to_array());
                flat.extend(wxyz(frame.rotation));
            }
        }
        PyArray1::from_vec(py, flat).reshape([inner.worlds().len(), bodies, 7])
    }

    /// Velocities of the bodies of all worlds, (n, bodies, 6): of the centre of mass and angular, in world axes.
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let inner = self.lock(py)?;
        let bodies = inner.worlds().first().map_or(0, tippe::World::body_count);
        let mut flat = Vec::with_capacity(6 * bodies * inner.worlds().len());
        for world in inner.worlds() {
            if world.body_count() != bodies {
                let reason = "the worlds have different numbers of bodies";
                return Err(refused(py, "velocities", reason));
            }
            for (_, _, state) in world.bodies() {
                flat.extend(state.velocity.to_array());
                flat.extend(state.angular_velocity.to_array());
            }
        }
        PyArray1::from_vec(py, flat).reshape([inner.worlds().len(), bodies, 6])
    }

    /// Puts a body of the given worlds, of all if none are given, elsewhere: one row (x, y, z, w, x, y, z) a world. Velocities stay.
    #[pyo3(signature = (body, poses, worlds = None))]
    fn set_poses(
        &self,
        py: Python<'_>,
        body: &str,
        poses: Vec<[f64; 7]>,
        worlds: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let frames = poses
            .into_iter()
            .map(|[x, y, z, a, b, c, d]| pose(py, [x, y, z], [a, b, c, d]))
            .collect::<PyResult<Vec<_>>>()?;
        let mut inner = self.lock(py)?;
        let chosen = chosen(py, worlds, frames.len(), inner.worlds().len())?;
        for (i, frame) in chosen.into_iter().zip(frames) {
            let world = &mut inner.worlds_mut()[i];
            let id = body_of(py, world, body)?;
            world.set_pose(id, frame).map_err(|e| raise(py, e))?;
        }
        Ok(())
    }

    /// Positions and velocities of an articulation of all worlds, (n, positions) and (n, velocities); quaternions are (w, x, y, z).
    fn articulation_states<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let inner = self.lock(py)?;
        let count = inner.worlds().len();
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        for world in inner.worlds() {
            let id = articulation(py, world, name)?;
            let tree = world.articulation(id).map_err(|e| raise(py, e))?;
            let state = world.articulation_state(id).map_err(|e| raise(py, e))?;
            let order = tippe_scene::written_order(tree);
            positions.extend(order.into_iter().map(|k| state.positions[k]));
            velocities.extend_from_slice(&state.velocities);
        }
        let shape = |values: &Vec<f64>| [count, values.len() / count];
        let (q, v) = (shape(&positions), shape(&velocities));
        Ok((
            PyArray1::from_vec(py, positions).reshape(q)?,
            PyArray1::from_vec(py, velocities).reshape(v)?,
        ))
    }

    /// Puts an articulation of the given worlds, of all if none are given, into other states, one row a world.
    #[pyo3(signature = (name, positions, velocities, worlds = None))]
    fn set_articulation_states(
        &self,
        py: Python<'_>,
        name: &str,
        positions: Vec<Vec<f64>>,
        velocities: Vec<Vec<f64>>,
        worlds: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let worlds = chosen(py, worlds, positions.len(), inner.worlds().len())?;
        if velocities.len() != worlds.len() {
            let reason = format!("must have a row for each of the {} worlds", worlds.len());
            return Err(refused(py, "velocities", &reason));
        }
        for ((i, positions), velocities) in worlds.into_iter().zip(positions).zip(velocities) {
            let world = &mut inner.worlds_mut()[i];
            let id = articulation(py, world, name)?;
            let tree = world.articulation(id).map_err(|e| raise(py, e))?;
            let state = crate::parts::stored_state(py, tree, positions, velocities)?;
            world
                .set_articulation_state(id, &state)
                .map_err(|e| raise(py, e))?;
        }
        Ok(())
    }

    /// Hashes of all worlds.
    fn hashes(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self
            .lock(py)?
            .worlds()
            .iter()
            .map(tippe::World::hash)
            .collect())
    }
    /// Whether every step of the last call was certified as far as its worst values tell, a value a world.
    fn certified(&self, py: Python<'_>) -> PyResult<Vec<bool>> {
        let inner = self.lock(py)?;
        Ok(inner
            .outcomes()
            .iter()
            .map(|o| o.as_ref().is_ok_and(tippe::StepReport::certified))
            .collect())
    }
    /// A copy of a world of the batch.
    fn world(&self, py: Python<'_>, index: usize) -> PyResult<World> {
        let inner = self.lock(py)?;
        let Some(world) = inner.worlds().get(index) else {
            return Err(refused(
                py,
                "index",
                &format!("there are {} worlds, got {index}", inner.worlds().len()),
            ));
        };
        Ok(World::of(world.clone(), self.dt))
    }
    /// The seed of a world.
    const fn seed_of(&self, index: u64) -> u64 {
        tippe::batch::stream(self.seed, index)
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.worlds().len())
    }
}
