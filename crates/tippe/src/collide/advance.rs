//! Time of impact of two convex shapes in free flight: a bound that is never late, and the first time within a tolerance.
//!
//! Reads: shapes, flights.  Writes: nothing (pure functions).
//! Called by: `collide::detect`, `dynamics::arrival`, queries, users through `geometry`.
//! Source: [Mirtich94] §3.1 (conservative advancement with gravity and spin). Letters: n the axis from A to B, d the distance along it, r
//! largest distance of a point from its centre of mass, Ω bound of the spin, κ how much farther along n the shape can reach by turning.
//!
//! Along a *fixed* axis n, from any moment on,
//! `gap(t) ≥ d + n·(v_B − v_A) t + ½ n·(a_B − a_A) t² − Σ min(r Ω t, κ)`, and with the points' velocities at that moment in place of their
//! bound, `− Σ [S(t) − S(0) + ½ r (Ω² + |ω̇|) t²]` where `S(t) = max_x (n + t n × ω)·x` over the points x of a shape is one more support
//! point. The later of the two times is taken. Between looks with new closest points the gap along the axis is measured anew by support
//! points, which costs little.

use super::advance_mesh;
use super::flight::{Flight, Rates};
use crate::geometry::{GeometryError, Separation, closest_points};
use crate::math::{Pose, Vec3};
use crate::shape::{Core, Shape};

/// When two shapes in flight meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeOfImpact {
    /// They stay farther apart than the tolerance until the horizon.
    Apart,
    /// They are first seen within the tolerance then. They have not touched before.
    At {
        /// Time from now [s].
        time: f64,
        /// How they lie then.
        separation: Separation,
    },
    /// The search ended at its limit: they are apart until then at least.
    Unresolved {
        /// Time from now [s].
        time: f64,
    },
}

/// Looks with closest points, and steps along one axis between them.
const ADVANCE_LOOKS_MAX: u32 = 512;
const ADVANCE_STEPS_MAX: u32 = 12;
/// An axis along which this part of the distance is left has served: a new one shows more [1].
const SERVED: f64 = 0.1;
/// Times that a step along an axis is doubled, and halved again, to come closer to its end.
const DOUBLINGS_MAX: u32 = 8;
const ADVANCE_HALVINGS: u32 = 3;
/// Most work of one search, in poses: one of a body that has turned far counts for many, as its rotation is followed from the start.
const POSES_MAX: f64 = 2e5;
/// Poses of looks may be so many times more: they matter where a body turns so fast that each takes thousands of parts [1].
const LOOKING: f64 = 10.0;
/// Turn that counts as one more pose [rad], and most that one pose counts for; as in `math::rotation`.
const TURN: f64 = 0.1;
const TURNS_MAX: f64 = 4096.0;
/// The approach aims at this part of the tolerance: aiming at the tolerance itself would never arrive.
pub(super) const AIM: f64 = 0.5;
/// Distances are not told apart better than this part of the coordinates that enter them [1].
pub(super) const ROUNDING: f64 = 1e-14;

/// The first time [s] until `horizon` [s] at which two shapes are within `tolerance` [m]; never later than their first touch.
///
/// A distance that stays above the tolerance all the time is `Apart`, however little it stays above.
///
/// # Errors
/// Numbers that are not finite, two half-spaces, a half-space that turns.
pub fn time_of_impact(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
    horizon: f64,
    tolerance: f64,
) -> Result<TimeOfImpact, GeometryError> {
    search(a, b, horizon, tolerance, POSES_MAX)
}

/// Whether no axis keeps it apart from others: it is not convex.
pub(super) const fn is_mesh(shape: &Shape) -> bool {
    matches!(shape, Shape::Mesh(_) | Shape::Profile(_))
}

/// The same with a limit of its own on the work, in poses.
pub(crate) fn search(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
    horizon: f64,
    tolerance: f64,
    poses_max: f64,
) -> Result<TimeOfImpact, GeometryError> {
    check(a, b, horizon, tolerance)?;
    if is_mesh(a.0) || is_mesh(b.0) {
        return advance_mesh::search(a, b, horizon, tolerance, poses_max);
    }
    let mut t = 0.0;
    let spin = a.1.rates(0.0, &a.1.pose).spin + b.1.rates(0.0, &b.1.pose).spin;
    let (mut effort, mut looking) = (0.0, 0.0);
    for _ in 0..ADVANCE_LOOKS_MAX {
        looking += work(spin * t);
        if looking > LOOKING * poses_max {
            break;
        }
        let mut poses = (a.1.at(t), b.1.at(t));
        let separation = closest_points(a.0, &poses.0, b.0, &poses.1)?;
        let tolerance = tolerance.max(ROUNDING * span(&poses.0, &poses.1));
        if separation.distance <= tolerance {
            return Ok(TimeOfImpact::At {
                time: t,
                separation,
            });
        }
        let n = separation.normal;
        for _ in 0..ADVANCE_STEPS_MAX {
            let gap = gap_along(n, a.0, &poses.0, b.0, &poses.1);
            if gap <= tolerance.max(SERVED * separation.distance) {
                break;
            }
            let sides = [side(n, a, t, poses.0), side(-n, b, t, poses.1)];
            let wait = closing_time(&sides, gap - AIM * tolerance);
            let next = t + wait;
            if next > horizon {
                return Ok(TimeOfImpact::Apart);
            }
            effort += work(spin * next);
            if next <= t || effort > poses_max {
                return Ok(TimeOfImpact::Unresolved { time: t });
            }
            t = next;
            poses = (a.1.at(t), b.1.at(t));
        }
    }
    Ok(TimeOfImpact::Unresolved { time: t })
}

/// Work of a pose after a turn by some angle [rad], in poses.
pub(super) fn work(turn: f64) -> f64 {
    1.0 + (turn / TURN).min(TURNS_MAX)
}

/// A time [s] before which two shapes cannot touch, from one look at them; infinite if they never will, 0 if they do.
///
/// Exact for spheres that meet head on.
///
/// # Errors
/// Numbers that are not finite, two half-spaces, a half-space that turns.
pub fn time_of_impact_bound(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
) -> Result<f64, GeometryError> {
    check(a, b, 0.0, 0.0)?;
    let poses = (a.1.at(0.0), b.1.at(0.0));
    let separation = closest_points(a.0, &poses.0, b.0, &poses.1)?;
    if separation.distance <= 0.0 {
        return Ok(0.0);
    }
    if is_mesh(a.0) || is_mesh(b.0) {
        return Ok(advance_mesh::Closing::of(a, b, 0.0, &poses).time(separation.distance));
    }
    let n = separation.normal;
    let gap = gap_along(n, a.0, &poses.0, b.0, &poses.1).min(separation.distance);
    let sides = [side(n, a, 0.0, poses.0), side(-n, b, 0.0, poses.1)];
    Ok(closing_time(&sides, gap))
}

fn check(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
    horizon: f64,
    tolerance: f64,
) -> Result<(), GeometryError> {
    let sizes = a.0.check().is_ok() && b.0.check().is_ok();
    if !sizes || !a.1.is_finite() || !b.1.is_finite() || horizon.is_nan() {
        return Err(GeometryError::NotFinite);
    }
    if !tolerance.is_finite() {
        return Err(GeometryError::NotFinite);
    }
    // A half-space that turns sweeps over everything: no bound holds for it.
    let turns = |(shape, flight): (&Shape, &Flight<'_>)| {
        matches!(shape, Shape::HalfSpace { .. }) && flight.rates(0.0, &flight.pose).spin > 0.0
    };
    let infinite = |shape: &Shape| matches!(shape, Shape::HalfSpace { .. });
    if turns(a) || turns(b) || (infinite(a.0) && infinite(b.0)) {
        return Err(GeometryError::Unbounded);
    }
    Ok(())
}

/// Largest coordinate that enters a distance [m].
pub(super) fn span(a: &Pose, b: &Pose) -> f64 {
    a.position.abs().max(b.position.abs()).max_element()
}

/// Gap of two shapes along the unit axis `n` from A to B [m]: they are apart if it is above zero.
fn gap_along(n: Vec3, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    -(top(-n, b, pose_b) + top(n, a, pose_a))
}

/// How far a shape reaches along `n`, from the world origin [m].
fn top(n: Vec3, shape: &Shape, pose: &Pose) -> f64 {
    match Core::of(shape) {
        Some((core, radius)) => {
            let d = pose.vector_to_local(n);
            n.dot(pose.point(core.support(d, u32::MAX).point)) + radius
        }
        // A half-space, along its own normal.
        None => n.dot(pose.position),
    }
}

/// How one shape comes closer along an axis that points away from it.
#[derive(Clone, Copy, Debug)]
struct Side<'a> {
    /// Speed and acceleration of the centre along the axis [m/s], [m/s²].
    speed: f64,
    acceleration: f64,
    /// r Ω [m/s] and κ [m].
    spin_speed: f64,
    spin_reach: f64,
    /// How it turns; none where ω may jump.
    smooth: Option<Turning<'a>>,
}

/// A shape that turns with an angular velocity that is known now.
#[derive(Clone, Copy, Debug)]
struct Turning<'a> {
    core: Core<'a>,
    pose: Pose,
    center: Vec3,
    axis: Vec3,
    /// n × ω [rad/s].
    skew: Vec3,
    /// S(0) [m].
    now: f64,
    /// r (Ω² + |ω̇|) [m/s²]; 0 for a shape that does not turn.
    bend: f64,
}

impl Turning<'_> {
    /// A shape that does not turn.
    const NOT: Self = Self {
        core: Core::Point,
        pose: Pose::IDENTITY,
        center: Vec3::ZERO,
        axis: Vec3::ZERO,
        skew: Vec3::ZERO,
        now: 0.0,
        bend: 0.0,
    };

    /// How far the points may come along the axis within `t` by turning [m]: a convex function of `t`.
    fn advance(&self, t: f64) -> f64 {
        if self.bend == 0.0 {
            return 0.0;
        }
        let d = self.axis + self.skew * t;
        top_from(self.center, d, self.core, &self.pose) - self.now + 0.5 * self.bend * t * t
    }
}

/// How far a core reaches along `d` (of any length), from `center` [m]. Turning does not move the thickness around it.
fn top_from(center: Vec3, d: Vec3, core: Core<'_>, pose: &Pose) -> f64 {
    let x = core.support(pose.vector_to_local(d), u32::MAX).point;
    d.dot(pose.point(x) - center)
}

fn side<'a>(n: Vec3, (shape, flight): (&'a Shape, &Flight<'_>), t: f64, pose: Pose) -> Side<'a> {
    let Rates {
        velocity,
        acceleration,
        speed,
        turning,
        spin,
        spin_change,
    } = flight.rates(t, &pose);
    let mut side = Side {
        speed: n.dot(velocity) + speed,
        acceleration: n.dot(acceleration),
        spin_speed: 0.0,
        spin_reach: 0.0,
        smooth: Some(Turning::NOT),
    };
    if let (Some((core, _)), true) = (Core::of(shape), spin > 0.0) {
        let r = flight.center.length() + core.reach();
        let center = flight.center_at(&pose);
        let now = top_from(center, n, core, &pose);
        side.spin_speed = r * spin;
        side.spin_reach = (r - now).max(0.0);
        side.smooth = turning.map(|w| Turning {
            core,
            pose,
            center,
            axis: n,
            // n·(ω × x) = (n × ω)·x.
            skew: n.cross(w),
            now,
            bend: r * (spin * spin + spin_change),
        });
    }
    side
}

/// The first time at which two sides may have come closer by `width` [m]; infinite if never.
fn closing_time(sides: &[Side<'_>; 2], width: f64) -> f64 {
    if width <= 0.0 {
        return 0.0;
    }
    let speed = sides[0].speed + sides[1].speed;
    let acceleration = sides[0].acceleration + sides[1].acceleration;
    let mut time = closing_by_pieces(speed, acceleration, sides, width);
    let (Some(a), Some(b)) = (sides[0].smooth, sides[1].smooth) else {
        return time;
    };
    if time == f64::INFINITY || (a.bend == 0.0 && b.bend == 0.0) {
        return time;
    }
    // What is left of the width is concave in t (an acceleration apart is left out): above zero at t, it is so all the way to t.
    let left = |t: f64| {
        width - (speed + 0.5 * acceleration.max(0.0) * t) * t - a.advance(t) - b.advance(t)
    };
    let mut beyond = 2.0 * time;
    for _ in 0..DOUBLINGS_MAX {
        if left(beyond) < 0.0 {
            break;
        }
        time = beyond;
        beyond *= 2.0;
    }
    for _ in 0..ADVANCE_HALVINGS {
        let middle = 0.5 * (time + beyond);
        if left(middle) >= 0.0 {
            time = middle;
        } else {
            beyond = middle;
        }
    }
    time
}

/// First t with ½ A t² + B t + Σ min(rΩ t, κ) = w.
fn closing_by_pieces(speed: f64, acceleration: f64, sides: &[Side<'_>; 2], width: f64) -> f64 {
    let ends = [&sides[0], &sides[1]].map(|s| {
        if s.spin_speed > 0.0 {
            s.spin_reach / s.spin_speed
        } else {
            0.0
        }
    });
    let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let mut begin = 0.0;
    for end in [first, last, f64::INFINITY] {
        if end <= begin {
            continue;
        }
        let spins: f64 = (0..2)
            .map(|i| {
                if ends[i] > begin {
                    sides[i].spin_speed
                } else {
                    0.0
                }
            })
            .sum();
        let reached: f64 = (0..2)
            .map(|i| sides[i].spin_reach.min(sides[i].spin_speed * begin))
            .sum();
        let closed = (0.5 * acceleration * begin + speed) * begin + reached;
        let time = begin
            + root(
                acceleration,
                speed + acceleration * begin + spins,
                width - closed,
            );
        if time <= end {
            return time;
        }
        begin = end;
    }
    f64::INFINITY
}

/// First t ≥ 0 with ½ a t² + b t = w, for w above zero; infinite if there is none.
pub(super) fn root(a: f64, b: f64, w: f64) -> f64 {
    if w <= 0.0 {
        return 0.0;
    }
    let discriminant = b * b + 2.0 * a * w;
    let below = b + discriminant.max(0.0).sqrt();
    if discriminant < 0.0 || below <= 0.0 {
        f64::INFINITY
    } else {
        2.0 * w / below
    }
}

/// How long two shapes that touch may go on unseen [s]: until they may overlap by `width` [m]. They touch along `n`, from A to B.
pub(crate) fn parting_time(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
    n: Vec3,
    width: f64,
) -> f64 {
    let poses = (a.1.pose, b.1.pose);
    if is_mesh(a.0) || is_mesh(b.0) {
        return advance_mesh::Closing::of(a, b, 0.0, &poses).time(width);
    }
    let sides = [side(n, a, 0.0, poses.0), side(-n, b, 0.0, poses.1)];
    closing_time(&sides, width)
}

/// How fast two shapes can come closer from now on, whatever way they turn [m/s].
pub(crate) fn closing_speed(a: (&Shape, &Flight<'_>), b: (&Shape, &Flight<'_>)) -> f64 {
    advance_mesh::Closing::of(a, b, 0.0, &(a.1.pose, b.1.pose)).speed()
}
