//! The outline of a convex core along a direction: the face, line or point that it would lay on a plane.
//!
//! Reads: cores.  Writes: nothing (pure functions, fixed arrays).
//! Called by: `collide::pair_convex`, `collide::pair_half_space_convex`, `collide::mesh`.
//! Source: [Lecture] "Near Phase with SAT" (incident face). Round rims are ours: every point is the lowest one of a circle about the
//! shape's z axis, of radius zero for points that stay where they are in the body.

use crate::math::Vec3;
use crate::shape::{ConvexHull, Core, cuboid};
use std::f64::consts::PI;

/// Most corners of an outline; faces with more are stood in for by some of theirs.
pub(super) const OUTLINE_MAX: usize = 32;
/// Corners that stand for a round face where it lies on another.
const ROUND: u32 = 8;
/// Sides of the polygon around a round face on which others lie.
const ROUND_SIDES: u32 = 16;
/// Sine of the tilt under which a round face is flat and has no lowest point [1].
const OUTLINE_FLAT: f64 = 1e-7;
/// Cosine between a segment and the direction above which it stands on its end [1].
const STANDS: f64 = 0.7;

/// Names of points that are no vertices of a polyhedron.
const NAME_ROUND: u32 = 1 << 20;
const NAME_RIM: u32 = 2 << 20;
const NAME_APEX: u32 = 3 << 20;

/// One point of an outline, in the shape frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutlinePoint {
    /// Where it is now [m].
    pub x: Vec3,
    /// Names it within its shape.
    pub name: u32,
}

/// A convex polygon, counter-clockwise about its normal, a segment or a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    points: [OutlinePoint; OUTLINE_MAX],
    count: usize,
    /// Unit outward normal, for polygons.
    pub normal: Option<Vec3>,
    /// Radius of the rims [m].
    radius: f64,
}

impl Outline {
    const EMPTY: Self = Self {
        points: [OutlinePoint {
            x: Vec3::ZERO,
            name: 0,
        }; OUTLINE_MAX],
        count: 0,
        normal: None,
        radius: 0.0,
    };

    pub fn points(&self) -> &[OutlinePoint] {
        &self.points[..self.count]
    }

    /// Centre and radius of the circle that a point belongs to [m]: those of its rim, or the point itself and none.
    pub fn circle(&self, p: &OutlinePoint) -> (Vec3, f64) {
        if p.name & !1 == NAME_RIM {
            (Vec3::new(0.0, 0.0, p.x.z), self.radius)
        } else {
            (p.x, 0.0)
        }
    }

    /// Twice the area of a polygon [m²].
    pub fn area(&self) -> f64 {
        let Some(n) = self.normal else { return 0.0 };
        let o = self.points[0].x;
        let p = self.points();
        (2..p.len())
            .map(|k| n.dot((p[k - 1].x - o).cross(p[k].x - o)))
            .sum()
    }

    fn push(&mut self, p: OutlinePoint) {
        if self.count < OUTLINE_MAX {
            self.points[self.count] = p;
            self.count += 1;
        }
    }

    fn fixed(&mut self, x: Vec3, name: u32) {
        self.push(OutlinePoint { x, name });
    }

    /// The point of a rim on the side of the unit vector `across`.
    fn rim(&mut self, radius: f64, z: f64, across: Vec3) {
        self.radius = radius;
        self.push(on_rim(radius, z, across));
    }

    /// What the core turns to the unit direction `d` (in the shape frame).
    pub fn of(core: &Core<'_>, d: Vec3) -> Self {
        let mut out = Self::EMPTY;
        match *core {
            Core::Point => out.fixed(Vec3::ZERO, 0),
            Core::Segment { half_length } => {
                // Lying, both ends; standing, the one that is nearer.
                let lies = d.z.abs() < STANDS;
                if lies || d.z < 0.0 {
                    out.fixed(Vec3::Z * -half_length, 0);
                }
                if lies || d.z >= 0.0 {
                    out.fixed(Vec3::Z * half_length, 1);
                }
            }
            Core::Cuboid { half } => out.cuboid(half, d),
            Core::Triangle(corners) => {
                for (k, c) in corners.into_iter().enumerate() {
                    out.fixed(c, k as u32);
                }
                let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
                let n = n.normalize_or(d);
                if n.dot(d) < 0.0 {
                    out.points.swap(1, 2);
                }
                out.normal = Some(if n.dot(d) < 0.0 { -n } else { n });
            }
            Core::Hull(hull) => {
                out.hull_face(hull, hull.face_along(d, hull.support(d, u32::MAX)));
            }
            Core::Cylinder {
                half_length,
                radius,
            } => {
                let across = Vec3::new(d.x, d.y, 0.0);
                // The end or the side, whichever looks more along d.
                if d.z.abs() >= across.length() {
                    let z = if d.z > 0.0 { half_length } else { -half_length };
                    out.round_face(radius, z, across);
                } else {
                    let across = across.normalize_or(Vec3::X);
                    out.rim(radius, -half_length, across);
                    out.rim(radius, half_length, across);
                }
            }
            Core::Cone {
                half_length: h,
                radius,
            } => {
                let across = Vec3::new(d.x, d.y, 0.0);
                // Normal of the side: (2h, r) across and up.
                let side = (2.0 * h * across.length() + radius * d.z)
                    / (4.0 * h * h + radius * radius).sqrt();
                if -d.z >= side {
                    out.round_face(radius, -h, across);
                } else {
                    if side > d.z {
                        out.rim(radius, -h, across.normalize_or(Vec3::X));
                    }
                    out.fixed(Vec3::Z * h, NAME_APEX);
                }
            }
        }
        out
    }

    fn cuboid(&mut self, half: Vec3, d: Vec3) {
        let size = d.abs();
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let (u, v) = (1_u32 << ((axis + 1) % 3), 1_u32 << ((axis + 2) % 3));
        let high = d[axis] >= 0.0;
        let base = u32::from(high) << axis;
        // Counter-clockwise about +axis; the other way round about −axis.
        let corners = if high {
            [base, base | u, base | u | v, base | v]
        } else {
            [base, base | v, base | u | v, base | u]
        };
        for i in corners {
            self.fixed(cuboid::vertex(half, i), i);
        }
        self.normal = Some(if high {
            Vec3::AXES[axis]
        } else {
            -Vec3::AXES[axis]
        });
    }

    fn hull_face(&mut self, hull: &ConvexHull, face: usize) {
        let corners = hull.face_vertices(face);
        let step = corners.len().div_ceil(OUTLINE_MAX).max(1);
        for i in corners.iter().step_by(step) {
            self.fixed(hull.vertex(*i), *i);
        }
        self.normal = Some(hull.faces()[face].normal);
    }

    /// Points around a round face that stay in the body, and in place of the lowest of them the lowest of all, which moves.
    fn round_face(&mut self, radius: f64, z: f64, across: Vec3) {
        let lowest = (across.length() > OUTLINE_FLAT).then(|| across.normalize_or(Vec3::X));
        let mut nearest = 0;
        let mut most = f64::NEG_INFINITY;
        for k in 0..ROUND {
            // Counter-clockwise about the outward normal.
            let turn = if z > 0.0 { k } else { ROUND - 1 - k };
            let x = on_circle(turn, ROUND, radius, z);
            self.fixed(x, NAME_ROUND | (u32::from(z > 0.0) << 4) | turn);
            let along = x.dot(across);
            if along > most {
                (nearest, most) = (k as usize, along);
            }
        }
        if let Some(low) = lowest {
            self.radius = radius;
            self.points[nearest] = on_rim(radius, z, low);
        }
        self.normal = Some(if z > 0.0 { Vec3::Z } else { -Vec3::Z });
    }

    /// The polygon that others are clipped to when they lie on a round face: one that holds all of it. None for other faces.
    pub fn around(&self, core: &Core<'_>) -> Option<Self> {
        let (Core::Cylinder { radius, .. } | Core::Cone { radius, .. }) = *core else {
            return None;
        };
        self.normal?;
        let mut out = Self::EMPTY;
        out.normal = self.normal;
        let z = self.points[0].x.z;
        let outer = radius / libm::cos(PI / f64::from(ROUND_SIDES));
        for k in 0..ROUND_SIDES {
            let turn = if z > 0.0 { k } else { ROUND_SIDES - 1 - k };
            out.fixed(
                on_circle(turn, ROUND_SIDES, outer, z),
                NAME_ROUND | (1 << 8) | (u32::from(z > 0.0) << 4) | turn,
            );
        }
        Some(out)
    }
}

/// What a core turns to a direction; of a hull only which face, as it may turn out that its corners are not needed.
pub(super) struct Turned<'a> {
    face: Option<(&'a ConvexHull, usize)>,
    outline: Option<Outline>,
}

impl<'a> Turned<'a> {
    /// As [`Outline::of`], where the vertex of a hull that lies farthest along `d` may be known.
    #[inline]
    pub fn new(core: &Core<'a>, d: Vec3, top: Option<u32>) -> Self {
        if let Core::Hull(hull) = *core {
            let top = top.unwrap_or_else(|| hull.support(d, u32::MAX));
            Self {
                face: Some((hull, hull.face_along(d, top))),
                outline: None,
            }
        } else {
            Self {
                face: None,
                outline: Some(Outline::of(core, d)),
            }
        }
    }

    /// Unit outward normal and any point of a polygon [m].
    pub fn plane(&self) -> Option<(Vec3, Vec3)> {
        if let Some((hull, face)) = self.face {
            let face = &hull.faces()[face];
            return Some((face.normal, face.first));
        }
        let outline = self.outline.as_ref()?;
        Some((outline.normal?, outline.points[0].x))
    }

    /// Twice the area of a polygon [m²].
    pub fn area(&self) -> f64 {
        match (self.face, &self.outline) {
            (Some((hull, face)), _) => hull.faces()[face].area,
            (None, Some(outline)) => outline.area(),
            (None, None) => 0.0,
        }
    }

    /// All of it.
    pub fn outline(self) -> Outline {
        if let Some(outline) = self.outline {
            return outline;
        }
        let mut out = Outline::EMPTY;
        if let Some((hull, face)) = self.face {
            out.hull_face(hull, face);
        }
        out
    }
}

/// The point of a rim on the side of the unit vector `across`.
fn on_rim(radius: f64, z: f64, across: Vec3) -> OutlinePoint {
    OutlinePoint {
        x: Vec3::new(0.0, 0.0, z) + across * radius,
        name: NAME_RIM | u32::from(z > 0.0),
    }
}

/// Corner `k` of a regular polygon.
fn on_circle(k: u32, sides: u32, radius: f64, z: f64) -> Vec3 {
    let (s, c) = libm::sincos(f64::from(k) * (2.0 * PI / f64::from(sides)));
    Vec3::new(radius * c, radius * s, z)
}
