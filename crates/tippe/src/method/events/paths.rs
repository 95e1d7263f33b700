//! Paths: where a body is at any time of the frame, and how its shapes fly from there.
//!
//! Reads: Model, Schedule (flights, groups), the substep under way.  Writes: nothing but a memory of states asked for twice.
//! Called by: `method::events`.
//! Source: [Mirtich94] §2: parabola and torque-free rotation. A body of a group goes straight and turns evenly from the state at the start of
//! its substep to the state at its end; between looks nothing else is known of it.

use super::Run;
use crate::collide::flight::Flight;
use crate::dynamics::integrate;
use crate::math::{Pose, Quat, Vec3, rotation};
use crate::model::{Body, BodyKind};
use crate::shape::Shape;
use crate::state::{BodyState, Load};

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Not at all, or asleep.
    Still,
    /// As prescribed.
    Prescribed,
    /// In free flight of its own.
    Ballistic,
    /// With a group, on the clock of substeps.
    Grouped,
}

/// The vector of a rotation: the inverse of the exponential map, for less than half a turn.
fn log(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-12 {
        return v * 2.0;
    }
    v * (2.0 * libm::atan2(sine, q.w) / sine)
}

impl Run<'_> {
    /// The body of a slot; the slots of near pairs are never free.
    pub(super) fn body(&self, slot: u32) -> &Body {
        self.model.bodies[slot as usize]
            .as_ref()
            .unwrap_or(self.nobody)
    }

    /// How a body moves.
    pub(super) fn way(&self, slot: u32) -> Way {
        let body = self.body(slot);
        match body.kind {
            BodyKind::Kinematic(_) => Way::Prescribed,
            _ if !body.is_awake() => Way::Still,
            _ if self.s.grouped[slot as usize] => Way::Grouped,
            _ => Way::Ballistic,
        }
    }

    /// Constant acceleration of a ballistic body [m/s²].
    pub(super) fn acceleration(&self, slot: u32) -> Vec3 {
        integrate::acceleration(self.model, self.body(slot), &Load::default())
    }

    /// A body at time `t` [s], not before its flight or its substep began.
    pub(super) fn at(&mut self, slot: u32, t: f64) -> BodyState {
        let (known, state) = self.memory[slot as usize];
        if known == t {
            return state;
        }
        let state = self.evaluate(slot, t);
        self.memory[slot as usize] = (t, state);
        state
    }

    fn evaluate(&self, slot: u32, t: f64) -> BodyState {
        let i = slot as usize;
        let body = self.body(slot);
        match self.way(slot) {
            Way::Still => self.s.flights[i].state,
            Way::Prescribed => {
                integrate::advance(body, &self.s.flights[i].state, Vec3::ZERO, 0.0, t)
            }
            Way::Ballistic => {
                let start = &self.s.flights[i];
                integrate::fly_exactly(body, &start.state, self.acceleration(slot), t - start.time)
            }
            Way::Grouped => {
                let (start, end) = self.ends(slot);
                if t <= start.0 || end.0 <= start.0 {
                    return start.1;
                }
                let (velocity, turning) = self.chord(slot);
                let passed = t - start.0;
                let share = passed / (end.0 - start.0);
                BodyState {
                    position: start.1.position + velocity * passed,
                    rotation: rotation::normalized(
                        rotation::exp(turning * passed) * start.1.rotation,
                    ),
                    velocity: start.1.velocity.lerp(end.1.velocity, share),
                    angular_velocity: start.1.angular_velocity.lerp(end.1.angular_velocity, share),
                }
            }
        }
    }

    /// The two ends of the substep of a group: times and states.
    fn ends(&self, slot: u32) -> ((f64, BodyState), (f64, BodyState)) {
        let i = slot as usize;
        let start = self
            .s
            .group
            .as_ref()
            .map_or((0.0, BodyState::REST), |g| (g.time, g.bodies[i]));
        (start, (self.ahead.time, self.ahead.bodies[i]))
    }

    /// Mean acceleration of a body's centre and of its turning over the substep of its group [m/s²], [rad/s²].
    pub(super) fn mean_accelerations(&self, slot: u32) -> (Vec3, Vec3) {
        let ((t0, start), (t1, end)) = self.ends(slot);
        if self.way(slot) != Way::Grouped || t1 <= t0 {
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let per = 1.0 / (t1 - t0);
        (
            (end.velocity - start.velocity) * per,
            (end.angular_velocity - start.angular_velocity) * per,
        )
    }

    /// Mean velocity and angular velocity of a body over the substep of its group [m/s], [rad/s].
    fn chord(&self, slot: u32) -> (Vec3, Vec3) {
        let ((t0, start), (t1, end)) = self.ends(slot);
        let h = t1 - t0;
        (
            (end.position - start.position) / h,
            log(end.rotation * start.rotation.conjugate()) / h,
        )
    }

    /// The flight of a shape from time `t` on.
    pub(super) fn flight(&mut self, slot: u32, shape: u32, t: f64) -> Flight<'_> {
        self.at(slot, t);
        self.flight_known(slot, shape, t)
    }

    /// The same of a body whose state at `t` was the last to be asked for.
    pub(super) fn flight_known(&self, slot: u32, shape: u32, t: f64) -> Flight<'_> {
        let s = self.memory[slot as usize].1;
        let way = self.way(slot);
        let a = self.acceleration(slot);
        let chord = if way == Way::Grouped {
            self.chord(slot)
        } else {
            (Vec3::ZERO, Vec3::ZERO)
        };
        let body = self.body(slot);
        let place: &Pose = &body.shapes[shape as usize].pose;
        match way {
            // A half-space that turns in its own plane stays what it is.
            Way::Prescribed
                if matches!(body.shapes[shape as usize].shape, Shape::HalfSpace { .. }) =>
            {
                Flight::of_half_space(body, place, &s, t)
            }
            Way::Still => Flight::rest(s.frame(body).compose(place)),
            Way::Grouped => Flight {
                center: place.point_to_local(body.center),
                velocity: chord.0,
                angular_velocity: chord.1,
                ..Flight::rest(s.frame(body).compose(place))
            },
            Way::Prescribed | Way::Ballistic => Flight {
                exact: true,
                ..Flight::of_body(body, place, &s, a, t)
            },
        }
    }

    /// When what is known of a body's path ends [s].
    pub(super) fn known_until(&self, slot: u32) -> f64 {
        if self.way(slot) == Way::Grouped {
            self.ahead.time
        } else {
            f64::INFINITY
        }
    }
}
