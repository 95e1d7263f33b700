//! Free motion: the exact parabola and torque-free rotation of dynamic bodies, prescribed motion of kinematic ones.
//!
//! Reads: Model, State, loads.  Writes: body states.
//! Called by: the predict and move phases of every method (the same function, so that prediction and motion agree).
//! Source: [Mirtich94] §2; contract in docs/methods/contract.md, "Time and velocity".

use crate::fault::{self, Fault};
use crate::math::{Quat, Vec3, rotation};
use crate::model::{Body, BodyKind, Model};
use crate::state::{BodyState, Load};

/// Constant acceleration of a body during a step: gravity and the user's force [m/s²].
#[must_use]
pub fn acceleration(model: &Model, body: &Body, load: &Load) -> Vec3 {
    if body.is_free() {
        model.gravity * body.gravity_scale + load.force * body.inverse_mass
    } else {
        Vec3::ZERO
    }
}

/// Where a dynamic body is after moving freely for `h` [s] under the constant acceleration `a`.
#[must_use]
pub fn fly(body: &Body, s: &BodyState, a: Vec3, h: f64) -> BodyState {
    moved(body, s, a, h, rotation::torque_free)
}

/// The same with a rotation that is right to rounding, however long the flight.
#[must_use]
pub fn fly_exactly(body: &Body, s: &BodyState, a: Vec3, h: f64) -> BodyState {
    moved(body, s, a, h, rotation::torque_free_exact)
}

/// Principal axes, inverse moments, angular momentum and a time to the axes then.
type TorqueFree = fn(Quat, Vec3, Vec3, f64) -> Quat;

fn moved(body: &Body, s: &BodyState, a: Vec3, h: f64, torque_free: TorqueFree) -> BodyState {
    let (rotation, angular_velocity) = turn(body, s, h, torque_free);
    BodyState {
        // x(h) = x + v h + ½ a h²
        position: s.position + s.velocity * h + a * (0.5 * h * h),
        rotation,
        velocity: s.velocity + a * h,
        angular_velocity,
    }
}

/// Orientation and angular velocity after torque-free rotation for `h` [s].
fn turn(body: &Body, s: &BodyState, h: f64, torque_free: TorqueFree) -> (Quat, Vec3) {
    let m = body.moments;
    if (m.x == m.y && m.y == m.z) || fault::active(Fault::NoGyroscopicTerm) {
        // Three equal moments: ω is constant.
        return (
            rotation::normalized(rotation::exp(s.angular_velocity * h) * s.rotation),
            s.angular_velocity,
        );
    }
    let axes = rotation::normalized(s.rotation * body.axes);
    let l = momentum(axes, m, s.angular_velocity);
    let axes = torque_free(axes, body.inverse_moments, l, h);
    // Refined once: the rounding of a turn there and back always errs to one side and would let L grow by 4e-16 in every step.
    let w = rotation::spin(axes, body.inverse_moments, l);
    let missing = l - momentum(axes, m, w);
    (
        rotation::normalized(axes * body.axes.conjugate()),
        w + rotation::spin(axes, body.inverse_moments, missing),
    )
}

/// Angular momentum `R I Rᵀ ω` of a body with these principal axes and moments.
fn momentum(axes: Quat, moments: Vec3, w: Vec3) -> Vec3 {
    axes * (moments * (axes.conjugate() * w))
}

/// Where any body is at time `t + h` if nothing touches it.
#[must_use]
pub fn advance(body: &Body, s: &BodyState, a: Vec3, t: f64, h: f64) -> BodyState {
    match &body.kind {
        BodyKind::Dynamic if !body.asleep => fly(body, s, a, h),
        // Links move with their trees, sleepers not at all.
        BodyKind::Dynamic | BodyKind::Fixed | BodyKind::Link { .. } => *s,
        BodyKind::Kinematic(motion) => {
            let m = motion.at(&body.pose_start, t + h);
            BodyState {
                position: m.pose.position,
                rotation: m.pose.rotation,
                velocity: m.velocity,
                angular_velocity: m.angular_velocity,
            }
        }
    }
}

/// Half a kick: the user's torque for half a step, as a change of angular velocity [rad/s].
#[must_use]
pub fn torque_kick(body: &Body, s: &BodyState, torque: Vec3, half: f64) -> Vec3 {
    if torque == Vec3::ZERO || !body.is_free() {
        return Vec3::ZERO;
    }
    rotation::spin(s.rotation * body.axes, body.inverse_moments, torque * half)
}
