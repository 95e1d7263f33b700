//! Bodies, joints and articulations of a world, contacts and events: handles that name a part and ask its world.
//!
//! Reads: the world.  Writes: the world.
//! Called by: users of the package.
//! Source: docs/python.md.

use crate::arrays::{pose, row, vector, wxyz};
use crate::errors::{raise, refused};
use crate::world::World;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use tippe::{
    ArticulationId, ArticulationState, BodyId, BodyKind, ContactForce, EventKind, JointId,
};

/// A body of a world.
#[pyclass(module = "tippe", frozen)]
pub struct Body {
    pub(crate) world: Py<World>,
    pub(crate) id: BodyId,
}

#[pymethods]
impl Body {
    /// Name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.world.get().lock(py)?;
        inner
            .world
            .body(self.id)
            .map(|b| b.name.clone())
            .map_err(|e| raise(py, e))
    }
    /// "fixed", "kinematic", "dynamic" or "link".
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<&'static str> {
        let inner = self.world.get().lock(py)?;
        let body = inner.world.body(self.id).map_err(|e| raise(py, e))?;
        Ok(match body.kind {
            BodyKind::Fixed => "fixed",
            BodyKind::Kinematic(_) => "kinematic",
            BodyKind::Dynamic => "dynamic",
            BodyKind::Link { .. } => "link",
        })
    }
    /// Mass [kg]; 0 for what nothing moves.
    #[getter]
    fn mass(&self, py: Python<'_>) -> PyResult<f64> {
        let inner = self.world.get().lock(py)?;
        inner
            .world
            .body(self.id)
            .map(|b| b.mass)
            .map_err(|e| raise(py, e))
    }
    /// Position of its frame [m].
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let frame = inner.world.pose(self.id).map_err(|e| raise(py, e))?;
        Ok(row(py, &frame.position.to_array()))
    }
    /// Rotation of its frame, (w, x, y, z).
    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let frame = inner.world.pose(self.id).map_err(|e| raise(py, e))?;
        Ok(row(py, &wxyz(frame.rotation)))
    }
    /// Velocity of its centre of mass [m/s].
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let state = inner.world.body_state(self.id).map_err(|e| raise(py, e))?;
        Ok(row(py, &state.velocity.to_array()))
    }
    /// Angular velocity, world axes [rad/s].
    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let state = inner.world.body_state(self.id).map_err(|e| raise(py, e))?;
        Ok(row(py, &state.angular_velocity.to_array()))
    }
    /// Puts its frame elsewhere.
    #[pyo3(signature = (position, rotation = [1.0, 0.0, 0.0, 0.0]))]
    fn set_pose(&self, py: Python<'_>, position: [f64; 3], rotation: [f64; 4]) -> PyResult<()> {
        let pose = pose(py, position, rotation)?;
        self.world
            .get()
            .lock(py)?
            .world
            .set_pose(self.id, pose)
            .map_err(|e| raise(py, e))
    }
    /// Gives it another velocity.
    #[pyo3(signature = (velocity, angular_velocity = [0.0; 3]))]
    fn set_velocity(
        &self,
        py: Python<'_>,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
    ) -> PyResult<()> {
        let (v, w) = (vector(velocity), vector(angular_velocity));
        self.world
            .get()
            .lock(py)?
            .world
            .set_velocity(self.id, v, w)
            .map_err(|e| raise(py, e))
    }
    /// A force [N] during the next step, at a point of the world or at the centre of mass.
    #[pyo3(signature = (force, point = None))]
    fn apply_force(
        &self,
        py: Python<'_>,
        force: [f64; 3],
        point: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let world = &mut self.world.get().lock(py)?.world;
        let centre = world
            .body_state(self.id)
            .map_err(|e| raise(py, e))?
            .position;
        world
            .apply_force(self.id, vector(force), point.map_or(centre, vector))
            .map_err(|e| raise(py, e))
    }
    /// A torque [N·m] during the next step.
    fn apply_torque(&self, py: Python<'_>, torque: [f64; 3]) -> PyResult<()> {
        self.world
            .get()
            .lock(py)?
            .world
            .apply_torque(self.id, vector(torque))
            .map_err(|e| raise(py, e))
    }
    /// An impulse [N·s] at once, at a point of the world or at the centre of mass.
    #[pyo3(signature = (impulse, point = None))]
    fn apply_impulse(
        &self,
        py: Python<'_>,
        impulse: [f64; 3],
        point: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let world = &mut self.world.get().lock(py)?.world;
        let centre = world
            .body_state(self.id)
            .map_err(|e| raise(py, e))?
            .position;
        world
            .apply_impulse(self.id, vector(impulse), point.map_or(centre, vector))
            .map_err(|e| raise(py, e))
    }
    /// Steers a kinematic body: it moves so until it is steered again.
    #[pyo3(signature = (velocity, angular_velocity = [0.0; 3]))]
    fn steer(
        &self,
        py: Python<'_>,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
    ) -> PyResult<()> {
        let (v, w) = (vector(velocity), vector(angular_velocity));
        self.world
            .get()
            .lock(py)?
            .world
            .steer(self.id, v, w)
            .map_err(|e| raise(py, e))
    }
    /// Removes it from its world.
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        self.world
            .get()
            .lock(py)?
            .world
            .remove_body(self.id)
            .map_err(|e| raise(py, e))
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |o: &Bound<'_, Self>| o.get().world.is(&self.world) && o.get().id == self.id;
        other.cast::<Self>().is_ok_and(same)
    }
    fn __hash__(&self) -> u64 {
        (self.world.as_ptr() as u64) ^ ((self.id.index() as u64) << 1)
    }
    fn __repr__(&self, py: Python<'_>) -> String {
        self.name(py).map_or_else(
            |_| "<tippe.Body, removed>".into(),
            |n| format!("<tippe.Body {n:?}>"),
        )
    }
}

/// A joint of a world.
#[pyclass(module = "tippe", frozen)]
pub struct Joint {
    pub(crate) world: Py<World>,
    pub(crate) id: JointId,
}

#[pymethods]
impl Joint {
    /// Name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.world.get().lock(py)?;
        inner
            .world
            .joint(self.id)
            .map(|j| j.desc.name.clone())
            .map_err(|e| raise(py, e))
    }
    /// Angles [rad] and displacements [m] of its free motions.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        inner
            .world
            .joint_positions(self.id)
            .map(|v| row(py, &v))
            .map_err(|e| raise(py, e))
    }
    /// Their rates.
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        inner
            .world
            .joint_rates(self.id)
            .map(|v| row(py, &v))
            .map_err(|e| raise(py, e))
    }
    fn __repr__(&self, py: Python<'_>) -> String {
        self.name(py).map_or_else(
            |_| "<tippe.Joint, removed>".into(),
            |n| format!("<tippe.Joint {n:?}>"),
        )
    }
}

/// An articulated body of a world. Quaternions among its positions are (w, x, y, z).
#[pyclass(module = "tippe", frozen)]
pub struct Articulation {
    pub(crate) world: Py<World>,
    pub(crate) id: ArticulationId,
}

#[pymethods]
impl Articulation {
    /// Positions of its joints.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let tree = inner
            .world
            .articulation(self.id)
            .map_err(|e| raise(py, e))?;
        let state = inner
            .world
            .articulation_state(self.id)
            .map_err(|e| raise(py, e))?;
        let values: Vec<f64> = tippe_scene::written_order(tree)
            .into_iter()
            .map(|k| state.positions[k])
            .collect();
        Ok(row(py, &values))
    }
    /// Velocities of its joints.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.world.get().lock(py)?;
        let state = inner
            .world
            .articulation_state(self.id)
            .map_err(|e| raise(py, e))?;
        Ok(row(py, &state.velocities))
    }
    /// Puts it into another state.
    fn set_state(&self, py: Python<'_>, positions: Vec<f64>, velocities: Vec<f64>) -> PyResult<()> {
        let world = &mut self.world.get().lock(py)?.world;
        let tree = world.articulation(self.id).map_err(|e| raise(py, e))?;
        let state = stored_state(py, tree, positions, velocities)?;
        world
            .set_articulation_state(self.id, &state)
            .map_err(|e| raise(py, e))
    }
    /// Its mass matrix, (n, n).
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.world.get().lock(py)?;
        let values = inner.world.mass_matrix(self.id).map_err(|e| raise(py, e))?;
        let n = inner
            .world
            .articulation_state(self.id)
            .map_err(|e| raise(py, e))?
            .velocities
            .len();
        PyArray1::from_vec(py, values).reshape([n, n])
    }
    /// The body of each link.
    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Vec<Body>> {
        let inner = self.world.get().lock(py)?;
        let ids = inner.world.link_bodies(self.id).map_err(|e| raise(py, e))?;
        Ok(ids
            .into_iter()
            .map(|id| Body {
                world: self.world.clone_ref(py),
                id,
            })
            .collect())
    }
}

/// A state of a tree from positions whose quaternions are (w, x, y, z).
pub fn stored_state(
    py: Python<'_>,
    tree: &tippe::Articulation,
    positions: Vec<f64>,
    velocities: Vec<f64>,
) -> PyResult<ArticulationState> {
    let order = tippe_scene::written_order(tree);
    if order.len() != positions.len() {
        let reason = format!("must have {} numbers, has {}", order.len(), positions.len());
        return Err(refused(py, "positions", &reason));
    }
    let mut stored = vec![0.0; positions.len()];
    for (value, k) in positions.into_iter().zip(order) {
        stored[k] = value;
    }
    Ok(ArticulationState {
        positions: stored,
        velocities,
    })
}

/// What one contact point carried in the last step. The normal points from body A to body B; impulse and force act on B.
#[pyclass(module = "tippe", frozen)]
pub struct Contact {
    pub(crate) world: Py<World>,
    pub(crate) inner: ContactForce,
}

#[pymethods]
impl Contact {
    /// Body A.
    #[getter]
    fn body_a(&self, py: Python<'_>) -> Body {
        Body {
            world: self.world.clone_ref(py),
            id: self.inner.body_a,
        }
    }
    /// Body B.
    #[getter]
    fn body_b(&self, py: Python<'_>) -> Body {
        Body {
            world: self.world.clone_ref(py),
            id: self.inner.body_b,
        }
    }
    /// Contact point [m].
    #[getter]
    fn point<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.point.to_array())
    }
    /// Unit normal from A to B.
    #[getter]
    fn normal<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.normal.to_array())
    }
    /// Mean force on B over the step [N].
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.force().to_array())
    }
    /// Impulse on B [N·s].
    #[getter]
    fn impulse<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.impulse().to_array())
    }
    /// Gap at the end of the step [m]; below zero it is a depth.
    #[getter]
    const fn gap(&self) -> f64 {
        self.inner.gap
    }
    /// Whether it slides.
    #[getter]
    const fn sliding(&self) -> bool {
        self.inner.sliding
    }
}

/// Something that began, ended or hit.
#[pyclass(module = "tippe", frozen)]
pub struct Event {
    pub(crate) world: Py<World>,
    pub(crate) inner: tippe::Event,
}

#[pymethods]
impl Event {
    /// "begin", "end", "impact", "sensor_begin", "sensor_end" or "joint_break".
    #[getter]
    const fn kind(&self) -> &'static str {
        match self.inner.kind {
            EventKind::Begin => "begin",
            EventKind::End => "end",
            EventKind::Impact => "impact",
            EventKind::SensorBegin => "sensor_begin",
            EventKind::SensorEnd => "sensor_end",
            EventKind::JointBreak => "joint_break",
        }
    }
    /// When [s].
    #[getter]
    const fn time(&self) -> f64 {
        self.inner.time
    }
    /// Speed of approach of an impact [m/s].
    #[getter]
    const fn speed(&self) -> f64 {
        self.inner.speed
    }
    /// Body A.
    #[getter]
    fn body_a(&self, py: Python<'_>) -> Body {
        Body {
            world: self.world.clone_ref(py),
            id: self.inner.body_a,
        }
    }
    /// Body B.
    #[getter]
    fn body_b(&self, py: Python<'_>) -> Body {
        Body {
            world: self.world.clone_ref(py),
            id: self.inner.body_b,
        }
    }
}
