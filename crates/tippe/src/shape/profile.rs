//! Plane solids bounded by segments and circular arcs, with holes: checks, exact area, centroid and inertia, distance of a point.
//!
//! Reads: paths of edges.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`, `collide::pair_profile`, drawings.
//! Source: Green's theorem: triangles to the chords, circular segments beyond them. A profile lies in the plane of x and y of its frame and
//! is as thick along z as it is told, half to each side.

use super::profile_check;
use super::profile_curve::{Corner, Curve};
use super::{Aabb, MassProperties};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec2, Vec3};

/// Most edges of one profile: checks compare all of them with each other.
pub const PROFILE_EDGES_MAX: usize = 2000;

/// One edge of a path, from where the path is to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProfileEdge {
    /// Straight.
    Line {
        /// Where it ends [m].
        to: Vec2,
    },
    /// Along the circle through three points.
    Arc {
        /// A point on its way [m].
        through: Vec2,
        /// Where it ends [m].
        to: Vec2,
    },
}

impl ProfileEdge {
    /// Where it ends [m].
    #[must_use]
    pub const fn to(&self) -> Vec2 {
        match *self {
            Self::Line { to } | Self::Arc { to, .. } => to,
        }
    }
}

/// A closed path of edges: the last one ends where the path starts. Either sense of turn will do.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProfilePath {
    /// Where the first edge begins [m].
    pub start: Vec2,
    /// Edges, each from the end of the one before.
    pub edges: Vec<ProfileEdge>,
}

impl ProfilePath {
    /// Straight edges from corner to corner and back to the first.
    #[must_use]
    pub fn polygon(corners: &[Vec2]) -> Self {
        let start = corners.first().copied().unwrap_or_default();
        let rest = corners.iter().skip(1).copied();
        Self {
            start,
            edges: rest
                .chain([start])
                .map(|to| ProfileEdge::Line { to })
                .collect(),
        }
    }

    /// A circle, as two arcs.
    #[must_use]
    pub fn circle(center: Vec2, radius: f64) -> Self {
        let (x, y) = (Vec2::X * radius, Vec2::Y * radius);
        let arc = |through, to| ProfileEdge::Arc { through, to };
        Self {
            start: center + x,
            edges: vec![arc(center + y, center - x), arc(center - y, center + x)],
        }
    }
}

/// A plane solid of segments and arcs: the first path is its outline, the others are holes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "super::serialised::Outlined",
        into = "super::serialised::Outlined"
    )
)]
pub struct Profile {
    paths: Vec<ProfilePath>,
    half_thickness: f64,
    /// Edges of all paths, the solid to the left of each.
    curves: Vec<Curve>,
    /// Where one edge follows another, by the edge that begins there.
    corners: Vec<Corner>,
    /// By path: its first edge, and one more.
    starts: Vec<usize>,
    /// Mass properties at density 1, area [m²], length of all edges [m], box in the plane.
    unit: MassProperties,
    area: f64,
    perimeter: f64,
    min: Vec2,
    max: Vec2,
}

impl Profile {
    /// A profile of its outline and its holes, `thickness` [m] thick along z.
    ///
    /// # Errors
    /// Paths that are open, cross or touch themselves or each other, edges without length, holes outside the outline: by place.
    pub fn new(paths: &[ProfilePath], thickness: f64) -> Result<Self, BuildError> {
        super::check_positive("thickness", thickness)?;
        let (curves, starts) = profile_check::curves(paths)?;
        let mut profile = Self {
            paths: paths.to_vec(),
            half_thickness: 0.5 * thickness,
            corners: Vec::with_capacity(curves.len()),
            curves,
            starts,
            unit: MassProperties::NONE,
            area: 0.0,
            perimeter: 0.0,
            min: Vec2::INFINITY,
            max: Vec2::NEG_INFINITY,
        };
        profile.measure();
        profile_check::nesting(&profile)?;
        Ok(profile)
    }

    fn measure(&mut self) {
        for pair in self.starts.windows(2) {
            let (first, end) = (pair[0], pair[1]);
            for i in first..end {
                let before = if i == first { end - 1 } else { i - 1 };
                self.corners
                    .push(Corner::between(&self.curves[before], &self.curves[i]));
            }
        }
        for c in &self.curves {
            let (min, max) = c.bounds();
            self.min = self.min.min(min);
            self.max = self.max.max(max);
            self.perimeter += c.length();
        }
        // About the middle of the box no digits are lost far from the origin.
        let middle = 0.5 * (self.min + self.max);
        let mut sum = Moments::default();
        for c in &self.curves {
            sum.add(&Moments::of(c, middle));
        }
        self.area = sum.area;
        let center = sum.first / sum.area;
        let [xx, yy, xy] = sum.second;
        let (xx, yy) = (
            xx - sum.area * center.x * center.x,
            yy - sum.area * center.y * center.y,
        );
        let xy = xy - sum.area * center.x * center.y;
        let thickness = 2.0 * self.half_thickness;
        let mass = sum.area * thickness;
        let across = mass * thickness * thickness / 12.0;
        let (xx, yy, xy) = (xx * thickness, yy * thickness, xy * thickness);
        self.unit = MassProperties {
            mass,
            center: (middle + center).extend(0.0),
            inertia: Mat3::from_cols(
                Vec3::new(yy + across, -xy, 0.0),
                Vec3::new(-xy, xx + across, 0.0),
                Vec3::new(0.0, 0.0, xx + yy),
            ),
        };
    }

    /// Outline and holes as they were given.
    #[must_use]
    pub fn paths(&self) -> &[ProfilePath] {
        &self.paths
    }

    /// Extent along z [m].
    #[must_use]
    pub fn thickness(&self) -> f64 {
        2.0 * self.half_thickness
    }

    /// Area in the plane [m²].
    #[must_use]
    pub const fn area(&self) -> f64 {
        self.area
    }

    /// Signed distance of a point of the plane from the boundary [m]: negative inside.
    #[must_use]
    pub fn distance(&self, p: Vec2) -> f64 {
        self.distance_of(0..self.curves.len(), p)
    }

    /// The same from some of the edges, those of whole paths.
    pub(super) fn distance_of(&self, edges: std::ops::Range<usize>, p: Vec2) -> f64 {
        let mut best = (f64::INFINITY, false);
        for i in edges {
            let (distance, outside) = self.curves[i].distance(p);
            if distance < best.0 {
                // Nearest to a corner, both its edges tell together.
                let corner = [i, self.after(i)]
                    .into_iter()
                    .find(|&k| (self.corners[k].point - p).length() <= distance);
                let told = corner.and_then(|k| self.corners[k].is_outside());
                best = (distance, told.unwrap_or(outside));
            }
        }
        if best.1 { best.0 } else { -best.0 }
    }

    /// The edge that follows an edge on its path.
    fn after(&self, i: usize) -> usize {
        if self.starts.contains(&(i + 1)) {
            let path = self.starts.partition_point(|s| *s <= i) - 1;
            self.starts[path]
        } else {
            i + 1
        }
    }

    pub(crate) fn curves(&self) -> &[Curve] {
        &self.curves
    }

    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners
    }

    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(crate) const fn half_thickness(&self) -> f64 {
        self.half_thickness
    }

    /// Half the width of a strip with its area and its boundary [m]: how thin it is.
    pub(crate) fn half_width(&self) -> f64 {
        self.area / self.perimeter
    }

    /// Largest extent in the plane [m].
    pub(crate) fn size(&self) -> f64 {
        (self.max - self.min).length()
    }

    pub(super) fn reach(&self) -> f64 {
        let far = self.min.abs().max(self.max.abs());
        (far.length_squared() + self.half_thickness * self.half_thickness).sqrt()
    }

    pub(super) fn volume(&self) -> f64 {
        self.unit.mass
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        self.unit.scaled(density)
    }

    pub(super) fn bounds(&self, pose: &Pose) -> Aabb {
        let middle = (0.5 * (self.min + self.max)).extend(0.0);
        let half = (0.5 * (self.max - self.min)).extend(self.half_thickness);
        let r = Mat3::from_quat(pose.rotation);
        let reach = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
        let center = pose.point(middle);
        Aabb {
            min: center - reach,
            max: center + reach,
        }
    }
}

/// Area and moments of it about a point, first and second: xx, yy, xy.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    area: f64,
    first: Vec2,
    second: [f64; 3],
}

impl Moments {
    fn add(&mut self, other: &Self) {
        self.area += other.area;
        self.first += other.first;
        for (a, b) in self.second.iter_mut().zip(other.second) {
            *a += b;
        }
    }

    /// Share of one edge: the triangle from `origin` to its chord, and the circular segment beyond.
    fn of(c: &Curve, origin: Vec2) -> Self {
        let (p, q) = (c.from - origin, c.to - origin);
        let area = 0.5 * p.perp_dot(q);
        let mut sum = Self {
            area,
            first: (p + q) * (area / 3.0),
            second: [
                area / 6.0 * (p.x * p.x + p.x * q.x + q.x * q.x),
                area / 6.0 * (p.y * p.y + p.y * q.y + q.y * q.y),
                area / 12.0 * (2.0 * (p.x * p.y + q.x * q.y) + p.x * q.y + q.x * p.y),
            ],
        };
        let Some(arc) = c.arc else { return sum };
        // ∫ over the part of the disc beyond the chord, along the bisector b and across it.
        let (half, r) = (0.5 * arc.sweep.abs(), arc.radius);
        let sign = arc.sweep.signum();
        let (sin, cos) = libm::sincos(half);
        let (sin2, sin4) = (2.0 * sin * cos, libm::sin(4.0 * half));
        let r4 = r * r * r * r;
        let area = sign * r * r * (half - 0.5 * sin2);
        let along = sign * 2.0 / 3.0 * r * r * r * sin * sin * sin;
        let along2 = sign * 0.25 * r4 * (half - 0.25 * sin4);
        let across2 = sign * 2.0 / 3.0 * r4 * (0.375 * half - 0.25 * sin2 + sin4 / 32.0);
        let (o, b, w) = (arc.center - origin, arc.middle, arc.middle.perp());
        let pair = |i: fn(Vec2) -> f64, k: fn(Vec2) -> f64| {
            area * i(o) * k(o)
                + along * (i(o) * k(b) + i(b) * k(o))
                + along2 * i(b) * k(b)
                + across2 * i(w) * k(w)
        };
        sum.add(&Self {
            area,
            first: o * area + b * along,
            second: [
                pair(|v| v.x, |v| v.x),
                pair(|v| v.y, |v| v.y),
                pair(|v| v.x, |v| v.y),
            ],
        });
        sum
    }
}
