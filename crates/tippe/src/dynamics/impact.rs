//! Single impacts as pure functions: central impact, and impact with friction at one point.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: users and tests; the methods that answer a lone colliding contact.
//! Source: [Lecture] "Rigid Body Impact", "Impact with Friction", corrected as told in docs/methods.md.
//! Letters: K with Δu = K P, n normal from A to B, u = u_B − u_A before the impact.

#![allow(non_snake_case)]

use super::impulse::energy_change;
use crate::math::{Mat3, Vec3};

/// Velocities after a central impact of two masses, and the work lost to deformation [J].
///
/// `V_A⁺ = V̄ + e M_B/(M_A+M_B) V_rel`, `V_B⁺ = V̄ − e M_A/(M_A+M_B) V_rel`, `W = ½ M_A M_B/(M_A+M_B) V_rel² (1 − e²)`.
#[must_use]
pub fn central(m_a: f64, m_b: f64, v_a: f64, v_b: f64, restitution: f64) -> (f64, f64, f64) {
    let total = m_a + m_b;
    let mean = (m_a * v_a + m_b * v_b) / total;
    let relative = v_b - v_a;
    let work = 0.5 * m_a * m_b / total * relative * relative * (1.0 - restitution * restitution);
    (
        mean + restitution * m_b / total * relative,
        mean - restitution * m_a / total * relative,
        work,
    )
}

/// What an impact with friction came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Impulse on B [N·s].
    pub impulse: Vec3,
    /// Whether the contact point sticks at the end.
    pub sticks: bool,
    /// Restitution that was used: below the one asked for where Newton's law would have gained energy.
    pub restitution: f64,
}

/// Bisections of the restitution that keep an impact from gaining energy.
const BISECTIONS: u32 = 60;

/// The lecture's impact with friction, with n and t coupled through K.
///
/// Sticking is tried first (`P = K⁻¹(−e u_n n − u)`); if it leaves the cone of `friction_static`, the contact slides with
/// `friction_kinetic` along the slip direction. Where Newton's restitution would gain energy, e is reduced by bisection.
#[must_use]
pub fn with_friction(
    K: Mat3,
    n: Vec3,
    u: Vec3,
    friction_static: f64,
    friction_kinetic: f64,
    restitution: f64,
) -> Impact {
    let none = Impact {
        impulse: Vec3::ZERO,
        sticks: false,
        restitution,
    };
    if !(n.dot(u) < 0.0 && n.dot(K * n) > 0.0) {
        return none;
    }
    let solve = |e: f64| coupled(K, n, u, friction_static, friction_kinetic, e);
    let (impulse, sticks) = solve(restitution);
    if energy_change(K, u, impulse) <= 0.0 {
        return Impact {
            impulse,
            sticks,
            restitution,
        };
    }
    let (mut low, mut high) = (0.0, restitution);
    for _ in 0..BISECTIONS {
        let e = 0.5 * (low + high);
        if energy_change(K, u, solve(e).0) > 0.0 {
            high = e
        } else {
            low = e
        }
    }
    let (impulse, sticks) = solve(low);
    if energy_change(K, u, impulse) <= 0.0 {
        return Impact {
            impulse,
            sticks,
            restitution: low,
        };
    }
    // Even a plastic impact gains energy (sliding impulse against a steep K): scale the impulse to the largest that gains none.
    let gain = impulse.dot(K * impulse);
    let scale = if gain > 0.0 {
        (-2.0 * u.dot(impulse) / gain).clamp(0.0, 1.0)
    } else {
        0.0
    };
    Impact {
        impulse: impulse * scale,
        sticks: false,
        restitution: low,
    }
}

/// The coupled rule for one given restitution: impulse and whether it sticks.
fn coupled(K: Mat3, n: Vec3, u: Vec3, mu_s: f64, mu_k: f64, e: f64) -> (Vec3, bool) {
    let u_n = n.dot(u);
    let stick = if K.determinant() > 0.0 {
        K.inverse() * (-e * u_n * n - u)
    } else {
        Vec3::NAN
    };
    let normal = n.dot(stick);
    let tangential = (stick - normal * n).length();
    if normal > 0.0 && tangential <= mu_s * normal {
        return (stick, true);
    }
    let u_t = u - u_n * n;
    let slip = u_t.length();
    // Without slip, friction opposes the slip that a frictionless impulse would start.
    let drive = if slip > 0.0 {
        u_t
    } else {
        K * n - n.dot(K * n) * n
    };
    let t = if drive.length_squared() > 0.0 {
        drive.normalize()
    } else {
        Vec3::ZERO
    };
    let d = n - mu_k * t;
    let k_nd = n.dot(K * d);
    if k_nd > 0.0 {
        let slide = d * (-(1.0 + e) * u_n / k_nd);
        return (limited_to_stop(K, t, u, slide, n), false);
    }
    // Painlevé: sliding friction would press the bodies together; the contact jams and sticks.
    if normal > 0.0 {
        (stick, true)
    } else {
        (n * (-(1.0 + e) * u_n / n.dot(K * n)), false)
    }
}

/// Friction stops slip, it does not reverse it: the tangential part is cut where the slip along `t` would change sign.
fn limited_to_stop(K: Mat3, t: Vec3, u: Vec3, P: Vec3, n: Vec3) -> Vec3 {
    let after = t.dot(u + K * P);
    let before = t.dot(u);
    if before <= 0.0 || after >= 0.0 {
        return P;
    }
    let P_n = n * n.dot(P);
    let k_tt = t.dot(K * t);
    let wanted = -t.dot(u + K * P_n) / k_tt;
    P_n + t * wanted.clamp(t.dot(P), 0.0)
}
