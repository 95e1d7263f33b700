//! Capsule against capsule: two thick segments.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: closest points of two segments, [Ericson05] §5.1.9. Letters: d the unit directions, l the half lengths, r from the centre of
//! A to that of B, s and t the parameters on A and B, measured from the centres.

use super::contact::{ContactPoint, Features};
use super::narrow::{Placed, direction_or, rolling_radius};
use crate::math::{Pose, Vec3, tangents};

/// sin² of the angle below which the axes are parallel: the closest points are then the ends of the stretch side by side.
/// At that angle the ends are farther apart than the crossing by 1e-6 of length²/radius, which is no error that counts.
const PARALLEL: f64 = 1e-6;
/// sin² of the angle below which those ends are given too, beside the crossing: two logs rock on each other.
const NEARLY_PARALLEL: f64 = 1e-2;

/// Where on a segment: an end, or between.
#[derive(Clone, Copy, PartialEq)]
enum Spot {
    Low,
    Between,
    High,
}

/// One point, or two for capsules side by side (three where they also cross at a small angle).
pub(super) fn capsule_capsule(
    (l_a, radius_a): (f64, f64),
    pose_a: &Pose,
    (l_b, radius_b): (f64, f64),
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let rolling_radius = rolling_radius(radius_a, radius_b);
    let (d_a, d_b) = (pose_a.vector(Vec3::Z), pose_b.vector(Vec3::Z));
    let r = pose_b.position - pose_a.position;
    let pair = Pair {
        placed: Placed {
            pose_a,
            pose_b,
            radius_a,
            radius_b,
            rolling_radius,
            margin,
        },
        l_a,
        l_b,
        d_a,
        d_b,
        r,
    };
    let cross = d_a.cross(d_b);
    let sin2 = cross.length_squared();
    if sin2 > PARALLEL {
        let main = pair.closest(sin2, out);
        if sin2 < NEARLY_PARALLEL {
            pair.ends(Some(main), out);
        }
    } else if !pair.ends(None, out) {
        // Parallel, but one behind the other: end to end, wherever on the lines one begins to look.
        pair.closest(sin2, out);
    }
}

struct Pair<'a> {
    placed: Placed<'a>,
    l_a: f64,
    l_b: f64,
    d_a: Vec3,
    d_b: Vec3,
    r: Vec3,
}

impl Pair<'_> {
    /// The closest points of segments that are not parallel.
    fn closest(&self, sin2: f64, out: &mut Vec<ContactPoint>) -> (Spot, Spot) {
        let (p, q, c) = (
            self.d_a.dot(self.r),
            self.d_b.dot(self.r),
            self.d_a.dot(self.d_b),
        );
        let clamp = |x: f64, l: f64| x.max(-l).min(l);
        // On the lines s = (p − c q)/sin²; then t = c s − q for that s, and s = p + c t where t had to be clamped.
        let mut s = clamp((p - c * q) / sin2, self.l_a);
        let free = c * s - q;
        let t = clamp(free, self.l_b);
        if t != free {
            s = clamp(p + c * t, self.l_a);
        }
        let spots = (spot(s, self.l_a), spot(t, self.l_b));
        self.push(spots, s, t, out);
        spots
    }

    /// The ends of the stretch over which the capsules lie side by side; false if there is none.
    fn ends(&self, main: Option<(Spot, Spot)>, out: &mut Vec<ContactPoint>) -> bool {
        let (p, q, c) = (
            self.d_a.dot(self.r),
            self.d_b.dot(self.r),
            self.d_a.dot(self.d_b),
        );
        let along = if c < 0.0 { -1.0 } else { 1.0 };
        let end = |side: f64| if side < 0.0 { Spot::Low } else { Spot::High };
        let mut any = false;
        for side in [-1.0, 1.0] {
            // The end of A against the side of B, or else the end of B against the side of A.
            let (s_a, t_b) = (side * self.l_a, side * along * self.l_b);
            let (t, s) = (c * s_a - q, p + c * t_b);
            let found = if t.abs() <= self.l_b {
                Some(((end(side), Spot::Between), s_a, t))
            } else if s.abs() <= self.l_a {
                Some(((Spot::Between, end(side * along)), s, t_b))
            } else {
                None
            };
            if let Some((spots, s, t)) = found {
                any = true;
                if main != Some(spots) {
                    self.push(spots, s, t, out);
                }
            }
        }
        any
    }

    fn push(&self, spots: (Spot, Spot), s: f64, t: f64, out: &mut Vec<ContactPoint>) {
        let (a, b) = (Vec3::Z * s, Vec3::Z * t);
        let edge = |point: Vec3, edge_on_b: bool| Features::PointEdge {
            point,
            anchor: Vec3::ZERO,
            direction: Vec3::Z,
            edge_on_b,
        };
        let features = match spots {
            (Spot::Between, Spot::Between) => Features::EdgeEdge {
                anchor_a: Vec3::ZERO,
                direction_a: Vec3::Z,
                anchor_b: Vec3::ZERO,
                direction_b: Vec3::Z,
            },
            (Spot::Between, _) => edge(b, false),
            (_, Spot::Between) => edge(a, true),
            _ => Features::PointPoint { a, b },
        };
        let d = self.r + self.d_b * t - self.d_a * s;
        self.placed
            .push(features, self.direction(d), id(spots), out);
    }

    /// The direction from A to B; where the axes meet, perpendicular to both, and on the side of B's centre.
    fn direction(&self, d: Vec3) -> Vec3 {
        let cross = self.d_a.cross(self.d_b);
        let n = if cross.length_squared() > PARALLEL {
            cross.normalize()
        } else {
            tangents(self.d_a).0
        };
        direction_or(d, if n.dot(self.r) < 0.0 { -n } else { n })
    }
}

fn spot(x: f64, l: f64) -> Spot {
    if x <= -l {
        Spot::Low
    } else if x >= l {
        Spot::High
    } else {
        Spot::Between
    }
}

fn id((a, b): (Spot, Spot)) -> u32 {
    3 * a as u32 + b as u32
}
