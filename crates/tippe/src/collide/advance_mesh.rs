//! Time of impact with a mesh: never late, slower than for convex shapes.
//!
//! Reads: shapes, flights.  Writes: nothing (pure functions).
//! Called by: `collide::advance`.
//! Source: [Mirtich94] §3.1 (conservative advancement). A mesh is not convex, so that no axis keeps two shapes apart; but their distance
//! never shrinks faster than their points move: `d(t) ≥ d − (|v_B − v_A| + Σ r Ω) t − ½ |a_B − a_A| t²`. Letters as in `collide::advance`.

use super::advance::{AIM, ROUNDING, TimeOfImpact, root, span, work};
use super::flight::Flight;
use crate::geometry::{GeometryError, separation_within};
use crate::math::Pose;
use crate::shape::Shape;

/// How fast two shapes can come closer, from a moment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    /// [m/s]
    speed: f64,
    /// [m/s²]
    acceleration: f64,
}

impl Closing {
    /// From time `t` [s] on, at these poses.
    pub fn of(
        a: (&Shape, &Flight<'_>),
        b: (&Shape, &Flight<'_>),
        t: f64,
        poses: &(Pose, Pose),
    ) -> Self {
        let (here, there) = (a.1.rates(t, &poses.0), b.1.rates(t, &poses.1));
        let turning = |(shape, flight): (&Shape, &Flight<'_>), spin: f64| {
            // A half-space does not turn, and its reach has no end.
            if spin > 0.0 {
                (flight.center.length() + shape.reach()) * spin
            } else {
                0.0
            }
        };
        Self {
            speed: (here.velocity - there.velocity).length()
                + here.speed
                + there.speed
                + turning(a, here.spin)
                + turning(b, there.spin),
            acceleration: (here.acceleration - there.acceleration).length(),
        }
    }

    /// Speed [m/s].
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// How long it takes at least to come closer by `width` [m]; infinite if nothing moves.
    pub fn time(&self, width: f64) -> f64 {
        root(self.acceleration, self.speed, width)
    }

    /// How far they can come within `time` [s].
    fn way(&self, time: f64) -> f64 {
        // Nothing for ever is nothing: the horizon may be infinite.
        let part = |rate: f64, way: f64| if rate > 0.0 { way } else { 0.0 };
        part(self.speed, self.speed * time)
            + part(self.acceleration, 0.5 * self.acceleration * time * time)
    }
}

/// Looks with closest points. A shape that glides over a mesh comes on by no more than its distance with each.
const ADVANCE_MESH_LOOKS_MAX: u32 = 1 << 16;

/// As `collide::advance::time_of_impact`, where one of the shapes is a mesh.
pub(super) fn search(
    a: (&Shape, &Flight<'_>),
    b: (&Shape, &Flight<'_>),
    horizon: f64,
    tolerance: f64,
    poses_max: f64,
) -> Result<TimeOfImpact, GeometryError> {
    let mut t = 0.0;
    let spin = a.1.rates(0.0, &a.1.pose).spin + b.1.rates(0.0, &b.1.pose).spin;
    let mut effort = 0.0;
    for _ in 0..ADVANCE_MESH_LOOKS_MAX {
        let poses = (a.1.at(t), b.1.at(t));
        let closing = Closing::of(a, b, t, &poses);
        let tolerance = tolerance.max(ROUNDING * span(&poses.0, &poses.1));
        // Triangles beyond the way that is left are not looked at.
        let limit = closing.way((horizon - t).max(0.0)) + tolerance;
        let Some(separation) = separation_within(a.0, &poses.0, b.0, &poses.1, limit)? else {
            return Ok(TimeOfImpact::Apart);
        };
        if separation.distance <= tolerance {
            return Ok(TimeOfImpact::At {
                time: t,
                separation,
            });
        }
        let next = t + closing.time(separation.distance - AIM * tolerance);
        if next > horizon {
            return Ok(TimeOfImpact::Apart);
        }
        effort += work(spin * next);
        if next <= t || effort > poses_max {
            return Ok(TimeOfImpact::Unresolved { time: t });
        }
        t = next;
    }
    Ok(TimeOfImpact::Unresolved { time: t })
}
