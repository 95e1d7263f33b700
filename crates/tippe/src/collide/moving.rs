//! Contact points of pairs that move far within one step: features are looked for where the shapes touch, not only where they are.
//!
//! Reads: shapes, poses now and later, flights.  Writes: appends contact points.
//! Called by: `collide::detect`.
//! Source: docs/methods/two-stage.md, "Fast bodies".
//!
//! A pair that turns or shifts by a good part of its size touches with other features than those that are close now. If the motion
//! stays below the size, the features of the predicted poses are added. If it does not, predicted poses say nothing (the shapes may have
//! passed each other), and the features of the time of impact count.

use super::advance::{TimeOfImpact, is_mesh, search};
use super::contact::{ContactPoint, Features};
use super::flight::Flight;
use super::narrow::{Start, collide_shapes_on};
use super::pass::Drift;
use crate::material::Surface;
use crate::math::{Pose, Quat};
use crate::shape::Shape;

/// Motion in one step up to which features of the start serve for all of it as a rule, relative to half the width of the thinner shape [1].
pub const FEATURE_MOTION: f64 = 0.1;
/// Motion above which predicted poses say nothing, in the same measure [1].
const FAST: f64 = 1.0;
/// Distance at which a time of impact counts as found, relative to half the width of the thinner shape [1].
const MOVING_TOLERANCE: f64 = 1e-6;
/// The same for two meshes, or a mesh and a half-space: part of the margin within which contacts are seen [1].
const ROUGH: f64 = 0.25;
/// Most work of one search in a step, in poses. Few pairs need ten; long bodies that spin fast beside something reach the limit.
const MOVING_POSES_MAX: f64 = 1e3;
/// After a fast impact the step ends when the bodies have moved on by this part of half the width of the thinner one [1].
const ONWARD: f64 = 0.25;
/// … if they go on by more than this part of it, which takes them through a body of their own size, and the impact turns them off
/// the way they were looked at on by as much [1].
const THROUGH: f64 = 2.0;

/// How far a pair moves in one step, seen against its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Slow,
    Brisk,
    Fast,
}

impl Pace {
    /// From the relative motion of the pair in the step, by shifting and turning [m]; up to `slow` half widths it is slow.
    pub fn of((a, b): (&Shape, &Shape), motion: f64, slow: f64) -> Self {
        let width = thinner(a, b);
        if motion <= slow * width {
            Self::Slow
        } else if motion <= FAST * width {
            Self::Brisk
        } else {
            Self::Fast
        }
    }
}

/// Turn in a step up to which relative motion is read off both ends of it, as |sin(θ/2)| [1]: 60°.
const TURN_READ: f64 = 0.5;
/// Largest θ over 2 |sin(θ/2)| up to there [1]: π/3.
const ARC_OVER_CHORD: f64 = std::f64::consts::FRAC_PI_3;
/// Largest distance from a chord, over h² times the acceleration on the way [1].
const BULGE: f64 = 0.125;

/// One shape of a pair on its way through a step.
struct Ride<'a> {
    shape: &'a Shape,
    now: &'a Pose,
    then: &'a Pose,
    /// Its turn, as an angle [rad].
    angle: f64,
    /// Greatest distance of its origin from the point that its body turns about [m].
    arm: f64,
}

impl Ride<'_> {
    /// A sphere looks the same however it turns.
    fn is_round(&self) -> bool {
        matches!(self.shape, Shape::Sphere { .. })
    }
}

/// How far two shapes move against each other from the poses `now` to those `then` [m], `bound` at most. Their origins are no farther than
/// `arms` from where their bodies turn about.
///
/// Shifts and turns of both bodies add up to a bound, but a ball that rides in a drum hardly moves against it. Seen from one shape, the
/// points of the other go as far as its origin goes and as they turn about it; the lesser of both views counts.
pub(super) fn relative_motion(
    (a, b): (&Shape, &Shape),
    now: (&Pose, &Pose),
    then: (&Pose, &Pose),
    arms: (f64, f64),
    bound: f64,
) -> f64 {
    let turns = (
        half_turn(&now.0.rotation, &then.0.rotation),
        half_turn(&now.1.rotation, &then.1.rotation),
    );
    if turns.0.max(turns.1) > TURN_READ || turns.0.max(turns.1) == 0.0 {
        return bound;
    }
    let ride = |shape, now, then, turn: f64, arm| Ride {
        shape,
        now,
        then,
        angle: 2.0 * ARC_OVER_CHORD * turn,
        arm,
    };
    let a = ride(a, now.0, then.0, turns.0, arms.0);
    let b = ride(b, now.1, then.1, turns.1, arms.1);
    bound.min(seen_from(&a, &b)).min(seen_from(&b, &a))
}

/// How far the points of `other` move as seen from `here` [m].
///
/// Between the ends the way may bulge: by an eighth of h² times its acceleration at most. That is the acceleration of a frame that turns
/// (its turn squared times the distance, and twice its turn times the shift), and that of a point on a body that turns.
fn seen_from(here: &Ride<'_>, other: &Ride<'_>) -> f64 {
    let frame = |pose: &Pose| match here.is_round() {
        true => Pose::from_position(pose.position),
        false => *pose,
    };
    let (start, end) = (frame(here.now), frame(here.then));
    let way = end.point_to_local(other.then.position) - start.point_to_local(other.now.position);
    let apart = other.now.position - start.position;
    let shift = (other.then.position - end.position - apart).length();
    let theta = if here.is_round() { 0.0 } else { here.angle };
    let arcs = here.angle * here.angle * here.arm + other.angle * other.angle * other.arm;
    let mut bulge = theta * (theta * (apart.length() + shift + arcs) + 2.0 * shift + arcs) + arcs;
    let mut swing = 0.0;
    let turns = theta + other.angle;
    if !other.is_round() && turns > 0.0 {
        let before = start.rotation.conjugate() * other.now.rotation;
        let after = end.rotation.conjugate() * other.then.rotation;
        swing = 2.0 * half_turn(&before, &after) * other.shape.reach();
        bulge += turns * turns * other.shape.reach();
    }
    way.length() + swing + BULGE * bulge
}

/// |sin(θ/2)| of the rotation by θ from one orientation to another.
fn half_turn(from: &Quat, to: &Quat) -> f64 {
    let turn = from.conjugate() * *to;
    (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt()
}

/// Half the width of the thinner of two shapes [m]. A mesh is looked at from one side: its own width counts only where the other has none.
fn thinner(a: &Shape, b: &Shape) -> f64 {
    let width = half_width(a).min(half_width(b));
    let wall = |shape: &Shape| match shape {
        Shape::Mesh(mesh) => mesh.half_width(),
        _ => f64::INFINITY,
    };
    if width.is_finite() {
        width
    } else {
        wall(a).min(wall(b))
    }
}

/// Half the smallest edge of the box around a shape in its own frame [m]; infinite for half-spaces and meshes.
fn half_width(shape: &Shape) -> f64 {
    match *shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => radius,
        Shape::Cuboid { half } => half.min_element(),
        Shape::HalfSpace { .. } | Shape::Mesh(_) => f64::INFINITY,
        Shape::Profile(ref profile) => profile.half_width(),
        _ => {
            let b = shape.bounds(&Pose::IDENTITY);
            0.5 * (b.max - b.min).min_element()
        }
    }
}

/// The contact points of two shapes at these poses, without those that they pass. Returns whether the search ended at its limit.
fn collide(
    drift: Option<&Drift>,
    (a, b): (&Shape, &Shape),
    at: (&Pose, &Pose),
    margin: f64,
    points: &mut Vec<ContactPoint>,
) -> bool {
    let start = &mut Start::default();
    collide_shapes_on(drift, (a, at.0), (b, at.1), margin, start, points)
}

/// Adds the contact points of later poses that are not there yet, as they are now. Returns whether the search ended at its limit.
pub(super) fn add_later(
    drift: Option<&Drift>,
    shapes: (&Shape, &Shape),
    now: (&Pose, &Pose),
    later: (&Pose, &Pose),
    margin: f64,
    points: &mut Vec<ContactPoint>,
) -> bool {
    add(drift, shapes, now, later, margin, |p| p, points)
}

fn add(
    drift: Option<&Drift>,
    (a, b): (&Shape, &Shape),
    now: (&Pose, &Pose),
    later: (&Pose, &Pose),
    margin: f64,
    change: impl Fn(ContactPoint) -> ContactPoint,
    points: &mut Vec<ContactPoint>,
) -> bool {
    let known = points.len();
    let depth = points.iter().fold(0.0_f64, |d, p| d.min(p.gap));
    let limited = collide(drift, (a, b), later, margin, points);
    let mut kept = known;
    for k in known..points.len() {
        let p = points[k];
        if points[..kept].iter().any(|q| q.feature_id == p.feature_id) {
            continue;
        }
        points[kept] = as_now(&change(p), now, depth);
        kept += 1;
    }
    points.truncate(kept);
    limited
}

/// A later contact point at the poses of now. Its features may be no features of now (a corner that comes around an edge is below the
/// face it will touch): the gap is then no depth.
fn as_now(p: &ContactPoint, now: (&Pose, &Pose), depth: f64) -> ContactPoint {
    let at = p
        .features
        .at(now.0, now.1, p.radius_a, p.radius_b, p.normal);
    ContactPoint {
        point_a: at.point_a,
        point_b: at.point_b,
        normal: at.normal,
        gap: at.gap.max(depth),
        ..*p
    }
}

/// What a look at a fast pair found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Points that are near already now, the first in the list.
    pub near: usize,
    /// When the other points were looked at [s].
    pub time: f64,
    /// Whether the pair is still fast after it has met, and for how long it should go on before the next look [s].
    pub goes_on: Option<f64>,
    /// Whether the search for the time of impact ended at its limit.
    pub unresolved: bool,
    /// Whether a search for contact points did.
    pub limited: bool,
}

impl Seen {
    /// All points are looked at where the pair is now.
    fn at_start(limited: bool) -> Self {
        Self {
            limited,
            ..Self::default()
        }
    }
}

/// Distance at which a pair has met [m]. Two meshes, or profiles, that glide past each other at a small distance would be followed in steps of
/// that distance.
fn arrived_at(a: &Shape, b: &Shape, width: f64, near: f64) -> f64 {
    let profile = [a, b].iter().any(|s| matches!(s, Shape::Profile(_)));
    let mesh = is_mesh(a) || is_mesh(b);
    let rough = profile || (mesh && half_width(a).min(half_width(b)).is_infinite());
    (MOVING_TOLERANCE * width).max(if rough { ROUGH * near } else { 0.0 })
}

/// Contact points of a fast pair with the given surface: those that are near now, and those of its time of impact within `h` [s].
/// `motion` is the relative motion in the step [m].
pub(super) fn look(
    (a, b): (&Shape, &Shape),
    flights: (&Flight<'_>, &Flight<'_>),
    drift: Option<&Drift>,
    h: f64,
    near: f64,
    motion: f64,
    surface: &Surface,
    points: &mut Vec<ContactPoint>,
) -> Seen {
    let now = (flights.0.at(0.0), flights.1.at(0.0));
    let limited = collide(drift, (a, b), (&now.0, &now.1), near, points);
    let mut seen = Seen {
        near: points.len(),
        limited,
        ..Seen::default()
    };
    let width = thinner(a, b);
    let mesh = is_mesh(a) || is_mesh(b);
    let arrived = arrived_at(a, b, width, near);
    let touches = points.iter().any(|p| p.gap <= arrived);
    if touches && mesh {
        // What glides over a mesh may meet another part of it: all that is within reach.
        points.clear();
        let limited = collide(drift, (a, b), (&now.0, &now.1), near + motion, points);
        return Seen::at_start(limited);
    }
    if touches {
        // Touching already: what follows is the answer of the method, not free flight.
        let then = (flights.0.at(h), flights.1.at(h));
        seen.limited |= add_later(
            drift,
            (a, b),
            (&now.0, &now.1),
            (&then.0, &then.1),
            near,
            points,
        );
        return seen;
    }
    seen.time = match search((a, flights.0), (b, flights.1), h, arrived, MOVING_POSES_MAX) {
        Ok(TimeOfImpact::At { time, .. }) => time,
        Ok(TimeOfImpact::Unresolved { time }) => {
            seen.unresolved = true;
            time
        }
        Ok(TimeOfImpact::Apart) => return seen,
        Err(_) => {
            // A half-space that turns: no flight to follow, but its features hold wherever it is.
            points.clear();
            let limited = collide(drift, (a, b), (&now.0, &now.1), near + motion, points);
            return Seen::at_start(limited);
        }
    };
    // Points that are near then, and those that may follow in the rest of the step.
    let then = (flights.0.at(seen.time), flights.1.at(seen.time));
    // What meets a mesh may meet it again at once: no other body has to be of its size there.
    let onward = if mesh { width } else { THROUGH * width };
    let left = 1.0 - seen.time / h;
    // A half-space is never passed, and its features hold wherever it is: the far end of a needle that slaps down is one of them.
    let wall = [a, b].iter().any(|s| matches!(s, Shape::HalfSpace { .. }));
    let reach = near + left * if wall { motion } else { motion.min(onward) };
    seen.limited |= add(
        drift,
        (a, b),
        (&now.0, &now.1),
        (&then.0, &then.1),
        reach,
        |p| held(p, &then),
        points,
    );
    // Speed that is left after the impact is at most what there was before. Where the impact changes little of the way, the contacts
    // on it are those that were looked for; but what meets a mesh may meet it again, and a search without an answer looked at nothing.
    let (speed, rest) = (motion / h, h - seen.time);
    let goes_astray = || {
        mesh || seen.unresolved
            || turn_off(flights, seen.time, &then, surface, points) * rest > onward
    };
    if speed * rest > onward && goes_astray() {
        seen.goes_on = Some(ONWARD * width / speed);
    }
    seen
}

/// Largest change of velocity at the points that an impact there can give either body [m/s]; infinite if one has a prescribed way.
/// Other points of a body change more, up to half as much again for a rod.
///
/// With Δu = K P and K at least 1/m_A + 1/m_B in every direction, both changes |P|/m together are at most |Δu|. Along the normal that is
/// (1 + e) times the speed of approach; across it friction stops the slip at most, and is at most μ times as much.
fn turn_off(
    flights: (&Flight<'_>, &Flight<'_>),
    time: f64,
    then: &(Pose, Pose),
    surface: &Surface,
    points: &[ContactPoint],
) -> f64 {
    let rates = (
        flights.0.rates(time, &then.0),
        flights.1.rates(time, &then.1),
    );
    let (Some(w_a), Some(w_b), None, None) = (
        rates.0.turning,
        rates.1.turning,
        flights.0.prescribed,
        flights.1.prescribed,
    ) else {
        return f64::INFINITY;
    };
    let centers = (flights.0.center_at(&then.0), flights.1.center_at(&then.1));
    let friction = surface.friction_static.max(surface.friction_kinetic);
    let mut largest = 0.0_f64;
    for p in points {
        let at = p
            .features
            .at(&then.0, &then.1, p.radius_a, p.radius_b, p.normal);
        let u_a = rates.0.velocity + w_a.cross(at.point_a - centers.0);
        let u_b = rates.1.velocity + w_b.cross(at.point_b - centers.1);
        let u = u_b - u_a;
        let u_n = u.dot(at.normal);
        let along = (1.0 + surface.restitution) * (-u_n).max(0.0);
        let across = (u - at.normal * u_n).length().min(friction * along);
        largest = largest.max((along * along + across * across).sqrt());
    }
    largest
}

/// Holds the normal of a point against a point or an edge as it is `then`: beyond the passage it would turn around.
fn held(mut p: ContactPoint, then: &(Pose, Pose)) -> ContactPoint {
    if matches!(
        p.features,
        Features::PointPoint { .. } | Features::PointEdge { .. }
    ) {
        p.features = Features::Tangent {
            a: then.0.point_to_local(p.point_a - p.normal * p.radius_a),
            b: then.1.point_to_local(p.point_b + p.normal * p.radius_b),
            normal: p.normal,
        };
    }
    p
}

#[cfg(test)]
mod tests {
    use super::{Ride, Shape, half_turn, relative_motion, seen_from};
    use crate::math::{Pose, Quat, Vec3};

    /// Numbers between 0 and 1 that are the same in every run.
    struct Draws(u64);

    impl Draws {
        fn number(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn vector(&mut self, size: f64) -> Vec3 {
            Vec3::new(
                self.number() - 0.5,
                self.number() - 0.5,
                self.number() - 0.5,
            ) * (2.0 * size)
        }
    }

    /// A body that turns evenly about a point that moves evenly, and a shape on it.
    struct Body {
        shape: Shape,
        center: Vec3,
        shift: Vec3,
        turn: Vec3,
        place: Pose,
    }

    impl Body {
        fn draw(d: &mut Draws) -> Self {
            let shape = match (d.number() * 3.0) as u32 {
                0 => Shape::Sphere { radius: 0.2 },
                1 => Shape::Capsule {
                    half_length: 0.3,
                    radius: 0.1,
                },
                _ => Shape::Cuboid {
                    half: Vec3::new(0.1, 0.2, 0.3),
                },
            };
            let speed = d.number();
            Self {
                shape,
                center: d.vector(1.0),
                shift: d.vector(speed * speed),
                turn: d.vector(0.5 * speed),
                place: Pose::new(d.vector(1.0), Quat::from_scaled_axis(d.vector(1.0))),
            }
        }

        fn at(&self, t: f64) -> Pose {
            let center = self.center + self.shift * t;
            Pose::new(center, Quat::from_scaled_axis(self.turn * t)).compose(&self.place)
        }

        fn ride<'a>(&'a self, now: &'a Pose, then: &'a Pose) -> Ride<'a> {
            Ride {
                shape: &self.shape,
                now,
                then,
                angle: self.turn.length(),
                arm: self.place.position.length(),
            }
        }
    }

    #[test]
    fn no_point_moves_farther_as_seen_from_the_other_shape() {
        let mut d = Draws(7);
        for _ in 0..2000 {
            let (a, b) = (Body::draw(&mut d), Body::draw(&mut d));
            let (now, then) = ((a.at(0.0), b.at(0.0)), (a.at(1.0), b.at(1.0)));
            let told = seen_from(&a.ride(&now.0, &then.0), &b.ride(&now.1, &then.1));
            let round = |s: &Shape| matches!(s, Shape::Sphere { .. });
            let seen = |t: f64, p: Vec3| {
                let here = if round(&a.shape) {
                    Pose::from_position(a.at(t).position)
                } else {
                    a.at(t)
                };
                here.point_to_local(b.at(t).point(p))
            };
            let p = if round(&b.shape) {
                Vec3::ZERO
            } else {
                d.vector(1.0).normalize_or_zero() * b.shape.reach()
            };
            for k in 1..=20 {
                let went = (seen(f64::from(k) / 20.0, p) - seen(0.0, p)).length();
                assert!(went <= told + 1e-12, "{went} {told}");
            }
        }
    }

    #[test]
    fn what_rides_along_hardly_moves() {
        let mut d = Draws(11);
        for _ in 0..500 {
            let mut a = Body::draw(&mut d);
            let mut b = Body::draw(&mut d);
            // One rigid motion for both, by 1/60 of a radian.
            a.turn = d.vector(1.0).normalize_or_zero() / 60.0;
            a.shift = Vec3::ZERO;
            (b.turn, b.shift, b.center) = (a.turn, a.shift, a.center);
            let (now, then) = ((a.at(0.0), b.at(0.0)), (a.at(1.0), b.at(1.0)));
            let arms = (a.place.position.length(), b.place.position.length());
            let shapes = (&a.shape, &b.shape);
            let (now, then) = ((&now.0, &now.1), (&then.0, &then.1));
            let told = relative_motion(shapes, now, then, arms, f64::INFINITY);
            let spread = arms.0 + arms.1 + 1.0;
            // Spheres are looked at by where they are, so that two of them turn about each other.
            if !matches!(shapes, (Shape::Sphere { .. }, Shape::Sphere { .. })) {
                assert!(told < 1e-3 * spread, "{told} {spread}");
            }
            assert!((half_turn(&now.0.rotation, &then.0.rotation) - 1.0 / 120.0).abs() < 1e-6);
        }
    }
}
