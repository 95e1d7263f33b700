//! How the rows of a joint accelerate: their second derivatives without accelerations of the bodies.
//!
//! Reads: the frames of a joint, moving.  Writes: nothing (pure functions).
//! Called by: `method::forces`.
//! Source: [Lecture] "Conservative Loop" (joints as free rows); rows and residuals as in `dynamics::joint`, written in jets.

use crate::dynamics::joint::OPPOSITE;
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
        // No row where the axes are opposite.
        JointKind::Twist if 1.0 + c.x <= OPPOSITE => 0.0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::joint::{JointPlace, JointRow};
    use crate::math::{Pose, rotation};

    /// The frame of a jet a little later.
    fn later(f: &FrameJet, t: f64) -> FrameJet {
        let turn = rotation::exp((f.w + f.alpha * (0.5 * t)) * t);
        FrameJet {
            origin: VecJet {
                x: f.origin.x + (f.origin.v + f.origin.a * (0.5 * t)) * t,
                v: f.origin.v + f.origin.a * t,
                a: f.origin.a,
            },
            rotation: turn * f.rotation,
            w: f.w + f.alpha * t,
            alpha: f.alpha,
        }
    }

    /// Speeds of the free rotation and translation by their rows, with the centres of mass at the frames' origins.
    fn speeds(kind: JointKind, a: &FrameJet, b: &FrameJet) -> [f64; 2] {
        let pose = |f: &FrameJet| Pose::new(f.origin.x, f.rotation);
        let place = JointPlace {
            a: pose(a),
            b: pose(b),
            center_a: a.origin.x,
            center_b: b.origin.x,
            winding: 0.0,
            coupled: None,
        };
        let speed = |row: JointRow| {
            row.e.dot(b.origin.v - a.origin.v) + row.ang_a.dot(a.w) + row.ang_b.dot(b.w)
        };
        [speed(place.turn(kind).0), speed(place.translation(kind).0)]
    }

    #[test]
    fn free_biases_are_what_free_speeds_gain() {
        let a = FrameJet {
            origin: VecJet {
                x: Vec3::new(0.1, -0.2, 0.3),
                v: Vec3::new(0.4, 0.1, -0.3),
                a: Vec3::new(-0.2, 0.6, 0.5),
            },
            rotation: rotation::exp(Vec3::new(0.3, 0.2, -0.4)),
            w: Vec3::new(0.5, -0.7, 0.9),
            alpha: Vec3::new(-0.4, 0.2, 0.8),
        };
        let b = FrameJet {
            origin: VecJet {
                x: Vec3::new(0.7, 0.4, -0.1),
                v: Vec3::new(-0.3, 0.5, 0.2),
                a: Vec3::new(0.1, -0.3, 0.7),
            },
            rotation: rotation::exp(Vec3::new(-0.5, 0.6, 0.2)),
            w: Vec3::new(-0.6, 0.3, 0.4),
            alpha: Vec3::new(0.9, -0.1, 0.3),
        };
        let kinds = [
            JointKind::Turn,
            JointKind::Slide,
            JointKind::Swing,
            JointKind::Twist,
            JointKind::Distance { min: 0.0, max: 2.0 },
            JointKind::PointOnLine,
        ];
        let t = 1e-5;
        for kind in kinds {
            let at = |t: f64| speeds(kind, &later(&a, t), &later(&b, t));
            let (before, after) = (at(-t), at(t));
            let told = free_biases(kind, &a, &b);
            for i in 0..2 {
                let gain = (after[i] - before[i]) / (2.0 * t);
                assert!(
                    (gain - told[i]).abs() < 1e-8,
                    "{kind:?}, {i}: {gain}, {}",
                    told[i]
                );
            }
        }
    }
}
