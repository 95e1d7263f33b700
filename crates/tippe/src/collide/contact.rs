//! The contact record: what detection knows about one point of touch, and nothing of any method.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: every pair routine (makes them) and every method (reads them).
//! Source: [Lecture] "Contact Extraction Summary"; kinds as in [Mirtich94] §4.2.
//!
//! **The sign convention, written once.** A contact joins A and B. The unit normal `n` points **from A to B**.
//! The gap `φ = n · (point_b − point_a)` is positive apart, negative when the shapes overlap (depth = −φ).
//! Relative velocity is `u = u_B − u_A` at the contact, `u_n = n · u < 0` is approaching. An impulse `P` acts
//! **+P on B and −P on A**; pushing means `P · n ≥ 0`. World axes, SI units.

use crate::math::{Pose, Vec3};

/// How a contact moves with its two bodies, in body coordinates.
///
/// Each side is a *core* feature (point, line or plane) thickened by a radius; together they say where normal, points and gap are
/// at any nearby pose, so that a method can look ahead without a new detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Features {
    /// Core points on both sides (sphere on sphere, end of capsule on corner …): the normal joins them.
    PointPoint {
        /// Core point on A, in A's body frame.
        a: Vec3,
        /// Core point on B, in B's body frame.
        b: Vec3,
    },
    /// Core points on both sides whose normal is held in the world: a passage too fast to follow, seen where the two first touch.
    Tangent {
        /// Core point on A, in A's body frame.
        a: Vec3,
        /// Core point on B, in B's body frame.
        b: Vec3,
        /// Unit normal, world.
        normal: Vec3,
    },
    /// A core point of B over a face of A (or of A over a face of B, if `face_on_b`): the normal turns with the face.
    PointFace {
        /// The core point, in the frame of the body that does not own the face.
        point: Vec3,
        /// Any point of the face's plane, in the frame of its owner.
        anchor: Vec3,
        /// Unit outward normal of the face, in the frame of its owner.
        normal: Vec3,
        /// Whether B owns the face.
        face_on_b: bool,
    },
    /// A core point against a core line: the normal is perpendicular to the line.
    PointEdge {
        /// The core point, in the frame of the body that does not own the edge.
        point: Vec3,
        /// A point of the edge, in the frame of its owner.
        anchor: Vec3,
        /// Unit direction of the edge, in the frame of its owner.
        direction: Vec3,
        /// Whether B owns the edge.
        edge_on_b: bool,
    },
    /// Two crossing core lines: the normal is perpendicular to both.
    EdgeEdge {
        /// A point of the edge of A, in A's body frame.
        anchor_a: Vec3,
        /// Unit direction of the edge of A, in A's body frame.
        direction_a: Vec3,
        /// A point of the edge of B, in B's body frame.
        anchor_b: Vec3,
        /// Unit direction of the edge of B, in B's body frame.
        direction_b: Vec3,
    },
    /// A circle of B over a face of A (or of A over a face of B, if `face_on_b`): its lowest point touches, wherever that is by then.
    RimFace {
        /// Centre of the circle, in the frame of the body that does not own the face.
        center: Vec3,
        /// Unit normal of the circle's plane, in that frame.
        axis: Vec3,
        /// Radius of the circle [m].
        radius: f64,
        /// Any point of the face's plane, in the frame of its owner.
        anchor: Vec3,
        /// Unit outward normal of the face, in the frame of its owner.
        normal: Vec3,
        /// Whether B owns the face.
        face_on_b: bool,
    },
}

/// One point of touch (or of near touch) between a shape of A and a shape of B, as a pair routine returns it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Point on the surface of A, world [m].
    pub point_a: Vec3,
    /// Point on the surface of B, world [m].
    pub point_b: Vec3,
    /// Unit normal from A to B, world.
    pub normal: Vec3,
    /// Signed distance along the normal [m]; positive apart.
    pub gap: f64,
    /// How the contact moves with its bodies. In *shape* frames when a pair routine returns it, in *body* frames afterwards.
    pub features: Features,
    /// Thickness of A's core feature [m].
    pub radius_a: f64,
    /// Thickness of B's core feature [m].
    pub radius_b: f64,
    /// Effective radius for rolling friction [m]: R on a flat face, 1/(1/R_A + 1/R_B) for two curved ones, 0 for two flat ones.
    pub rolling_radius: f64,
    /// Names the touching features of A and B; stable from step to step while the same features touch.
    pub feature_id: u32,
}

/// A contact at one pair of poses: what [`Features::at`] computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Point on the surface of A [m].
    pub point_a: Vec3,
    /// Point on the surface of B [m].
    pub point_b: Vec3,
    /// Signed distance [m].
    pub gap: f64,
}

impl Features {
    /// The same features, given in the frames that `place_a` and `place_b` lead to.
    #[must_use]
    pub fn moved(&self, place_a: &Pose, place_b: &Pose) -> Self {
        match *self {
            Self::PointPoint { a, b } => Self::PointPoint {
                a: place_a.point(a),
                b: place_b.point(b),
            },
            Self::Tangent { a, b, normal } => Self::Tangent {
                a: place_a.point(a),
                b: place_b.point(b),
                normal,
            },
            Self::PointFace {
                point,
                anchor,
                normal,
                face_on_b,
            } => {
                let (face, other) = if face_on_b {
                    (place_b, place_a)
                } else {
                    (place_a, place_b)
                };
                Self::PointFace {
                    point: other.point(point),
                    anchor: face.point(anchor),
                    normal: face.vector(normal),
                    face_on_b,
                }
            }
            Self::PointEdge {
                point,
                anchor,
                direction,
                edge_on_b,
            } => {
                let (edge, other) = if edge_on_b {
                    (place_b, place_a)
                } else {
                    (place_a, place_b)
                };
                Self::PointEdge {
                    point: other.point(point),
                    anchor: edge.point(anchor),
                    direction: edge.vector(direction),
                    edge_on_b,
                }
            }
            Self::EdgeEdge {
                anchor_a,
                direction_a,
                anchor_b,
                direction_b,
            } => Self::EdgeEdge {
                anchor_a: place_a.point(anchor_a),
                direction_a: place_a.vector(direction_a),
                anchor_b: place_b.point(anchor_b),
                direction_b: place_b.vector(direction_b),
            },
            Self::RimFace {
                center,
                axis,
                radius,
                anchor,
                normal,
                face_on_b,
            } => {
                let (face, other) = if face_on_b {
                    (place_b, place_a)
                } else {
                    (place_a, place_b)
                };
                Self::RimFace {
                    center: other.point(center),
                    axis: other.vector(axis),
                    radius,
                    anchor: face.point(anchor),
                    normal: face.vector(normal),
                    face_on_b,
                }
            }
        }
    }

    /// Two sharp features that meet at a point, as they are placed at these poses: the normal stays in the frame of the edge, or of A.
    ///
    /// The line that joins a corner to an edge is their normal only where both allow it. Once the corner has come around the edge the line
    /// points along the motion, and a contact along it would push there.
    #[must_use]
    pub(crate) fn held(&self, pose_a: &Pose, pose_b: &Pose, at: &Placement) -> Self {
        let plane = |point: Vec3, face_on_b: bool| {
            let (pose, anchor, normal) = if face_on_b {
                (pose_b, at.point_b, -at.normal)
            } else {
                (pose_a, at.point_a, at.normal)
            };
            Self::PointFace {
                point,
                anchor: pose.point_to_local(anchor),
                normal: pose.vector_to_local(normal),
                face_on_b,
            }
        };
        match *self {
            Self::PointPoint { b, .. } => plane(b, false),
            Self::PointEdge {
                point, edge_on_b, ..
            } => plane(point, edge_on_b),
            _ => *self,
        }
    }

    /// Where the contact is when its bodies are at `pose_a` and `pose_b` (features in body frames).
    ///
    /// `normal_before` orients the normal and stands in where the features do not define one (coincident points, parallel edges).
    #[must_use]
    pub fn at(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        radius_a: f64,
        radius_b: f64,
        normal_before: Vec3,
    ) -> Placement {
        let (normal, core_a, core_b) = match *self {
            Self::PointPoint { a, b } => {
                let (a, b) = (pose_a.point(a), pose_b.point(b));
                (oriented(b - a, normal_before), a, b)
            }
            Self::Tangent { a, b, normal } => (normal, pose_a.point(a), pose_b.point(b)),
            Self::PointFace {
                point,
                anchor,
                normal,
                face_on_b,
            } => {
                let (face, other) = if face_on_b {
                    (pose_b, pose_a)
                } else {
                    (pose_a, pose_b)
                };
                let n = face.vector(normal);
                let p = other.point(point);
                let foot = p - n * height(n, p, face, normal, anchor);
                if face_on_b {
                    (-n, p, foot)
                } else {
                    (n, foot, p)
                }
            }
            Self::PointEdge {
                point,
                anchor,
                direction,
                edge_on_b,
            } => {
                let (edge, other) = if edge_on_b {
                    (pose_b, pose_a)
                } else {
                    (pose_a, pose_b)
                };
                let d = edge.vector(direction);
                let p = other.point(point);
                let origin = edge.point(anchor);
                let foot = origin + d * d.dot(p - origin);
                let (a, b) = if edge_on_b { (p, foot) } else { (foot, p) };
                (oriented(b - a, normal_before), a, b)
            }
            Self::EdgeEdge {
                anchor_a,
                direction_a,
                anchor_b,
                direction_b,
            } => {
                let (d_a, d_b) = (pose_a.vector(direction_a), pose_b.vector(direction_b));
                let (x_a, x_b) = (pose_a.point(anchor_a), pose_b.point(anchor_b));
                let n = oriented(d_a.cross(d_b), normal_before);
                let (a, b) = closest_on_lines(x_a, d_a, x_b, d_b);
                (n, a, b)
            }
            Self::RimFace {
                center,
                axis,
                radius,
                anchor,
                normal,
                face_on_b,
            } => {
                let (face, other) = if face_on_b {
                    (pose_b, pose_a)
                } else {
                    (pose_a, pose_b)
                };
                let n = face.vector(normal);
                let k = other.vector(axis);
                // Down along the circle's plane; a circle in the plane of the face has no lowest point, its centre is as low.
                let down = k.cross(k.cross(n)).normalize_or_zero();
                let p = other.point(center) + down * radius;
                let foot = p - n * height(n, p, face, normal, anchor);
                if face_on_b {
                    (-n, p, foot)
                } else {
                    (n, foot, p)
                }
            }
        };
        let gap = normal.dot(core_b - core_a) - radius_a - radius_b;
        Placement {
            normal,
            point_a: core_a + normal * radius_a,
            point_b: core_b - normal * radius_b,
            gap,
        }
    }
}

/// Height of the world point `p` over a plane that turns with `frame`, whose normal is `n` in the world and `normal` in that frame.
fn height(n: Vec3, p: Vec3, frame: &Pose, normal: Vec3, anchor: Vec3) -> f64 {
    n.dot(p - frame.position) - normal.dot(anchor)
}

/// Cosine-like bound under which a difference vector has no usable direction, relative to 1 m [m].
const DIRECTION_MIN: f64 = 1e-12;

/// The unit vector along `v`, on the side of `before`; `before` itself where `v` has no direction.
fn oriented(v: Vec3, before: Vec3) -> Vec3 {
    let length = v.length();
    if length <= DIRECTION_MIN {
        return before;
    }
    let n = v / length;
    if n.dot(before) < 0.0 { -n } else { n }
}

/// The closest points of two lines with unit directions; for parallel lines, the points nearest the two anchors' midpoint.
fn closest_on_lines(x_a: Vec3, d_a: Vec3, x_b: Vec3, d_b: Vec3) -> (Vec3, Vec3) {
    let r = x_b - x_a;
    let c = d_a.dot(d_b);
    let det = 1.0 - c * c;
    if det <= DIRECTION_MIN {
        let s = 0.5 * d_a.dot(r);
        return (x_a + d_a * s, x_b + d_b * (c * s - d_b.dot(r)));
    }
    let (p, q) = (d_a.dot(r), d_b.dot(r));
    let s = (p - c * q) / det;
    let t = (c * p - q) / det;
    (x_a + d_a * s, x_b + d_b * t)
}
