//! The world as Python holds it: one at a time may use it; others are told so at once.
//!
//! Reads: arguments from Python.  Writes: the world.
//! Called by: users of the package.
//! Source: docs/python.md.

use crate::arrays::{pose, row, table, vector, wxyz};
use crate::errors::{Fault, raise, refused, unknown};
use crate::parts::{Articulation, Body, Contact, Event, Joint};
use crate::report::{Energy, Report};
use crate::shape::Shape;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, TryLockError};
use tippe::{BodyDesc, BodyKind, MassSpec, Method, Motion, ParamValue, Surface};
use tippe_render::{Look, Render};

/// Step of a world that no scene gave one [s].
const STEP: f64 = 0.001;
/// Steps after which Python is asked whether somebody wants to stop.
const STEPS_UNASKED: usize = 64;
/// Largest edge of a picture [px].
const PICTURE_MAX: usize = 8192;

/// Bodies, joints and articulations, and the time they have reached.
#[pyclass(module = "tippe", frozen)]
pub struct World(Mutex<Inner>);

/// What the lock keeps.
pub struct Inner {
    /// The world of the library.
    pub world: tippe::World,
    /// Length of a step unless told otherwise [s].
    pub dt: f64,
}

impl World {
    /// The world of a scene, as it begins.
    pub fn of_scene(scene: &tippe_scene::Scene) -> Self {
        Self::of(scene.world.clone(), scene.dt)
    }

    /// A world of the library.
    pub fn of(world: tippe::World, dt: f64) -> Self {
        Self(Mutex::new(Inner { world, dt }))
    }

    /// The world, if nobody else uses it.
    pub fn held(&self) -> Result<MutexGuard<'_, Inner>, Fault> {
        self.0.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => Fault::Busy,
            TryLockError::Poisoned(_) => Fault::Broken,
        })
    }

    /// The same with an exception.
    pub fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        self.held().map_err(|fault| fault.raise(py))
    }
}

/// A method of that name with its parameters.
fn chosen(py: Python<'_>, name: &str, params: Option<&Bound<'_, PyDict>>) -> PyResult<Method> {
    let Some(mut method) = Method::from_name(name) else {
        return Err(unknown(py, "method", name, tippe::METHOD_NAMES.into_iter()));
    };
    let table = method.params().table();
    for (key, value) in params.iter().flat_map(|p| p.iter()) {
        let key: String = key.extract()?;
        let Some(index) = table.index(&key) else {
            return Err(unknown(
                py,
                "parameter",
                &key,
                table.params.iter().map(|p| p.name),
            ));
        };
        let value = parameter(py, &key, table.params[index].kind, &value)?;
        method
            .params_mut()
            .set(&key, value)
            .map_err(|e| raise(py, e))?;
    }
    Ok(method)
}

/// A value of a parameter.
fn parameter(
    py: Python<'_>,
    name: &str,
    kind: tippe::method::ParamKind,
    value: &Bound<'_, PyAny>,
) -> PyResult<ParamValue> {
    use tippe::method::ParamKind as Kind;
    if value.is_none() {
        return Ok(ParamValue::None);
    }
    Ok(match kind {
        Kind::Switch => ParamValue::Switch(value.extract()?),
        Kind::Word(words) => {
            let word: String = value.extract()?;
            let Some(known) = words.iter().find(|w| **w == word) else {
                return Err(refused(
                    py,
                    name,
                    &format!("must be one of {words:?}, got {word:?}"),
                ));
            };
            ParamValue::Word(known)
        }
        Kind::Whole(_) => ParamValue::Whole(value.extract()?),
        Kind::Number => ParamValue::Number(value.extract()?),
    })
}

#[pymethods]
impl World {
    /// An empty world; `Scene.load(path).world()` has one with bodies in it.
    #[new]
    #[pyo3(signature = (method = "sequential", *, gravity = [0.0, 0.0, -9.81], dt = STEP, threads = 1, **params))]
    fn new(
        py: Python<'_>,
        method: &str,
        gravity: [f64; 3],
        dt: f64,
        threads: usize,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let method = chosen(py, method, params)?;
        let mut world = tippe::World::new(method).map_err(|e| raise(py, e))?;
        world
            .set_gravity(vector(gravity))
            .map_err(|e| raise(py, e))?;
        world.set_threads(threads).map_err(|e| raise(py, e))?;
        checked_step(py, dt)?;
        Ok(Self::of(world, dt))
    }

    /// Advances the world by `n` steps of `dt` [s] (the world's own if none is given) without holding up other threads. The report has counts and
    /// the worst values of all n; an error leaves the world where the last good step left it.
    #[pyo3(signature = (n = 1, dt = None))]
    fn step(&self, py: Python<'_>, n: usize, dt: Option<f64>) -> PyResult<Report> {
        if n == 0 {
            return Err(refused(py, "n", "must be at least 1"));
        }
        py.detach(|| self.advance(n, dt))
            .map_err(|fault| fault.raise(py))
    }

    /// Time [s].
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.world.time())
    }
    /// Steps taken.
    #[getter]
    fn step_count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.world.step_count())
    }
    /// Length of a step unless told otherwise [s].
    #[getter]
    fn dt(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.dt)
    }
    #[setter]
    fn set_dt(&self, py: Python<'_>, dt: f64) -> PyResult<()> {
        checked_step(py, dt)?;
        self.lock(py)?.dt = dt;
        Ok(())
    }
    /// Gravity [m/s²].
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(row(py, &self.lock(py)?.world.gravity().to_array()))
    }
    #[setter]
    fn set_gravity(&self, py: Python<'_>, gravity: [f64; 3]) -> PyResult<()> {
        self.lock(py)?
            .world
            .set_gravity(vector(gravity))
            .map_err(|e| raise(py, e))
    }
    /// Name of the method.
    #[getter]
    fn method(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.lock(py)?.world.method().name())
    }
    /// Chooses a method and its parameters.
    #[pyo3(signature = (name, **params))]
    fn set_method(
        &self,
        py: Python<'_>,
        name: &str,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let method = chosen(py, name, params)?;
        self.lock(py)?
            .world
            .set_method(method)
            .map_err(|e| raise(py, e))
    }
    /// Threads it may use; results do not depend on them.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.world.threads())
    }
    #[setter]
    fn set_threads(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.lock(py)?
            .world
            .set_threads(count)
            .map_err(|e| raise(py, e))
    }

    /// Friction and restitution of surfaces that say nothing else.
    #[pyo3(signature = (friction = 0.5, restitution = 0.0))]
    fn set_surface(&self, py: Python<'_>, friction: f64, restitution: f64) -> PyResult<()> {
        let surface = Surface::new(friction, restitution);
        self.lock(py)?
            .world
            .set_default_surface(surface)
            .map_err(|e| raise(py, e))
    }

    /// Adds a body of one shape: `kind` is "dynamic", "fixed" or "kinematic"; `rotation` is (w, x, y, z); without a mass it has the density of
    /// water.
    #[pyo3(signature = (shape, position = [0.0; 3], *, name = "", kind = "dynamic", rotation = [1.0, 0.0, 0.0, 0.0],
        velocity = [0.0; 3], angular_velocity = [0.0; 3], mass = None))]
    fn add_body(
        slf: Bound<'_, Self>,
        shape: Shape,
        position: [f64; 3],
        name: &str,
        kind: &str,
        rotation: [f64; 4],
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
        mass: Option<f64>,
    ) -> PyResult<Body> {
        let py = slf.py();
        let kind = match kind {
            "dynamic" => BodyKind::Dynamic,
            "fixed" => BodyKind::Fixed,
            "kinematic" => BodyKind::Kinematic(Motion::REST),
            other => {
                return Err(unknown(
                    py,
                    "kind",
                    other,
                    ["dynamic", "fixed", "kinematic"].into_iter(),
                ));
            }
        };
        let desc = BodyDesc {
            name: name.to_owned(),
            kind,
            pose: pose(py, position, rotation)?,
            velocity: vector(velocity),
            angular_velocity: vector(angular_velocity),
            mass: mass.map_or_else(MassSpec::default, MassSpec::Mass),
            shapes: vec![shape.0.into()],
            ..BodyDesc::default()
        };
        let added = slf.get().lock(py)?.world.add_body(&desc);
        let id = added.map_err(|e| raise(py, e))?;
        Ok(Body {
            world: slf.unbind(),
            id,
        })
    }

    /// The first body of a name.
    fn body(slf: Bound<'_, Self>, name: &str) -> PyResult<Body> {
        let py = slf.py();
        let id = {
            let inner = slf.get().lock(py)?;
            let names = inner.world.bodies().map(|(_, body, _)| body.name.as_str());
            inner
                .world
                .body_named(name)
                .ok_or_else(|| unknown(py, "body", name, names))?
        };
        Ok(Body {
            world: slf.unbind(),
            id,
        })
    }
    /// The first joint of a name.
    fn joint(slf: Bound<'_, Self>, name: &str) -> PyResult<Joint> {
        let py = slf.py();
        let id = {
            let inner = slf.get().lock(py)?;
            let ids = inner
                .world
                .joint_ids()
                .filter_map(|id| inner.world.joint(id).ok());
            let names: Vec<&str> = ids.map(|j| j.desc.name.as_str()).collect();
            inner
                .world
                .joint_named(name)
                .ok_or_else(|| unknown(py, "joint", name, names.into_iter()))?
        };
        Ok(Joint {
            world: slf.unbind(),
            id,
        })
    }
    /// The first articulation of a name.
    fn articulation(slf: Bound<'_, Self>, name: &str) -> PyResult<Articulation> {
        let py = slf.py();
        let id = {
            let inner = slf.get().lock(py)?;
            let ids = inner
                .world
                .articulation_ids()
                .filter_map(|id| inner.world.articulation(id).ok());
            let names: Vec<&str> = ids.map(|a| a.desc.name.as_str()).collect();
            inner
                .world
                .articulation_named(name)
                .ok_or_else(|| unknown(py, "articulation", name, names.into_iter()))?
        };
        Ok(Articulation {
            world: slf.unbind(),
            id,
        })
    }
    /// All bodies, in the order of the rows of arrays.
    #[getter]
    fn bodies(slf: Bound<'_, Self>) -> PyResult<Vec<Body>> {
        let py = slf.py();
        let ids: Vec<_> = slf.get().lock(py)?.world.body_ids().collect();
        Ok(ids
            .into_iter()
            .map(|id| Body {
                world: slf.clone().unbind(),
                id,
            })
            .collect())
    }
    /// Names of all bodies, in the order of the rows of arrays.
    #[getter]
    fn body_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self
            .lock(py)?
            .world
            .bodies()
            .map(|(_, body, _)| body.name.clone())
            .collect())
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.world.body_count())
    }

    /// Poses of the frames of all bodies, (n, 7): position, then (w, x, y, z).
    #[pyo3(signature = (out = None))]
    fn poses<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyArray2<f64>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.lock(py)?;
        let rows: Vec<[f64; 7]> = inner
            .world
            .bodies()
            .map(|(_, body, state)| {
                let frame = state.frame(body);
                let ([x, y, z], [w, i, j, k]) = (frame.position.to_array(), wxyz(frame.rotation));
                [x, y, z, w, i, j, k]
            })
            .collect();
        drop(inner);
        table(py, out, rows.into_iter())
    }
    /// Velocities of all bodies, (n, 6): of the centre of mass, then angular, in world axes.
    #[pyo3(signature = (out = None))]
    fn velocities<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyArray2<f64>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.lock(py)?;
        let rows: Vec<[f64; 6]> = inner
            .world
            .bodies()
            .map(|(_, _, state)| {
                let ([x, y, z], [a, b, c]) =
                    (state.velocity.to_array(), state.angular_velocity.to_array());
                [x, y, z, a, b, c]
            })
            .collect();
        drop(inner);
        table(py, out, rows.into_iter())
    }
    /// What the sensors of the scene read after the last step, one after the other; `sensor_names` says which.
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(row(py, self.lock(py)?.world.readings()))
    }
    /// Names of the numbers of `sensors`.
    #[getter]
    fn sensor_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.world.reading_names())
    }
    /// Contact points that carried an impulse in the last step.
    fn contacts(slf: Bound<'_, Self>) -> PyResult<Vec<Contact>> {
        let py = slf.py();
        let found = slf.get().lock(py)?.world.contacts().to_vec();
        Ok(found
            .into_iter()
            .map(|inner| Contact {
                world: slf.clone().unbind(),
                inner,
            })
            .collect())
    }
    /// What began, ended or hit in the last step.
    fn events(slf: Bound<'_, Self>) -> PyResult<Vec<Event>> {
        let py = slf.py();
        let found = slf.get().lock(py)?.world.events().to_vec();
        Ok(found
            .into_iter()
            .map(|inner| Event {
                world: slf.clone().unbind(),
                inner,
            })
            .collect())
    }
    /// Energies and all transfers since the start.
    #[getter]
    fn ledger(&self, py: Python<'_>) -> PyResult<Energy> {
        Ok(Energy(*self.lock(py)?.world.ledger()))
    }

    /// Aims the motor of a joint or link: at a speed where it holds one, else at a place.
    fn aim_motor(&self, py: Python<'_>, name: &str, target: f64) -> PyResult<()> {
        let world = &mut self.lock(py)?.world;
        let place = world.motor_named(name).map_err(|e| raise(py, e))?;
        world.aim_motor(place, target).map_err(|e| raise(py, e))
    }

    /// What a ray meets, nearest first, as (body, distance, point, normal).
    #[pyo3(signature = (origin, direction, length = 1e3))]
    fn ray(
        slf: Bound<'_, Self>,
        origin: [f64; 3],
        direction: [f64; 3],
        length: f64,
    ) -> PyResult<Vec<(Body, f64, [f64; 3], [f64; 3])>> {
        let py = slf.py();
        let hits = {
            let inner = slf.get().lock(py)?;
            let mut queries = inner.world.queries();
            queries
                .ray(
                    vector(origin),
                    vector(direction),
                    length,
                    &tippe::query::QueryFilter::default(),
                )
                .map_err(|e| raise(py, e))?
        };
        let told = |h: tippe::query::Hit| {
            let body = Body {
                world: slf.clone().unbind(),
                id: h.body,
            };
            (body, h.distance, h.point.to_array(), h.normal.to_array())
        };
        Ok(hits.into_iter().map(told).collect())
    }

    /// A picture of the world, (height, width, 3) of uint8.
    #[pyo3(signature = (width = 640, height = 400, *, contacts = false))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
        contacts: bool,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        if !(1..=PICTURE_MAX).contains(&width) || !(1..=PICTURE_MAX).contains(&height) {
            return Err(refused(
                py,
                "width, height",
                &format!("must be from 1 to {PICTURE_MAX}"),
            ));
        }
        let look = Look {
            size: (width, height),
            contacts,
            ..Look::default()
        };
        let drawn = py.detach(|| self.held().map(|inner| inner.world.render(&look)));
        let picture = drawn.map_err(|fault| fault.raise(py))?;
        let flat = PyArray1::from_vec(py, picture.bytes);
        flat.reshape([picture.height, picture.width, 3])
    }

    /// The whole world as bytes.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = self.lock(py)?;
        Ok(PyBytes::new(py, &inner.world.snapshot()))
    }
    /// The world of a snapshot.
    #[staticmethod]
    #[pyo3(signature = (snapshot, dt = STEP))]
    fn restore(py: Python<'_>, snapshot: &[u8], dt: f64) -> PyResult<Self> {
        checked_step(py, dt)?;
        let world = tippe::World::restore(snapshot).map_err(|e| raise(py, e))?;
        Ok(Self::of(world, dt))
    }
    /// A number that two worlds share only if their states have the same bits.
    #[pyo3(name = "hash")]
    fn state_hash(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.world.hash())
    }
    /// A world of its own in the same state.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let inner = self.lock(py)?;
        Ok(Self::of(inner.world.clone(), inner.dt))
    }
    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }
    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, f64))> {
        let py = slf.py();
        let this = slf.get();
        let dt = this.lock(py)?.dt;
        Ok((slf.get_type().getattr("restore")?, (this.snapshot(py)?, dt)))
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.lock(py)?;
        let world = &inner.world;
        Ok(format!(
            "<tippe.World of {} bodies at {:.6} s, {}>",
            world.body_count(),
            world.time(),
            world.method().name()
        ))
    }
}

impl World {
    /// Takes the steps; called without Python's lock.
    fn advance(&self, n: usize, dt: Option<f64>) -> Result<Report, Fault> {
        let mut inner = self.held()?;
        let dt = dt.unwrap_or(inner.dt);
        let first = inner.world.step(dt)?;
        let mut report = Report {
            inner: first,
            steps: 1,
            certified_steps: usize::from(first.certified()),
        };
        for i in 1..n {
            if i % STEPS_UNASKED == 0 {
                Python::attach(|py| py.check_signals()).map_err(Fault::Python)?;
            }
            let next = inner.world.step(dt)?;
            report.inner.append(&next);
            report.steps += 1;
            report.certified_steps += usize::from(next.certified());
        }
        Ok(report)
    }
}

/// Refuses a step that makes no sense.
fn checked_step(py: Python<'_>, dt: f64) -> PyResult<()> {
    if dt.is_finite() && dt > 0.0 {
        return Ok(());
    }
    Err(refused(
        py,
        "dt",
        &format!("must be positive and finite, got {dt}"),
    ))
}
