//! Sensors of a world: added between steps, read as one array after each.
//!
//! Reads: Model, State, forces of the last step.  Writes: readings.
//! Called by: users; `World::step` reads them all at its end.
//! Source: docs/sensors.md. The acceleration of a moving frame: a_P = a + α × d + ω × (ω × d).

use super::World;
use super::query::QueryFilter;
use crate::error::{BuildError, UnknownBody, UnknownJoint};
use crate::joint::JointId;
use crate::math::{Pose, Quat, Vec3, rotation};
use crate::model::sensor::{Sensor, SensorDesc, SensorId, SensorKind};
use crate::model::{BodyId, BodyKind};

impl World {
    /// Adds a sensor; its readings follow those of the sensors before it.
    ///
    /// # Errors
    /// The field that makes no sense, and why; a name that is taken.
    pub fn add_sensor(&mut self, desc: SensorDesc) -> Result<SensorId, BuildError> {
        desc.kind.check()?;
        if desc.name.trim().is_empty() {
            return Err(BuildError::new("name", "must not be empty"));
        }
        if self.sensor_named(&desc.name).is_some() {
            let reason = format!("there is a sensor {:?} already", desc.name);
            return Err(BuildError::new("name", reason));
        }
        let count = self.readings_of(&desc.kind)?.len() as u32;
        let id = self.sensor_id(self.model.sensors.len());
        self.model.sensors.push(Some(Sensor { desc, count }));
        self.sense(0.0);
        Ok(id)
    }

    /// Removes a sensor; the readings of later ones move up.
    ///
    /// # Errors
    /// The sensor does not exist (field `sensor`).
    pub fn remove_sensor(&mut self, id: SensorId) -> Result<(), BuildError> {
        let own = id.family.is(self.model.family);
        let slot = self
            .model
            .sensors
            .get_mut(id.index as usize)
            .filter(|_| own);
        let missing = || {
            BuildError::new(
                "sensor",
                "no such sensor: it was removed, or is another world's",
            )
        };
        slot.and_then(Option::take).ok_or_else(missing)?;
        self.sense(0.0);
        Ok(())
    }

    fn sensor_id(&self, slot: usize) -> SensorId {
        SensorId {
            index: slot as u32,
            family: self.model.family,
        }
    }

    /// All sensors, in the order of their readings.
    pub fn sensors(&self) -> impl Iterator<Item = (SensorId, &SensorDesc)> {
        let slots = self.model.sensors.iter().enumerate();
        slots.filter_map(|(i, s)| Some((self.sensor_id(i), &s.as_ref()?.desc)))
    }

    /// The sensor of a name.
    #[must_use]
    pub fn sensor_named(&self, name: &str) -> Option<SensorId> {
        self.sensors()
            .find(|(_, s)| s.name == name)
            .map(|(id, _)| id)
    }

    /// What all sensors read after the last step, one after the other. A sensor whose body or joint is gone reads zeros.
    #[must_use]
    pub fn readings(&self) -> &[f64] {
        &self.work.readings
    }

    /// What one sensor read after the last step.
    ///
    /// # Errors
    /// The sensor does not exist (field `sensor`).
    pub fn reading(&self, id: SensorId) -> Result<&[f64], BuildError> {
        let mut start = 0;
        for (i, sensor) in self.model.sensors.iter().enumerate() {
            let count = sensor.as_ref().map_or(0, |s| s.count as usize);
            if i == id.index as usize && id.family.is(self.model.family) && sensor.is_some() {
                return Ok(&self.work.readings[start..start + count]);
            }
            start += count;
        }
        let reason = "no such sensor: it was removed, or is another world's";
        Err(BuildError::new("sensor", reason))
    }

    /// A name for every reading: that of the sensor, a point, and which number it is, such as `imu.acceleration.x`.
    #[must_use]
    pub fn reading_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for sensor in self.model.sensors.iter().flatten() {
            let known = sensor.desc.kind.names();
            for k in 0..sensor.count as usize {
                let name = &sensor.desc.name;
                names.push(match (known, sensor.count) {
                    ([one], 1) => format!("{name}.{one}"),
                    ([one], _) => format!("{name}.{one}[{k}]"),
                    (all, _) => format!("{name}.{}", all[k]),
                });
            }
        }
        names
    }

    /// Reads all sensors, after a step of length `dt`; 0 where none was taken.
    pub(crate) fn sense(&mut self, dt: f64) {
        let mut readings = std::mem::take(&mut self.work.readings);
        readings.clear();
        self.work.sensed_step = dt;
        for sensor in self.model.sensors.iter().flatten() {
            let count = sensor.count as usize;
            let found = self.readings_of(&sensor.desc.kind).unwrap_or_default();
            // A joint that is gone leaves its place.
            readings.extend(found.into_iter().chain(std::iter::repeat(0.0)).take(count));
        }
        self.work.readings = readings;
    }

    fn readings_of(&self, kind: &SensorKind) -> Result<Vec<f64>, BuildError> {
        let body = |e: UnknownBody| BuildError::new("body", e.to_string());
        let joint = |e: UnknownJoint| BuildError::new("joint", e.to_string());
        Ok(match *kind {
            SensorKind::Pose { body: id, place } => {
                let pose = self.pose(id).map_err(body)?.compose(&place);
                let q = pose.rotation;
                let p = pose.position;
                vec![p.x, p.y, p.z, q.w, q.x, q.y, q.z]
            }
            SensorKind::Velocity { body: id, point } => {
                let point = self.pose(id).map_err(body)?.point(point);
                let state = self.body_state(id).map_err(body)?;
                six(state.point_velocity(point), state.angular_velocity)
            }
            SensorKind::Imu { body: id, place } => {
                let (force, turn) = self.specific_force(id, &place).map_err(body)?;
                six(force, turn)
            }
            SensorKind::JointPosition { joint: id } => {
                self.joint_motion(id, false).map_err(joint)?
            }
            SensorKind::JointRate { joint: id } => self.joint_motion(id, true).map_err(joint)?,
            SensorKind::JointForce { joint: id } => {
                self.joint(id).map_err(joint)?;
                let found = self.joint_forces().iter().find(|f| f.joint == id);
                found.map_or_else(|| vec![0.0; 6], |f| six(f.force, f.torque))
            }
            SensorKind::LinkPosition { link } => self.link_numbers(link, false)?,
            SensorKind::LinkRate { link } => self.link_numbers(link, true)?,
            SensorKind::ContactForce { body: id, other } => {
                self.contact_force(id, other).map_err(body)?
            }
            SensorKind::Distance {
                body: id,
                origin,
                direction,
                range,
            } => {
                let pose = self.pose(id).map_err(body)?;
                let filter = QueryFilter {
                    without: vec![id],
                    ..QueryFilter::default()
                };
                let (from, along) = (pose.point(origin), pose.rotation * direction);
                let hits = self.queries().ray(from, along, range, &filter)?;
                vec![hits.first().map_or(range, |h| h.distance)]
            }
        })
    }

    /// Acceleration of a place on a body less gravity, and angular velocity, both in its axes. Of bodies that forces move it is the mean
    /// over the last step, of kinematic ones that of their motion now.
    fn specific_force(&self, id: BodyId, place: &Pose) -> Result<(Vec3, Vec3), UnknownBody> {
        let body = self.body(id)?;
        let state = self.body_state(id)?;
        let (mut axes, mut spin) = (state.rotation, state.angular_velocity);
        let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
        let mut arm = axes * (place.position - body.center);
        match &body.kind {
            BodyKind::Fixed => {}
            BodyKind::Kinematic(motion) => {
                (linear, angular) = motion.acceleration(self.state.time);
                arm = axes * place.position;
            }
            BodyKind::Dynamic | BodyKind::Link { .. } => {
                let dt = self.work.sensed_step;
                let before = self.work.backup.bodies.get(id.index()).filter(|_| dt > 0.0);
                if let Some(before) = before {
                    linear = (state.velocity - before.velocity) / dt;
                    angular = (spin - before.angular_velocity) / dt;
                    spin = (spin + before.angular_velocity) * 0.5;
                    axes = half_way(before.rotation, axes);
                    arm = axes * (place.position - body.center);
                }
            }
        }
        let acceleration = linear + angular.cross(arm) + spin.cross(spin.cross(arm));
        let gravity = self.model.gravity * body.gravity_scale;
        let to_sensor = (axes * place.rotation).conjugate();
        Ok((to_sensor * (acceleration - gravity), to_sensor * spin))
    }

    /// Angle [rad] and displacement [m] of a joint, as far as its kind has them.
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn joint_positions(&self, id: JointId) -> Result<Vec<f64>, UnknownJoint> {
        self.joint_motion(id, false)
    }

    /// Their rates [rad/s], [m/s].
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn joint_rates(&self, id: JointId) -> Result<Vec<f64>, UnknownJoint> {
        self.joint_motion(id, true)
    }

    /// Angle and displacement of a joint, or their rates, as far as its kind has them.
    fn joint_motion(&self, id: JointId, rates: bool) -> Result<Vec<f64>, UnknownJoint> {
        let joint = self.joint(id)?;
        let kind = joint.desc.kind;
        let place = self.joint_place(id)?;
        let at = |slot: Option<u32>| slot.map(|s| &self.state().bodies[s as usize]);
        let rate = |row: &crate::dynamics::joint::JointRow| {
            let side = |slot: Option<u32>, sign: f64, angular: Vec3| {
                at(slot).map_or(0.0, |s| {
                    row.e.dot(s.velocity) * sign + angular.dot(s.angular_velocity)
                })
            };
            side(Some(joint.b), 1.0, row.ang_b) + side(joint.a, -1.0, row.ang_a)
        };
        let mut out = Vec::new();
        if kind.turns() {
            let (row, _) = place.turn(kind);
            out.push(if rates {
                rate(&row)
            } else {
                self.joint_angle(id)?
            });
        }
        if kind.slides() || !kind.turns() {
            let (row, value) = place.translation(kind);
            out.push(if rates { rate(&row) } else { value });
        }
        Ok(out)
    }

    /// Coordinates of a link's joint, or their rates.
    fn link_numbers(&self, id: BodyId, rates: bool) -> Result<Vec<f64>, BuildError> {
        let (articulation, link) = self.link_of(id)?;
        let Some(tree) = self.model.articulations[articulation].as_ref() else {
            return Err(BuildError::new("link", UnknownBody.to_string()));
        };
        let state = &self.state.articulations[articulation];
        if rates {
            let own = tree.tree.freedoms_of(link).unwrap_or(0..0);
            return Ok(state.velocities[own].to_vec());
        }
        let own = tree.tree.positions_of(link).unwrap_or(0..0);
        let mut numbers = state.positions[own].to_vec();
        // The engine has quaternions as x, y, z, w.
        if let count @ (4 | 7) = numbers.len() {
            numbers[count - 4..].rotate_right(1);
        }
        Ok(numbers)
    }

    /// Which articulation and which of its links a body is.
    pub(crate) fn link_of(&self, id: BodyId) -> Result<(usize, usize), BuildError> {
        let missing = |e: UnknownBody| BuildError::new("link", e.to_string());
        match self.body(id).map_err(missing)?.kind {
            BodyKind::Link { articulation, link } => Ok((articulation as usize, link as usize)),
            _ => Err(BuildError::new("link", "this body is no link that moves")),
        }
    }

    fn contact_force(&self, id: BodyId, other: Option<BodyId>) -> Result<Vec<f64>, UnknownBody> {
        self.index(id)?;
        if let Some(other) = other {
            self.index(other)?;
        }
        let (mut normal, mut friction, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for c in self.contacts_of(id)? {
            let (partner, sign) = if c.body_b == id {
                (c.body_a, 1.0)
            } else {
                (c.body_b, -1.0)
            };
            if other.is_some_and(|o| o != partner) {
                continue;
            }
            normal += c.normal * (sign * c.normal_impulse / c.dt);
            friction += c.tangential_impulse * (sign / c.dt);
            size += c.normal_impulse / c.dt;
        }
        let force = normal + friction;
        Ok(vec![force.x, force.y, force.z, size, friction.length()])
    }
}

fn six(a: Vec3, b: Vec3) -> Vec<f64> {
    vec![a.x, a.y, a.z, b.x, b.y, b.z]
}

/// The orientation half-way between two.
fn half_way(a: Quat, b: Quat) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    rotation::normalized(a + b)
}
