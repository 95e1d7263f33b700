//! How the rows of a joint accelerate: their second derivatives without accelerations of the bodies.
//!
//! Reads: the frames of a joint, moving.  Writes: nothing (pure functions).
//! Called by: `method::forces`.
//! Source: [Lecture] "Conservative Loop" (joints as free rows); rows and residuals as in `dynamics::joint`, written in jets.

use crate::joint::JointKind;
use crate::math::Vec3;
use crate::math::jet::{FrameJet, Jet, VecJet};

/// Second derivative of every row that `JointPlace::held` makes, by the same order, for two joint frames that move.
#[must_use]
pub fn biases(kind: JointKind, a: &FrameJet, b: &FrameJet) -> [f64; 6] {
    let mut out = Rows::default();
    let delta = b.origin - a.origin;
    match kind {
        JointKind::Ball => out.world_axes(delta),
        JointKind::Hinge => {
            out.world_axes(delta);
            out.parallel(a, b);
        }
        JointKind::Slider => {
            out.on_line(b, delta);
            out.oriented(a, b);
        }
        JointKind::Fixed => {
            out.world_axes(delta);
            out.oriented(a, b);
        }
        JointKind::Cylindrical => {
            out.on_line(b, delta);
            out.parallel(a, b);
        }
        JointKind::Universal => {
            out.world_axes(delta);
            out.push(a.vector(Vec3::Z).dot(b.vector(Vec3::Z)).a);
        }
        JointKind::Distance { min, max } => {
            if min == max && delta.x != Vec3::ZERO {
                out.push(delta.length().a);
            }
        }
        JointKind::Turn | JointKind::Slide | JointKind::Swing | JointKind::Twist => {}
        JointKind::PointOnLine => {
            out.push(delta.dot(a.vector(Vec3::X)).a);
            out.push(delta.dot(a.vector(Vec3::Y)).a);
        }
        JointKind::PointOnPlane | JointKind::SphereOnPlane { .. } => out.off_plane(a, delta),
        JointKind::Parallel => out.axes_parallel(a, b),
        JointKind::Perpendicular => out.push(a.vector(Vec3::Z).dot(b.vector(Vec3::Z)).a),
        JointKind::Angle { .. } => {
            // θ = acos c: θ'' = −c''/s − c c'²/s³ with s = sin θ.
            let c = a.vector(Vec3::Z).dot(b.vector(Vec3::Z));
            let s = (1.0 - c.x * c.x).max(0.0).sqrt();
            out.push(-(c.a + c.x * c.v * c.v / (s * s)) / s);
        }
        JointKind::LineOnLine => {
            out.on_line(b, delta);
            out.axes_parallel(a, b);
        }
        JointKind::Planar => {
            out.off_plane(a, delta);
            out.axes_parallel(a, b);
        }
        JointKind::CylinderOnPlane { .. } => {
            out.off_plane(a, delta);
            out.push(a.vector(Vec3::Z).dot(b.vector(Vec3::Z)).a);
        }
        JointKind::Orientation => out.oriented(a, b),
        // Rows that count turns: refused by the method.
        JointKind::Screw { .. } | JointKind::Gear { .. } | JointKind::Rack { .. } => {}
    }
    out.values
}

/// Second derivative of the rotation and of the translation that a kind leaves free, rows as in `JointPlace::turn` and `translation`.
#[must_use]
pub fn free_biases(kind: JointKind, a: &FrameJet, b: &FrameJet) -> [f64; 2] {
    let delta = b.origin - a.origin;
    let (z_a, z_b) = (a.vector(Vec3::Z), b.vector(Vec3::Z));
    let (spin, gain) = (b.w - a.w, b.alpha - a.alpha);
    let c = z_a.dot(z_b);
    let turn = match kind {
        JointKind::Swing => {
            let s = (1.0 - c.x * c.x).max(0.0).sqrt();
            if s > 0.0 {
                -(c.a + c.x * c.v * c.v / (s * s)) / s
            } else {
                0.0
            }
        }
        // ω · (z_A + z_B)/(1 + z_A · z_B)
        JointKind::Twist => {
            let one = Jet {
                x: 1.0,
                v: 0.0,
                a: 0.0,
            };
            let e = (z_a + z_b) * (one + c).recip();
            e.v.dot(spin) + e.x.dot(gain)
        }
        _ => z_b.v.dot(spin) + z_b.x.dot(gain),
    };
    let slide = match kind {
        JointKind::Distance { .. } if delta.x != Vec3::ZERO => delta.length().a,
        JointKind::PointOnLine => delta.dot(z_a).a,
        _ => delta.dot(z_b).a,
    };
    [turn, slide]
}

#[derive(Default)]
struct Rows {
    count: usize,
    values: [f64; 6],
}

impl Rows {
    fn push(&mut self, value: f64) {
        self.values[self.count] = value;
        self.count += 1;
    }

    /// `Δ · e` for the axes of the world.
    fn world_axes(&mut self, delta: VecJet) {
        for value in delta.a.to_array() {
            self.push(value);
        }
    }

    /// `Δ · e` for the two directions across the axis of B.
    fn on_line(&mut self, b: &FrameJet, delta: VecJet) {
        for e in [Vec3::X, Vec3::Y] {
            self.push(delta.dot(b.vector(e)).a);
        }
    }

    /// `Δ · z` for the axis of A.
    fn off_plane(&mut self, a: &FrameJet, delta: VecJet) {
        self.push(delta.dot(a.vector(Vec3::Z)).a);
    }

    /// `z_A · y_B` and `−z_A · x_B`.
    fn axes_parallel(&mut self, a: &FrameJet, b: &FrameJet) {
        let z = a.vector(Vec3::Z);
        self.push(z.dot(b.vector(Vec3::Y)).a);
        self.push(-z.dot(b.vector(Vec3::X)).a);
    }

    /// The rotation vector of `R_B R_Aᵀ`, where the frames coincide and turn together.
    fn oriented(&mut self, a: &FrameJet, b: &FrameJet) {
        self.world_axes(VecJet {
            a: b.alpha - a.alpha,
            ..VecJet::default()
        });
    }

    /// `t · (z_A × z_B)` for the same directions.
    fn parallel(&mut self, a: &FrameJet, b: &FrameJet) {
        let tilt = a.vector(Vec3::Z).cross(b.vector(Vec3::Z));
        for t in [Vec3::X, Vec3::Y] {
            self.push(tilt.dot(b.vector(t)).a);
        }
    }
}
