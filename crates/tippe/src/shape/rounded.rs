//! A convex solid thickened by a radius: a box, cylinder or hull with rounded edges. Checks, mass properties, a polyhedron to draw.
//!
//! Reads: the solid inside.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`, drawings.
//! Source: Steiner's decomposition of a parallel body [Schneider14] §4.2: solid, plates on its faces, wedges along its edges, sectors at its
//! vertices; a cylinder as a solid of revolution.

use super::{ConvexHull, Core, MassProperties, Shape, check_positive};
use crate::error::BuildError;
use crate::math::{Mat3, Vec3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Arcs that a quarter of a turn is drawn with.
const DRAWN_ARCS: u32 = 4;
/// Corners that a round rim is drawn with.
const DRAWN_SIDES: u32 = 32;

/// A box, cylinder or hull, thickened by a radius in all directions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "super::serialised::Thickened",
        into = "super::serialised::Thickened"
    )
)]
pub struct Rounded {
    core: Shape,
    radius: f64,
    /// Mass properties at density 1.
    unit: MassProperties,
}

impl Rounded {
    /// `core` thickened by `radius` [m]. Refuses other cores than boxes, cylinders and hulls, and a radius that is not positive.
    pub fn new(core: Shape, radius: f64) -> Result<Self, BuildError> {
        check_positive("radius", radius)?;
        core.check()?;
        let unit = match &core {
            Shape::Cuboid { half } => polyhedron(&box_hull(*half)?, radius),
            Shape::Hull(hull) => polyhedron(hull, radius),
            Shape::Cylinder {
                half_length,
                radius: rim,
            } => revolved(*half_length, *rim, radius),
            _ => {
                return Err(BuildError::new(
                    "core",
                    "only boxes, cylinders and hulls can be rounded",
                ));
            }
        };
        Ok(Self { core, radius, unit })
    }

    /// A box of half extents `half` whose edges and corners are rounded off inside them [m].
    pub fn cuboid(half: Vec3, rounding: f64) -> Result<Self, BuildError> {
        check_fits(rounding, half.min_element())?;
        let half = half - Vec3::splat(rounding);
        Self::new(Shape::Cuboid { half }, rounding)
    }

    /// A cylinder whose rims are rounded off inside its size [m].
    pub fn cylinder(half_length: f64, radius: f64, rounding: f64) -> Result<Self, BuildError> {
        check_fits(rounding, half_length.min(radius))?;
        let core = Shape::Cylinder {
            half_length: half_length - rounding,
            radius: radius - rounding,
        };
        Self::new(core, rounding)
    }

    /// The solid inside.
    #[must_use]
    pub const fn core(&self) -> &Shape {
        &self.core
    }

    /// How far the surface lies outside the core [m].
    #[must_use]
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    pub(super) fn volume(&self) -> f64 {
        self.unit.mass
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        self.unit.scaled(density)
    }

    /// A polyhedron with its vertices on the surface, fine enough to draw; `None` if the solid is too thin to have one.
    #[must_use]
    pub fn polyhedron(&self) -> Option<ConvexHull> {
        let mut points = Vec::new();
        let mut add = |x: Vec3, normal: Vec3| points.push(x + normal * self.radius);
        match &self.core {
            Shape::Cylinder { .. } => {
                let (core, _) = Core::of(&self.core)?;
                for k in 0..DRAWN_SIDES {
                    let (s, c) = libm::sincos(f64::from(k) * TAU / f64::from(DRAWN_SIDES));
                    for i in 0..=DRAWN_ARCS {
                        let (up, across) =
                            libm::sincos(f64::from(i) * FRAC_PI_2 / f64::from(DRAWN_ARCS));
                        for side in [-1.0, 1.0] {
                            let normal = Vec3::new(across * c, across * s, side * up);
                            // The rim point belongs to the direction across, also where the normal is the axis.
                            let toward = Vec3::new(c, s, side);
                            add(core.support(toward, u32::MAX).point, normal);
                        }
                    }
                }
            }
            core => {
                let own;
                let hull = match core {
                    Shape::Hull(hull) => &**hull,
                    Shape::Cuboid { half } => {
                        own = box_hull(*half).ok()?;
                        &own
                    }
                    _ => return None,
                };
                for (i, face) in hull.faces().iter().enumerate() {
                    for &v in hull.face_vertices(i) {
                        add(hull.vertices()[v as usize], face.normal);
                    }
                }
                for e in edges(hull) {
                    let steps = (e.angle / (FRAC_PI_2 / f64::from(DRAWN_ARCS)))
                        .ceil()
                        .max(1.0);
                    for k in 1..steps as u32 {
                        let normal = e.normal(e.angle * (f64::from(k) / steps - 0.5));
                        add(e.ends[0], normal);
                        add(e.ends[1], normal);
                    }
                }
                for direction in sphere_directions() {
                    let (_, x) = hull.support_point(direction, u32::MAX);
                    add(x, direction);
                }
            }
        }
        ConvexHull::new(&points).ok()
    }
}

fn check_fits(rounding: f64, least: f64) -> Result<(), BuildError> {
    check_positive("rounding", rounding)?;
    if rounding < least {
        return Ok(());
    }
    Err(BuildError::new(
        "rounding",
        format!("must be less than half the smallest size, {least}, got {rounding}"),
    ))
}

fn box_hull(half: Vec3) -> Result<ConvexHull, BuildError> {
    let corners: Vec<Vec3> = (0..8).map(|i| super::cuboid::vertex(half, i)).collect();
    ConvexHull::new(&corners)
}

/// Directions on the sphere, for drawing.
fn sphere_directions() -> impl Iterator<Item = Vec3> {
    (1..2 * DRAWN_ARCS).flat_map(|i| {
        let (sin, cos) = libm::sincos(f64::from(i) * FRAC_PI_2 / f64::from(DRAWN_ARCS));
        (0..4 * DRAWN_ARCS).map(move |k| {
            let (s, c) = libm::sincos(f64::from(k) * FRAC_PI_2 / f64::from(DRAWN_ARCS));
            Vec3::new(sin * c, sin * s, cos)
        })
    })
}

/// An edge of a hull and the arc of normals it has.
struct Edge {
    /// Names and places of its ends [m].
    names: [u32; 2],
    ends: [Vec3; 2],
    /// Unit direction from the first end to the second.
    along: Vec3,
    /// Middle of the arc, and unit vector across it and the edge.
    middle: Vec3,
    across: Vec3,
    /// Angle between the normals of the two faces [rad].
    angle: f64,
}

impl Edge {
    /// The normal at an angle from the middle of the arc.
    fn normal(&self, angle: f64) -> Vec3 {
        let (s, c) = libm::sincos(angle);
        self.middle * c + self.across * s
    }
}

/// Every edge between two faces once, in a fixed order.
fn edges(hull: &ConvexHull) -> Vec<Edge> {
    let mut sides: Vec<(u32, u32, usize)> = Vec::new();
    for face in 0..hull.faces().len() {
        let rim = hull.face_vertices(face);
        for (k, &u) in rim.iter().enumerate() {
            let v = rim[(k + 1) % rim.len()];
            sides.push((u.min(v), u.max(v), face));
        }
    }
    sides.sort_unstable();
    let at = |i: u32| hull.vertices()[i as usize];
    let pairs = sides
        .windows(2)
        .filter(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1));
    pairs
        .map(|w| {
            let (u, v) = (w[0].0, w[0].1);
            let (m, n) = (hull.faces()[w[0].2].normal, hull.faces()[w[1].2].normal);
            let along = (at(v) - at(u)).normalize_or_zero();
            let middle = (m + n).normalize_or(m);
            Edge {
                names: [u, v],
                ends: [at(u), at(v)],
                along,
                middle,
                across: along.cross(middle),
                angle: libm::atan2(m.cross(n).length(), m.dot(n)),
            }
        })
        .collect()
}

/// Volume, ∫ x dV and ∫ x xᵀ dV.
#[derive(Default)]
struct Moments {
    volume: f64,
    first: Vec3,
    second: Mat3,
}

impl Moments {
    /// Of a solid with density 1.
    fn of(solid: &MassProperties) -> Self {
        let i = solid.inertia;
        let trace = i.x_axis.x + i.y_axis.y + i.z_axis.z;
        Self {
            volume: solid.mass,
            first: solid.center * solid.mass,
            second: Mat3::from_diagonal(Vec3::splat(0.5 * trace)) - i
                + outer(solid.center, solid.center) * solid.mass,
        }
    }

    fn mass_properties(&self) -> MassProperties {
        let center = self.first / self.volume;
        let about = self.second - outer(center, center) * self.volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let inertia = Mat3::from_diagonal(Vec3::splat(trace)) - about;
        MassProperties {
            mass: self.volume,
            center,
            inertia: (inertia + inertia.transpose()) * 0.5,
        }
    }

    fn add(&mut self, volume: f64, first: Vec3, second: Mat3) {
        self.volume += volume;
        self.first += first;
        self.second += second;
    }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn both(a: Vec3, b: Vec3) -> Mat3 {
    outer(a, b) + outer(b, a)
}

/// Mass properties at density 1 of a hull thickened by `r`.
fn polyhedron(hull: &ConvexHull, r: f64) -> MassProperties {
    // About the centre of the hull: far from the origin no digits are lost.
    let o = hull.center();
    let at = |i: u32| hull.vertices()[i as usize] - o;
    let mut core = hull.mass_properties(1.0);
    core.center = Vec3::ZERO;
    let mut sum = Moments::of(&core);
    // By vertex: solid angle of its normals, 2π less the angles of its faces, and ∫ u dΩ over them.
    let mut corners = vec![(TAU, Vec3::ZERO); hull.vertices().len()];
    for (i, face) in hull.faces().iter().enumerate() {
        plate(&mut sum, hull.face_vertices(i), &at, face.normal, r);
        let rim = hull.face_vertices(i);
        for k in 0..rim.len() {
            let [before, here, after] = [rim.len() - 1, 0, 1].map(|d| at(rim[(k + d) % rim.len()]));
            let (a, b) = (before - here, after - here);
            corners[rim[k] as usize].0 -= libm::atan2(a.cross(b).length(), a.dot(b));
        }
    }
    for edge in edges(hull) {
        wedge(&mut sum, &edge, o, r);
        for (name, sign) in edge.names.into_iter().zip([-0.5, 0.5]) {
            corners[name as usize].1 += edge.along * (sign * edge.angle);
        }
    }
    for (i, (angle, toward)) in corners.into_iter().enumerate() {
        let x = at(i as u32);
        let (third, fourth) = (r * r * r / 3.0, r * r * r * r / 4.0);
        let first = x * (angle * third) + toward * fourth;
        let second = outer(x, x) * (angle * third) + both(x, toward) * fourth;
        sum.add(angle * third, first, second);
    }
    // ∫ u uᵀ over the sectors of all vertices: they make up a whole ball.
    let ball = 4.0 * PI / 15.0 * r * r * r * r * r;
    sum.second += Mat3::from_diagonal(Vec3::splat(ball));
    let mut out = sum.mass_properties();
    out.center += o;
    out
}

/// The plate of thickness `r` on a face.
fn plate(sum: &mut Moments, rim: &[u32], at: &dyn Fn(u32) -> Vec3, n: Vec3, r: f64) {
    let a = at(rim[0]);
    for k in 2..rim.len() {
        let (b, c) = (at(rim[k - 1]), at(rim[k]));
        let area = 0.5 * n.dot((b - a).cross(c - a));
        let s = a + b + c;
        let first = s * (area / 3.0);
        let second = (outer(s, s) + outer(a, a) + outer(b, b) + outer(c, c)) * (area / 12.0);
        sum.add(
            area * r,
            first * r + n * (0.5 * area * r * r),
            second * r + both(first, n) * (0.5 * r * r) + outer(n, n) * (area * r * r * r / 3.0),
        );
    }
}

/// The wedge of radius `r` along an edge, about `o`.
fn wedge(sum: &mut Moments, edge: &Edge, o: Vec3, r: f64) {
    let length = (edge.ends[1] - edge.ends[0]).length();
    let m = (edge.ends[0] + edge.ends[1]) * 0.5 - o;
    let (theta, e) = (edge.angle, edge.along);
    let (half_sin, sin) = (libm::sin(0.5 * theta), libm::sin(theta));
    let sector = 0.5 * theta * r * r * length;
    let toward = edge.middle * (2.0 * half_sin * r * r * r / 3.0 * length);
    let along = outer(m, m) + outer(e, e) * (length * length / 12.0);
    let around = outer(edge.middle, edge.middle) * (theta + sin)
        + outer(edge.across, edge.across) * (theta - sin);
    sum.add(
        sector,
        m * sector + toward,
        along * sector + both(m, toward) + around * (0.5 * r * r * r * r / 4.0 * length),
    );
}

/// Mass properties at density 1 of a cylinder of half length `h` and radius `rim` along z, thickened by `r`.
fn revolved(h: f64, rim: f64, r: f64) -> MassProperties {
    // Slices of radius ρ: rim + r between the ends, rim + √(r² − s²) at a height s beyond them.
    let (wide, q) = (rim + r, rim);
    let (r2, r3, r4, r5) = (r * r, r * r * r, r * r * r * r, r * r * r * r * r);
    // ∫ ρ², ∫ s ρ², ∫ s² ρ² and ∫ ρ⁴ over one end.
    let p0 = q * q * r + q * PI * r2 / 2.0 + 2.0 * r3 / 3.0;
    let p1 = q * q * r2 / 2.0 + 2.0 * q * r3 / 3.0 + r4 / 4.0;
    let p2 = q * q * r3 / 3.0 + q * PI * r4 / 8.0 + 2.0 * r5 / 15.0;
    let fourth = q * q * q * q * r
        + q * q * q * PI * r2
        + 4.0 * q * q * r3
        + q * 3.0 * PI * r4 / 4.0
        + 8.0 * r5 / 15.0;
    let volume = 2.0 * PI * (h * wide * wide + p0);
    let across = 0.5 * PI * (h * wide * wide * wide * wide + fourth);
    let along = 2.0 * PI * (h * h * h / 3.0 * wide * wide + h * h * p0 + 2.0 * h * p1 + p2);
    MassProperties {
        mass: volume,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::new(across + along, across + along, 2.0 * across)),
    }
}
