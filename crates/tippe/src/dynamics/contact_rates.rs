//! How the gap of a contact accelerates: the derivative of its normal by kind of contact, without one formula for each.
//!
//! Reads: features of a contact, moving frames of its bodies.  Writes: nothing (pure functions).
//! Called by: `method::forces`.
//! Source: [Lecture] "Vector b", with the factor 2 that it lost: the second derivative of the gap φ has 2 ṅ·u. The geometric gap of
//! `Features::at` is written once more in jets, which give φ̈ without accelerations of the bodies; curved features come out right as well
//! (a rolling sphere has no R ω² term). Letters: φ gap, n normal from A to B, x contact point.

use crate::collide::Features;
use crate::math::Vec3;
use crate::math::jet::{FrameJet, Jet, VecJet};

/// Length under which a difference has no direction [m], and sine under which lines are parallel [1].
const DIRECTION_MIN: f64 = 1e-12;

/// A contact that moves with its bodies.
#[derive(Clone, Copy, Debug)]
pub struct ContactRates {
    /// Normal from A to B; its derivatives.
    pub normal: VecJet,
    /// Gap, its rate and what its acceleration would be if no body that moves freely accelerated.
    pub gap: Jet,
    /// Common point of both surfaces, half way between them; it moves along both.
    pub point: VecJet,
}

/// The contact with these features on two moving frames; `before` orients the normal and stands in where there is none.
#[must_use]
pub fn rates(
    features: &Features,
    frame_a: &FrameJet,
    frame_b: &FrameJet,
    (radius_a, radius_b): (f64, f64),
    before: Vec3,
) -> ContactRates {
    let (normal, core_a, core_b) = cores(features, frame_a, frame_b, before);
    let mut gap = normal.dot(core_b - core_a);
    gap.x -= radius_a + radius_b;
    let point_a = core_a + normal * radius_a;
    let point_b = core_b - normal * radius_b;
    ContactRates {
        normal,
        gap,
        point: (point_a + point_b) * 0.5,
    }
}

/// Normal and core points, as in `Features::at`.
fn cores(
    features: &Features,
    frame_a: &FrameJet,
    frame_b: &FrameJet,
    before: Vec3,
) -> (VecJet, VecJet, VecJet) {
    let owners = |on_b: bool| {
        if on_b {
            (frame_b, frame_a)
        } else {
            (frame_a, frame_b)
        }
    };
    match *features {
        Features::PointPoint { a, b } => {
            let (a, b) = (frame_a.point(a), frame_b.point(b));
            (oriented(b - a, before), a, b)
        }
        Features::Tangent { a, b, normal } => {
            (VecJet::fixed(normal), frame_a.point(a), frame_b.point(b))
        }
        Features::PointFace {
            point,
            anchor,
            normal,
            face_on_b,
        } => {
            let (face, other) = owners(face_on_b);
            over_face(other.point(point), face, anchor, normal, face_on_b)
        }
        Features::PointEdge {
            point,
            anchor,
            direction,
            edge_on_b,
        } => {
            let (edge, other) = owners(edge_on_b);
            let (d, p, origin) = (
                edge.vector(direction),
                other.point(point),
                edge.point(anchor),
            );
            let foot = origin + d * d.dot(p - origin);
            let (a, b) = if edge_on_b { (p, foot) } else { (foot, p) };
            (oriented(b - a, before), a, b)
        }
        Features::EdgeEdge {
            anchor_a,
            direction_a,
            anchor_b,
            direction_b,
        } => {
            let (d_a, d_b) = (frame_a.vector(direction_a), frame_b.vector(direction_b));
            let (x_a, x_b) = (frame_a.point(anchor_a), frame_b.point(anchor_b));
            let (a, b) = closest(x_a, d_a, x_b, d_b);
            (oriented(d_a.cross(d_b), before), a, b)
        }
        Features::RimFace {
            center,
            axis,
            radius,
            anchor,
            normal,
            face_on_b,
        } => {
            let (face, other) = owners(face_on_b);
            let k = other.vector(axis);
            let down = k.cross(k.cross(face.vector(normal)));
            let center = other.point(center);
            let p = if down.x.length() > DIRECTION_MIN {
                center + down.unit() * radius
            } else {
                center
            };
            over_face(p, face, anchor, normal, face_on_b)
        }
    }
}

/// A point over a face: the normal turns with the face.
fn over_face(
    p: VecJet,
    face: &FrameJet,
    anchor: Vec3,
    normal: Vec3,
    face_on_b: bool,
) -> (VecJet, VecJet, VecJet) {
    let n = face.vector(normal);
    let foot = p - n * n.dot(p - face.point(anchor));
    if face_on_b {
        (-n, p, foot)
    } else {
        (n, foot, p)
    }
}

/// The unit vector along `v`, on the side of `before`; `before` itself where `v` has no direction.
fn oriented(v: VecJet, before: Vec3) -> VecJet {
    if v.x.length() <= DIRECTION_MIN {
        return VecJet::fixed(before);
    }
    let n = v.unit();
    if n.x.dot(before) < 0.0 { -n } else { n }
}

/// The closest points of two lines with unit directions.
fn closest(x_a: VecJet, d_a: VecJet, x_b: VecJet, d_b: VecJet) -> (VecJet, VecJet) {
    let r = x_b - x_a;
    let c = d_a.dot(d_b);
    let one = Jet {
        x: 1.0,
        ..Jet::default()
    };
    let det = one - c * c;
    if det.x <= DIRECTION_MIN {
        let s = d_a.dot(r) * 0.5;
        return (x_a + d_a * s, x_b + d_b * (c * s - d_b.dot(r)));
    }
    let (p, q) = (d_a.dot(r), d_b.dot(r));
    let (s, t) = ((p - c * q) / det, (c * p - q) / det);
    (x_a + d_a * s, x_b + d_b * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    fn frame(x: Vec3, v: Vec3, w: Vec3) -> FrameJet {
        FrameJet {
            origin: VecJet {
                x,
                v,
                a: Vec3::ZERO,
            },
            rotation: Quat::IDENTITY,
            w,
            alpha: Vec3::ZERO,
        }
    }

    /// The bead on a turning plate: φ̈ = 2 ṅ·u + the centripetal part of the plate's material, with the factor 2 of the Coriolis force.
    #[test]
    fn cl_34_a_bead_on_a_turning_plate_has_the_factor_two() {
        let (omega, v) = (3.0, 2.0);
        let plate = frame(Vec3::ZERO, Vec3::ZERO, Vec3::Z * omega);
        // The plate's face is x = 0, the bead is at the axis and slides along y with v relative to the plate.
        let bead = frame(Vec3::ZERO, Vec3::Y * v, Vec3::ZERO);
        let face = Features::PointFace {
            point: Vec3::ZERO,
            anchor: Vec3::ZERO,
            normal: Vec3::X,
            face_on_b: false,
        };
        let r = rates(&face, &plate, &bead, (0.0, 0.0), Vec3::X);
        // ṅ = ω × n = ω y; 2 ṅ · u = 2 ω v.
        assert!((r.gap.a - 2.0 * omega * v).abs() < 1e-14, "{}", r.gap.a);
        assert!(r.gap.v.abs() < 1e-14);
    }

    /// Spheres: φ̈ = |V_t|²/d. A sphere that rolls on a plane: nothing, whatever its spin.
    #[test]
    fn cl_34_curved_contacts_follow_the_geometric_gap() {
        let a = frame(Vec3::ZERO, Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0));
        let b = frame(Vec3::X * 0.5, Vec3::Y * 3.0, Vec3::new(-2.0, 0.0, 7.0));
        let spheres = Features::PointPoint {
            a: Vec3::ZERO,
            b: Vec3::ZERO,
        };
        let r = rates(&spheres, &a, &b, (0.2, 0.3), Vec3::X);
        assert!((r.gap.a - 9.0 / 0.5).abs() < 1e-12, "{}", r.gap.a);
        let plane = Features::PointFace {
            point: Vec3::ZERO,
            anchor: Vec3::ZERO,
            normal: Vec3::Z,
            face_on_b: false,
        };
        let ground = frame(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        let ball = frame(
            Vec3::Z * 0.1,
            Vec3::new(1.0, 2.0, 0.0),
            Vec3::new(-20.0, 10.0, 5.0),
        );
        let r = rates(&plane, &ground, &ball, (0.0, 0.1), Vec3::Z);
        assert_eq!(r.gap.a, 0.0);
        assert!((r.point.v - Vec3::new(1.0, 2.0, 0.0)).length() < 1e-14);
    }

    /// Edge on edge: ṅ = ±(1 − n nᵀ)((ω_A × e_A) × e_B + e_A × (ω_B × e_B))/|e_A × e_B|.
    #[test]
    fn cl_34_crossed_edges_turn_their_normal() {
        let (w_a, w_b) = (Vec3::new(0.3, -0.8, 1.1), Vec3::new(-0.5, 0.6, 0.2));
        let (e_a, e_b) = (Vec3::X, Vec3::new(0.6, 0.8, 0.0));
        let a = frame(Vec3::ZERO, Vec3::ZERO, w_a);
        let b = frame(Vec3::new(0.2, 0.1, 0.0), Vec3::new(0.4, 0.1, 0.0), w_b);
        let edges = Features::EdgeEdge {
            anchor_a: Vec3::ZERO,
            direction_a: e_a,
            anchor_b: Vec3::ZERO,
            direction_b: e_b,
        };
        let r = rates(&edges, &a, &b, (0.0, 0.0), Vec3::Z);
        let n = Vec3::Z;
        let turn = w_a.cross(e_a).cross(e_b) + e_a.cross(w_b.cross(e_b));
        let expected = (turn - n * n.dot(turn)) / e_a.cross(e_b).length();
        assert!((r.normal.v - expected).length() < 1e-14);
        // The gap of two material lines through the crossing: its rate is that of the material points there.
        let x = r.point.x;
        let u = Vec3::new(0.4, 0.1, 0.0) + w_b.cross(x - Vec3::new(0.2, 0.1, 0.0)) - w_a.cross(x);
        assert!((r.gap.v - n.dot(u)).abs() < 1e-13);
    }
}
