//! The stiffness of stressed joints, implicit: what a body whose joints pull hard answers, so that it does not swing faster than a step follows.
//!
//! Reads: inverse inertia, stiffness, angular velocity of a body.  Writes: nothing (pure functions).
//! Called by: `net`.
//! Source: [Tournier15]; docs/methods.md, "Nets of joints".
//!
//! A joint under the force f on the lever r of a body turns it back with the stiffness K = (f·r) 1 − ½ (r fᵀ + f rᵀ). Where (h/2)² K is more than a
//! quarter of the body's inertia, the excess d acts as inertia on the velocity that the half step leaves, (I + d) ω⁺ = I ω + τ, as for stiff
//! springs (`link::spring_impulse`). That takes energy.

#![allow(non_snake_case)]

use crate::math::eigen::symmetric_eigen;
use crate::math::{Mat3, Vec3};

/// Share of its inertia up to which the stiffness of a body is followed as it is [1].
const FOLLOWED: f64 = 0.25;

/// `(f·r) 1 − ½ (r fᵀ + f rᵀ)`: how a force on a lever turns a body back [N·m].
pub(crate) fn stiffness(r: Vec3, f: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(r * f.x, r * f.y, r * f.z);
    Mat3::from_diagonal(Vec3::splat(f.dot(r))) - (outer + outer.transpose()) * 0.5
}

/// What a body answers whose stiffness is implicit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stiffened {
    /// `(I + d)⁻¹` [1/(kg·m²)].
    pub inverse: Mat3,
    /// `I`; nothing along axes about which it cannot turn [kg·m²].
    pub inertia: Mat3,
}

impl Stiffened {
    /// The answer of a body whose stiffness times (h/2)² is `K`; nothing if the step follows it as it is.
    ///
    /// In the axes in which the inertia is 1 and K diagonal with κ, the kick leaves ω/(1 + d), 4 (κ − d) = 2/(d + 2) beyond κ = ¼.
    pub(crate) fn new(inverse: Mat3, K: Mat3) -> Option<Self> {
        // No eigenvalue is larger than the trace of a product of positive matrices, or of their sizes.
        let size = |m: &Mat3| m.x_axis.length() + m.y_axis.length() + m.z_axis.length();
        if size(&inverse) * size(&K) <= FOLLOWED {
            return None;
        }
        let (V, m) = symmetric_eigen(inverse);
        let root = m.map(|m| m.max(0.0).sqrt());
        let S = V * Mat3::from_diagonal(root) * V.transpose();
        let (W, k) = symmetric_eigen(S * K * S);
        if k.max_element() <= FOLLOWED {
            return None;
        }
        let share = k.map(|k| {
            if k > FOLLOWED {
                1.0 / (1.0 + 0.5 * (k - 2.0 + (k * k + 4.0 * k + 2.0).sqrt()))
            } else {
                1.0
            }
        });
        let SW = S * W;
        let scaled = Mat3::from_cols(
            SW.x_axis * share.x,
            SW.y_axis * share.y,
            SW.z_axis * share.z,
        );
        let moments = m.map(|m| if m > 0.0 { 1.0 / m } else { 0.0 });
        Some(Self {
            inverse: scaled * SW.transpose(),
            inertia: V * Mat3::from_diagonal(moments) * V.transpose(),
        })
    }

    /// Energy that the excess takes where an angular impulse `torque` turns the body from `before` to `after` [J]: the rest of the impulse, −d ω⁺,
    /// on the mean of both.
    pub(crate) fn taken(&self, torque: Vec3, before: Vec3, after: Vec3) -> f64 {
        (torque - self.inertia * (after - before)).dot(0.5 * (before + after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pull of 100 kN on half a metre, on 0.1 kg·m²: κ is about 35 across the lever in steps of 1/60 s.
    fn stiff() -> (Mat3, Mat3) {
        let (r, f) = (Vec3::new(0.5, 0.0, 0.0), Vec3::new(1e5, 2e4, 0.0));
        let quarter = 0.25 / 3600.0;
        let inverse = Mat3::from_diagonal(Vec3::new(12.0, 10.0, 8.0));
        (inverse, stiffness(r, f) * quarter)
    }

    #[test]
    fn a_stiff_body_turns_less_and_what_it_loses_is_told() {
        let (inverse, K) = stiff();
        let s = Stiffened::new(inverse, K).expect("stiff");
        let (w, torque) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(0.1, 0.2, -0.3));
        let after = s.inverse * (s.inertia * w + torque);
        let kinetic = |w: Vec3| 0.5 * w.dot(s.inertia * w);
        let work = torque.dot(0.5 * (w + after));
        let gained = kinetic(after) - kinetic(w);
        let error = gained - (work - s.taken(torque, w, after));
        assert!(error.abs() < 1e-14, "{error:e}");
        // Without a torque it only loses.
        let free = s.inverse * (s.inertia * w);
        assert!(s.taken(Vec3::ZERO, w, free) > 0.3 * kinetic(w));
    }

    #[test]
    fn what_the_step_follows_is_left_alone() {
        let (inverse, K) = stiff();
        assert!(Stiffened::new(inverse, K * 1e-3).is_none());
        // Pulled inwards it is turned on, not back.
        let inwards = stiffness(Vec3::X * 0.5, Vec3::X * -1e5) * (0.25 / 3600.0);
        assert!(Stiffened::new(inverse, inwards).is_none());
        assert!(Stiffened::new(inverse, inwards * -1.0).is_some());
    }
}
