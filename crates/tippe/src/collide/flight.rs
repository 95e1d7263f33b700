//! The way of a shape that nothing touches: its pose at any time, and bounds on how fast any of its points moves.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `collide::advance`, `collide`, users through `geometry`.
//! Source: [Mirtich94] §2, §3.1: the exact parabola, torque-free rotation, the bound of the spin. Letters: J principal moments, ω angular
//! velocity, L angular momentum, T kinetic energy of rotation, Ω bound of |ω|.

use crate::math::{Pose, Quat, Vec3, rotation};
use crate::model::{Body, BodyKind};
use crate::motion::Motion;
use crate::state::BodyState;

/// How a shape moves from now on, if nothing touches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight<'a> {
    /// Pose of the shape now.
    pub pose: Pose,
    /// Centre of mass in the shape's frame [m]: what the shape turns about.
    pub center: Vec3,
    /// Velocity of the centre of mass now [m/s].
    pub velocity: Vec3,
    /// Constant acceleration of the centre of mass [m/s²].
    pub acceleration: Vec3,
    /// Angular velocity now, world axes [rad/s].
    pub angular_velocity: Vec3,
    /// Principal moments; only their ratios matter.
    pub moments: Vec3,
    /// Principal axes in the shape's frame.
    pub axes: Quat,
    /// Prescribed motion, which counts instead of all of the above but `pose` and `center`.
    pub prescribed: Option<Prescribed<'a>>,
}

/// A motion that is given, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prescribed<'a> {
    /// The motion.
    pub motion: &'a Motion,
    /// Pose of the body's frame that the motion is relative to.
    pub start: Pose,
    /// The moment [s].
    pub time: f64,
    /// Pose of the shape in the body's frame.
    pub shape: Pose,
}

/// Bounds of the motion of a shape, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Velocity of the centre [m/s] …
    pub velocity: Vec3,
    /// … its acceleration [m/s²] …
    pub acceleration: Vec3,
    /// … and how much faster it may become in any direction [m/s].
    pub speed: f64,
    /// Angular velocity [rad/s], if it changes smoothly.
    pub turning: Option<Vec3>,
    /// Largest angular speed Ω on the way [rad/s].
    pub spin: f64,
    /// Largest angular acceleration on the way [rad/s²], where `turning` is known.
    pub spin_change: f64,
}

impl<'a> Flight<'a> {
    /// A shape that stays where it is.
    #[must_use]
    pub const fn rest(pose: Pose) -> Self {
        Self {
            pose,
            center: Vec3::ZERO,
            velocity: Vec3::ZERO,
            acceleration: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            moments: Vec3::ONE,
            axes: Quat::IDENTITY,
            prescribed: None,
        }
    }

    /// A shape that moves and turns evenly about its origin.
    #[must_use]
    pub const fn uniform(pose: Pose, velocity: Vec3, angular_velocity: Vec3) -> Self {
        Self {
            velocity,
            angular_velocity,
            ..Self::rest(pose)
        }
    }

    /// The flight of the shape at `shape` (in the body frame) of a body in state `s` at time `t`, under the constant acceleration `a`.
    #[must_use]
    pub fn of_body(body: &'a Body, shape: &Pose, s: &BodyState, a: Vec3, t: f64) -> Self {
        let pose = s.frame(body).compose(shape);
        match &body.kind {
            BodyKind::Fixed => Self::rest(pose),
            // A link is followed as if it were free: its tree bends the way, which the next look sees.
            BodyKind::Dynamic | BodyKind::Link { .. } => Self {
                center: shape.point_to_local(body.center),
                velocity: s.velocity,
                acceleration: a,
                angular_velocity: s.angular_velocity,
                moments: body.moments,
                axes: shape.rotation.conjugate() * body.axes,
                ..Self::rest(pose)
            },
            BodyKind::Kinematic(motion) => Self {
                center: shape.point_to_local(Vec3::ZERO),
                prescribed: Some(Prescribed {
                    motion,
                    start: body.pose_start,
                    time: t,
                    shape: *shape,
                }),
                ..Self::rest(pose)
            },
        }
    }

    /// Whether every number makes sense.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.pose.is_finite()
            && self.center.is_finite()
            && self.velocity.is_finite()
            && self.acceleration.is_finite()
            && self.angular_velocity.is_finite()
            && self.moments.is_finite()
            && self.moments.min_element() > 0.0
            && self.axes.is_finite()
            && self.prescribed.is_none_or(|p| p.time.is_finite())
    }

    /// Pose of the shape after the time `t` [s].
    #[must_use]
    pub fn at(&self, t: f64) -> Pose {
        if let Some(p) = &self.prescribed {
            return p.motion.at(&p.start, p.time + t).pose.compose(&p.shape);
        }
        if t == 0.0 || (self.velocity, self.acceleration, self.angular_velocity) == STILL {
            return self.pose;
        }
        let center =
            self.pose.point(self.center) + self.velocity * t + self.acceleration * (0.5 * t * t);
        let rotation = self.turned(t);
        Pose::new(center - rotation * self.center, rotation)
    }

    fn turned(&self, t: f64) -> Quat {
        let (w, j) = (self.angular_velocity, self.moments);
        if w == Vec3::ZERO {
            return self.pose.rotation;
        }
        if j.x == j.y && j.y == j.z {
            return rotation::normalized(rotation::exp(w * t) * self.pose.rotation);
        }
        let axes = rotation::normalized(self.pose.rotation * self.axes);
        let l = axes * (j * (axes.conjugate() * w));
        let turned = rotation::torque_free(axes, j.recip(), l, t);
        rotation::normalized(turned * self.axes.conjugate())
    }

    /// Centre of mass after the time `t`, for a shape that is at `pose` then [m].
    pub(crate) fn center_at(&self, pose: &Pose) -> Vec3 {
        pose.point(self.center)
    }

    /// Bounds that hold from the time `t` on. Those of the spin hold from the start and may be kept.
    pub(crate) fn rates(&self, t: f64, pose: &Pose) -> Rates {
        if let Some(p) = &self.prescribed {
            return prescribed_rates(p, t);
        }
        let (w, j) = (self.angular_velocity, self.moments);
        let even = w == Vec3::ZERO || (j.x == j.y && j.y == j.z);
        let (turning, spin, spin_change) = if even {
            (w, w.length(), 0.0)
        } else {
            let start = self.axes.conjugate() * (self.pose.rotation.conjugate() * w);
            let l = self.pose.rotation * (self.axes * (j * start));
            let axes = pose.rotation * self.axes;
            let spin = spin_bound(j, start);
            // J ω̇ = L × ω.
            let change = l.length() * spin / j.min_element();
            (rotation::spin(axes, j.recip(), l), spin, change)
        };
        Rates {
            velocity: self.velocity + self.acceleration * t,
            acceleration: self.acceleration,
            speed: 0.0,
            turning: Some(turning),
            spin,
            spin_change,
        }
    }
}

const STILL: (Vec3, Vec3, Vec3) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);

/// The largest |ω| of a torque-free motion with principal moments `j` through ω = `w` (principal axes) [rad/s].
///
/// 2T = ΣJω² and L² = ΣJ²ω² stay; Σω² is linear in the squares, so its largest value has at most two of them above zero.
#[must_use]
pub fn spin_bound(j: Vec3, w: Vec3) -> f64 {
    let squares = w * w;
    let energy = j.dot(squares);
    let momentum = (j * j).dot(squares);
    let mut largest = w.length_squared();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        let (p, q) = (j[a], j[b]);
        if (p - q).abs() <= EQUAL * p.max(q) {
            continue;
        }
        let x = (momentum - energy * q) / (p * (p - q));
        let y = (momentum - energy * p) / (q * (q - p));
        // Rounding may push a zero below zero.
        let slack = -FLIGHT_ROUNDING * largest;
        if x >= slack && y >= slack {
            largest = largest.max(x + y);
        }
    }
    (largest * (1.0 + FLIGHT_ROUNDING)).sqrt()
}

/// Relative difference of moments below which a pair of them is skipped: the other pairs cover it [1].
const EQUAL: f64 = 1e-12;
/// Allowance for rounding [1].
const FLIGHT_ROUNDING: f64 = 1e-9;

fn prescribed_rates(p: &Prescribed<'_>, t: f64) -> Rates {
    let now = p.motion.at(&p.start, p.time + t);
    match p.motion {
        Motion::Constant { .. } | Motion::Steered { .. } => Rates {
            velocity: now.velocity,
            acceleration: Vec3::ZERO,
            speed: 0.0,
            turning: Some(now.angular_velocity),
            spin: now.angular_velocity.length(),
            spin_change: 0.0,
        },
        Motion::Sine {
            amplitude,
            rotation_amplitude,
            frequency,
            ..
        } => {
            let rate = (std::f64::consts::TAU * frequency).abs();
            Rates {
                velocity: Vec3::ZERO,
                acceleration: Vec3::ZERO,
                speed: rate * amplitude.length(),
                turning: None,
                spin: rate * rotation_amplitude.length(),
                spin_change: 0.0,
            }
        }
        Motion::Table { times, .. } => {
            // Straight from key to key: the fastest segment bounds the rest of them.
            let (mut speed, mut spin) = (0.0_f64, 0.0_f64);
            let from = times.partition_point(|&key| key <= p.time + t);
            for &key in &times[from.saturating_sub(1)..] {
                let m = p.motion.at(&p.start, key);
                speed = speed.max(m.velocity.length());
                spin = spin.max(m.angular_velocity.length());
            }
            Rates {
                velocity: Vec3::ZERO,
                acceleration: Vec3::ZERO,
                speed,
                turning: None,
                spin,
                spin_change: 0.0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_the_spin_is_reached_and_never_passed() {
        // Box 1 × 2 × 4, spun near its middle axis: it turns over, and the spin grows on the way.
        let j = Vec3::new(20.0, 17.0, 5.0) / 12.0;
        let w = Vec3::new(0.01, 3.0, 0.02);
        let bound = spin_bound(j, w);
        let l = j * w;
        let (mut axes, mut most) = (Quat::IDENTITY, 0.0_f64);
        for _ in 0..20_000 {
            axes = rotation::torque_free(axes, j.recip(), l, 1e-3);
            most = most.max(rotation::spin(axes, j.recip(), l).length());
        }
        assert!(most <= bound && most > 0.999 * bound, "{most} {bound}");
        assert!(bound > 1.01 * w.length());
    }

    #[test]
    fn a_flight_is_the_free_motion_of_a_body() {
        let shape = crate::Shape::Cuboid {
            half: Vec3::new(0.1, 0.2, 0.4),
        };
        let mut desc = crate::BodyDesc::dynamic(shape, Vec3::new(1.0, 2.0, 3.0));
        desc.shapes[0].pose = Pose::from_position(Vec3::new(0.3, 0.0, 0.1));
        let body = Body::build(&desc).unwrap();
        let s = BodyState {
            position: Vec3::new(1.0, -1.0, 2.0),
            rotation: rotation::exp(Vec3::new(0.3, -0.2, 0.9)),
            velocity: Vec3::new(1.0, 2.0, 0.5),
            angular_velocity: Vec3::new(3.0, -4.0, 5.0),
        };
        let a = Vec3::new(0.0, 0.0, -9.81);
        let flight = Flight::of_body(&body, &body.shapes[0].pose, &s, a, 0.0);
        for t in [0.0, 0.01, 0.3] {
            let there = crate::dynamics::integrate::fly(&body, &s, a, t);
            let pose = there.frame(&body).compose(&body.shapes[0].pose);
            let found = flight.at(t);
            assert!((found.position - pose.position).length() < 1e-13);
            assert!((found.rotation.dot(pose.rotation).abs() - 1.0).abs() < 1e-13);
        }
    }
}
