//! The closest or deepest features of two convex cores where no face shows the way out: corners, edges, round sides.
//!
//! Reads: the simplex that distance or depth ended with.  Writes: appends contact points.
//! Called by: `collide::pair_convex`.
//! Source: kinds as in [Mirtich94] §4.2. The sides of a cylinder are its axis, thickened by its radius.

use super::contact::{ContactPoint, Features};
use super::gjk::ConvexPair;
use super::narrow::{Placed, rolling_radius};
use super::pair_convex::Touching;
use super::patch::both;
use crate::math::Vec3;
use crate::shape::Core;

/// Distance of cores, relative to the size, from which the line that joins them shows the normal [1].
const NEAREST_APART: f64 = 1e-7;
/// Part of a length within which a point is at its end [1].
const AT_END: f64 = 1e-9;
/// sin² of the angle below which lines are so nearly parallel that the ends of their common stretch are points of contact too [1].
const SIDE_BY_SIDE: f64 = 1e-3;
/// sin² of the angle below which the crossing of two lines has no place [1].
const NEAREST_PARALLEL: f64 = 1e-10;
/// Cosine that the normal must have with the cross product of two crossing edges [1].
const ACROSS: f64 = 0.999;
/// Part of the size that a common stretch must have to count [1].
const STRETCH: f64 = 1e-3;

/// Marks contacts of this kind.
const ID: u32 = 1 << 31;

/// What a core has at the point of touch, in the shape frame.
#[derive(Clone, Copy, Debug)]
struct Feature {
    kind: Kind,
    /// Thickness [m]: the core's radius, and a cylinder's.
    radius: f64,
    name: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A corner or an end.
    Point(Vec3),
    /// An edge or an axis: anchor, unit direction, and where along it it ends [m].
    Line(Vec3, Vec3, [f64; 2]),
    /// A point of a smooth or flat surface.
    Surface,
}

/// Appends the contact of the features nearest to each other.
pub(super) fn push_nearest(
    touching: &Touching<'_>,
    pair: &ConvexPair<'_>,
    out: &mut Vec<ContactPoint>,
) {
    let found = touching.found;
    let simplex = &found.simplex;
    let (x_a, x_b) = simplex.witnesses();
    let corners = &simplex.vertices[..simplex.count];
    let n_b = -(pair.turn.transpose() * found.normal);
    let placed = &touching.placed;
    let distinct = |of: fn(&super::simplex::Vertex) -> Vec3| {
        let mut list = [Vec3::ZERO; 4];
        let mut count = 0;
        for v in corners {
            if !list[..count].contains(&of(v)) {
                list[count] = of(v);
                count += 1;
            }
        }
        (list, count)
    };
    let a = feature(
        &pair.a,
        placed.radius_a,
        x_a,
        found.normal,
        distinct(|v| v.a),
    );
    let b = feature(&pair.b, placed.radius_b, x_b, n_b, distinct(|v| v.b));
    let joint = Join {
        touching,
        a,
        b,
        x_a,
        x_b,
        pair,
    };
    joint.push(out);
}

/// The feature of a core at its point `x`, where the unit vector `d` points to the other shape.
fn feature(
    core: &Core<'_>,
    radius: f64,
    x: Vec3,
    d: Vec3,
    (corners, count): ([Vec3; 4], usize),
) -> Feature {
    match *core {
        Core::Point => Feature {
            kind: Kind::Point(Vec3::ZERO),
            radius,
            name: 0,
        },
        Core::Segment { half_length: h } => {
            let inside = x.z.abs() < h * (1.0 - AT_END);
            Feature {
                kind: if inside {
                    Kind::Line(Vec3::ZERO, Vec3::Z, [-h, h])
                } else {
                    Kind::Point(x)
                },
                radius,
                name: if inside { 2 } else { u32::from(x.z > 0.0) },
            }
        }
        Core::Cylinder {
            half_length: h,
            radius: r,
        } => {
            let side = d.z.abs() < 1e-6 || x.z.abs() < h * (1.0 - AT_END);
            let rim = x.truncate().length() > r * (1.0 - AT_END);
            let kind = match (side, rim) {
                (true, _) => Kind::Line(Vec3::ZERO, Vec3::Z, [-h, h]),
                (false, true) => Kind::Point(x),
                (false, false) => Kind::Surface,
            };
            Feature {
                kind,
                radius: if side { r + radius } else { radius },
                name: 4 * u32::from(side) + u32::from(x.z > 0.0),
            }
        }
        Core::Cone { half_length: h, .. } => {
            let rim = x.z < h * (AT_END - 1.0);
            let apex = x.z > h * (1.0 - AT_END);
            let kind = if rim || apex {
                Kind::Point(x)
            } else {
                Kind::Surface
            };
            Feature {
                kind,
                radius,
                name: u32::from(rim) + 2 * u32::from(apex),
            }
        }
        Core::Cuboid { .. } | Core::Hull(_) | Core::Triangle(_) => {
            let name = corners[..count]
                .iter()
                .fold(0, |name, c| both(name, place(*c)));
            let kind = match count {
                1 => Kind::Point(corners[0]),
                2 => {
                    let along = corners[1] - corners[0];
                    let length = along.length();
                    if length > 0.0 {
                        Kind::Line(corners[0], along / length, [0.0, length])
                    } else {
                        Kind::Point(corners[0])
                    }
                }
                _ => Kind::Surface,
            };
            Feature { kind, radius, name }
        }
    }
}

/// A name for a corner by its place.
fn place(x: Vec3) -> u32 {
    let bits = |x: f64| (x.to_bits() ^ (x.to_bits() >> 32)) as u32;
    bits(x.x)
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add(bits(x.y).wrapping_mul(0x85eb_ca6b))
        .wrapping_add(bits(x.z).wrapping_mul(0xc2b2_ae35))
}

struct Join<'a> {
    touching: &'a Touching<'a>,
    pair: &'a ConvexPair<'a>,
    a: Feature,
    b: Feature,
    /// Where the cores touch, each in its own frame [m].
    x_a: Vec3,
    x_b: Vec3,
}

impl Join<'_> {
    fn push(&self, out: &mut Vec<ContactPoint>) {
        let found = self.touching.found;
        // Thick features are cores of their own: their distance is larger by what is not in the core's radius.
        let placed = &self.touching.placed;
        let inner = self.a.radius + self.b.radius - placed.radius_a - placed.radius_b;
        let apart = found.distance + inner > NEAREST_APART * self.touching.size;
        match (self.a.kind, self.b.kind) {
            (Kind::Point(a), Kind::Point(b)) if apart => {
                self.one(Features::PointPoint { a, b }, 0, out);
            }
            (Kind::Point(point), Kind::Line(anchor, direction, _)) if apart => self.one(
                Features::PointEdge {
                    point,
                    anchor,
                    direction,
                    edge_on_b: true,
                },
                0,
                out,
            ),
            (Kind::Line(anchor, direction, _), Kind::Point(point)) if apart => self.one(
                Features::PointEdge {
                    point,
                    anchor,
                    direction,
                    edge_on_b: false,
                },
                0,
                out,
            ),
            (Kind::Line(p, d, ends_a), Kind::Line(q, e, ends_b)) => {
                self.lines((p, d, ends_a), (q, e, ends_b), apart, out);
            }
            (Kind::Surface, _) | (Kind::Point(_), Kind::Point(_)) => self.tangent(false, out),
            _ => self.tangent(true, out),
        }
    }

    fn placed(&self) -> Placed<'_> {
        let Placed {
            pose_a,
            pose_b,
            margin,
            ..
        } = self.touching.placed;
        let (r, s) = (self.a.radius, self.b.radius);
        Placed {
            pose_a,
            pose_b,
            radius_a: r,
            radius_b: s,
            rolling_radius: if r > 0.0 && s > 0.0 {
                rolling_radius(r, s)
            } else {
                r.max(s)
            },
            margin,
        }
    }

    fn one(&self, features: Features, which: u32, out: &mut Vec<ContactPoint>) {
        let normal = self
            .touching
            .placed
            .pose_a
            .vector(self.touching.found.normal);
        let id = ID | (both(self.a.name, self.b.name.wrapping_add(77)) << 2 >> 2) & !3 | which;
        self.placed().push(features, normal, id, out);
    }

    /// The tangent plane of A at its point (or of B, if `on_b`) against the point of the other, without thickness.
    fn tangent(&self, on_b: bool, out: &mut Vec<ContactPoint>) {
        let Placed {
            radius_a, radius_b, ..
        } = self.touching.placed;
        self.plane((self.x_a, radius_a), (self.x_b, radius_b), on_b, 0, out);
    }

    /// The plane across the normal through a point of A (or of B, if `on_b`) against one of the other; both come with the thickness
    /// that leads from them to the surface.
    fn plane(
        &self,
        (x_a, radius_a): (Vec3, f64),
        (x_b, radius_b): (Vec3, f64),
        on_b: bool,
        which: u32,
        out: &mut Vec<ContactPoint>,
    ) {
        let n = self.touching.found.normal;
        let n_b = -(self.pair.turn.transpose() * n);
        // Onto the surfaces.
        let (s_a, s_b) = (x_a + n * radius_a, x_b + n_b * radius_b);
        let features = if on_b {
            Features::PointFace {
                point: s_a,
                anchor: s_b,
                normal: n_b,
                face_on_b: true,
            }
        } else {
            Features::PointFace {
                point: s_b,
                anchor: s_a,
                normal: n,
                face_on_b: false,
            }
        };
        let mut thin = Self { ..*self };
        (thin.a.radius, thin.b.radius) = (0.0, 0.0);
        thin.one(features, which, out);
    }

    /// Two edges or axes: where they cross, and if they run side by side the ends of their common stretch.
    fn lines(
        &self,
        (p, d, ends_a): (Vec3, Vec3, [f64; 2]),
        (q, e, ends_b): (Vec3, Vec3, [f64; 2]),
        apart: bool,
        out: &mut Vec<ContactPoint>,
    ) {
        let (q_a, e_a) = (self.pair.b_in_a(q), self.pair.turn * e);
        let cross = d.cross(e_a);
        let sin_2 = cross.length_squared();
        let n = self.touching.found.normal;
        let first = out.len();
        if sin_2 < SIDE_BY_SIDE {
            // Ends of B's line along A's.
            let on_a = |t: f64| d.dot(q_a + e_a * t - p);
            let (s, t) = (on_a(ends_b[0]), on_a(ends_b[1]));
            let (low, high) = (ends_a[0].max(s.min(t)), ends_a[1].min(s.max(t)));
            if high - low > STRETCH * self.touching.size {
                for (which, s) in [(1, low), (2, high)] {
                    let x = p + d * s;
                    if apart {
                        let features = Features::PointEdge {
                            point: x,
                            anchor: q,
                            direction: e,
                            edge_on_b: true,
                        };
                        self.one(features, which, out);
                    } else {
                        let y = q + e * e_a.dot(x - q_a).clamp(ends_b[0], ends_b[1]);
                        self.plane((x, self.a.radius), (y, self.b.radius), false, which, out);
                    }
                }
            }
        }
        if sin_2 > NEAREST_PARALLEL && (cross.dot(n) / sin_2.sqrt()).abs() > ACROSS {
            let r = q_a - p;
            let (c, d_r, e_r) = (d.dot(e_a), d.dot(r), e_a.dot(r));
            let (s, t) = ((d_r - c * e_r) / sin_2, (c * d_r - e_r) / sin_2);
            let within = |x: f64, ends: [f64; 2]| {
                let slack = NEAREST_APART * self.touching.size;
                x >= ends[0] - slack && x <= ends[1] + slack
            };
            if within(s, ends_a) && within(t, ends_b) {
                let features = Features::EdgeEdge {
                    anchor_a: p,
                    direction_a: d,
                    anchor_b: q,
                    direction_b: e,
                };
                self.one(features, 0, out);
            }
        }
        if out.len() == first {
            self.tangent(false, out);
        }
    }
}
