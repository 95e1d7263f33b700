//! Response of bodies to an impulse at a point: the matrix K, the impulse that reaches a velocity, its energy.
//!
//! Reads: Model (masses), State.  Writes: nothing (pure functions).
//! Called by: the methods, `impact`.
//! Source: [Bender06] §3.1; [Lecture] "Friction-Less Impact", "Change in Total Energy"; [Mirtich94] §4.2 eq. 5–6.
//! Letters: r lever from the centre of mass, K with Δu = K P, n normal from A to B, u = u_B − u_A.

#![allow(non_snake_case)]

use crate::math::{Mat3, Vec3, rotation, skew};
use crate::model::Body;
use crate::state::BodyState;

/// World inverse inertia `R I⁻¹ Rᵀ` of a body [1/(kg·m²)]; zero for fixed and kinematic ones.
#[must_use]
pub fn inverse_inertia(body: &Body, s: &BodyState) -> Mat3 {
    let j = body.inverse_moments;
    if j.x == j.y && j.y == j.z {
        return Mat3::from_diagonal(j);
    }
    rotation::world_tensor(s.rotation * body.axes, j)
}

/// `K = 1/m − [r]ₓ I⁻¹ [r]ₓ`: change of the velocity at `r` by an impulse at `r` [1/kg].
#[must_use]
pub fn point_response(inverse_mass: f64, inverse_inertia: Mat3, r: Vec3) -> Mat3 {
    let x = skew(r);
    Mat3::from_diagonal(Vec3::splat(inverse_mass)) - x * inverse_inertia * x
}

/// `K = K_A + K_B` of a contact between two bodies at a world point [1/kg].
#[must_use]
pub fn contact_response(a: (&Body, &BodyState), b: (&Body, &BodyState), point: Vec3) -> Mat3 {
    let one = |(body, s): (&Body, &BodyState)| {
        point_response(
            body.inverse_mass,
            inverse_inertia(body, s),
            point - s.position,
        )
    };
    one(a) + one(b)
}

/// [Lecture]: `Δp_n = −(1 + e) u_n / (nᵀ K n)`, the frictionless impact impulse [N·s]; 0 if the contact separates or cannot move.
#[must_use]
pub fn frictionless(K: Mat3, n: Vec3, u: Vec3, restitution: f64) -> f64 {
    let (u_n, k_nn) = (n.dot(u), n.dot(K * n));
    if u_n >= 0.0 || k_nn <= 0.0 {
        0.0
    } else {
        -(1.0 + restitution) * u_n / k_nn
    }
}

/// [Lecture]: `ΔE = P · (u + ½ K P)`, the energy an impulse brings in [J].
#[must_use]
pub fn energy_change(K: Mat3, u: Vec3, P: Vec3) -> f64 {
    P.dot(u + 0.5 * (K * P))
}

/// Velocities of a body after the impulse `P` at a world point.
#[must_use]
pub fn apply(body: &Body, s: &BodyState, P: Vec3, point: Vec3) -> BodyState {
    let r = point - s.position;
    BodyState {
        velocity: s.velocity + P * body.inverse_mass,
        angular_velocity: s.angular_velocity + inverse_inertia(body, s) * r.cross(P),
        ..*s
    }
}
